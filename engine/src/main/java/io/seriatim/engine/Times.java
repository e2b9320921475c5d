package io.seriatim.engine;

import org.jspecify.annotations.Nullable;

/**
 * The times of a recorded operation, and its recorder. Confined to one thread at a time: to the holder of the tracker
 * lock until the operation starts, to the thread that runs it, to the holder of the tracker lock again when its end is
 * reported, and to the thread that calls the recorder.
 */
final class Times {
    final Recorder recorder;
    final long pushed = System.nanoTime();
    long ready;
    long started;
    long ended;
    String thread = "";
    int worker = -1;
    /** Whether the recorder has received the operation. */
    boolean told;
    /** The outcome, once the operation has ended. */
    Recorder.Outcome outcome = Recorder.Outcome.COMPLETED;

    Times(Recorder recorder) {
        this.recorder = recorder;
    }

    /**
     * Sets the time at which the operation held all its variables: when its last predecessor ended, or when it was
     * pushed, whichever is later. The tracker may process that end later, so the current time would be wrong.
     */
    void ready(Operation op) {
        long latest = pushed;
        for (int i = 0; i < op.count; i++) {
            VarState s = op.vars[i].state();
            long free = i < op.reads ? s.mutatedAt : s.usedAt;
            if (free != 0 && free - latest > 0) {
                latest = free;
            }
        }
        ready = latest;
    }

    /** Records that a worker begins to run the body. */
    void start(int number) {
        thread = Thread.currentThread().getName();
        worker = number;
        started = System.nanoTime();
    }

    /** Records that the body, and with it the operation, has ended, and reports it to the recorder; under no lock. */
    void ran(Operation op, @Nullable Throwable thrown) {
        ended = System.nanoTime();
        told = true;
        tell(op, thrown == null ? Recorder.Outcome.COMPLETED : Recorder.Outcome.FAILED);
    }

    /** Records the end of an operation that was skipped, cancelled or asynchronous. */
    void end() {
        if (ended == 0) {
            ended = System.nanoTime();
        }
        if (started == 0) {
            started = ended;
            thread = Thread.currentThread().getName();
        }
    }

    void tell(Operation op, Recorder.Outcome outcome) {
        Recorder.OpRecord record = new Recorder.OpRecord(op.name, op.kind, op.lane, thread, worker, pushed, ready,
                started, ended, outcome, op.group());
        try {
            recorder.ended(record);
        } catch (Throwable t) {
            op.core.unhandled(t);
        }
    }
}
