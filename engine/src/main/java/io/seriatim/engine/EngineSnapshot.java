package io.seriatim.engine;

import java.time.Instant;
import java.util.List;

/**
 * The pending operations of an engine at one moment. If very many operations are pending, some ten thousand, each is
 * shown as it was at some moment during the call, so that the call does not delay other threads. No operation that was
 * pending during the whole call is missing.
 *
 * @param engine
 *            the engine's name
 * @param at
 *            the time of the snapshot
 * @param operations
 *            the operations that had not ended, in push order
 * @param note
 *            why no thread runs the ready operations, on an engine that runs them only inside its waits; otherwise
 *            empty
 */
public record EngineSnapshot(String engine, Instant at, List<PendingOp> operations, String note) {
    /**
     * Creates a snapshot without a note.
     *
     * @param engine
     *            the engine's name
     * @param at
     *            the time of the snapshot
     * @param operations
     *            the operations that had not ended, in push order
     */
    public EngineSnapshot(String engine, Instant at, List<PendingOp> operations) {
        this(engine, at, operations, "");
    }

    /** Copies the list. */
    public EngineSnapshot {
        operations = List.copyOf(operations);
    }

    /** The state of a pending operation. */
    public enum State {
        /** An earlier operation on one of its variables has not ended. */
        WAITING,
        /** It waits only for a worker of its lane. */
        READY,
        /** Its body runs. */
        RUNNING,
        /** Its body has returned, but its completion has not been called. */
        STARTED
    }

    /**
     * One pending operation.
     *
     * @param order
     *            its index in push order, from 0
     * @param name
     *            its name
     * @param state
     *            its state
     * @param lane
     *            the lane that it runs on
     * @param reads
     *            the names of the variables that it reads
     * @param mutates
     *            the names of the variables that it mutates
     * @param overwrites
     *            the names of the variables that it overwrites
     * @param waitsFor
     *            for each variable that it does not hold yet, {@code variable ← operations} with its direct
     *            predecessors there: for a read, the last mutation before it; for a mutation, the reads since the last
     *            mutation, or that mutation if there are none
     * @param thread
     *            for a running operation whose thread is known, the thread's name, its state, the innermost stack frame
     *            outside the JDK and the engine and, if the thread waits, the call in which it does so; otherwise
     *            empty. If that call is not one of the engine, the engine does not know that the operation waits. A
     *            body that has not reached its first line, for instance because a thread that waits for the operation
     *            is initialising the body's class, is shown with its class
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
         * Describes the operation in one line.
         *
         * @return its name, state, lane, variables, predecessors and thread
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
     * Formats the snapshot as a dump.
     *
     * @return a header line, then one line for each operation
     */
    @Override
    public String toString() {
        StringBuilder dump = new StringBuilder("engine '").append(engine).append("' at ").append(at).append(": ")
                .append(operations.size())
                .append(" pending");
        if (!note.isEmpty()) {
            dump.append("; ").append(note);
        }
        operations.forEach(op -> dump.append(System.lineSeparator()).append(op));
        return dump.toString();
    }
}
