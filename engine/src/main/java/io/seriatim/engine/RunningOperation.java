package io.seriatim.engine;

import org.jspecify.annotations.Nullable;

/** The context of the operation that a thread runs. */
record RunningOperation(Operation op, int worker, WorkerStates states) implements RunContext {
    /** Returns the context of the operation that the calling thread runs, or null. */
    @SuppressWarnings("ReferenceEquality") // Engines are compared by identity.
    static @Nullable RunContext context() {
        ThreadState state = ThreadState.here();
        Operation op = state.running;
        if (op == null) {
            return null;
        }
        Worker worker = state.worker;
        return worker != null && worker.core == op.core && op.kind != OpKind.ASYNC
                ? new RunningOperation(op, worker.number, worker.states)
                : new RunningOperation(op, 0, op.core.dispatcher.states(op));
    }

    @Override
    public Lane lane() {
        return op.lane;
    }

    @Override
    public <T> T state(Class<T> type) {
        return states.get(type, op);
    }
}
