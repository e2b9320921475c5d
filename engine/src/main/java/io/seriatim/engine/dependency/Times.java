package io.seriatim.engine.dependency;

import io.seriatim.engine.Recorder;
import org.jspecify.annotations.Nullable;

/** When the steps of a recorded operation happened, and who is told. */
public final class Times {
    final Recorder recorder;
    final long pushed = System.nanoTime();
    public long ready;
    long started;
    long ended;
    String thread = "";
    int worker = -1;
    /** Whether the recorder was told. */
    public boolean told;
    /** How the operation ended, once it has. */
    public Recorder.Outcome outcome = Recorder.Outcome.COMPLETED;

    public Times(Recorder recorder) {
        this.recorder = recorder;
    }

    /**
     * All the operation's variables are its own: since the last operation before it has given the last of them back, or
     * since it was pushed, if that was later. Not since the tracker noticed, which may be when a worker had nothing
     * else to do.
     */
    public void ready(Operation op) {
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

    /** A worker begins to run the body. */
    public void start(int number) {
        thread = Thread.currentThread().getName();
        worker = number;
        started = System.nanoTime();
    }

    /** The body has ended, and the operation with it. Tells of it now, under no lock. */
    public void ran(Operation op, @Nullable Throwable thrown) {
        ended = System.nanoTime();
        told = true;
        tell(op, thrown == null ? Recorder.Outcome.COMPLETED : Recorder.Outcome.FAILED);
    }

    /**
     * The operation has ended without a body of its own that has ended just now: it was skipped, cancelled or
     * asynchronous.
     */
    public void end() {
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
                started, ended, outcome);
        try {
            recorder.ended(record);
        } catch (Throwable t) {
            op.core.unhandled(t);
        }
    }
}
