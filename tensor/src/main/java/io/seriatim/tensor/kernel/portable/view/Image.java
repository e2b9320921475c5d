package io.seriatim.tensor.kernel.portable.view;

import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;

/**
 * Dimensions and strides of a batch of images, or of weights, seen with three spatial dimensions.
 *
 * @param dims
 *            five lengths: images, channels, depth, height, width
 * @param strides
 *            as many strides, in elements
 */
@SuppressWarnings("ArrayRecordComponent")
public record Image(long[] dims, long[] strides) {
    private static final int RANK = 5;

    public static Image of(TensorSpec spec) {
        long[] own = spec.shape().dims();
        long[] ownStrides = spec.strides();
        long[] dims = {own[0], own[1], 1, 1, 1};
        long[] strides = {ownStrides[0], ownStrides[1], 0, 0, 0};
        int added = RANK - own.length;
        for (int i = 2; i < own.length; i++) {
            dims[i + added] = own[i];
            strides[i + added] = ownStrides[i];
        }
        return new Image(dims, strides);
    }

    public long images() {
        return dims[0];
    }

    public long channels() {
        return dims[1];
    }

    public int depth() {
        return Math.toIntExact(dims[2]);
    }

    public int height() {
        return Math.toIntExact(dims[3]);
    }

    public int width() {
        return Math.toIntExact(dims[4]);
    }

    public int plane() {
        return Math.multiplyExact(Math.multiplyExact(depth(), height()), width());
    }

    /** Whether the pixels of a channel lie one after the other. */
    private boolean isPlaneDense() {
        return strides[4] == 1 && (height() == 1 || strides[3] == width())
                && (depth() == 1 || strides[2] == (long) width() * height());
    }

    private long at(Tensor tensor, long image, long channel, long z, long y) {
        return tensor.offset() + (image * strides[0] + channel * strides[1] + z * strides[2] + y * strides[3])
                * tensor.dtype().bytes();
    }

    /** Reads one row of pixels. */
    public void load(Tensor tensor, long image, long channel, long z, long y, double[] into, int from) {
        Doubles.load(tensor.memory(), tensor.dtype(), at(tensor, image, channel, z, y), strides[4], into, from,
                width());
    }

    /** Writes one row of pixels. */
    public void store(Tensor tensor, long image, long channel, long z, long y, double[] values, int from) {
        Doubles.store(tensor.memory(), tensor.dtype(), at(tensor, image, channel, z, y), strides[4], values, from,
                width());
    }

    /** Reads all pixels of a channel, row after row. */
    public void loadPlane(Tensor tensor, long image, long channel, double[] into, int from) {
        if (isPlaneDense()) {
            Doubles.load(tensor.memory(), tensor.dtype(), at(tensor, image, channel, 0, 0), 1, into, from, plane());
            return;
        }
        int at = from;
        for (int z = 0; z < depth(); z++) {
            for (int y = 0; y < height(); y++) {
                load(tensor, image, channel, z, y, into, at);
                at += width();
            }
        }
    }

    /** Writes all pixels of a channel, row after row. */
    public void storePlane(Tensor tensor, long image, long channel, double[] values, int from) {
        if (isPlaneDense()) {
            Doubles.store(tensor.memory(), tensor.dtype(), at(tensor, image, channel, 0, 0), 1, values, from, plane());
            return;
        }
        int at = from;
        for (int z = 0; z < depth(); z++) {
            for (int y = 0; y < height(); y++) {
                store(tensor, image, channel, z, y, values, at);
                at += width();
            }
        }
    }
}
