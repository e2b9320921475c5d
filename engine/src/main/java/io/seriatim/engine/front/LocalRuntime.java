package io.seriatim.engine.front;

import io.seriatim.engine.Engine;
import io.seriatim.engine.Lane;
import io.seriatim.engine.OpKind;
import io.seriatim.engine.RunContext;
import io.seriatim.engine.Var;
import io.seriatim.engine.core.EngineCore;
import io.seriatim.engine.dependency.Operation;
import io.seriatim.engine.dependency.Variable;
import io.seriatim.engine.runtime.EngineRuntime;
import io.seriatim.engine.thread.ThreadState;
import io.seriatim.engine.thread.WorkerStates;
import io.seriatim.engine.thread.WorkerThread;
import org.jspecify.annotations.Nullable;

/** Implements the static methods of the API. */
public final class LocalRuntime implements EngineRuntime<Engine.Builder, RunContext, Var> {
    /** Called by the service loader. */
    public LocalRuntime() {
        // Nothing to do.
    }

    @Override
    public Engine.Builder builder() {
        return new EngineBuilder();
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // Engines are compared by identity.
    public @Nullable RunContext context() {
        ThreadState state = ThreadState.here();
        Operation op = state.running;
        if (op == null) {
            return null;
        }
        WorkerThread worker = state.worker;
        return worker != null && worker.engine == op.core && op.kind != OpKind.ASYNC
                ? new Context(op, worker.number, worker.states)
                : new Context(op, 0, ((EngineCore) op.core).dispatcher.states(op));
    }

    /** The context of a running operation. */
    private record Context(Operation op, int worker, WorkerStates states) implements RunContext {
        @Override
        public Lane lane() {
            return op.lane;
        }

        @Override
        public <T> T state(Class<T> type) {
            return states.get(type, op);
        }
    }

    @Override
    public boolean isInside() {
        return ThreadState.isInside();
    }

    @Override
    public boolean block() {
        WorkerThread worker = ThreadState.here().worker;
        if (worker == null) {
            return false;
        }
        worker.block();
        return true;
    }

    @Override
    public void unblock() {
        WorkerThread worker = ThreadState.here().worker;
        if (worker != null) {
            worker.unblock();
        }
    }

    @Override
    public void checkReads(Var var) {
        check((Variable) var, false);
    }

    @Override
    public void checkMutates(Var var) {
        check((Variable) var, true);
    }

    private static void check(Variable v, boolean write) {
        if (!v.core.checked) {
            return;
        }
        Operation op = ThreadState.runningOf(v.core);
        if (op == null) {
            return;
        }
        int place = op.indexOf(v);
        if (place < 0 || (write && place < op.reads)) {
            throw new IllegalStateException("operation '" + op.name + "' accesses the value of variable '" + v.name()
                    + "' but " + (write
                            ? "does not mutate it: add it to mutates(...) or overwrites(...)"
                            : "neither reads nor mutates it: add it to reads(...)"));
        }
    }
}
