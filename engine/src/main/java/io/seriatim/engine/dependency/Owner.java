package io.seriatim.engine.dependency;

import io.seriatim.engine.Var;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The engine, as its operations and variables see it. There is one implementation, {@code EngineCore}: a class instead
 * of an interface, so that the JVM calls it directly.
 */
public abstract class Owner {
    /** The engine's name, for messages. */
    public final String name;
    /** Whether guarded values check that the operation touching them declared them. */
    public final boolean checked;

    /**
     * Names the engine.
     *
     * @param name
     *            its name
     * @param checked
     *            whether guarded values are checked
     */
    protected Owner(String name, boolean checked) {
        this.name = name;
        this.checked = checked;
    }

    /** Checks that a variable is one of this engine's. */
    @SuppressWarnings("ReferenceEquality") // This engine itself.
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

    /** Pushes an operation that is fully described. */
    public abstract void push(Operation op);

    /** Runs a ready operation of kind ASYNC on this thread; under no lock. */
    public abstract void runHere(Operation op);

    /**
     * Does what may fail for want of memory or stack before an asynchronous operation counts as completed; under no
     * lock.
     */
    public abstract void prepareCompletion();

    /** Ends an operation from a thread that does not hold the tracker lock. */
    public abstract void complete(Operation op, @Nullable Throwable thrown);

    /** As {@link #complete}, of an operation whose body this thread has run. */
    public abstract void ranElsewhere(Operation op, @Nullable Throwable thrown);

    /** Whether an operation must not run because the engine was shut down. */
    public abstract boolean isCancelled(Operation op);

    /** Cancels an operation that was about to run when the engine was shut down; under no lock. */
    public abstract void giveUp(Operation op);

    /** A wait for all operations on a variable has ended; under the tracker lock. */
    public abstract void drained(Drain drain);

    /**
     * Waits until an operation's future is done.
     *
     * @param deadline
     *            a {@link System#nanoTime}, or {@link io.seriatim.engine.sync.Deadline#NEVER}
     */
    public abstract void awaitFuture(OpFuture<?> future, Operation op, long deadline)
            throws InterruptedException, TimeoutException;

    /** Takes the tracker lock; may throw a StackOverflowError, before anything is changed. */
    public abstract void enter();

    /** Releases the tracker lock, wakes waiting threads and calls workers, but no callbacks. */
    public abstract void exit();

    /** Puts off a callback until a thread may call it; under the tracker lock. */
    public abstract void defer(Callback callback);

    /** Takes a callback that was put off, or null; under the tracker lock. */
    public abstract @Nullable Callback pollDeferred();

    /** Leaves a callback to another thread; under no lock. */
    public abstract void leaveToOthers(Callback callback);

    /** Calls a callback and passes on to the handler what it throws; under no lock. */
    public abstract void guard(Callback callback);

    /** Tells the handler of a failure that has no other observer; throws nothing. */
    public abstract void unhandled(Throwable t);

    /** Whether operations run on threads of the engine. */
    public abstract boolean hasWorkers();
}
