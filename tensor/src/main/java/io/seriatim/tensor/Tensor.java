package io.seriatim.tensor;

import io.seriatim.device.Access;
import io.seriatim.device.Buffer;
import io.seriatim.device.Device;
import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.Arrays;
import java.util.Objects;
import java.util.stream.IntStream;

/**
 * Memory of a device with a type, a shape and a layout. It synchronizes nothing: code that shares a tensor between
 * threads or streams must order their accesses. Views share memory with their base; closing either closes both.
 */
public final class Tensor implements AutoCloseable {
    private final Buffer buffer;
    private final long offset;
    private final TensorSpec spec;
    private final Lod lod;

    /**
     * A tensor over existing memory.
     *
     * @param buffer
     *            the memory
     * @param offset
     *            the offset of the element with all indexes 0, in bytes
     * @param spec
     *            type, shape and layout
     * @throws IndexOutOfBoundsException
     *             if an element is not within the buffer
     */
    public Tensor(Buffer buffer, long offset, TensorSpec spec) {
        this(buffer, offset, spec, Lod.NONE);
    }

    private Tensor(Buffer buffer, long offset, TensorSpec spec, Lod lod) {
        this.buffer = Objects.requireNonNull(buffer, "buffer");
        this.spec = Objects.requireNonNull(spec, "spec");
        this.offset = offset;
        this.lod = lod;
        long first = first();
        Objects.checkFromIndexSize(first, spec.extent(), buffer.bytes());
    }

    /**
     * Allocates a tensor. Its elements are undefined.
     *
     * @param device
     *            the device whose memory it takes
     * @param spec
     *            its type, shape and layout
     * @return the tensor, which belongs to the caller
     */
    public static Tensor allocate(Device device, TensorSpec spec) {
        return new Tensor(device.allocate(spec.bytes()), 0, spec);
    }

    /**
     * A tensor in the host's memory, with undefined elements.
     *
     * @param dtype
     *            the elements' type
     * @param dims
     *            the dimensions
     * @return the tensor
     */
    public static Tensor allocate(DType dtype, long... dims) {
        return allocate(Devices.system().host(), TensorSpec.of(dtype, dims));
    }

    /**
     * A float32 tensor of the host's memory.
     *
     * @param values
     *            in row-major order
     * @param dims
     *            the dimensions; none for as many as there are values, or for a single element
     * @return the tensor
     */
    public static Tensor of(float[] values, long... dims) {
        Tensor tensor = allocate(DType.FLOAT32, dimsOf(values.length, dims));
        Floats.store(tensor.declared(), 0, values, 0, values.length);
        return tensor;
    }

    /**
     * A float64 tensor of the host's memory.
     *
     * @param values
     *            in row-major order
     * @param dims
     *            the dimensions; none for as many as there are values, or for a single element
     * @return the tensor
     */
    public static Tensor of(double[] values, long... dims) {
        Tensor tensor = allocate(DType.FLOAT64, dimsOf(values.length, dims));
        Doubles.store(tensor.declared(), 0, values, 0, values.length);
        return tensor;
    }

    /**
     * An int64 tensor of the host's memory.
     *
     * @param values
     *            in row-major order
     * @param dims
     *            the dimensions; none for as many as there are values, or for a single element
     * @return the tensor
     */
    public static Tensor of(long[] values, long... dims) {
        return of(DType.INT64, values, dims);
    }

    /**
     * A tensor of the host's memory of any type.
     *
     * @param dtype
     *            the elements' type
     * @param values
     *            in row-major order; converted as a cast does
     * @param dims
     *            the dimensions; none for as many as there are values, or for a single element
     * @return the tensor
     */
    public static Tensor of(DType dtype, long[] values, long... dims) {
        Tensor tensor = allocate(dtype, dimsOf(values.length, dims));
        Longs.store(tensor.declared(), 0, values, 0, values.length);
        return tensor;
    }

    /**
     * A tensor of the host's memory of any type.
     *
     * @param dtype
     *            the elements' type
     * @param values
     *            in row-major order; converted as a cast does
     * @param dims
     *            the dimensions; none for as many as there are values, or for a single element
     * @return the tensor
     */
    public static Tensor of(DType dtype, double[] values, long... dims) {
        Tensor tensor = allocate(dtype, dimsOf(values.length, dims));
        Doubles.store(tensor.declared(), 0, values, 0, values.length);
        return tensor;
    }

    /**
     * A complex64 tensor of the host's memory.
     *
     * @param parts
     *            real and imaginary part of each element, in row-major order
     * @param dims
     *            the dimensions; none for as many as there are pairs, or for a single element
     * @return the tensor
     */
    public static Tensor ofComplex(float[] parts, long... dims) {
        Tensor tensor = allocate(DType.COMPLEX64, dimsOf(pairs(parts.length), dims));
        Floats.store(tensor.asReal().declared(), 0, parts, 0, parts.length);
        return tensor;
    }

    /**
     * A complex128 tensor of the host's memory.
     *
     * @param parts
     *            real and imaginary part of each element, in row-major order
     * @param dims
     *            the dimensions; none for as many as there are pairs, or for a single element
     * @return the tensor
     */
    public static Tensor ofComplex(double[] parts, long... dims) {
        Tensor tensor = allocate(DType.COMPLEX128, dimsOf(pairs(parts.length), dims));
        Doubles.store(tensor.asReal().declared(), 0, parts, 0, parts.length);
        return tensor;
    }

    private static int pairs(int parts) {
        if (parts % 2 != 0) {
            throw new IllegalArgumentException(
                    "Complex numbers need an even number of parts, but there are " + parts);
        }
        return parts / 2;
    }

    private static long[] dimsOf(int values, long[] dims) {
        long[] result = dims.length == 0 && values != 1 ? new long[]{values} : dims;
        if (Shape.of(result).size() != values) {
            throw new IllegalArgumentException(
                    "The shape " + Arrays.toString(result) + " has " + Shape.of(result).size()
                            + " elements, but there are " + values + " values");
        }
        return result;
    }

    /**
     * Its memory.
     *
     * @return shared with all views of it
     */
    public Buffer buffer() {
        return buffer;
    }

    /**
     * The offset of the element with all indexes 0.
     *
     * @return in bytes from the beginning of the buffer
     */
    public long offset() {
        return offset;
    }

    /**
     * Type, shape and layout.
     *
     * @return its spec
     */
    public TensorSpec spec() {
        return spec;
    }

    /**
     * The offsets that divide its rows into sequences.
     *
     * @return {@link Lod#NONE} unless given by {@link #withLod(Lod)}; views and copies have none
     */
    public Lod lod() {
        return lod;
    }

    /**
     * The same memory, divided into sequences: a value for programs of operations on sequences.
     *
     * @param offsets
     *            of the sequences
     * @return a view
     * @throws IllegalArgumentException
     *             unless the offsets end with the number of rows, the first dimension
     */
    public Tensor withLod(Lod offsets) {
        if (!offsets.isEmpty() && (shape().rank() == 0 || shape().dim(0) != offsets.rows())) {
            throw new IllegalArgumentException("The last offset of a LoD must be the number of rows of the tensor, "
                    + (shape().rank() == 0 ? "which has no dimension" : shape().dim(0)) + ", but is "
                    + offsets.rows());
        }
        return new Tensor(buffer, offset, spec, offsets);
    }

    /**
     * The same memory, divided into sequences.
     *
     * @param levels
     *            see {@link Lod#of(long[][])}
     * @return a view
     * @throws IllegalArgumentException
     *             if the offsets break the rules of a LoD, or do not end with the number of rows
     */
    public Tensor withLod(long[]... levels) {
        return withLod(Lod.of(levels));
    }

    /**
     * The elements' type.
     *
     * @return of the spec
     */
    public DType dtype() {
        return spec.dtype();
    }

    /**
     * The dimensions.
     *
     * @return of the spec
     */
    public Shape shape() {
        return spec.shape();
    }

    /**
     * Where its memory is.
     *
     * @return the device's place
     */
    public Place place() {
        return buffer.device().place();
    }

    /**
     * The bytes of the buffer, under the conditions of {@link Buffer#segment()}. The element with all indexes 0 begins
     * at {@link #offset()}.
     *
     * @return the whole buffer
     */
    public MemorySegment memory() {
        return buffer.segment();
    }

    /**
     * The bytes of the elements of a row-major tensor, under the conditions of {@link Buffer#segment()}. Unlike
     * {@link #memory()} they are those of the tensor only, which may be a part of a larger buffer.
     *
     * @return as many bytes as {@link TensorSpec#bytes()} says
     * @throws IllegalStateException
     *             if the tensor is not row-major
     */
    public MemorySegment elements() {
        if (!spec.isRowMajor()) {
            throw new IllegalStateException("Only a row-major tensor has its elements in a row, but this one is " + spec
                    + ": copy it first");
        }
        return memory().asSlice(offset, spec.bytes());
    }

    /**
     * The same tensor in {@link Buffer#declared()} memory: for code that only reads it, or declares its writes.
     *
     * @return a view
     */
    public Tensor declared() {
        return new Tensor(buffer.declared(), offset, spec);
    }

    /**
     * The address of the element with all indexes 0, under the conditions of {@link Buffer#address()}.
     *
     * @return an address
     */
    public long address() {
        return buffer.address() + offset;
    }

    /**
     * The bytes between its first and its last element in memory, for a launch.
     *
     * @param write
     *            whether they are written
     * @return the access
     */
    public Access access(boolean write) {
        return new Access(buffer, first(), spec.extent(), write);
    }

    private long first() {
        return offset + spec.firstByte();
    }

    /**
     * The same elements with other dimensions.
     *
     * @param dims
     *            as many elements
     * @return a view
     * @throws IllegalArgumentException
     *             if the number of elements differs, or this is not row-major: then copy it first
     */
    public Tensor reshape(long... dims) {
        Shape target = Shape.of(dims);
        if (target.size() != shape().size()) {
            throw new IllegalArgumentException(
                    shape() + " cannot be reshaped to " + target + ": " + shape().size() + " and " + target.size()
                            + " elements");
        }
        if (!spec.isRowMajor()) {
            throw new IllegalArgumentException(
                    "Only a row-major tensor can be reshaped, but this is " + spec + ": copy it first");
        }
        return new Tensor(buffer, offset, TensorSpec.of(dtype(), target));
    }

    /**
     * The dimensions in another order.
     *
     * @param axes
     *            for each dimension of the result, the index of the dimension of this tensor; none to reverse them
     * @return a view
     */
    public Tensor transpose(int... axes) {
        int rank = shape().rank();
        int[] order = axes.length == 0
                ? IntStream.range(0, rank).map(i -> rank - 1 - i).toArray()
                : axes;
        if (order.length != rank || Arrays.stream(order).map(shape()::axis).distinct().count() != rank) {
            throw new IllegalArgumentException(
                    "The axes must be a permutation of the " + rank + " dimensions of " + shape() + ", but are "
                            + Arrays.toString(axes));
        }
        long[] from = spec.strides();
        long[] dims = new long[rank];
        long[] strides = new long[rank];
        for (int i = 0; i < rank; i++) {
            dims[i] = shape().dim(order[i]);
            strides[i] = from[shape().axis(order[i])];
        }
        return new Tensor(buffer, offset, new TensorSpec(dtype(), Shape.of(dims), Layout.strided(strides)));
    }

    /**
     * A range of a dimension.
     *
     * @param axis
     *            the dimension, from −rank
     * @param from
     *            the first index, from 0
     * @param to
     *            the index after the last, up to the length
     * @return a view
     */
    public Tensor slice(int axis, long from, long to) {
        int at = shape().axis(axis);
        if (from < 0 || to < from || to > shape().dim(at)) {
            throw new IllegalArgumentException(
                    "The slice must be within 0 to " + shape().dim(at) + " of axis " + axis + " of " + shape()
                            + ", but is " + from + " to " + to);
        }
        long[] strides = spec.strides();
        TensorSpec part = new TensorSpec(dtype(), shape().with(at, to - from), Layout.strided(strides));
        return new Tensor(buffer, part.shape().size() == 0 ? offset : offset + from * strides[at] * dtype().bytes(),
                part);
    }

    /**
     * One index of a dimension, which is removed.
     *
     * @param axis
     *            the dimension, from −rank
     * @param index
     *            from 0
     * @return a view of one dimension less
     */
    public Tensor select(int axis, long index) {
        int at = shape().axis(axis);
        Tensor part = slice(at, index, index + 1);
        long[] dims = new long[shape().rank() - 1];
        long[] strides = new long[dims.length];
        long[] all = part.spec.strides();
        for (int i = 0; i < dims.length; i++) {
            dims[i] = shape().dim(i < at ? i : i + 1);
            strides[i] = all[i < at ? i : i + 1];
        }
        return new Tensor(buffer, part.offset, new TensorSpec(dtype(), Shape.of(dims), Layout.strided(strides)));
    }

    /**
     * Repeats dimensions of length 1, and adds some in front, without a copy. A view that repeats elements must only be
     * read.
     *
     * @param target
     *            a shape that this one broadcasts to
     * @return a view
     */
    public Tensor expand(Shape target) {
        if (!shape().broadcast(target).equals(target)) {
            throw new IllegalArgumentException(shape() + " does not expand to " + target);
        }
        return new Tensor(buffer, offset,
                new TensorSpec(dtype(), target, Layout.strided(broadcastStrides(spec, target))));
    }

    /**
     * Complex numbers as real ones, with a last dimension of length 2 for real and imaginary part.
     *
     * @return a view
     * @throws IllegalStateException
     *             if the type is not complex
     */
    public Tensor asReal() {
        return new Tensor(buffer, offset, spec.asReal());
    }

    /**
     * The strides with which an operand is read when it is broadcast.
     *
     * @param operand
     *            the spec of the operand
     * @param target
     *            the result's shape
     * @return one for each dimension of the target, 0 where the operand repeats
     */
    public static long[] broadcastStrides(TensorSpec operand, Shape target) {
        long[] strides = new long[target.rank()];
        long[] own = operand.strides();
        int added = target.rank() - own.length;
        for (int i = 0; i < own.length; i++) {
            strides[added + i] = operand.shape().dim(i) == 1 && target.dim(added + i) != 1 ? 0 : own[i];
        }
        return strides;
    }

    /**
     * One element of a tensor of the host.
     *
     * @param indexes
     *            one for each dimension, from 0
     * @return its value, converted; of a complex number its real part: see {@link #asReal} for both
     */
    public double getDouble(long... indexes) {
        try {
            return Doubles.get(hostMemory(), dtype(), at(indexes));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * One element of a tensor of the host.
     *
     * @param indexes
     *            one for each dimension, from 0
     * @return its value, converted as a cast does
     */
    public long getLong(long... indexes) {
        try {
            return Longs.get(hostMemory(), dtype(), at(indexes));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    private MemorySegment hostMemory() {
        buffer.hostCheck("read an element", first(), spec.extent(), false);
        return buffer.declared().segment();
    }

    private long at(long... indexes) {
        if (indexes.length != shape().rank()) {
            throw new IllegalArgumentException(
                    "The shape " + shape() + " needs " + shape().rank() + " indexes, but has "
                            + Arrays.toString(indexes));
        }
        if (indexes.length == 0) {
            return offset;
        }
        long[] strides = spec.strides();
        long at = 0;
        for (int i = 0; i < indexes.length; i++) {
            if (indexes[i] < 0 || indexes[i] >= shape().dim(i)) {
                throw new IndexOutOfBoundsException(
                        "The indexes must be within " + shape() + ", but are " + Arrays.toString(indexes));
            }
            at += indexes[i] * strides[i];
        }
        return offset + at * dtype().bytes();
    }

    /**
     * All elements of a tensor of the host, converted.
     *
     * @return in row-major order
     */
    public float[] toFloatArray() {
        float[] values = new float[arrayLength()];
        hostRead();
        Floats.load(declared(), 0, values, 0, values.length);
        return values;
    }

    /**
     * All elements of a tensor of the host, converted.
     *
     * @return in row-major order
     */
    public double[] toDoubleArray() {
        double[] values = new double[arrayLength()];
        hostRead();
        Doubles.load(declared(), 0, values, 0, values.length);
        return values;
    }

    /**
     * All elements of a tensor of the host, converted as a cast does.
     *
     * @return in row-major order
     */
    public long[] toLongArray() {
        long[] values = new long[arrayLength()];
        hostRead();
        Longs.load(declared(), 0, values, 0, values.length);
        return values;
    }

    private void hostRead() {
        buffer.hostCheck("read a tensor", first(), spec.extent(), false);
    }

    private int arrayLength() {
        if (shape().size() > Integer.MAX_VALUE - 8) {
            throw new IllegalArgumentException(
                    "An array cannot hold the " + shape().size() + " elements of " + spec + ": take slices");
        }
        return (int) shape().size();
    }

    /** Frees the memory, also under all views. Does nothing the second time. */
    @Override
    public void close() {
        buffer.close();
    }

    /**
     * A readable form.
     *
     * @return type, shape and place
     */
    @Override
    public String toString() {
        return spec + " at " + place();
    }
}
