package io.seriatim.engine.dependency;

import io.seriatim.engine.Var;
import org.jspecify.annotations.Nullable;

/**
 * The handle of a variable. Pushing threads read it at every push. The tracker writes to a separate {@link VarState} at
 * every operation; that object is created at the first use, so that the two seldom share a cache line.
 */
public final class Variable implements Var {
    public final Owner core;
    private final String name;

    /** Whether a delete has been pushed; guarded by the push lock. */
    public boolean deleted;
    /** The order of the last pushed operation on the variable; guarded by the push lock. */
    public long lastUse = -1;
    /** The order of the last pushed mutation; guarded by the push lock. */
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

    /** Returns the tracker's state of the variable, created at the first call. */
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
