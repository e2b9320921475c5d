package io.seriatim.engine;

/** When the steps of a recorded operation happened, and who is told. */
final class Times {
    final Recorder recorder;
    final long pushed = System.nanoTime();
    long ready;
    long started;
    long ended;
    String thread = "";
    int worker = -1;
    Recorder.Outcome outcome = Recorder.Outcome.COMPLETED;

    Times(Recorder recorder) {
        this.recorder = recorder;
    }

    /** The operation has ended; where it did not run, it is given up now. */
    void end(Recorder.Outcome outcome) {
        if (ended == 0) {
            ended = System.nanoTime();
        }
        if (ready == 0) {
            ready = ended;
        }
        if (started == 0) {
            started = ended;
            thread = Thread.currentThread().getName();
        }
        this.outcome = outcome;
    }

    void tell(Operation op) {
        recorder.ended(new Recorder.OpRecord(op.name, op.kind, op.lane, thread, worker, pushed, ready, started, ended, outcome));
    }
}
