package io.seriatim.engine;

import java.time.Instant;
import java.util.List;

/**
 * What every pending operation of an engine was doing at one moment. If very many are pending, some ten thousand, each
 * is shown as it was at some moment during the call, so that nobody is held up; none that was pending all the time is
 * missing.
 *
 * @param engine
 *            the engine's name
 * @param at
 *            when
 * @param operations
 *            those that had not ended, in push order
 */
public record EngineSnapshot(String engine, Instant at, List<PendingOp> operations) {
    /** Copies the list. */
    public EngineSnapshot {
        operations = List.copyOf(operations);
    }

    /** How far an operation has come. */
    public enum State {
        /** An earlier operation on one of its variables has not ended. */
        WAITING,
        /** Nothing holds it but its lane's workers. */
        READY,
        /** Its body runs. */
        RUNNING,
        /** Its body has returned and its completion has not been called. */
        STARTED
    }

    /**
     * One operation.
     *
     * @param order
     *            its place in push order, from 0
     * @param name
     *            its name
     * @param state
     *            how far it has come
     * @param lane
     *            where it runs
     * @param reads
     *            the names of the variables that it reads
     * @param mutates
     *            the names of those that it mutates
     * @param overwrites
     *            the names of those that it overwrites
     * @param waitsFor
     *            for each variable that is not yet its own: {@code variable ← operations}, with those directly before
     *            it there: for an operation that reads, the last that mutates; for one that mutates, those that read
     *            since, or the last that mutates if there are none
     * @param thread
     *            for a running operation whose thread is known: the thread's name and state and the innermost line of
     *            the body, or of what it calls, outside the JDK; else empty. A body that has not come to its first
     *            line, for instance because its class is being initialised by a thread that waits for the operation, is
     *            shown with its class
     */
    public record PendingOp(long order, String name, State state, Lane lane, List<String> reads, List<String> mutates,
            List<String> overwrites, List<String> waitsFor, String thread) {
        /** Copies the lists. */
        public PendingOp {
            reads = List.copyOf(reads);
            mutates = List.copyOf(mutates);
            overwrites = List.copyOf(overwrites);
            waitsFor = List.copyOf(waitsFor);
        }

        /**
         * A line about the operation.
         *
         * @return its name, state, lane, variables, what it waits for and what its thread does
         */
        @Override
        public String toString() {
            StringBuilder line = new StringBuilder(96).append('#').append(order).append(" '").append(name).append("' ")
                    .append(state)
                    .append(" on ").append(lane);
            list(line, " reads ", reads);
            list(line, " mutates ", mutates);
            list(line, " overwrites ", overwrites);
            list(line, " waits for ", waitsFor);
            if (!thread.isEmpty()) {
                line.append(" in thread ").append(thread);
            }
            return line.toString();
        }

        private static void list(StringBuilder line, String what, List<String> names) {
            if (!names.isEmpty()) {
                line.append(what).append(String.join(", ", names));
            }
        }
    }

    /**
     * A readable dump.
     *
     * @return a head line, then one line an operation
     */
    @Override
    public String toString() {
        StringBuilder dump = new StringBuilder("engine '").append(engine).append("' at ").append(at).append(": ")
                .append(operations.size())
                .append(" pending");
        operations.forEach(op -> dump.append(System.lineSeparator()).append(op));
        return dump.toString();
    }
}
