package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Arg;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Some channels and pixels of images, [n, c, spatial...], that are stored in that order or will be stored channels
 * last. The dimensions of the pixels may differ from those of the whole images in dimensions of length 1, as those of a
 * line differ from those of an image of one row.
 *
 * @param whole
 *            the images, row-major
 * @param channel
 *            the first channel
 * @param first
 *            the first pixel, as its index in a dense image
 * @param from
 *            the dimension of the images that each dimension of the part is along; −1 if its length is 1
 */
record ImagePart(TensorSpec whole, long channel, long first, List<Integer> from) {
    private static final int CHANNELS = 1;
    private static final int PIXELS = 2;

    /** Returns whether two row-major tensors are the same images, perhaps with their pixels in other dimensions. */
    static boolean isSame(TensorSpec spec, TensorSpec whole) {
        Shape shape = spec.shape();
        Shape images = whole.shape();
        return spec.dtype() == whole.dtype() && spec.isRowMajor() && whole.isRowMajor() && shape.rank() > PIXELS
                && images.rank() > PIXELS && shape.dim(0) == images.dim(0)
                && shape.dim(CHANNELS) == images.dim(CHANNELS) && shape.size() == images.size();
    }

    /**
     * Returns whether an argument is whole images, transposed to pixels of channels, [n, spatial..., c], perhaps with
     * the pixels in other dimensions.
     */
    static boolean isOfPixels(Arg arg, TensorSpec whole) {
        Shape shape = arg.spec().shape();
        int rank = shape.rank();
        if (rank <= PIXELS || whole.shape().rank() <= PIXELS || arg.offset() != 0 || !whole.isRowMajor()
                || arg.spec().layout() instanceof Layout.Opaque || arg.spec().dtype() != whole.dtype()
                || shape.dim(0) != whole.shape().dim(0) || shape.dim(rank - 1) != whole.shape().dim(CHANNELS)
                || shape.size() != whole.shape().size()) {
            return false;
        }
        return isDense(first(shape.dims()), first(arg.spec().strides()));
    }

    /** Returns whether images, [n, c, spatial...], are dense with their channels last. */
    static boolean isLast(TensorSpec spec) {
        return spec.shape().rank() > PIXELS && !(spec.layout() instanceof Layout.Opaque)
                && isDense(last(spec.shape().dims()), last(spec.strides()));
    }

    private static boolean isDense(long[] dims, long[] strides) {
        long[] dense = Shape.of(dims).strides();
        return IntStream.range(0, dims.length).allMatch(i -> dims[i] == 1 || dense[i] == strides[i]);
    }

    /** Returns the part that an argument is of images; null if it is none. */
    static @Nullable ImagePart of(Arg arg, TensorSpec whole) {
        Shape shape = arg.spec().shape();
        Shape images = whole.shape();
        if (shape.rank() <= PIXELS || images.rank() <= PIXELS || arg.spec().layout() instanceof Layout.Opaque
                || !whole.isRowMajor() || arg.spec().dtype() != whole.dtype() || shape.size() == 0
                || shape.dim(0) != images.dim(0)) {
            return null;
        }
        List<Integer> from = from(arg.spec(), whole);
        if (from.isEmpty()) {
            return null;
        }
        long rest = arg.offset() / whole.dtype().bytes();
        long[] at = new long[images.rank()];
        for (int i = CHANNELS; i < at.length; i++) {
            at[i] = rest / whole.strides()[i];
            rest %= whole.strides()[i];
        }
        for (int i = 0; i < from.size(); i++) {
            int along = from.get(i);
            if (along >= 0 && at[along] + shape.dim(i) > images.dim(along)) {
                return null;
            }
        }
        if (at[CHANNELS] >= images.dim(CHANNELS)) {
            return null;
        }
        long pixels = images.slice(PIXELS, images.rank()).size();
        long first = arg.offset() / whole.dtype().bytes() % pixels;
        return new ImagePart(whole, at[CHANNELS], first, from);
    }

    /** Empty if a dimension is along none of the images. */
    private static List<Integer> from(TensorSpec part, TensorSpec whole) {
        List<Integer> from = new ArrayList<>();
        int next = PIXELS;
        for (int i = 0; i < part.shape().rank(); i++) {
            if (part.shape().dim(i) == 1) {
                from.add(-1);
                continue;
            }
            int along = i < PIXELS ? i : next;
            while (i >= PIXELS && along < whole.shape().rank()
                    && (whole.shape().dim(along) == 1 || whole.strides()[along] != part.strides()[i])) {
                along++;
            }
            if (along == whole.shape().rank() || whole.strides()[along] != part.strides()[i]) {
                return List.of();
            }
            from.add(along);
            next = Math.max(next, along + 1);
        }
        return List.copyOf(from);
    }

    /**
     * Returns the argument of images that are stored channels last.
     *
     * @param inMemory
     *            whether the dimensions become those in memory; otherwise only the strides change
     */
    Arg turned(Arg arg, boolean inMemory) {
        long[] steps = turned(whole, false).strides();
        long[] dims = arg.spec().shape().dims();
        long[] strides = new long[dims.length];
        for (int i = 0; i < dims.length; i++) {
            strides[i] = from.get(i) < 0 ? 1 : steps[from.get(i)];
        }
        long offset = (first * whole.shape().dim(CHANNELS) + channel) * whole.dtype().bytes();
        return new Arg(arg.source(), offset, new TensorSpec(whole.dtype(), Shape.of(inMemory ? last(dims) : dims),
                Layout.strided(inMemory ? last(strides) : strides)));
    }

    /** Returns what whole images are if they are stored channels last; see {@link #turned(Arg, boolean)}. */
    static TensorSpec turned(TensorSpec spec, boolean inMemory) {
        long[] dims = spec.shape().dims();
        if (inMemory) {
            return TensorSpec.of(spec.dtype(), last(dims));
        }
        long[] steps = Shape.of(last(dims)).strides();
        long[] strides = new long[dims.length];
        strides[0] = steps[0];
        strides[CHANNELS] = 1;
        System.arraycopy(steps, 1, strides, PIXELS, dims.length - PIXELS);
        return new TensorSpec(spec.dtype(), spec.shape(), Layout.strided(strides));
    }

    /** Moves the element of the channels from the end to its place; the inverse of {@link #last}. */
    private static long[] first(long[] each) {
        long[] first = new long[each.length];
        first[0] = each[0];
        first[CHANNELS] = each[each.length - 1];
        System.arraycopy(each, CHANNELS, first, PIXELS, each.length - PIXELS);
        return first;
    }

    /** Moves the element of the channels to the end. */
    private static long[] last(long[] each) {
        long[] last = new long[each.length];
        last[0] = each[0];
        System.arraycopy(each, PIXELS, last, CHANNELS, each.length - PIXELS);
        last[each.length - 1] = each[CHANNELS];
        return last;
    }
}
