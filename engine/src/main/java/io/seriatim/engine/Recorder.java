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
     * Returns a recorder that keeps the count, the total time and percentiles for each
     * {@linkplain OpBuilder#kind(String) kind} of operations.
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
     *            the kind that chooses its queue, set by {@link OpBuilder#kind(OpKind)}
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
     * @param group
     *            the kind that it is counted as, set by {@link OpBuilder#kind(String)}
     */
    record OpRecord(String name, OpKind kind, Lane lane, String thread, int worker, long pushed, long ready,
            long started, long ended,
            Outcome outcome, String group) {
        /**
         * Creates a record of an operation that is counted as its name up to the first blank.
         *
         * @param name
         *            its name
         * @param kind
         *            the kind that chooses its queue
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
         *            when it ended
         * @param outcome
         *            how it ended
         */
        public OpRecord(String name, OpKind kind, Lane lane, String thread, int worker, long pushed, long ready,
                long started, long ended, Outcome outcome) {
            this(name, kind, lane, thread, worker, pushed, ready, started, ended, outcome, groupOf(name));
        }

        /**
         * Returns what an operation is counted as by default.
         *
         * @param name
         *            the name of the operation
         * @return the name up to its first blank, or the whole name if that is empty
         */
        public static String groupOf(String name) {
            int length = name.length();
            int end = 0;
            while (end < length && !Character.isWhitespace(name.charAt(end))) {
                end++;
            }
            return end == 0 ? name : name.substring(0, end);
        }
    }
}
