package io.seriatim.engine;

import java.nio.file.Path;

/**
 * Is told of each operation that has ended. Three are ready-made: {@link #jfr()}, {@link #trace(Path)} and
 * {@link #aggregate()}.
 */
@FunctionalInterface
public interface Recorder {
    /**
     * Takes the record of one operation. Called by the thread that ended it, by several threads at once, under no lock;
     * must not block. What it throws goes to {@link Engine.Builder#onUnhandled}.
     *
     * @param op
     *            the operation
     */
    void ended(OpRecord op);

    /**
     * Makes a Flight Recorder event of each operation: {@code io.seriatim.Operation}.
     *
     * @return the recorder
     */
    static Recorder jfr() {
        return new FlightRecorder();
    }

    /**
     * Writes a timeline that Perfetto and Chrome's tracing page open.
     *
     * @param file
     *            where to; written when the recorder is closed, under a temporary name and then moved into place
     * @return the recorder, to be closed after the engine
     */
    static TraceFile trace(Path file) {
        return new TraceFile(file);
    }

    /**
     * Keeps count, total time and percentiles for each operation name.
     *
     * @return the recorder
     */
    static AggregateTable aggregate() {
        return new AggregateTable();
    }

    /** How an operation ended. */
    enum Outcome {
        /** Its body ended well. */
        COMPLETED,
        /** Its body failed. */
        FAILED,
        /** It did not run because a variable was poisoned. */
        SKIPPED,
        /** It did not run, or was given up, because of {@link Engine#shutdownNow}. */
        CANCELLED
    }

    /**
     * One operation's way through the engine. Times are those of {@link System#nanoTime}: from pushed to ready it
     * waited for other operations, from ready to started for a worker. Of an operation that did not run, started and
     * ended are the time when it was given up.
     *
     * @param name
     *            its name
     * @param kind
     *            its kind
     * @param lane
     *            where it ran
     * @param thread
     *            the name of the thread that ran it, or gave it up
     * @param worker
     *            the number of the worker on its lane, or -1 where no worker ran it
     * @param pushed
     *            when it was pushed
     * @param ready
     *            when the operations that it depends on had ended
     * @param started
     *            when its body began
     * @param ended
     *            when its body, or its completion, ended
     * @param outcome
     *            how it ended
     */
    record OpRecord(String name, OpKind kind, Lane lane, String thread, int worker, long pushed, long ready,
            long started, long ended,
            Outcome outcome) {
    }
}
