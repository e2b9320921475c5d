package io.seriatim.engine.dependency;

import io.seriatim.engine.Var;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The engine as its operations and variables see it. {@code EngineCore} is the only subclass; this is a class instead
 * of an interface because calls through a class are cheaper.
 */
public abstract class Owner {
    /** The engine's name, used in messages. */
    public final String name;
    /** Whether guarded values check that the operation which accesses them has declared their variable. */
    public final boolean checked;

    /**
     * Creates the base of an engine.
     *
     * @param name
     *            its name
     * @param checked
     *            whether guarded values check accesses
     */
    protected Owner(String name, boolean checked) {
        this.name = name;
        this.checked = checked;
    }

    /** Returns the given variable if it belongs to this engine, and throws otherwise. */
    @SuppressWarnings("ReferenceEquality") // Engines are compared by identity.
    public final Variable own(Var var) {
        if (var instanceof Variable variable && variable.core == this) {
            return variable;
        }
        Objects.requireNonNull(var, "variable");
        String whose = var instanceof Variable foreign
                ? "of engine '" + foreign.core.name + "'"
                : "no engine's (" + var.getClass().getName() + ")";
        throw new IllegalArgumentException(
                "variable '" + var.name() + "' is " + whose + ", not of engine '" + name
                        + "': use variables made by this engine's newVar");
    }

    /** Pushes an operation whose description is complete. */
    public abstract void push(Operation op);

    /** Runs a ready operation of kind ASYNC on this thread; under no lock. */
    public abstract void runHere(Operation op);

    /**
     * Performs the steps of a completion that may fail for lack of memory or stack, before the completion is marked as
     * called; under no lock.
     */
    public abstract void prepareCompletion();

    /** Ends an operation from a thread that does not hold the tracker lock. */
    public abstract void complete(Operation op, @Nullable Throwable thrown);

    /** As {@link #complete}, for an operation whose body has returned on this thread. */
    public abstract void bodyReturned(Operation op, @Nullable Throwable thrown);

    /** Returns whether an operation must not run because the engine was shut down. */
    public abstract boolean isCancelled(Operation op);

    /** Cancels an operation that was about to run when the engine was shut down; under no lock. */
    public abstract void giveUp(Operation op);

    /** Ends a wait for all operations on a variable; under the tracker lock. */
    public abstract void drained(Drain drain);

    /**
     * Waits until a future is done or what it depends on has changed.
     *
     * @param on
     *            what the future waits for
     * @param deadline
     *            a {@link System#nanoTime}, or {@link io.seriatim.engine.sync.Deadline#NEVER}
     */
    public abstract void awaitFuture(EngineFuture<?> future, Dependencies on, long deadline)
            throws InterruptedException, TimeoutException;

    /** Acquires the tracker lock. May throw a StackOverflowError, but only before any state has changed. */
    public abstract void enter();

    /** Releases the tracker lock, then wakes waiting threads and workers. Calls no callbacks. */
    public abstract void exit();

    /** Queues a callback until a thread may call it; under the tracker lock. */
    public abstract void defer(Callback callback);

    /** Removes and returns the first deferred callback, or null; under the tracker lock. */
    public abstract @Nullable Callback pollDeferred();

    /** Defers a callback for another thread; under no lock. */
    public abstract void leaveToOthers(Callback callback);

    /** Calls a callback and passes its exception, if any, to the handler of unhandled failures; under no lock. */
    public abstract void guard(Callback callback);

    /** Passes a failure that has no other observer to the handler of unhandled failures; never throws. */
    public abstract void unhandled(Throwable t);

    /** Returns whether operations run on threads of the engine. */
    public abstract boolean hasWorkers();
}
