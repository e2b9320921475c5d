package io.seriatim.engine;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

/**
 * Describes one operation and pushes it. For a single use by one thread: after one of the last six methods, every
 * method throws {@link IllegalStateException}.
 *
 * <p>
 * Naming a variable twice counts once; a variable that is read and mutated is mutated; one that is mutated and
 * overwritten is mutated.
 */
public interface OpBuilder {
    /**
     * Adds variables whose value the operation needs.
     *
     * @param v
     *            the variables
     * @return this
     * @throws IllegalArgumentException
     *             if a variable is another engine's
     */
    OpBuilder reads(Var... v);

    /**
     * Adds variables that the operation changes and whose old value it needs.
     *
     * @param v
     *            the variables
     * @return this
     * @throws IllegalArgumentException
     *             if a variable is another engine's
     */
    OpBuilder mutates(Var... v);

    /**
     * Adds variables that the operation gives a new value without needing the old one: it runs even if they are
     * poisoned, and heals them.
     *
     * @param v
     *            the variables
     * @return this
     * @throws IllegalArgumentException
     *             if a variable is another engine's
     */
    OpBuilder overwrites(Var... v);

    /**
     * Says where the operation runs.
     *
     * @param lane
     *            its place and, if the kind is {@link OpKind#NORMAL}, its queue; the default is {@link Lane#CPU}
     * @return this
     */
    OpBuilder on(Lane lane);

    /**
     * Says what kind of work it is, which picks the queue.
     *
     * @param k
     *            the kind; the default is {@link OpKind#NORMAL}
     * @return this
     */
    OpBuilder kind(OpKind k);

    /**
     * Says how urgent it is among the ready operations of its lane.
     *
     * @param p
     *            a higher number runs first; the default is 0
     * @return this
     */
    OpBuilder priority(int p);

    /**
     * Runs the operation even if a variable that it reads or mutates is poisoned. Its success heals only what it
     * overwrites.
     *
     * @return this
     */
    OpBuilder evenIfFailed();

    /**
     * Says whether the engine's recorder is told of this operation.
     *
     * @param on
     *            the default is true
     * @return this
     */
    OpBuilder recorded(boolean on);

    /**
     * Pushes the operation; it has ended when the body returns or throws.
     *
     * @param body
     *            what to do
     * @throws IllegalStateException
     *             if a variable is deleted, the engine closed, or this builder used up
     */
    void push(Body body);

    /**
     * Pushes the operation; it has ended when the completion given to the body is called, by any thread.
     *
     * @param body
     *            what to start
     * @throws IllegalStateException
     *             if a variable is deleted, the engine closed, or this builder used up
     */
    void pushAsync(AsyncBody body);

    /**
     * Pushes the operation and gives a future of its end. {@code get} and {@code join} count as waits: inside an
     * operation they let another worker take over.
     *
     * @param body
     *            what to do
     * @return completes normally, with what the body threw, with {@link OperationFailedException} if it was skipped, or
     * with
     *         {@link java.util.concurrent.CancellationException} after {@link Engine#shutdownNow}
     * @throws IllegalStateException
     *             if a variable is deleted, the engine closed, or this builder used up
     */
    CompletableFuture<Void> submit(Body body);

    /**
     * As {@link #submit}, with a value.
     *
     * @param <T>
     *            the type of the value
     * @param body
     *            what to do
     * @return completes with what the body returned; otherwise as in {@link #submit}
     * @throws IllegalStateException
     *             if a variable is deleted, the engine closed, or this builder used up
     */
    <T> CompletableFuture<T> call(Callable<T> body);

    /**
     * Makes an operation to push many times.
     *
     * @param body
     *            what to do each time; with several workers two pushes that share no mutated variable may run at once
     * @return the operation, not pushed
     */
    PreparedOp prepare(Body body);

    /**
     * Makes an asynchronous operation to push many times.
     *
     * @param body
     *            what to start each time
     * @return the operation, not pushed
     */
    PreparedOp prepareAsync(AsyncBody body);
}
