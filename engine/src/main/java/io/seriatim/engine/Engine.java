package io.seriatim.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs operations in parallel, with the same result as running them one by one in the order in which they were pushed.
 *
 * <p>
 * An operation declares which {@linkplain Var variables} it reads and which it mutates. The mutations of one variable
 * run in push order, and each read runs between the mutations before and after it in push order. Operations that no
 * variable orders may run at the same time.
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
 * <b>Threads.</b> Every method may be called by any thread, including virtual threads. All pushes have one total order,
 * so no interleaving of pushes can deadlock.
 *
 * <p>
 * <b>Failure.</b> A failed operation poisons what it mutates: an operation that reads or mutates a poisoned variable is
 * skipped, and poisons the variables that it mutates. A variable stays poisoned until an operation that
 * {@linkplain OpBuilder#overwrites overwrites} the variable succeeds, or {@link #clearFailure} is called.
 * {@link #waitToRead}, {@link #waitForAll()} and {@link #failure} report the failure.
 *
 * <p>
 * <b>Interrupts.</b> A body or a callback does not see an interrupt that another one has left, nor the interrupt flag
 * of the thread that pushes, waits, completes or closes, which keeps it. On an engine without workers, a thread that
 * waits runs bodies: an interrupt that arrives meanwhile belongs to the running body, and one that arrives at another
 * time ends the wait.
 *
 * <p>
 * <b>Static initialisers.</b> While a thread initialises a class, no other thread can run a method of that class: the
 * JVM makes it wait. So an initialiser that waits for an operation whose body is a lambda or a method of the same class
 * never returns. Wait outside the initialiser. {@link #snapshot} shows such an operation as running, in a thread that
 * has not reached the first line of the body.
 *
 * <p>
 * <b>Errors.</b> A null argument causes a {@link NullPointerException}, a variable of another engine an
 * {@link IllegalArgumentException}, and a deleted variable or a closed engine an {@link IllegalStateException}.
 */
public interface Engine extends AutoCloseable {

    /**
     * Creates a per-device engine with the default numbers of workers: on {@code cpu}, one for each processor. The
     * environment may choose another engine; see {@link Builder#build}.
     *
     * @return a running engine; its threads start at the first push
     * @throws IllegalArgumentException
     *             if a setting of the environment has a value that does not exist
     */
    static Engine create() {
        return builder().build();
    }

    /**
     * Returns a builder of engines.
     *
     * @return a new builder with the defaults of {@link #create()}
     */
    static Builder builder() {
        return new EngineBuilder();
    }

    /**
     * Runs an action that may block on something that the engine does not know, such as a lock or a queue. If the
     * calling thread is a worker of any engine, another worker takes its place meanwhile, as in a wait of the engine.
     * So the thread that holds the lock may depend on operations of that engine. The naive and the shuffled engine have
     * no workers; with them, wait with {@link #await}.
     *
     * @param <E> the type of exception that the action throws
     * @param action
     *            runs once, on the calling thread
     * @throws E if the action throws it
     */
    static <E extends Exception> void blocking(Blocking<E> action) throws E {
        Worker worker = ThreadState.here().worker;
        if (worker == null) {
            action.run();
            return;
        }
        worker.block();
        try {
            action.run();
        } finally {
            worker.unblock();
        }
    }

    /**
     * Returns whether the calling thread is running an operation of any engine. If so, {@link RunContext#current}
     * returns a context, and pushes do not wait for room.
     *
     * @return true inside an operation
     */
    static boolean isInside() {
        return ThreadState.isInside();
    }

    /**
     * Creates a variable with a generated name.
     *
     * @return a new variable, with version 0
     */
    Var newVar();

    /**
     * Creates a variable with the given name.
     *
     * @param name
     *            the name shown in errors, snapshots and traces; need not be unique
     * @return a new variable, with version 0
     */
    Var newVar(String name);

    /**
     * Returns a builder for one operation.
     *
     * @param name
     *            the name shown in errors, snapshots and traces; need not be unique
     * @return a builder that one thread uses once
     */
    OpBuilder op(String name);

    /**
     * Pushes prepared operations, one after the other in the order of the list, as {@link PreparedOp#push()} does. Each
     * is an atomic push of its own: operations that other threads push may come between them. The lock of a push is
     * acquired once for many of them, so several pushing threads meet less often.
     *
     * @param ops
     *            operations prepared on this engine; one may occur several times
     * @throws IllegalArgumentException
     *             if one belongs to another engine; then none has been pushed
     * @throws IllegalStateException
     *             if one is deleted; then none has been pushed. Or if the engine is closed, or a variable of one is
     *             deleted: then those before that operation have been pushed, and it and those after it have not
     */
    void pushAll(List<PreparedOp> ops);

    /**
     * Joins prepared operations into one graph, whose order is derived once instead of at every push. A push of the
     * graph has the same result as {@link #pushAll} of its operations, and costs much less for each of them: they start
     * each other without the engine's lock. Worth it for lists of short operations that are pushed many times.
     *
     * <p>
     * To everything else the graph is one operation on all variables: waits and other operations wait until all of it
     * has ended, it counts as one, and its workers take up nothing else meanwhile. Its operations fail and are skipped
     * one by one, and each variable is poisoned as if they had been pushed alone. The variables' versions count every
     * mutation. Two pushes of a graph do not overlap. A body must not wait for this engine.
     *
     * <p>
     * While a recorder is set, and on engines without workers, a push of the graph pushes its operations one by one; so
     * it does if they have different lanes or priorities, or kinds other than {@link OpKind#NORMAL}, or if one of them
     * is asynchronous.
     *
     * @param name
     *            the name of the graph in snapshots and errors
     * @param ops
     *            operations and graphs prepared on this engine, in the order of the serial program; one may occur
     *            several times. They may be deleted afterwards
     * @return the graph; its priority and lane are those of its operations
     * @throws IllegalArgumentException
     *             if one belongs to another engine
     * @throws IllegalStateException
     *             if one is deleted
     */
    PreparedOp prepareAll(String name, List<PreparedOp> ops);

    /**
     * Waits until every mutation of the variable that was pushed before this call has ended.
     *
     * @param v
     *            the variable
     * @throws InterruptedException
     *             if the thread is interrupted while it waits
     * @throws OperationFailedException
     *             if the variable is poisoned; every call throws until the variable is overwritten or its failure
     *             cleared
     * @throws IllegalStateException
     *             if the variable is deleted, or if this is called inside an operation and the wait could never end;
     *             the message names the cycle of operations
     */
    void waitToRead(Var v) throws InterruptedException;

    /**
     * As {@link #waitToRead(Var)}, with a time limit.
     *
     * @param v
     *            the variable
     * @param limit
     *            the maximum time to wait; if zero or negative, the call does not wait
     * @throws InterruptedException
     *             if the thread is interrupted while it waits
     * @throws TimeoutException
     *             if the limit is exceeded
     */
    void waitToRead(Var v, Duration limit) throws InterruptedException, TimeoutException;

    /**
     * Waits until every operation on the variable that was pushed before this call has ended, including reads. Does not
     * throw if the variable is poisoned: a caller that waits to write does not need the old value.
     *
     * @param v
     *            the variable
     * @throws InterruptedException
     *             if the thread is interrupted while it waits
     * @throws IllegalStateException
     *             if the variable is deleted, or if this is called inside an operation and the wait could never end;
     *             the message names the cycle of operations
     */
    void waitToWrite(Var v) throws InterruptedException;

    /**
     * As {@link #waitToWrite(Var)}, with a time limit.
     *
     * @param v
     *            the variable
     * @param limit
     *            the maximum time to wait; if zero or negative, the call does not wait
     * @throws InterruptedException
     *             if the thread is interrupted while it waits
     * @throws TimeoutException
     *             if the limit is exceeded
     */
    void waitToWrite(Var v, Duration limit) throws InterruptedException, TimeoutException;

    /**
     * Waits until every operation that any thread pushed before this call has ended. Later pushes do not delay it, on
     * any engine; those of running operations are later pushes too. To wait for them as well, call
     * {@link #waitUntilIdle()}.
     *
     * @throws InterruptedException
     *             if the thread is interrupted while it waits
     * @throws OperationFailedException
     *             if operations have failed since the last {@code waitForAll}: the first failure, with up to 16 further
     *             failures as suppressed exceptions and the number of the rest
     * @throws IllegalStateException
     *             if this is called inside an operation of this engine, because it would wait for itself
     */
    void waitForAll() throws InterruptedException;

    /**
     * As {@link #waitForAll()}, with a time limit.
     *
     * @param limit
     *            the maximum time to wait; if zero or negative, the call does not wait
     * @throws InterruptedException
     *             if the thread is interrupted while it waits
     * @throws TimeoutException
     *             if the limit is exceeded; the next {@code waitForAll} reports the failures
     */
    void waitForAll(Duration limit) throws InterruptedException, TimeoutException;

    /**
     * Waits until no operation is pending: until all pushed operations have ended, together with those that running
     * operations and other threads push meanwhile. If the pushes never end, neither does this wait; use a time limit
     * then.
     *
     * <p>
     * A dependent stage of a future, a recorder or a listener is not an operation: one that pushes may do so after this
     * wait has ended. Wait for the stage itself, with {@link #await}.
     *
     * @throws InterruptedException
     *             if the thread is interrupted while it waits
     * @throws OperationFailedException
     *             if operations have failed since the last {@link #waitForAll()} or {@code waitUntilIdle}, as for
     *             {@code waitForAll}
     * @throws IllegalStateException
     *             if this is called inside an operation of this engine, because it would wait for itself
     */
    void waitUntilIdle() throws InterruptedException;

    /**
     * As {@link #waitUntilIdle()}, with a time limit.
     *
     * @param limit
     *            the maximum time to wait; if zero or negative, the call does not wait
     * @throws InterruptedException
     *             if the thread is interrupted while it waits
     * @throws TimeoutException
     *             if the limit is exceeded; the next {@code waitForAll} or {@code waitUntilIdle} reports the failures
     */
    void waitUntilIdle(Duration limit) throws InterruptedException, TimeoutException;

    /**
     * Waits until a stage has completed, normally or exceptionally. Like every wait of the engine, it lets another
     * worker take the place of a waiting one, and on an engine without threads it runs ready operations.
     *
     * <p>
     * The futures of {@link OpBuilder#submit} and {@link OpBuilder#call}, and those derived from them, need no such
     * call: their own {@code get} and {@code join} are waits of the engine. Use it for all other stages that operations
     * complete: those of {@code CompletableFuture.allOf} and {@code anyOf}, those that another future's method makes,
     * such as {@code other.thenCombine(ours, …)} or {@code other.thenCompose(x -> ours)}, and promises that a body
     * completes. {@code get} or {@code join} of such a stage would block a worker, and on the shuffled engine nobody
     * would run the operations; {@link #snapshot} shows such a wait.
     *
     * @param stage
     *            the stage to wait for
     * @throws InterruptedException
     *             if the thread is interrupted while it waits
     * @throws IllegalStateException
     *             if the stage is a future of an operation or derived from one, this is called inside an operation, and
     *             the wait could never end; the message names the cycle of operations
     */
    void await(CompletionStage<?> stage) throws InterruptedException;

    /**
     * Deletes a variable, poisoned or not, after all its earlier operations. A later use throws
     * {@link IllegalStateException}.
     *
     * @param v
     *            the variable
     */
    void delete(Var v);

    /**
     * As {@link #delete(Var)}, and then runs an action that frees the resource behind the variable.
     *
     * @param v
     *            the variable
     * @param onDeleted
     *            runs once, on lane {@code cpu}, after all earlier operations on the variable have ended
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
     *            runs once, after all earlier operations on the variable have ended
     */
    void delete(Var v, Lane where, Body onDeleted);

    /**
     * Returns the failure of a poisoned variable, without waiting.
     *
     * @param v
     *            the variable, which may be deleted
     * @return the exception that {@link #waitToRead} would throw, or null
     */
    @Nullable
    Throwable failure(Var v);

    /**
     * Clears the failure of a variable. The call is ordered like an operation on the variable: operations pushed before
     * it still find the variable poisoned, operations pushed after it do not.
     *
     * @param v
     *            the variable
     */
    void clearFailure(Var v);

    /**
     * Lists every pending operation with its state and the operations that it waits for. Works on a broken engine,
     * whose pushes and waits throw, to help diagnose it; the answer may then be incomplete or wrong.
     *
     * @return the state at one moment; its {@code toString} is a readable dump. {@link EngineSnapshot} says how exact
     * it is when very many operations are pending
     */
    EngineSnapshot snapshot();

    /**
     * Returns counts of the engine's operations. Works on a broken engine, as {@link #snapshot} does.
     *
     * @return the counts at one moment
     */
    EngineStats stats();

    /**
     * Starts or stops recording.
     *
     * @param recorder
     *            receives each operation pushed from now on, or null to stop
     */
    void record(@Nullable Recorder recorder);

    /**
     * Registers a listener for the events of one variable.
     *
     * @param v
     *            the variable
     * @param listener
     *            called after each event, in the order of the events; replaces an earlier listener
     */
    void trace(Var v, Consumer<VarEvent> listener);

    /**
     * Refuses pushes from outside, waits until all pushed operations have ended, and stops the threads. An operation of
     * this engine that is running may still push, inside its body, and the engine waits for that operation too. Never
     * throws the exception of a body: failures that nobody observed go to the handler given to
     * {@link Builder#onUnhandled}. A second call waits too, or returns at once if all operations have ended.
     *
     * <p>
     * If an operation never ends, for instance because its {@link Completion} is never called, or if operations push
     * others for ever, for instance one that pushes itself, this call waits forever. Use {@link #close(Duration)} to
     * wait for a limited time and {@link #shutdownNow()} to cancel pending operations; {@link #snapshot()} lists them
     * and shows what running threads do.
     *
     * @throws IllegalStateException
     *             if called inside an operation of this engine, or if the thread is interrupted while it waits. After
     *             an interrupt the thread's interrupt flag stays set, pushes from outside are refused, pending
     *             operations go on, and the engine's threads end after them
     */
    @Override
    void close();

    /**
     * As {@link #close()}, with a time limit. At the limit it calls {@link #shutdownNow()}.
     *
     * @param limit
     *            the maximum time to wait; if zero or negative, the call does not wait
     * @return true if all operations and threads have ended. False if operations were still pending at the limit: they
     * are cancelled, and their futures fail. Also false if the thread was interrupted while it waited: then its flag
     * stays set, the operations go on, and the engine's threads end after them
     * @throws IllegalStateException
     *             if called inside an operation of this engine
     */
    boolean close(Duration limit);

    /**
     * Closes without waiting for pending operations: they fail with {@link java.util.concurrent.CancellationException}.
     * Running bodies are interrupted, and a push by any thread throws {@link IllegalStateException}, also by an
     * operation that is still running; deletes still run. Returns at once. A body that fails afterwards because it was
     * interrupted, waited for a cancelled operation or could not push is not reported to the handler of unobserved
     * failures; other failures of bodies still are.
     */
    void shutdownNow();

    /**
     * An action that may block.
     *
     * @param <E> the type of exception that it throws
     */
    @FunctionalInterface
    interface Blocking<E extends Exception> {
        /**
         * Runs the action.
         *
         * @throws E
         *             if the action fails
         */
        void run() throws E;
    }

    /**
     * Configures an engine. {@link #naive}, {@link #pooled}, {@link #perDevice} and {@link #shuffled} exclude each
     * other: the last call takes effect.
     */
    interface Builder {
        /**
         * Runs each operation in the thread that pushes it; for debugging.
         *
         * @return this
         */
        Builder naive();

        /**
         * Runs all operations in one pool of threads, except copies, which have one thread of their own.
         *
         * @param threads
         *            the size of the pool, at least 1
         * @return this
         */
        Builder pooled(int threads);

        /**
         * Runs the operations of each place in a pool of its own, and the copies of each place in another. This is the
         * default, unless the environment chooses another; see {@link #build}.
         *
         * @return this
         */
        Builder perDevice();

        /**
         * Runs one operation at a time, chosen among the ready ones by a seeded generator. Operations run only inside
         * waits, inside {@code close}, inside {@code get} and {@code join} of a future of an operation or one derived
         * from it, and in pushes that reach {@code maxPending}. Finds undeclared dependencies, reproducibly.
         *
         * @param seed
         *            the seed of the generator
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
         * Sets the number of pending operations from which a push outside an operation waits.
         *
         * @param n
         *            at least 1; the default is 65,536
         * @return this
         */
        Builder maxPending(int n);

        /**
         * Sets the handler of failures that nobody observed before the engine closed, and of exceptions thrown by
         * listeners, recorders, and bodies whose operation had already ended.
         *
         * @param handler
         *            must not block; the default logs with {@link System.Logger}
         * @return this
         */
        Builder onUnhandled(Consumer<? super Throwable> handler);

        /**
         * Sets the recorder that the engine starts with.
         *
         * @param recorder
         *            receives each operation
         * @return this
         */
        Builder recorder(Recorder recorder);

        /**
         * Sets whether {@link Guarded} values check that the operation which accesses them has declared their variable.
         *
         * @param on
         *            the default is false
         * @return this
         */
        Builder checked(boolean on);

        /**
         * Sets the name of the engine and the prefix of its threads' names.
         *
         * @param name
         *            the name
         * @return this
         */
        Builder name(String name);

        /**
         * Gives each worker of a lane a state of its own, for instance a stream of an accelerator; see
         * {@link RunContext#state}. The worker's thread creates the state at the first use, and closes an
         * {@link AutoCloseable} state when the worker ends.
         *
         * @param lane
         *            the lane
         * @param state
         *            creates the state of one worker; call this method again for a state of another type
         * @return this
         */
        Builder workerState(Lane lane, Supplier<?> state);

        /**
         * Creates the engine. If this builder names no kind of engine ({@link #naive}, {@link #pooled},
         * {@link #perDevice} or {@link #shuffled}), these settings are read now, each from the system property or else
         * from the environment variable:
         *
         * <table>
         * <caption>Settings of the environment</caption>
         * <tr><th>Property</th><th>Variable</th><th>Values</th></tr>
         * <tr><td>{@code seriatim.engine}</td><td>{@code SERIATIM_ENGINE}</td>
         * <td>{@code naive}, {@code pooled}, {@code perDevice}, {@code shuffled} (seed 0) or
         * {@code shuffled:SEED}</td></tr>
         * <tr><td>{@code seriatim.workers}</td><td>{@code SERIATIM_WORKERS}</td>
         * <td>the number of workers of lane {@code cpu}, or of threads of the pool, at least 1</td></tr>
         * <tr><td>{@code seriatim.checked}</td><td>{@code SERIATIM_CHECKED}</td>
         * <td>{@code true} or {@code false}, as for {@link #checked}</td></tr>
         * </table>
         *
         * <p>
         * What this builder sets wins. The settings that are used are logged once, with {@link System.Logger}. Engines
         * that Seriatim makes for itself are not affected.
         *
         * @return a running engine
         * @throws IllegalArgumentException
         *             if a setting of the environment has a bad value; the message lists the good ones
         */
        Engine build();
    }
}
