package io.seriatim.engine;

import java.nio.file.Path;

/**
 * Receives each operation that has ended. There are three implementations: {@link #jfr()}, {@link #trace(Path)} and
 * {@link #aggregate()}.
 */
@FunctionalInterface
public interface Recorder {
    /**
     * Receives the record of one operation. The thread that ended the operation calls this method without holding a
     * lock, and several threads may call it at the same time. It must not block. Exceptions go to
     * {@link Engine.Builder#onUnhandled}.
     *
     * @param op
     *            the operation
     */
    void ended(OpRecord op);

    /**
     * Returns a recorder that emits a Flight Recorder event, {@code io.seriatim.Operation}, for each operation.
     *
     * @return the recorder
     */
    static Recorder jfr() {
        return new FlightRecorder();
    }

    /**
     * Returns a recorder that writes a timeline, which Perfetto and Chrome's tracing page can open.
     *
     * @param file
     *            the file. The recorder writes to a temporary file, which replaces this file when the recorder is
     *            closed
     * @return the recorder; close it after the engine
     */
    static TraceFile trace(Path file) {
        return new TraceFile(file);
    }

    /**
     * Returns a recorder that keeps the count, the total time and percentiles for each name of operations.
     *
     * @return the recorder
     */
    static AggregateTable aggregate() {
        return new AggregateTable();
    }

    /** How an operation ended. */
    enum Outcome {
        /** Its body returned normally. */
        COMPLETED,
        /** Its body failed. */
        FAILED,
        /** It did not run because a variable was poisoned. */
        SKIPPED,
        /** It did not run, or was abandoned after it had started, because of {@link Engine#shutdownNow}. */
        CANCELLED
    }

    /**
     * The life of one operation in the engine. Times are values of {@link System#nanoTime}: from {@code pushed} to
     * {@code ready} it waited for other operations, from {@code ready} to {@code started} for a worker. For an
     * operation that did not run, {@code started} and {@code ended} are the time when the engine skipped or cancelled
     * it.
     *
     * @param name
     *            its name
     * @param kind
     *            its kind
     * @param lane
     *            the lane that it ran on
     * @param thread
     *            the name of the thread that ran, skipped or cancelled it
     * @param worker
     *            the number of the worker on its lane, or -1 if no worker ran it
     * @param pushed
     *            when it was pushed
     * @param ready
     *            when the operations that it depends on had ended
     * @param started
     *            when its body began
     * @param ended
     *            when its body returned or, for an asynchronous operation, its completion was called
     * @param outcome
     *            how it ended
     */
    record OpRecord(String name, OpKind kind, Lane lane, String thread, int worker, long pushed, long ready,
            long started, long ended,
            Outcome outcome) {
    }
}
