package io.seriatim.executor.run;

import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The workspace of a loop from its first iteration to its last. What an iteration binds stays bound for the next one of
 * the same plan, so that only values that have changed are bound again. One thread at a time uses it.
 *
 * @param <P>
 *            what identifies a plan
 */
public final class HeldWorkspace<P> implements AutoCloseable {
    private final Supplier<Workspace<P, Frame>> take;
    private final Consumer<Workspace<P, Frame>> giveBack;
    private @Nullable Workspace<P, Frame> held;
    private @Nullable Frame latest;

    /** Creates one that takes a workspace for the first iteration and gives it back after the last. */
    public HeldWorkspace(Supplier<Workspace<P, Frame>> take, Consumer<Workspace<P, Frame>> giveBack) {
        this.take = take;
        this.giveBack = giveBack;
    }

    /** Returns the workspace. */
    public Workspace<P, Frame> get() {
        Workspace<P, Frame> known = held;
        if (known == null) {
            known = take.get();
            held = known;
        }
        return known;
    }

    /** Ends an iteration in a frame of the workspace. */
    @SuppressWarnings("ReferenceEquality") // The frame itself.
    public void end(Frame frame) {
        Frame before = latest;
        latest = frame;
        frame.endIteration();
        if (before != null && before != frame) {
            before.endLoop();
        }
    }

    @Override
    public void close() {
        if (latest != null) {
            latest.endLoop();
            latest = null;
        }
        Workspace<P, Frame> known = held;
        if (known != null) {
            held = null;
            giveBack.accept(known);
        }
    }
}
