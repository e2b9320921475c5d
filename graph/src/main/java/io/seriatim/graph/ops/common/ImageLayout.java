package io.seriatim.graph.ops.common;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Operand;

/**
 * Where the channels of images are: after the batch or last. Computations want them after the batch; the others are
 * seen so through views.
 *
 * @param channelsLast
 *            whether they are the last dimension
 */
public record ImageLayout(boolean channelsLast) {
    public static final ImageLayout CHANNELS_FIRST = new ImageLayout(false);

    /** From an attribute like {@code NHWC}. */
    public static ImageLayout of(Attrs attrs, String name) {
        String format = attrs.getText(name);
        return new ImageLayout(format.length() > 1 && format.endsWith("C"));
    }

    /** The axis of the channels. */
    public int channels(int rank) {
        return channelsLast ? rank - 1 : 1;
    }

    /** The first spatial axis. */
    public int spatial() {
        return channelsLast ? 1 : 2;
    }

    /** A view with the channels after the batch. */
    public Operand channelsFirst(Operand image) {
        if (!channelsLast) {
            return image;
        }
        int[] axes = new int[image.rank()];
        axes[1] = image.rank() - 1;
        for (int i = 2; i < axes.length; i++) {
            axes[i] = i - 1;
        }
        return image.transpose(axes);
    }

    /** A view in this layout of an image with the channels after the batch. */
    public Operand from(Operand channelsFirst) {
        if (!channelsLast) {
            return channelsFirst;
        }
        int[] axes = new int[channelsFirst.rank()];
        axes[axes.length - 1] = 1;
        for (int i = 1; i < axes.length - 1; i++) {
            axes[i] = i + 1;
        }
        return channelsFirst.transpose(axes);
    }

    /** The dimensions of images. */
    public long[] dims(long batch, long channels, long[] spatial) {
        long[] dims = new long[spatial.length + 2];
        dims[0] = batch;
        dims[channels(dims.length)] = channels;
        System.arraycopy(spatial, 0, dims, spatial(), spatial.length);
        return dims;
    }

    /** The spatial dimensions of images. */
    public long[] spatialOf(long[] dims) {
        long[] spatial = new long[dims.length - 2];
        System.arraycopy(dims, spatial(), spatial, 0, spatial.length);
        return spatial;
    }
}
