package io.seriatim.tensor.array;

import io.seriatim.device.DataRaceException;
import io.seriatim.device.Place;
import io.seriatim.engine.Engine;
import io.seriatim.engine.Var;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.ArgReduction;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Fill;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.OneHot;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.TopK;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.Where;
import io.seriatim.tensor.computation.network.Softmax;
import io.seriatim.tensor.kernel.Computation;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/**
 * An array on an engine. Every operation is pushed on the engine and returns at once; operations on different arrays
 * run in parallel, with the result of the serial program. Reading values waits for the array. Arrays are made by
 * {@link NDArrays}.
 *
 * <ul>
 * <li>Operands of an operation have one type (cast with {@link #cast}), are at one place ({@link #copyTo(Place)}) and
 * on one engine; shapes broadcast. A mistake in these is an exception at the call.
 * <li>What fails while it runs, an index out of range for instance, fails the result, and what is computed from it; it
 * surfaces as {@link io.seriatim.engine.OperationFailedException}, which names the operation, when values are read.
 * <li>{@link #into} makes the next operation write into an existing array or slice: {@code a.into(out).add(b)}.
 * <li>Slices, selections and transposes are views: they share memory and variable with their base, and closing one
 * closes all.
 * <li>Memory is freed after the last operation that uses it, when the array is closed or no one can reach it any more.
 * </ul>
 */
// Long because it is wide: one short method for each function that users expect on an array. What they do is in
// ArrayOps.
public final class NDArray implements AutoCloseable {
    private final NDArrays home;
    private final Storage storage;
    private final Tensor tensor;
    /** Where the next operation writes; empty for new arrays. */
    private final List<NDArray> targets;

    NDArray(NDArrays home, Storage storage, Tensor tensor) {
        this(home, storage, tensor, List.of());
    }

    private NDArray(NDArrays home, Storage storage, Tensor tensor, List<NDArray> targets) {
        this.home = home;
        this.storage = storage;
        this.tensor = tensor;
        this.targets = targets;
    }

    /** What made it. */
    NDArrays home() {
        return home;
    }

    Storage storage() {
        return storage;
    }

    Tensor tensor() {
        return tensor;
    }

    String name() {
        return storage.var().name();
    }

    /** Whether all of the memory is this array's. */
    boolean isWhole() {
        return tensor.shape().size() == storage.whole().shape().size();
    }

    /**
     * The dimensions.
     *
     * @return the shape
     */
    public Shape shape() {
        return tensor.shape();
    }

    /**
     * The elements' type.
     *
     * @return the type
     */
    public DType dtype() {
        return tensor.dtype();
    }

    /**
     * Where it is.
     *
     * @return the place
     */
    public Place place() {
        return storage.placement().place();
    }

    /**
     * What runs the operations on it.
     *
     * @return the engine that it was made on
     */
    public Engine engine() {
        return storage.engine();
    }

    /**
     * What orders the operations on it; for operations of your own. Views share it.
     *
     * @return the engine's variable
     */
    public Var var() {
        return storage.var();
    }

    /**
     * The same array, whose next operation writes its result into another array or slice instead of making a new one:
     * {@code a.into(out).add(b)}. The target may overlap the operands. Views, copies to places, assignments and reads
     * have no result to write and are refused.
     *
     * @param out
     *            of the result's type and shape, at the same place; as many as the operation has results
     * @return this array, to call one operation on, which returns the target
     */
    public NDArray into(NDArray... out) {
        return new NDArray(home, storage, tensor, List.of(out));
    }

    private NDArray number(double value) {
        storage.requireOpen();
        return home.constant(value, dtype(), storage.placement());
    }

    private NDArray plain() {
        return targets.isEmpty() ? this : new NDArray(home, storage, tensor);
    }

    private void requireNoTarget(String operation) {
        if (!targets.isEmpty()) {
            throw new IllegalStateException(operation + " of '" + name()
                    + "' computes no new array that could be written: into(...) must be followed by an operation "
                    + "that does");
        }
    }

    private NDArray apply(String name, Computation computation, NDArray... others) {
        NDArray[] inputs = new NDArray[others.length + 1];
        TensorSpec[] specs = new TensorSpec[inputs.length];
        for (int i = 0; i < inputs.length; i++) {
            inputs[i] = i == 0 ? plain() : others[i - 1].plain();
            inputs[i].storage.requireOpen();
            specs[i] = inputs[i].tensor.spec();
        }
        List<NDArray> results = results(name, computation.infer(specs));
        ArrayOps.compute(name, computation, List.of(inputs), results);
        return results.getFirst();
    }

    private List<NDArray> results(String name, TensorSpec... specs) {
        if (targets.isEmpty()) {
            return Arrays.stream(specs).map(spec -> home.allocate(name, spec, storage.placement())).toList();
        }
        if (targets.size() != specs.length) {
            throw new IllegalArgumentException(
                    name + " has " + specs.length + " results, but into(...) was given " + targets.size() + " arrays");
        }
        for (int i = 0; i < specs.length; i++) {
            NDArray target = targets.get(i);
            target.requireNoTarget(name);
            target.storage.requireOpen();
            if (target.dtype() != specs[i].dtype() || !target.shape().equals(specs[i].shape())) {
                throw new IllegalArgumentException(
                        name + ": the result is " + specs[i] + ", but is to be written into '" + target.name()
                                + "', which is " + target.tensor.spec());
            }
        }
        return targets;
    }

    /**
     * Computes x + y.
     *
     * @param y
     *            an array whose shape broadcasts with this one's
     * @return an array of the broadcast shape
     */
    public NDArray add(NDArray y) {
        return apply("add", Binary.of(Binary.Function.ADD), y);
    }

    /**
     * Computes x + y.
     *
     * @param y
     *            a number, converted to this array's type
     * @return an array of the same shape
     */
    public NDArray add(double y) {
        return add(number(y));
    }

    /**
     * Computes x − y.
     *
     * @param y
     *            an array whose shape broadcasts with this one's
     * @return an array of the broadcast shape
     */
    public NDArray subtract(NDArray y) {
        return apply("subtract", Binary.of(Binary.Function.SUBTRACT), y);
    }

    /**
     * Computes x − y.
     *
     * @param y
     *            a number, converted to this array's type
     * @return an array of the same shape
     */
    public NDArray subtract(double y) {
        return subtract(number(y));
    }

    /**
     * Computes x · y.
     *
     * @param y
     *            an array whose shape broadcasts with this one's
     * @return an array of the broadcast shape
     */
    public NDArray multiply(NDArray y) {
        return apply("multiply", Binary.of(Binary.Function.MULTIPLY), y);
    }

    /**
     * Computes x · y.
     *
     * @param y
     *            a number, converted to this array's type
     * @return an array of the same shape
     */
    public NDArray multiply(double y) {
        return multiply(number(y));
    }

    /**
     * Computes x / y.
     *
     * @param y
     *            an array whose shape broadcasts with this one's
     * @return an array of the broadcast shape
     */
    public NDArray divide(NDArray y) {
        return apply("divide", Binary.of(Binary.Function.DIVIDE), y);
    }

    /**
     * Computes x / y.
     *
     * @param y
     *            a number, converted to this array's type
     * @return an array of the same shape
     */
    public NDArray divide(double y) {
        return divide(number(y));
    }

    /**
     * Computes the larger.
     *
     * @param y
     *            an array whose shape broadcasts with this one's
     * @return an array of the broadcast shape
     */
    public NDArray maximum(NDArray y) {
        return apply("maximum", Binary.of(Binary.Function.MAXIMUM), y);
    }

    /**
     * Computes the larger.
     *
     * @param y
     *            a number, converted to this array's type
     * @return an array of the same shape
     */
    public NDArray maximum(double y) {
        return maximum(number(y));
    }

    /**
     * Computes the smaller.
     *
     * @param y
     *            an array whose shape broadcasts with this one's
     * @return an array of the broadcast shape
     */
    public NDArray minimum(NDArray y) {
        return apply("minimum", Binary.of(Binary.Function.MINIMUM), y);
    }

    /**
     * Computes the smaller.
     *
     * @param y
     *            a number, converted to this array's type
     * @return an array of the same shape
     */
    public NDArray minimum(double y) {
        return minimum(number(y));
    }

    /**
     * Computes x to the power of y.
     *
     * @param y
     *            an array whose shape broadcasts with this one's
     * @return an array of the broadcast shape
     */
    public NDArray power(NDArray y) {
        return apply("power", Binary.of(Binary.Function.POWER), y);
    }

    /**
     * Computes x to the power of y.
     *
     * @param y
     *            a number, converted to this array's type
     * @return an array of the same shape
     */
    public NDArray power(double y) {
        return power(number(y));
    }

    /**
     * Computes x &lt; y, as bool.
     *
     * @param y
     *            an array whose shape broadcasts with this one's
     * @return an array of the broadcast shape
     */
    public NDArray less(NDArray y) {
        return apply("less", Binary.of(Binary.Function.LESS), y);
    }

    /**
     * Computes x &gt; y, as bool.
     *
     * @param y
     *            an array whose shape broadcasts with this one's
     * @return an array of the broadcast shape
     */
    public NDArray greater(NDArray y) {
        return apply("greater", Binary.of(Binary.Function.GREATER), y);
    }

    /**
     * Computes x = y, as bool.
     *
     * @param y
     *            an array whose shape broadcasts with this one's
     * @return an array of the broadcast shape
     */
    public NDArray equal(NDArray y) {
        return apply("equal", Binary.of(Binary.Function.EQUAL), y);
    }

    /**
     * Computes −x of each element.
     *
     * @return an array of the same shape
     */
    public NDArray negate() {
        return apply("negate", Unary.of(Unary.Function.NEGATE));
    }

    /**
     * Computes |x| of each element.
     *
     * @return an array of the same shape
     */
    public NDArray abs() {
        return apply("abs", Unary.of(Unary.Function.ABS));
    }

    /**
     * Computes eˣ of each element.
     *
     * @return an array of the same shape
     */
    public NDArray exp() {
        return apply("exp", Unary.of(Unary.Function.EXP));
    }

    /**
     * Computes ln x of each element.
     *
     * @return an array of the same shape
     */
    public NDArray log() {
        return apply("log", Unary.of(Unary.Function.LOG));
    }

    /**
     * Computes √x of each element.
     *
     * @return an array of the same shape
     */
    public NDArray sqrt() {
        return apply("sqrt", Unary.of(Unary.Function.SQRT));
    }

    /**
     * Computes x² of each element.
     *
     * @return an array of the same shape
     */
    public NDArray square() {
        return apply("square", Unary.of(Unary.Function.SQUARE));
    }

    /**
     * Computes 1 / x of each element.
     *
     * @return an array of the same shape
     */
    public NDArray reciprocal() {
        return apply("reciprocal", Unary.of(Unary.Function.RECIPROCAL));
    }

    /**
     * Computes sin x of each element.
     *
     * @return an array of the same shape
     */
    public NDArray sin() {
        return apply("sin", Unary.of(Unary.Function.SIN));
    }

    /**
     * Computes cos x of each element.
     *
     * @return an array of the same shape
     */
    public NDArray cos() {
        return apply("cos", Unary.of(Unary.Function.COS));
    }

    /**
     * Computes tanh x of each element.
     *
     * @return an array of the same shape
     */
    public NDArray tanh() {
        return apply("tanh", Unary.of(Unary.Function.TANH));
    }

    /**
     * Computes 1 / (1 + e⁻ˣ) of each element.
     *
     * @return an array of the same shape
     */
    public NDArray sigmoid() {
        return apply("sigmoid", Unary.of(Unary.Function.SIGMOID));
    }

    /**
     * Computes max(x, 0) of each element.
     *
     * @return an array of the same shape
     */
    public NDArray relu() {
        return apply("relu", Unary.of(Unary.Function.RELU));
    }

    /**
     * Computes x · Φ(x), with the normal distribution function Φ of each element.
     *
     * @return an array of the same shape
     */
    public NDArray gelu() {
        return apply("gelu", Unary.of(Unary.Function.GELU_ERF));
    }

    /**
     * Computes ⌊x⌋ of each element.
     *
     * @return an array of the same shape
     */
    public NDArray floor() {
        return apply("floor", Unary.of(Unary.Function.FLOOR));
    }

    /**
     * Computes −1, 0 or 1 of each element.
     *
     * @return an array of the same shape
     */
    public NDArray sign() {
        return apply("sign", Unary.of(Unary.Function.SIGN));
    }

    private NDArray assign(String operation) {
        requireNoTarget(operation);
        return into(this);
    }

    /**
     * +=, in place.
     *
     * @param y
     *            an array that broadcasts to this one
     * @return this
     */
    public NDArray addAssign(NDArray y) {
        return assign("addAssign").add(y);
    }

    /**
     * +=, in place.
     *
     * @param y
     *            a number
     * @return this
     */
    public NDArray addAssign(double y) {
        return assign("addAssign").add(y);
    }

    /**
     * -=, in place.
     *
     * @param y
     *            an array that broadcasts to this one
     * @return this
     */
    public NDArray subtractAssign(NDArray y) {
        return assign("subtractAssign").subtract(y);
    }

    /**
     * -=, in place.
     *
     * @param y
     *            a number
     * @return this
     */
    public NDArray subtractAssign(double y) {
        return assign("subtractAssign").subtract(y);
    }

    /**
     * *=, in place.
     *
     * @param y
     *            an array that broadcasts to this one
     * @return this
     */
    public NDArray multiplyAssign(NDArray y) {
        return assign("multiplyAssign").multiply(y);
    }

    /**
     * *=, in place.
     *
     * @param y
     *            a number
     * @return this
     */
    public NDArray multiplyAssign(double y) {
        return assign("multiplyAssign").multiply(y);
    }

    /**
     * /=, in place.
     *
     * @param y
     *            an array that broadcasts to this one
     * @return this
     */
    public NDArray divideAssign(NDArray y) {
        return assign("divideAssign").divide(y);
    }

    /**
     * /=, in place.
     *
     * @param y
     *            a number
     * @return this
     */
    public NDArray divideAssign(double y) {
        return assign("divideAssign").divide(y);
    }

    /**
     * Takes the sum along some axes, which go.
     *
     * @param axes
     *            from −rank; none for all
     * @return an array of fewer dimensions
     */
    public NDArray sum(int... axes) {
        return reduce("sum", Reduction.Function.SUM, false, axes);
    }

    /**
     * Takes the mean along some axes, which go.
     *
     * @param axes
     *            from −rank; none for all
     * @return an array of fewer dimensions
     */
    public NDArray mean(int... axes) {
        return reduce("mean", Reduction.Function.MEAN, false, axes);
    }

    /**
     * Takes the largest along some axes, which go.
     *
     * @param axes
     *            from −rank; none for all
     * @return an array of fewer dimensions
     */
    public NDArray max(int... axes) {
        return reduce("max", Reduction.Function.MAX, false, axes);
    }

    /**
     * Takes the smallest along some axes, which go.
     *
     * @param axes
     *            from −rank; none for all
     * @return an array of fewer dimensions
     */
    public NDArray min(int... axes) {
        return reduce("min", Reduction.Function.MIN, false, axes);
    }

    /**
     * Takes the product along some axes, which go.
     *
     * @param axes
     *            from −rank; none for all
     * @return an array of fewer dimensions
     */
    public NDArray prod(int... axes) {
        return reduce("prod", Reduction.Function.PRODUCT, false, axes);
    }

    /**
     * Reduces along some axes.
     *
     * @param function
     *            how
     * @param keepDims
     *            whether the axes stay, with length 1
     * @param axes
     *            from −rank; none for all
     * @return the reduced array
     */
    public NDArray reduce(Reduction.Function function, boolean keepDims, int... axes) {
        return reduce(function.toString().toLowerCase(java.util.Locale.ROOT), function, keepDims, axes);
    }

    private NDArray reduce(String name, Reduction.Function function, boolean keepDims, int... axes) {
        return apply(name, new Reduction(function, Arrays.stream(axes).boxed().toList(), keepDims));
    }

    /**
     * Where the largest element along an axis is.
     *
     * @param axis
     *            from −rank
     * @return int64, without the axis
     */
    public NDArray argMax(int axis) {
        return apply("argMax", new ArgReduction(true, axis, false));
    }

    /**
     * The matrix product.
     *
     * @param y
     *            an array of the type of this one; leading dimensions broadcast
     * @return [..., m, n]
     */
    public NDArray matmul(NDArray y) {
        return apply("matmul", MatMul.PLAIN, y);
    }

    /**
     * The matrix product of transposes.
     *
     * @param y
     *            an array of the type of this one; leading dimensions broadcast
     * @param transposeThis
     *            whether this is transposed
     * @param transposeY
     *            whether y is transposed
     * @return [..., m, n]
     */
    public NDArray matmul(NDArray y, boolean transposeThis, boolean transposeY) {
        return apply("matmul", new MatMul(transposeThis, transposeY, false, List.of()), y);
    }

    /**
     * The softmax along an axis.
     *
     * @param axis
     *            from −rank
     * @return an array of the same shape
     */
    public NDArray softmax(int axis) {
        return apply("softmax", new Softmax(axis, false));
    }

    /**
     * The logarithm of the softmax along an axis.
     *
     * @param axis
     *            from −rank
     * @return an array of the same shape
     */
    public NDArray logSoftmax(int axis) {
        return apply("logSoftmax", new Softmax(axis, true));
    }

    /**
     * Slices at indices.
     *
     * @param indices
     *            int32 or int64, of any shape
     * @param axis
     *            from −rank
     * @return this shape with the axis replaced by the shape of the indices
     */
    public NDArray gather(NDArray indices, int axis) {
        return apply("gather", Gather.of(axis), indices);
    }

    /**
     * Ones at the indices that this array holds.
     *
     * @param depth
     *            the length of the added dimension
     * @param type
     *            of the result
     * @return an array of one more dimension
     */
    public NDArray oneHot(long depth, DType type) {
        return apply("oneHot", new OneHot(depth, type));
    }

    /**
     * The k largest elements along an axis, in order.
     *
     * @param k
     *            how many
     * @param axis
     *            from −rank
     * @return their values, and their indices as int64
     */
    public List<NDArray> topK(long k, int axis) {
        TopK computation = new TopK(k, axis, true);
        storage.requireOpen();
        TensorSpec[] specs = computation.infer(tensor.spec());
        List<NDArray> results = results("topK", specs);
        ArrayOps.compute("topK", computation, List.of(plain()), results);
        return results;
    }

    /**
     * Chooses by element: from x where this array, which is bool, holds; else from y.
     *
     * @param x
     *            taken where it holds
     * @param y
     *            taken elsewhere
     * @return an array of the broadcast shape
     */
    public NDArray where(NDArray x, NDArray y) {
        return apply("where", new Where(), x, y);
    }

    /**
     * Converts the elements.
     *
     * @param type
     *            the new type
     * @return an array of the same shape
     */
    public NDArray cast(DType type) {
        return apply("cast", new Copy(type));
    }

    /**
     * A dense copy.
     *
     * @return a new array with memory of its own
     */
    public NDArray copy() {
        return apply("copy", Copy.PLAIN);
    }

    /**
     * Sets all elements.
     *
     * @param value
     *            converted to this array's type
     * @return this
     */
    public NDArray fill(double value) {
        requireNoTarget("fill");
        storage.requireOpen();
        ArrayOps.compute("fill", new Fill(value), List.of(), List.of(this));
        return this;
    }

    /**
     * The dimensions in another order: a view.
     *
     * @param axes
     *            for each dimension of the result, which one of this it is; none to reverse them
     * @return a view
     */
    public NDArray transpose(int... axes) {
        return view("transpose", tensor.transpose(axes));
    }

    /**
     * A part of a dimension: a view.
     *
     * @param axis
     *            from −rank
     * @param from
     *            the first index
     * @param to
     *            after the last
     * @return a view
     */
    public NDArray slice(int axis, long from, long to) {
        return view("slice", tensor.slice(axis, from, to));
    }

    /**
     * One index of a dimension, which goes: a view.
     *
     * @param axis
     *            from −rank
     * @param index
     *            from 0
     * @return a view of one dimension less
     */
    public NDArray select(int axis, long index) {
        return view("select", tensor.select(axis, index));
    }

    /**
     * Other dimensions: a view if this is dense, else a copy.
     *
     * @param dims
     *            as many elements
     * @return a view or a copy
     */
    public NDArray reshape(long... dims) {
        requireNoTarget("reshape");
        return tensor.spec().isRowMajor() ? view("reshape", tensor.reshape(dims)) : copy().reshape(dims);
    }

    private NDArray view(String operation, Tensor part) {
        requireNoTarget(operation);
        storage.requireOpen();
        return new NDArray(home, storage, part);
    }

    /**
     * A copy at another place, or a dense copy at the same.
     *
     * @param place
     *            where to
     * @return a new array
     */
    public NDArray copyTo(Place place) {
        requireNoTarget("copyTo");
        Placement to = home.placement(place);
        if (to.equals(storage.placement())) {
            return copy();
        }
        NDArray source = dense();
        NDArray made = home.allocate("copyTo", source.tensor.spec(), to, to.copyIn());
        ArrayOps.transfer(source, made);
        return made;
    }

    private NDArray dense() {
        storage.requireOpen();
        return tensor.spec().isRowMajor() ? this : copy();
    }

    /**
     * Copies the elements into existing arrays or slices, at any place.
     *
     * @param arrays
     *            of this type and shape
     */
    public void copyTo(NDArray... arrays) {
        for (NDArray array : arrays) {
            array.copyFrom(this);
        }
    }

    /**
     * Takes the elements of another array, which may be at another place.
     *
     * @param array
     *            of this type and shape
     * @return this
     */
    public NDArray copyFrom(NDArray array) {
        requireNoTarget("copyFrom");
        array.requireNoTarget("copyFrom");
        storage.requireOpen();
        if (array.dtype() != dtype() || !array.shape().equals(shape())) {
            throw new IllegalArgumentException(
                    "copyFrom: '" + name() + "' is " + tensor.spec() + ", but the source '" + array.name() + "' is "
                            + array.tensor.spec());
        }
        if (!array.storage.engine().equals(storage.engine())) {
            throw new IllegalArgumentException("copyFrom: '" + name() + "' and '" + array.name()
                    + "' are on different engines, which cannot order them: copy the values of one over by hand");
        }
        if (array.storage.placement().equals(storage.placement())) {
            array.into(this).copy();
        } else if (tensor.spec().isRowMajor()) {
            ArrayOps.transfer(array.dense(), this);
        } else {
            // A slice is filled from a dense copy at its own place.
            array.copyTo(place()).into(this).copy();
        }
        return this;
    }

    /**
     * Takes values of the Java heap. They are copied before this returns.
     *
     * @param values
     *            in row-major order, as many as there are elements
     * @return this
     */
    public NDArray copyFrom(float[] values) {
        return copyFrom(home.at(Place.CPU).of(values, shape().dims()).cast(dtype()));
    }

    /**
     * Waits for the array and reads all elements, converted.
     *
     * @return in row-major order
     * @throws InterruptedException
     *             if interrupted
     * @throws io.seriatim.engine.OperationFailedException
     *             if an operation that it comes from has failed
     */
    public float[] toArray() throws InterruptedException {
        return read(Tensor::toFloatArray);
    }

    /**
     * Waits for the array and reads all elements, converted.
     *
     * @return in row-major order
     * @throws InterruptedException
     *             if interrupted
     * @throws io.seriatim.engine.OperationFailedException
     *             if an operation that it comes from has failed
     */
    public double[] toDoubleArray() throws InterruptedException {
        return read(Tensor::toDoubleArray);
    }

    /**
     * Waits for the array and reads all elements, converted as a cast does.
     *
     * @return in row-major order
     * @throws InterruptedException
     *             if interrupted
     * @throws io.seriatim.engine.OperationFailedException
     *             if an operation that it comes from has failed
     */
    public long[] toLongArray() throws InterruptedException {
        return read(Tensor::toLongArray);
    }

    /**
     * Waits for the array and reads one element.
     *
     * @param indexes
     *            one a dimension, from 0
     * @return its value
     * @throws InterruptedException
     *             if interrupted
     * @throws io.seriatim.engine.OperationFailedException
     *             if an operation that it comes from has failed
     */
    public double get(long... indexes) throws InterruptedException {
        return element(indexes).read(Tensor::getDouble);
    }

    /** A view of one element, so that not more than that is copied from an accelerator. */
    private NDArray element(long... indexes) {
        if (indexes.length != shape().rank()) {
            throw new IllegalArgumentException(
                    "get: the shape " + shape() + " needs " + shape().rank() + " indexes, but has "
                            + Arrays.toString(indexes));
        }
        Tensor part = tensor;
        for (long index : indexes) {
            if (index < 0 || index >= part.shape().dim(0)) {
                throw new IndexOutOfBoundsException(
                        "get: the indexes must be within " + shape() + ", but are " + Arrays.toString(indexes));
            }
            part = part.select(0, index);
        }
        return view("get", part);
    }

    /** Reads the elements in host memory, after all operations on them. */
    private <T> T read(Function<Tensor, T> reader) throws InterruptedException {
        requireNoTarget("reading");
        storage.pin();
        try {
            storage.engine().waitToRead(storage.var());
            if (!place().isHost()) {
                try (NDArray here = copyTo(Place.CPU)) {
                    return here.read(reader);
                }
            }
            storage.observe(tensor, "read '" + name() + "'", false);
            return reader.apply(tensor);
        } catch (DataRaceException e) {
            throw new IllegalStateException(
                    "The engine let '" + name()
                            + "' be read too early: this is a defect of the library, please report it",
                    e);
        } finally {
            storage.unpin();
        }
    }

    /**
     * Frees the memory of this array and of all its views and bases, after the operations that were pushed before. Does
     * nothing the second time.
     */
    @Override
    public void close() {
        storage.close();
    }

    /**
     * A readable form, which does not wait.
     *
     * @return name, type, shape and place
     */
    @Override
    public String toString() {
        return "'" + name() + "' " + tensor.dtype() + " " + tensor.shape() + " at " + place();
    }
}
