package io.seriatim.engine;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs operations in parallel with the result of running them one by one, in the order in which they were pushed.
 *
 * <p>
 * An operation says which {@linkplain Var variables} it reads and which it mutates. On each variable, mutations happen
 * in push order, and reads between the mutations that they were pushed between; whatever is not ordered by a variable
 * may run at the same time.
 *
 * <pre>{@code
 * try (Engine engine = Engine.create()) {
 *     Var a = engine.newVar("a");
 *     Var b = engine.newVar("b");
 *     engine.op("load").mutates(a).push(() -> load());
 *     engine.op("index").reads(a).mutates(b).push(() -> index());
 *     engine.waitToRead(b); // throws OperationFailedException if "load" or "index" failed
 * }
 * }</pre>
 *
 * <p>
 * <b>Threads.</b> Every method may be called by any thread, virtual threads included. All pushes take one total order,
 * so no interleaving of pushes deadlocks.
 *
 * <p>
 * <b>Failure.</b> A failed operation poisons what it mutates: operations that read or mutate a poisoned variable are
 * skipped and pass the poison on, until an operation that {@linkplain OpBuilder#overwrites overwrites} the variable
 * succeeds, or {@link #clearFailure} is called. {@link #waitToRead}, {@link #waitForAll()} and {@link #failure} tell of
 * it.
 *
 * <p>
 * <b>Static initialisers.</b> While a thread initialises a class, no other thread can run a method of that class: the
 * JVM makes it wait. So an initialiser that waits for an operation whose body is a lambda or a method of the class
 * itself hangs. Wait outside the initialiser. {@link #snapshot} shows such an operation as running, with a thread that
 * has not come to the first line of its body.
 *
 * <p>
 * <b>Errors.</b> A null is a {@link NullPointerException}, a variable of another engine an
 * {@link IllegalArgumentException}, a deleted variable or a closed engine an {@link IllegalStateException}.
 */
public interface Engine extends AutoCloseable {

    /**
     * Makes a per-device engine with default workers: on {@code cpu} as many as there are processors.
     *
     * @return a running engine; its threads start at the first push
     */
    static Engine create() {
        return builder().build();
    }

    /**
     * Begins the description of an engine.
     *
     * @return a builder whose defaults are those of {@link #create()}
     */
    static Builder builder() {
        return Implementation.RUNTIME.builder();
    }

    /**
     * Does something that may block for a reason that the engine does not know of, such as a lock or a queue. If the
     * calling thread is a worker, of whatever engine, another one takes its place meanwhile, as in a wait of the
     * engine: so whoever holds the lock may need that engine to go on. The naive and the shuffled engine have no worker
     * to take the place; there, wait with {@link #await}.
     *
     * @param <E>
     *            what the action throws
     * @param action
     *            runs once, on the calling thread
     * @throws E
     *             what the action throws
     */
    static <E extends Exception> void blocking(Blocking<E> action) throws E {
        boolean blocks = Implementation.RUNTIME.block();
        try {
            action.run();
        } finally {
            if (blocks) {
                Implementation.RUNTIME.unblock();
            }
        }
    }

    /**
     * Whether the calling thread runs an operation, of whatever engine: then {@link RunContext#current} has an answer,
     * and pushes do not wait for room.
     *
     * @return whether it does
     */
    static boolean isInside() {
        return Implementation.RUNTIME.isInside();
    }

    /**
     * Makes a variable with a generated name.
     *
     * @return a variable of version 0
     */
    Var newVar();

    /**
     * Makes a variable.
     *
     * @param name
     *            its name in errors, snapshots and traces; need not be unique
     * @return a variable of version 0
     */
    Var newVar(String name);

    /**
     * Begins the description of one operation.
     *
     * @param name
     *            its name in errors, snapshots and traces; need not be unique
     * @return a builder for a single use by one thread
     */
    OpBuilder op(String name);

    /**
     * Waits until every mutation of the variable that was pushed before has ended.
     *
     * @param v
     *            the variable
     * @throws InterruptedException
     *             if the thread is interrupted while it waits
     * @throws OperationFailedException
     *             if the variable is poisoned; each time, until it is overwritten or cleared
     * @throws IllegalStateException
     *             if the variable is deleted, or if this is called inside an operation and could never end; the message
     *             names the chain
     */
    void waitToRead(Var v) throws InterruptedException;

    /**
     * As {@link #waitToRead(Var)}, for at most a given time.
     *
     * @param v
     *            the variable
     * @param limit
     *            the longest time to wait; zero or less only looks
     * @throws InterruptedException
     *             if the thread is interrupted while it waits
     * @throws TimeoutException
     *             if the time is over
     */
    void waitToRead(Var v, Duration limit) throws InterruptedException, TimeoutException;

    /**
     * Waits until every operation on the variable that was pushed before has ended, reads too. Does not throw for a
     * poisoned variable: who waits to write does not need the old value.
     *
     * @param v
     *            the variable
     * @throws InterruptedException
     *             if the thread is interrupted while it waits
     * @throws IllegalStateException
     *             if the variable is deleted, or if this is called inside an operation and could never end; the message
     *             names the chain
     */
    void waitToWrite(Var v) throws InterruptedException;

    /**
     * As {@link #waitToWrite(Var)}, for at most a given time.
     *
     * @param v
     *            the variable
     * @param limit
     *            the longest time to wait; zero or less only looks
     * @throws InterruptedException
     *             if the thread is interrupted while it waits
     * @throws TimeoutException
     *             if the time is over
     */
    void waitToWrite(Var v, Duration limit) throws InterruptedException, TimeoutException;

    /**
     * Waits until every operation pushed before, by any thread, has ended. Later pushes do not delay it.
     *
     * @throws InterruptedException
     *             if the thread is interrupted while it waits
     * @throws OperationFailedException
     *             the first failure since the last {@code waitForAll}, with up to 16 others suppressed and then a count
     * @throws IllegalStateException
     *             if this is called inside an operation of this engine, which would wait for itself
     */
    void waitForAll() throws InterruptedException;

    /**
     * As {@link #waitForAll()}, for at most a given time.
     *
     * @param limit
     *            the longest time to wait; zero or less only looks
     * @throws InterruptedException
     *             if the thread is interrupted while it waits
     * @throws TimeoutException
     *             if the time is over; failures stay for the next {@code waitForAll}
     */
    void waitForAll(Duration limit) throws InterruptedException, TimeoutException;

    /**
     * Waits until a stage is complete, in whatever way, as a wait of this engine: inside an operation another worker
     * takes this one's place, and an engine without threads runs ready operations meanwhile. For what operations
     * complete that the caller does not know.
     *
     * @param stage
     *            what is waited for
     * @throws InterruptedException
     *             if the thread is interrupted while it waits
     */
    void await(CompletionStage<?> stage) throws InterruptedException;

    /**
     * Deletes a variable after all its earlier operations, poisoned or not. A later use throws
     * {@link IllegalStateException}.
     *
     * @param v
     *            the variable
     */
    void delete(Var v);

    /**
     * As {@link #delete(Var)}, and then frees what the variable stood for.
     *
     * @param v
     *            the variable
     * @param onDeleted
     *            runs once, on the CPU, when all earlier operations of the variable have ended
     */
    void delete(Var v, Runnable onDeleted);

    /**
     * As {@link #delete(Var, Runnable)}, on a given lane.
     *
     * @param v
     *            the variable
     * @param where
     *            the lane that runs {@code onDeleted}
     * @param onDeleted
     *            runs once, when all earlier operations of the variable have ended
     */
    void delete(Var v, Lane where, Body onDeleted);

    /**
     * Tells, without waiting, whether a variable is poisoned.
     *
     * @param v
     *            the variable, which may be deleted
     * @return what {@link #waitToRead} would throw, or null
     */
    @Nullable
    Throwable failure(Var v);

    /**
     * Takes the poison from a variable. Takes its place in the variable's order: operations pushed before still see the
     * poison, those pushed after do not.
     *
     * @param v
     *            the variable
     */
    void clearFailure(Var v);

    /**
     * Tells what every pending operation is doing and what it waits for. A broken engine, whose pushes and waits throw,
     * answers too, for its diagnosis: what it tells then need not be complete or true.
     *
     * @return a picture of one moment, whose {@code toString} is readable; {@link EngineSnapshot} says what that means
     * where very many operations are pending
     */
    EngineSnapshot snapshot();

    /**
     * Counts what the engine has done. A broken engine answers too, as with {@link #snapshot}.
     *
     * @return the figures of one moment
     */
    EngineStats stats();

    /**
     * Starts or stops recording.
     *
     * @param recorder
     *            what is told of each operation pushed from now on, or null to stop
     */
    void record(@Nullable Recorder recorder);

    /**
     * Follows one variable.
     *
     * @param v
     *            the variable
     * @param listener
     *            called after each event, in the variable's order; replaces an earlier one
     */
    void trace(Var v, Consumer<VarEvent> listener);

    /**
     * Refuses new pushes, waits until all that was pushed has ended, and stops the threads. Never throws what a body
     * threw: failures that no one observed go to the handler given to {@link Builder#onUnhandled}. Closing again waits
     * again, or does nothing if all has ended.
     *
     * <p>
     * An operation that never ends, for instance one whose {@link Completion} no one calls, makes this wait forever.
     * Use {@link #close(Duration)} to wait for a limited time and {@link #shutdownNow()} to cancel what is pending;
     * {@link #snapshot()} shows what that is and what running threads do.
     *
     * @throws IllegalStateException
     *             if called inside an operation of this engine; or if the thread is interrupted while it waits: its
     *             flag stays set, pushes are refused, pending operations go on and the threads end after them
     */
    @Override
    void close();

    /**
     * As {@link #close()}, for at most a given time.
     *
     * @param limit
     *            the longest time to wait
     * @return false if operations were still pending when the time was over, or when the thread was interrupted, whose
     * flag stays set; they keep running and the threads
     *         stop after them
     */
    boolean close(Duration limit);

    /**
     * Closes without draining: pending operations fail with {@link java.util.concurrent.CancellationException}, running
     * bodies are interrupted, deletes still run. Returns without waiting.
     */
    void shutdownNow();

    /**
     * What may block.
     *
     * @param <E>
     *            what it throws
     */
    @FunctionalInterface
    interface Blocking<E extends Exception> {
        /**
         * Does it.
         *
         * @throws E
         *             what it throws
         */
        void run() throws E;
    }

    /**
     * Describes an engine. The last of {@link #naive}, {@link #pooled}, {@link #perDevice} and {@link #shuffled}
     * counts.
     */
    interface Builder {
        /**
         * Runs each operation in the thread that pushes it: for debugging.
         *
         * @return this
         */
        Builder naive();

        /**
         * Runs everything in one pool, and copies in a pool of one thread.
         *
         * @param threads
         *            the size of the pool, at least 1
         * @return this
         */
        Builder pooled(int threads);

        /**
         * Runs each place's operations in a pool of its own, its copies in another; the default.
         *
         * @return this
         */
        Builder perDevice();

        /**
         * Runs one operation at a time, picked among those that are ready by a seeded generator, only inside waits,
         * {@code close}, {@code get} and {@code join} of a future, or at {@code maxPending}: finds dependencies that
         * were not declared, repeatably.
         *
         * @param seed
         *            of the generator
         * @return this
         */
        Builder shuffled(long seed);

        /**
         * Sets the number of workers of a lane of the per-device engine.
         *
         * @param lane
         *            the lane
         * @param n
         *            at least 1
         * @return this
         */
        Builder workers(Lane lane, int n);

        /**
         * Sets how many operations may be pending before a push from outside an operation waits.
         *
         * @param n
         *            at least 1; the default is 65,536
         * @return this
         */
        Builder maxPending(int n);

        /**
         * Sets what is told of failures that no one observed before the engine closed, and of what listeners, recorders
         * and late bodies throw.
         *
         * @param handler
         *            must not block; the default logs with {@link System.Logger}
         * @return this
         */
        Builder onUnhandled(Consumer<? super Throwable> handler);

        /**
         * Starts the engine with a recorder.
         *
         * @param recorder
         *            what is told of each operation
         * @return this
         */
        Builder recorder(Recorder recorder);

        /**
         * Sets whether {@link Guarded} values check that the operation touching them declared them.
         *
         * @param on
         *            off by default
         * @return this
         */
        Builder checked(boolean on);

        /**
         * Names the engine and its threads.
         *
         * @param name
         *            the name
         * @return this
         */
        Builder name(String name);

        /**
         * Gives each worker of a lane a state of its own, for instance an accelerator's stream; see
         * {@link RunContext#state}. It is made by the worker's thread at its first use and closed with the worker if it
         * is {@link AutoCloseable}.
         *
         * @param lane
         *            the lane
         * @param state
         *            makes the state of one worker; may be given several times for states of different types
         * @return this
         */
        Builder workerState(Lane lane, Supplier<?> state);

        /**
         * Makes the engine.
         *
         * @return a running engine
         */
        Engine build();
    }
}
