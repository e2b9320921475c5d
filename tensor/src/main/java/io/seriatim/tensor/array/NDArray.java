package io.seriatim.tensor.array;

import io.seriatim.device.DataRaceException;
import io.seriatim.device.Place;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Fill;
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
 * on one engine; shapes broadcast. A violation is an exception at the call.
 * <li>A failure of a running operation, for instance an index out of range, fails its result and all arrays computed
 * from it. Reading their values throws {@link io.seriatim.engine.OperationFailedException}, which names the operation.
 * <li>{@link #into} makes the next operation write into an existing array or slice: {@code a.into(out).add(b)}.
 * <li>Slices, selections and transposes are views: they share memory and variable with their base, and closing one
 * closes all.
 * <li>Memory is freed after the last operation that uses it, when the array is closed or unreachable.
 * </ul>
 */
public final class NDArray extends ArrayIndexing implements AutoCloseable {
    NDArray(NDArrays home, Storage storage, Tensor tensor) {
        this(home, storage, tensor, List.of());
    }

    NDArray(NDArrays home, Storage storage, Tensor tensor, List<NDArray> targets) {
        super(home, storage, tensor, targets);
    }

    @Override
    NDArray self() {
        return this;
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
     *            the value, converted to this array's type
     * @return this
     */
    public NDArray fill(double value) {
        requireNoTarget("fill");
        storage().requireOpen();
        ArrayOps.compute("fill", new Fill(value), List.of(), List.of(this));
        return this;
    }

    /**
     * A copy at another place, or a dense copy at the same.
     *
     * @param place
     *            the place of the copy
     * @return a new array
     */
    public NDArray copyTo(Place place) {
        requireNoTarget("copyTo");
        Placement to = home().placement(place);
        if (to.equals(storage().placement())) {
            return copy();
        }
        NDArray source = dense();
        NDArray made = home().allocate("copyTo", source.tensor().spec(), to, to.copyIn());
        ArrayOps.transfer(source, made);
        return made;
    }

    /**
     * Copies the elements into existing arrays or slices, at any place.
     *
     * @param arrays
     *            arrays of this type and shape
     */
    public void copyTo(NDArray... arrays) {
        for (NDArray array : arrays) {
            array.copyFrom(this);
        }
    }

    private NDArray dense() {
        storage().requireOpen();
        return tensor().spec().isRowMajor() ? this : copy();
    }

    /**
     * Copies the elements of another array, which may be at another place, to this one.
     *
     * @param array
     *            an array of this type and shape
     * @return this
     */
    public NDArray copyFrom(NDArray array) {
        requireNoTarget("copyFrom");
        array.requireNoTarget("copyFrom");
        storage().requireOpen();
        if (array.dtype() != dtype() || !array.shape().equals(shape())) {
            throw new IllegalArgumentException(
                    "copyFrom: '" + name() + "' is " + tensor().spec() + ", but the source '" + array.name() + "' is "
                            + array.tensor().spec());
        }
        if (!array.storage().engine().equals(storage().engine())) {
            throw new IllegalArgumentException("copyFrom: '" + name() + "' and '" + array.name()
                    + "' are on different engines, which cannot order them: copy the values of one over by hand");
        }
        if (array.storage().placement().equals(storage().placement())) {
            array.into(this).copy();
        } else if (tensor().spec().isRowMajor()) {
            ArrayOps.transfer(array.dense(), this);
        } else {
            // A slice is filled from a dense copy at its own place.
            array.copyTo(place()).into(this).copy();
        }
        return this;
    }

    /**
     * Copies values of the Java heap before it returns.
     *
     * @param values
     *            in row-major order, as many as there are elements
     * @return this
     */
    public NDArray copyFrom(float[] values) {
        return copyFrom(home().at(Place.CPU).of(values, shape().dims()).cast(dtype()));
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
     *            one for each dimension, from 0
     * @return its value
     * @throws InterruptedException
     *             if interrupted
     * @throws io.seriatim.engine.OperationFailedException
     *             if an operation that it comes from has failed
     */
    public double get(long... indexes) throws InterruptedException {
        return element(indexes).read(Tensor::getDouble);
    }

    /** A view of one element, so that only this element is copied from an accelerator. */
    private NDArray element(long... indexes) {
        if (indexes.length != shape().rank()) {
            throw new IllegalArgumentException(
                    "get: the shape " + shape() + " needs " + shape().rank() + " indexes, but has "
                            + Arrays.toString(indexes));
        }
        Tensor part = tensor();
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
        storage().pin();
        try {
            storage().engine().waitToRead(storage().var());
            if (!place().isHost()) {
                try (NDArray here = copyTo(Place.CPU)) {
                    return here.read(reader);
                }
            }
            storage().observe(tensor(), "read '" + name() + "'", false);
            return reader.apply(tensor());
        } catch (DataRaceException e) {
            throw new IllegalStateException(
                    "The engine let '" + name()
                            + "' be read too early: this is a defect of the library, please report it",
                    e);
        } finally {
            storage().unpin();
        }
    }

    /**
     * Frees the memory of this array and of all its views and bases, after the operations that were pushed before. Does
     * nothing the second time.
     */
    @Override
    public void close() {
        storage().close();
    }

    /**
     * A readable form, which does not wait.
     *
     * @return name, type, shape and place
     */
    @Override
    public String toString() {
        return "'" + name() + "' " + tensor().dtype() + " " + tensor().shape() + " at " + place();
    }
}
