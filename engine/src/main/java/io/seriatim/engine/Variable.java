package io.seriatim.engine;

import org.jspecify.annotations.Nullable;

/**
 * The handle of a variable. Pushing threads read it at every push. The tracker writes to a separate {@link VarState} at
 * every operation; that object is created at the first use, so that the two seldom share a cache line.
 */
final class Variable implements Var {
    final EngineCore core;
    private final String name;

    /** Whether a delete has been pushed; guarded by the push lock. */
    boolean deleted;
    /** The order of the last pushed operation on the variable; guarded by the push lock. */
    long lastUse = -1;
    /** The order of the last pushed mutation; guarded by the push lock. */
    long lastMutation = -1;

    private volatile @Nullable VarState state;

    Variable(EngineCore core, String name) {
        this.core = core;
        this.name = name;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public long version() {
        VarState s = state;
        return s == null ? 0 : s.version();
    }

    /** Returns the tracker's state of the variable, created at the first call. */
    VarState state() {
        VarState s = state;
        return s == null ? makeState() : s;
    }

    private synchronized VarState makeState() {
        VarState s = state;
        if (s == null) {
            s = new VarState();
            state = s;
        }
        return s;
    }

    @Nullable
    Failure failure() {
        VarState s = state;
        return s == null ? null : s.failure();
    }

    /**
     * Checks, on a checked engine, that the calling thread's operation has declared its access to the variable.
     *
     * @param write
     *            whether it must have declared a mutation; otherwise a read suffices
     */
    void checkAccess(boolean write) {
        if (!core.checked) {
            return;
        }
        Operation op = ThreadState.runningOf(core);
        if (op == null) {
            return;
        }
        int place = op.indexOf(this);
        if (place < 0 || (write && place < op.reads)) {
            throw new IllegalStateException("operation '" + op.name + "' accesses the value of variable '" + name
                    + "' but " + (write
                            ? "does not mutate it: add it to mutates(...) or overwrites(...)"
                            : "neither reads nor mutates it: add it to reads(...)"));
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
