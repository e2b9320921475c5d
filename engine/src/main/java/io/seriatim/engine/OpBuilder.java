package io.seriatim.engine;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

/**
 * Describes one operation and pushes it. One thread uses a builder once: after {@code push}, {@code pushAsync},
 * {@code submit}, {@code call}, {@code prepare} or {@code prepareAsync}, every method throws
 * {@link IllegalStateException}.
 *
 * <p>
 * A variable that is named twice counts once. A variable that is both read and mutated, read and overwritten, or
 * mutated and overwritten is mutated.
 */
public interface OpBuilder {
    /**
     * Adds variables that the operation reads.
     *
     * @param v
     *            the variables
     * @return this
     * @throws IllegalArgumentException
     *             if a variable belongs to another engine
     */
    OpBuilder reads(Var... v);

    /**
     * Adds variables that the operation reads and changes.
     *
     * @param v
     *            the variables
     * @return this
     * @throws IllegalArgumentException
     *             if a variable belongs to another engine
     */
    OpBuilder mutates(Var... v);

    /**
     * Adds variables that the operation gives a new value without reading the old one. The operation runs even if they
     * are poisoned, and its success clears their failure.
     *
     * @param v
     *            the variables
     * @return this
     * @throws IllegalArgumentException
     *             if a variable belongs to another engine
     */
    OpBuilder overwrites(Var... v);

    /**
     * Sets the lane that the operation runs on.
     *
     * @param lane
     *            its place, and its queue unless the {@linkplain #kind kind} chooses another; the default is
     *            {@link Lane#CPU}
     * @return this
     */
    OpBuilder on(Lane lane);

    /**
     * Sets the kind of work, which may choose the queue of the place.
     *
     * @param k
     *            the kind; the default is {@link OpKind#NORMAL}
     * @return this
     */
    OpBuilder kind(OpKind k);

    /**
     * Sets the kind of work that the operation is counted as: {@link Recorder#aggregate} has one row for each kind.
     *
     * @param k
     *            any text that is not blank; the default is the name up to its first blank, so that "read a.txt" and
     *            "read b.txt" are both of kind "read"
     * @return this
     * @throws IllegalArgumentException
     *             if the kind is blank
     */
    OpBuilder kind(String k);

    /**
     * Sets the priority among the ready operations of the lane.
     *
     * @param p
     *            operations with a higher number run first; the default is 0
     * @return this
     */
    OpBuilder priority(int p);

    /**
     * Runs the operation even if a variable that it reads or mutates is poisoned. Its success clears the failure of the
     * variables that it overwrites only.
     *
     * @return this
     */
    OpBuilder evenIfFailed();

    /**
     * Sets whether the engine's recorder receives this operation.
     *
     * @param on
     *            the default is true
     * @return this
     */
    OpBuilder recorded(boolean on);

    /**
     * Pushes the operation. It ends when the body returns or throws.
     *
     * @param body
     *            the work of the operation
     * @throws IllegalStateException
     *             if a variable is deleted, the engine is closed, or this builder has been used
     */
    void push(Body body);

    /**
     * Pushes the operation. It ends when any thread calls the completion that the body receives.
     *
     * @param body
     *            starts the work of the operation
     * @throws IllegalStateException
     *             if a variable is deleted, the engine is closed, or this builder has been used
     */
    void pushAsync(AsyncBody body);

    /**
     * Pushes the operation and returns a future of its end. {@code get} and {@code join} are waits of the engine: in a
     * worker they let another worker take its place, on the shuffled engine they run operations, and inside an
     * operation a wait that could never end throws {@link IllegalStateException}. The same holds for every future
     * derived from it by a method of it, such as {@code thenApply}, {@code thenCompose}, {@code handle},
     * {@code orTimeout} or {@code copy}, and further ones derived from these.
     *
     * <p>
     * It does not hold for a stage that is made in another way: by {@code CompletableFuture.allOf} or {@code anyOf}, or
     * by a method of a future that is not the engine's. Wait for such a stage with {@link Engine#await}.
     *
     * @param body
     *            the work of the operation
     * @return a future that completes normally, with the exception of the body, with {@link OperationFailedException}
     * if the operation was skipped, or with {@link java.util.concurrent.CancellationException} after
     * {@link Engine#shutdownNow}
     * @throws IllegalStateException
     *             if a variable is deleted, the engine is closed, or this builder has been used
     */
    CompletableFuture<Void> submit(Body body);

    /**
     * As {@link #submit}, for a body that returns a value. Wait for a stage of {@code CompletableFuture.allOf} with
     * {@link Engine#await}.
     *
     * @param <T>
     *            the type of the value
     * @param body
     *            the work of the operation
     * @return a future that completes with the value that the body returned, or otherwise as in {@link #submit}
     * @throws IllegalStateException
     *             if a variable is deleted, the engine is closed, or this builder has been used
     */
    <T> CompletableFuture<T> call(Callable<T> body);

    /**
     * Describes an operation that is pushed many times.
     *
     * @param body
     *            the work of each push; on several workers, two pushes that share no mutated variable may run at the
     *            same time
     * @return the operation, which has not been pushed yet
     */
    PreparedOp prepare(Body body);

    /**
     * Describes an asynchronous operation that is pushed many times.
     *
     * @param body
     *            starts the work of the operation each time
     * @return the operation, which has not been pushed yet
     */
    PreparedOp prepareAsync(AsyncBody body);
}
