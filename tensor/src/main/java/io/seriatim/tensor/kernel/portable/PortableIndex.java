package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.IndexRangeException;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Longs;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.GatherGrad;
import io.seriatim.tensor.computation.Scatter;
import io.seriatim.tensor.computation.ScatterNd;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.function.BinaryFunctions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Slices taken and put by index. Indices are checked before anything is written. */
final class PortableIndex {
    /** Of a row that is held in an array, whichever of its elements are taken. */
    private static final int MOST_OF_ROW = 4096;
    /** Of a sum that is held in an array: a quarter of a MiB. */
    private static final int MOST_OF_SUM = 1 << 16;

    private PortableIndex() {
    }

    /** A tensor as [outer, axis, inner], where the inner part is dense: slices are moved whole. */
    private record Slices(long outer, long length, long inner) {
        static Slices of(Shape shape, int axis) {
            return new Slices(shape.slice(0, axis).size(), shape.dim(axis), shape.slice(axis + 1, shape.rank()).size());
        }
    }

    /**
     * Where the rows of a result lie whose images, along the first dimension, are contiguous but may be apart, as those
     * of a part of a concatenation are.
     *
     * @param rows
     *            the number of rows of an image
     * @param row
     *            the elements of a row: those of the gathered axis and the axes after it
     * @param step
     *            the elements from an image to the next
     */
    private record Images(long rows, long row, long step) {
        /** Null for other layouts. */
        static @Nullable Images of(TensorSpec result, int axis) {
            Shape shape = result.shape();
            if (result.isRowMajor()) {
                return new Images(1, shape.slice(axis, shape.rank()).size(), shape.slice(axis, shape.rank()).size());
            }
            if (!(result.layout() instanceof Layout.Strided strided) || axis == 0) {
                return null;
            }
            long[] strides = strided.strides();
            long[] plain = shape.strides();
            for (int i = 1; i < strides.length; i++) {
                if (strides[i] != plain[i] && shape.dim(i) != 1) {
                    return null;
                }
            }
            return new Images(shape.slice(1, axis).size(), shape.slice(axis, shape.rank()).size(), strides[0]);
        }

        /** Returns how many rows of up to so many elements fit into a tile; 1 if rows of the result are apart. */
        int together(long outer, int length) {
            return step == rows * row ? (int) Math.clamp(KernelContext.TILE / length, 1, Math.max(1, outer)) : 1;
        }

        /** Returns the place of the first element of a row. */
        long start(long outer) {
            return outer / rows * step + outer % rows * row;
        }
    }

    /** The number that stands for no padding is an index like others, and never valid. */
    private static boolean isPadding(long index, long padding) {
        return index == padding && padding != Gather.NO_PADDING;
    }

    /** Checks all indices and counts them. */
    private static long check(String operation, Tensor indices, long length, long padding, KernelContext context) {
        long count = indices.shape().size();
        for (long first = 0; first < count; first += KernelContext.TILE) {
            int part = (int) Math.min(KernelContext.TILE, count - first);
            long[] tile = indices(indices, first, part, context);
            long signs = 0;
            for (int i = 0; i < part; i++) {
                signs |= isPadding(tile[i], padding) ? 0 : outside(tile[i], length);
            }
            for (int i = 0; i < part && signs < 0; i++) {
                if (outside(tile[i], length) < 0 && !isPadding(tile[i], padding)) {
                    throw new IndexRangeException(operation + ": index number " + (first + i) + " must be from 0 to "
                            + (length - 1) + ", but is " + tile[i]);
                }
            }
        }
        return count;
    }

    /** Negative if an index is not from 0 to below a length; indices are checked together by the sign of all. */
    private static long outside(long index, long length) {
        return index | (length - 1 - index);
    }

    /** Loads a tile of dense indices. */
    private static long[] indices(Tensor indices, long first, int count, KernelContext context) {
        long[] tile = context.longs(2);
        Longs.load(indices.memory(), indices.dtype(), indices.offset() + first * indices.dtype().bytes(), 1, tile, 0,
                count);
        return tile;
    }

    private static long index(Tensor indices, long i) {
        return Longs.get(indices.memory(), indices.dtype(), indices.offset() + i * indices.dtype().bytes());
    }

    static @Nullable Kernel gather(Gather gather, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        int axis = x.shape().axis(gather.axis());
        Kernel inMemory = x.isRowMajor() ? null : gatherInMemory(gather.padding(), axis, arguments);
        if (inMemory != null) {
            return inMemory;
        }
        Images images = Images.of(Objects.requireNonNull(arguments[2]), axis);
        if (!x.isRowMajor() || !Objects.requireNonNull(arguments[1]).isRowMajor() || images == null) {
            return throughRowMajor(gather, arguments);
        }
        Slices slices = Slices.of(x.shape(), axis);
        long bytes = slices.inner() * x.dtype().bytes();
        boolean single = slices.inner() == 1 && slices.outer() > 1 && x.dtype().bytes() == Float.BYTES
                && slices.length() <= MOST_OF_ROW
                && 8 * Objects.requireNonNull(arguments[1]).shape().size() >= slices.length();
        return PortableKernel.of((all, context) -> {
            Tensor from = all.get(0);
            Tensor indices = all.get(1);
            if (single) {
                elements(gather, slices, images, from, indices, all.get(2), context);
                return;
            }
            long count = check("gather", indices, slices.length(), gather.padding(), context);
            MemorySegment source = from.memory();
            MemorySegment target = all.get(2).memory();
            for (long outer = 0; outer < slices.outer(); outer++) {
                long write = all.get(2).offset() + images.start(outer) * x.dtype().bytes();
                long read = from.offset() + outer * slices.length() * bytes;
                for (long first = 0; first < count; first += KernelContext.TILE) {
                    int part = (int) Math.min(KernelContext.TILE, count - first);
                    long[] tile = outer > 0 && part == count
                            ? context.longs(2)
                            : indices(indices, first, part, context);
                    for (int i = 0; i < part; i++) {
                        if (isPadding(tile[i], gather.padding())) {
                            target.asSlice(write, bytes).fill((byte) 0);
                        } else {
                            copy(source, read + tile[i] * bytes, target, write, bytes);
                        }
                        write += bytes;
                    }
                }
            }
        });
    }

    /**
     * Elements of 4 bytes along the last axis, as when images are resized: from a row in an array to a row in an array.
     * They are moved as floats, which are only copied, so that no bit changes.
     */
    private static void elements(Gather gather, Slices slices, Images images, Tensor from, Tensor indices, Tensor to,
            KernelContext context) {
        long count = check("gather", indices, slices.length(), gather.padding(), context);
        int length = Math.toIntExact(slices.length());
        // The place after the rows holds the zero of padding.
        float[] row = context.floatArray(Math.max(length, KernelContext.TILE) + 1);
        float[] taken = context.floats(0);
        int[] places = context.ints(0);
        for (long first = 0; first < count; first += KernelContext.TILE) {
            int part = (int) Math.min(KernelContext.TILE, count - first);
            // Short rows share a load and a store: each costs as much as some 40 elements.
            int most = part == count ? images.together(slices.outer(), Math.max(length, part)) : 1;
            int zero = most * length;
            for (int i = 0; i < part; i++) {
                long index = index(indices, first + i);
                boolean padding = isPadding(index, gather.padding());
                for (int j = 0; j < most; j++) {
                    places[j * part + i] = padding ? zero : j * length + (int) index;
                }
            }
            row[zero] = 0;
            for (long outer = 0; outer < slices.outer(); outer += most) {
                int rows = (int) Math.min(most, slices.outer() - outer);
                Floats.load(from.memory(), DType.FLOAT32, from.offset() + outer * length * Float.BYTES, 1, row, 0,
                        rows * length);
                take(row, places, taken, rows * part);
                Floats.store(to.memory(), DType.FLOAT32, to.offset() + (images.start(outer) + first) * Float.BYTES, 1,
                        taken, 0, rows * part);
            }
        }
    }

    private static void take(float[] from, int[] places, float[] taken, int count) {
        for (int i = 0; i < count; i++) {
            taken[i] = from[places[i]];
        }
    }

    /**
     * Gathers along another axis of tensors that are dense in the order of their memory, such as images with channels
     * last; null if both are not, in one order.
     */
    private static @Nullable Kernel gatherInMemory(long padding, int axis, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        TensorSpec indices = Objects.requireNonNull(arguments[1]);
        TensorSpec out = Objects.requireNonNull(arguments[2]);
        if (indices.shape().rank() != 1) {
            return null;
        }
        List<Integer> order = IntStream.range(0, x.shape().rank()).boxed()
                .sorted(Comparator.comparingLong(i -> -x.strides()[i])).toList();
        TensorSpec from = permuted(x, order);
        TensorSpec to = permuted(out, order);
        return from.isRowMajor() && to.isRowMajor()
                ? gather(new Gather(order.indexOf(axis), padding), new TensorSpec[]{from, indices, to})
                : null;
    }

    private static TensorSpec permuted(TensorSpec spec, List<Integer> order) {
        long[] strides = spec.strides();
        return new TensorSpec(spec.dtype(), Shape.of(order.stream().mapToLong(i -> spec.shape().dim(i)).toArray()),
                Layout.strided(order.stream().mapToLong(i -> strides[i]).toArray()));
    }

    /** Views are read element by element. */
    private static Kernel throughRowMajor(Gather gather, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        int axis = x.shape().axis(gather.axis());
        Slices slices = Slices.of(x.shape(), axis);
        boolean whole = x.dtype().arithmetic() == DType.INT64;
        return PortableKernel.of((all, context) -> {
            Tensor indices = all.get(1);
            long count = indices.shape().size();
            long at = 0;
            for (long outer = 0; outer < slices.outer(); outer++) {
                for (long i = 0; i < count; i++) {
                    Longs.load(indices, i, context.longs(0), 0, 1);
                    long index = context.longs(0)[0];
                    if ((index < 0 || index >= slices.length()) && !isPadding(index, gather.padding())) {
                        throw new IndexRangeException(
                                "gather: index number " + i + " must be from 0 to " + (slices.length() - 1)
                                        + ", but is " + index);
                    }
                    for (long j = 0; j < slices.inner(); j++) {
                        element(all.get(0), (outer * slices.length() + index) * slices.inner() + j, all.get(2), at++,
                                isPadding(index, gather.padding()), whole, context);
                    }
                }
            }
        });
    }

    private static void element(Tensor from, long read, Tensor to, long write, boolean zero, boolean whole,
            KernelContext context) {
        if (whole) {
            long[] value = context.longs(1);
            value[0] = 0;
            if (!zero) {
                Longs.load(from, read, value, 0, 1);
            }
            Longs.store(to, write, value, 0, 1);
        } else {
            double[] value = context.doubles(1);
            value[0] = 0;
            if (!zero) {
                Doubles.load(from, read, value, 0, 1);
            }
            Doubles.store(to, write, value, 0, 1);
        }
    }

    static @Nullable Kernel gatherGrad(GatherGrad grad, @Nullable TensorSpec[] arguments) {
        TensorSpec dx = Objects.requireNonNull(arguments[2]);
        if (!areRowMajor(arguments)) {
            return null;
        }
        Slices slices = Slices.of(dx.shape(), dx.shape().axis(grad.forward().axis()));
        return PortableKernel.of((all, context) -> {
            Tensor indices = all.get(1);
            long count = check("gather_grad", indices, slices.length(), grad.forward().padding(),
                    context);
            Tensor target = all.get(2);
            target.elements().fill((byte) 0);
            for (long outer = 0; outer < slices.outer(); outer++) {
                for (long i = 0; i < count; i++) {
                    long index = index(indices, i);
                    if (!isPadding(index, grad.forward().padding())) {
                        add(all.get(0), (outer * count + i) * slices.inner(), target,
                                (outer * slices.length() + index) * slices.inner(),
                                slices.inner(), context);
                    }
                }
            }
        });
    }

    /** Adds a stretch of one row-major tensor to one of another, in the arithmetic of their type. */
    static void add(Tensor from, long read, Tensor to, long write, long count, KernelContext context) {
        int bytes = from.dtype().bytes();
        for (long i = 0; i < count; i += KernelContext.TILE) {
            int length = (int) Math.min(KernelContext.TILE, count - i);
            long in = from.offset() + (read + i) * bytes;
            long out = to.offset() + (write + i) * bytes;
            switch (from.dtype().arithmetic()) {
                case FLOAT32 -> {
                    float[] a = context.floats(0);
                    float[] b = context.floats(1);
                    Floats.load(from.memory(), from.dtype(), in, 1, a, 0, length);
                    Floats.load(to.memory(), to.dtype(), out, 1, b, 0, length);
                    for (int j = 0; j < length; j++) {
                        b[j] += a[j];
                    }
                    Floats.store(to.memory(), to.dtype(), out, 1, b, 0, length);
                }
                case FLOAT64 -> {
                    double[] a = context.doubles(0);
                    double[] b = context.doubles(1);
                    Doubles.load(from.memory(), from.dtype(), in, 1, a, 0, length);
                    Doubles.load(to.memory(), to.dtype(), out, 1, b, 0, length);
                    for (int j = 0; j < length; j++) {
                        b[j] += a[j];
                    }
                    Doubles.store(to.memory(), to.dtype(), out, 1, b, 0, length);
                }
                default -> {
                    long[] a = context.longs(0);
                    long[] b = context.longs(1);
                    Longs.load(from.memory(), from.dtype(), in, 1, a, 0, length);
                    Longs.load(to.memory(), to.dtype(), out, 1, b, 0, length);
                    for (int j = 0; j < length; j++) {
                        b[j] += a[j];
                    }
                    Longs.store(to.memory(), to.dtype(), out, 1, b, 0, length);
                }
            }
        }
    }

    static boolean areRowMajor(@Nullable TensorSpec[] arguments) {
        for (TensorSpec argument : arguments) {
            if (argument != null && !argument.isRowMajor()) {
                return false;
            }
        }
        return true;
    }

    static @Nullable Kernel scatter(Scatter scatter, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        if (!areRowMajor(arguments)) {
            return null;
        }
        long row = x.shape().slice(1, x.shape().rank()).size();
        long bytes = row * x.dtype().bytes();
        return PortableKernel.of((all, context) -> {
            Tensor indices = all.get(1);
            long count = check("scatter", indices, x.shape().dim(0), Gather.NO_PADDING, context);
            Tensor out = all.get(3);
            copyWhole(all.get(0), out);
            for (long i = 0; i < count && !scatter.overwrite(); i++) {
                out.memory().asSlice(out.offset() + index(indices, i) * bytes, bytes).fill((byte) 0);
            }
            for (long i = 0; i < count; i++) {
                if (scatter.overwrite()) {
                    MemorySegment.copy(all.get(2).memory(), all.get(2).offset() + i * bytes, out.memory(),
                            out.offset() + index(indices, i) * bytes, bytes);
                } else {
                    add(all.get(2), i * row, out, index(indices, i) * row, row, context);
                }
            }
        });
    }

    /** Unless they are the same memory. */
    static void copyWhole(Tensor from, Tensor to) {
        if (from.memory().address() + from.offset() != to.memory().address() + to.offset()) {
            MemorySegment.copy(from.memory(), from.offset(), to.memory(), to.offset(), from.spec().bytes());
        }
    }

    /** Index tuples: the row-major number of the slice that each stands for. */
    static long tuple(String operation, Tensor indices, long i, Shape x) {
        int depth = (int) indices.shape().dim(-1);
        long slice = 0;
        for (int d = 0; d < depth; d++) {
            long index = index(indices, i * depth + d);
            if (index < 0 || index >= x.dim(d)) {
                throw new IndexRangeException(
                        operation + ": part " + d + " of index number " + i + " must be from 0 to " + (x.dim(d) - 1)
                                + ", but is " + index);
            }
            slice = slice * x.dim(d) + index;
        }
        return slice;
    }

    /** The numbers of the slices that some tuples stand for, checked. */
    private static long[] tuples(String operation, Tensor indices, long first, int count, Shape x,
            KernelContext context) {
        int depth = (int) indices.shape().dim(-1);
        long[] slices = context.longs(3);
        Arrays.fill(slices, 0, count, 0);
        long signs = 0;
        for (int d = 0; d < depth; d++) {
            long[] parts = context.longs(2);
            Longs.load(indices.memory(), indices.dtype(),
                    indices.offset() + (first * depth + d) * indices.dtype().bytes(), depth, parts, 0, count);
            long length = x.dim(d);
            for (int i = 0; i < count; i++) {
                signs |= outside(parts[i], length);
                slices[i] = slices[i] * length + parts[i];
            }
        }
        for (int i = 0; i < count && signs < 0; i++) {
            tuple(operation, indices, first + i, x);
        }
        return slices;
    }

    /** So that nothing is written if a tuple is wrong. */
    private static void checkTuples(String operation, Tensor indices, long count, Shape x, KernelContext context) {
        for (long first = 0; first < count; first += KernelContext.TILE) {
            tuples(operation, indices, first, (int) Math.min(KernelContext.TILE, count - first), x, context);
        }
    }

    static @Nullable Kernel gatherNd(@Nullable TensorSpec[] arguments) {
        if (!areRowMajor(arguments)) {
            return null;
        }
        Shape x = Objects.requireNonNull(arguments[0]).shape();
        Shape tuples = Objects.requireNonNull(arguments[1]).shape();
        long count = tuples.slice(0, tuples.rank() - 1).size();
        long bytes = x.slice((int) tuples.dim(-1), x.rank()).size()
                * Objects.requireNonNull(arguments[0]).dtype().bytes();
        return PortableKernel.of((all, context) -> {
            checkTuples("gather_nd", all.get(1), count, x, context);
            for (long first = 0; first < count; first += KernelContext.TILE) {
                int part = (int) Math.min(KernelContext.TILE, count - first);
                long[] slices = tuples("gather_nd", all.get(1), first, part, x, context);
                for (int i = 0; i < part; i++) {
                    copy(all.get(0).memory(), all.get(0).offset() + slices[i] * bytes, all.get(2).memory(),
                            all.get(2).offset() + (first + i) * bytes, bytes);
                }
            }
        });
    }

    static @Nullable Kernel scatterNd(ScatterNd scatter, @Nullable TensorSpec[] arguments) {
        if (!areRowMajor(arguments)) {
            return null;
        }
        Shape x = Objects.requireNonNull(arguments[0]).shape();
        Shape tuples = Objects.requireNonNull(arguments[1]).shape();
        long count = tuples.slice(0, tuples.rank() - 1).size();
        long slice = x.slice((int) tuples.dim(-1), x.rank()).size();
        return PortableKernel.of((all, context) -> {
            Tensor indices = all.get(1);
            checkTuples(scatter.operation(), indices, count, x, context);
            Tensor updates = all.get(2);
            Tensor out = all.get(3);
            float[] sums = scatter.function() == ScatterNd.Function.ADD
                    && isSumInArray(out.spec(), count, slice) ? load(all.get(0), context) : null;
            if (sums == null) {
                copyWhole(all.get(0), out);
            }
            for (long first = 0; first < count; first += KernelContext.TILE) {
                int part = (int) Math.min(KernelContext.TILE, count - first);
                long[] slices = tuples(scatter.operation(), indices, first, part, x, context);
                for (int i = 0; i < part; i++) {
                    long read = (first + i) * slice;
                    long write = slices[i] * slice;
                    switch (scatter.function()) {
                        case ASSIGN -> assign(updates, read, out, write, slice);
                        case ADD -> {
                            if (sums == null) {
                                add(updates, read, out, write, slice, context);
                            } else {
                                addTo(updates, read, sums, (int) write, (int) slice, context);
                            }
                        }
                        case MULTIPLY -> merge(Binary.Function.MULTIPLY, updates, read, out, write, slice, context);
                        case MAXIMUM -> merge(Binary.Function.MAXIMUM, updates, read, out, write, slice, context);
                        case MINIMUM -> merge(Binary.Function.MINIMUM, updates, read, out, write, slice, context);
                    }
                }
            }
            if (sums != null) {
                Floats.store(out.memory(), DType.FLOAT32, out.offset(), 1, sums, 0, (int) out.shape().size());
            }
        });
    }

    /**
     * Whether a sum of rows is held in an array until it is complete: it spares two copies for each row, which take as
     * long as some 40 elements each, and costs two of the whole.
     */
    private static boolean isSumInArray(TensorSpec out, long count, long row) {
        return out.dtype() == DType.FLOAT32 && out.shape().size() <= MOST_OF_SUM && row <= KernelContext.TILE
                && count * (row + 40) >= out.shape().size();
    }

    private static float[] load(Tensor x, KernelContext context) {
        int size = (int) x.shape().size();
        float[] array = context.floatArray(size);
        Floats.load(x.memory(), DType.FLOAT32, x.offset(), 1, array, 0, size);
        return array;
    }

    private static void addTo(Tensor from, long read, float[] sums, int write, int count, KernelContext context) {
        float[] row = context.floats(0);
        Floats.load(from.memory(), DType.FLOAT32, from.offset() + read * Float.BYTES, 1, row, 0, count);
        for (int j = 0; j < count; j++) {
            sums[write + j] += row[j];
        }
    }

    private static void assign(Tensor from, long read, Tensor to, long write, long count) {
        int bytes = from.dtype().bytes();
        long in = from.offset() + read * bytes;
        long out = to.offset() + write * bytes;
        copy(from.memory(), in, to.memory(), out, count * bytes);
    }

    /** Single elements are moved without a call. */
    private static void copy(MemorySegment from, long read, MemorySegment to, long write, long bytes) {
        if (bytes == Integer.BYTES) {
            to.set(ValueLayout.JAVA_INT_UNALIGNED, write, from.get(ValueLayout.JAVA_INT_UNALIGNED, read));
        } else {
            MemorySegment.copy(from, read, to, write, bytes);
        }
    }

    /** Merges a stretch of one row-major tensor into one of another, in the arithmetic of their type. */
    private static void merge(Binary.Function function, Tensor from, long read, Tensor to, long write, long count,
            KernelContext context) {
        int bytes = from.dtype().bytes();
        for (long i = 0; i < count; i += KernelContext.TILE) {
            int length = (int) Math.min(KernelContext.TILE, count - i);
            long in = from.offset() + (read + i) * bytes;
            long out = to.offset() + (write + i) * bytes;
            if (from.dtype().arithmetic() == DType.INT64) {
                long[] a = context.longs(0);
                long[] b = context.longs(1);
                Longs.load(from.memory(), from.dtype(), in, 1, a, 0, length);
                Longs.load(to.memory(), to.dtype(), out, 1, b, 0, length);
                for (int j = 0; j < length; j++) {
                    b[j] = from.dtype() == DType.UINT64
                            ? BinaryFunctions.applyUnsigned(function, a[j], b[j])
                            : BinaryFunctions.apply(function, a[j], b[j]);
                }
                Longs.store(to.memory(), to.dtype(), out, 1, b, 0, length);
            } else {
                double[] a = context.doubles(0);
                double[] b = context.doubles(1);
                Doubles.load(from.memory(), from.dtype(), in, 1, a, 0, length);
                Doubles.load(to.memory(), to.dtype(), out, 1, b, 0, length);
                for (int j = 0; j < length; j++) {
                    b[j] = BinaryFunctions.apply(function, a[j], b[j]);
                }
                Doubles.store(to.memory(), to.dtype(), out, 1, b, 0, length);
            }
        }
    }
}
