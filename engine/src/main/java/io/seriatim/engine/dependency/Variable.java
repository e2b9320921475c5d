package io.seriatim.engine.dependency;

import io.seriatim.engine.Var;
import org.jspecify.annotations.Nullable;

/**
 * The handle of a variable. Pushing threads read it at every push; what the tracker writes at every operation is in
 * {@link VarState}, an object of its own, made at the first use so that the two seldom share a cache line.
 */
public final class Variable implements Var {
    public final Owner core;
    private final String name;

    /** Whether a delete was pushed; guarded by the push lock. */
    public boolean deleted;
    /** The order of the last operation that was pushed with it; guarded by the push lock. */
    public long lastUse = -1;
    /** The order of the last one that mutates it; guarded by the push lock. */
    public long lastMutation = -1;

    private volatile @Nullable VarState state;

    public Variable(Owner core, String name) {
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

    /** What the tracker knows of it; made at the first call. */
    public VarState state() {
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
    public Failure failure() {
        VarState s = state;
        return s == null ? null : s.failure();
    }

    @Override
    public String toString() {
        return name;
    }
}
