package io.seriatim.tensor.onednn;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.internal.ffi.Attributes;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import io.seriatim.tensor.internal.ffi.MemoryDescriptor;
import io.seriatim.tensor.internal.ffi.PrimitiveDescriptor;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.onednn.ConvolutionRecipes.Geometry;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Convolutions of images whose number of channels does not fill vectors, and the gradients of such images. They are
 * computed as products of the weights, [outputs, channels · window], in their own layout, and im2col columns of a few
 * images at a time, so that the columns stay in the second-level cache. The library's own convolutions pad images and
 * weights to blocks of 16 channels, and compute the padding, too. The rows of the columns are windows of the image; a
 * reorder of the library for each element of the kernel copies them, or adds them to the image.
 */
final class ConvolutionBlocks {
    /** Channels of a block of the library. */
    private static final long BLOCK = 16;
    /** The library's own convolutions are slower if channels fill at most this share of its blocks. */
    private static final double FULL = 0.7;
    /** With up to so many channels they are always slower. */
    private static final long FEW_CHANNELS = 4;
    /** With more channels, a copied element of a column must be used for so many outputs. */
    private static final long FEWEST_OUTPUTS = 20;
    /** The shortest run of elements that is copied by vector instructions. */
    private static final long SHORTEST_LINE = 8;
    /** The most bytes that columns of several images take. */
    private static final long MOST_BYTES = 1 << 19;
    /** The most bytes that columns of one image take. */
    private static final long MOST_BYTES_OF_ONE = 1 << 23;

    private final Geometry geometry;
    private final Shape image;
    private final Shape weights;
    private final Shape result;
    private final long images;
    private final long outputs;
    private final long channels;
    private final long taps;
    private final long places;

    private ConvolutionBlocks(Geometry geometry, Shape image, Shape weights, Shape result) {
        this.geometry = geometry;
        this.image = image;
        this.weights = weights;
        this.result = result;
        outputs = weights.dim(0);
        channels = weights.dim(1);
        taps = spatial(weights);
        places = spatial(result);
        images = divisor(image.dim(0), MOST_BYTES / bytes(1));
    }

    /** The convolution; null where the library's own is faster. */
    static @Nullable ConvolutionBlocks ofForward(Geometry geometry, TensorSpec image, TensorSpec weights,
            TensorSpec result) {
        return weights.shape().dim(1) > FEW_CHANNELS && weights.shape().dim(0) < FEWEST_OUTPUTS
                ? null
                : of(geometry, image, weights, result);
    }

    /** The gradient of the image; null where the library's own is faster. */
    static @Nullable ConvolutionBlocks of(Geometry geometry, TensorSpec image, TensorSpec weights, TensorSpec result) {
        boolean plain = geometry.groups() == 1 && NormalisationRecipes.areFloat32(image, weights, result)
                && image.isRowMajor()
                && weights.isRowMajor() && result.isRowMajor();
        if (!plain || result.shape().dim(-1) < SHORTEST_LINE || share(weights.shape().dim(1)) > FULL) {
            return null;
        }
        for (int i = 0; i < geometry.window().rank(); i++) {
            if (geometry.window().stride(i) != 1) {
                return null;
            }
        }
        ConvolutionBlocks blocks = new ConvolutionBlocks(geometry, image.shape(), weights.shape(), result.shape());
        return blocks.bytes(1) > MOST_BYTES_OF_ONE ? null : blocks;
    }

    /** The share of the library's blocks that channels fill. */
    private static double share(long channels) {
        return (double) channels / (Math.ceilDiv(channels, BLOCK) * BLOCK);
    }

    /** The bytes of the columns of some images. */
    private long bytes(long count) {
        return count * rows() * places * Float.BYTES;
    }

    private static long spatial(Shape shape) {
        return shape.slice(2, shape.rank()).size();
    }

    /** The largest divisor that is no more than a limit, or 1. */
    private static long divisor(long number, long limit) {
        long divisor = Math.clamp(limit, 1, number);
        while (number % divisor != 0) {
            divisor--;
        }
        return divisor;
    }

    /**
     * The convolution.
     *
     * @param postOps
     *            the post-ops; an operand has one value, or one for each channel
     * @param combined
     *            the operands
     */
    @Nullable
    Kernel forward(Dnnl dnnl, List<PostOp> postOps, List<TensorSpec> combined) {
        return DnnlKernel.of(dnnl, builder -> {
            Operand columns = builder.temporary(DnnlConstants.WEIGHTS, builder.rowMajor(images, rows(), places));
            Operand left = new Operand(DnnlConstants.SRC, 1, builder.rowMajor(1, outputs, rows()));
            Operand product = moving(DnnlConstants.DST, 2 + combined.size(), builder.rowMajor(images, outputs, places),
                    0, result);
            List<MemoryDescriptor> others = combined.stream().map(spec -> builder.rowMajor(1, spec.shape().size(), 1))
                    .toList();
            Attributes attributes = builder.tryAttributes(postOps, others);
            PrimitiveDescriptor descriptor = attributes == null
                    ? null
                    : builder.keepFast(builder.primitives().tryMatMul(left.descriptor(), columns.descriptor(), null,
                            product.descriptor(), attributes));
            if (descriptor == null) {
                return false;
            }
            if (isPadded()) {
                builder.clear(columns);
            }
            builder.repeat(repetitions());
            for (Window window : windows()) {
                builder.copy(window.ofImage(builder, DnnlConstants.SRC, 0),
                        window.ofColumns(builder, DnnlConstants.DST, columns));
            }
            List<Operand> operands = new ArrayList<>(List.of(left, columns, product));
            int next = 0;
            for (int i = 0; i < postOps.size(); i++) {
                if (postOps.get(i) instanceof PostOp.Combine) {
                    operands.add(new Operand(DnnlConstants.POST_OP * (i + 1) | DnnlConstants.SRC_1, 2 + next,
                            others.get(next)));
                    next++;
                }
            }
            builder.step(descriptor, operands.toArray(Operand[]::new));
            return true;
        });
    }

    @Nullable
    Kernel gradInput(Dnnl dnnl) {
        return DnnlKernel.of(dnnl, builder -> {
            Operand columns = builder.temporary(DnnlConstants.DST, builder.rowMajor(images, rows(), places));
            Operand transposed = builder.temporary(DnnlConstants.SRC, builder.rowMajor(1, rows(), outputs));
            Operand gradient = moving(DnnlConstants.WEIGHTS, 0, builder.rowMajor(images, outputs, places), 0, result);
            Operand target = moving(DnnlConstants.DST, 2, builder.rowMajor(images, channels, spatial(image)), 0, image);
            Operand zeros = builder.temporary(DnnlConstants.SRC, target.descriptor());
            PrimitiveDescriptor descriptor = builder.keepFast(builder.primitives().tryMatMul(transposed.descriptor(),
                    gradient.descriptor(), null, columns.descriptor(), builder.attributes()));
            if (descriptor == null) {
                return false;
            }
            builder.clear(zeros);
            builder.copy(
                    new Operand(DnnlConstants.SRC, 1, builder.describe(new long[]{1, rows(), outputs}, DType.FLOAT32,
                            new long[]{rows() * outputs, 1, rows()})),
                    new Operand(DnnlConstants.DST, transposed.slot(), transposed.descriptor()));
            builder.repeat(repetitions());
            builder.step(descriptor, transposed, gradient, columns);
            builder.copy(zeros, target);
            for (Window window : windows()) {
                builder.add(window.ofColumns(builder, DnnlConstants.SRC, columns),
                        window.ofImage(builder, DnnlConstants.DST, 2));
            }
            return true;
        });
    }

    private long rows() {
        return channels * taps;
    }

    private int repetitions() {
        return Math.toIntExact(image.dim(0) / images);
    }

    private boolean isPadded() {
        return windows().stream().anyMatch(window -> window.size() != images * channels * places);
    }

    /** An operand that moves on with each repetition, given by its part for the first one. */
    private Operand moving(int argument, int slot, MemoryDescriptor descriptor, long offset, Shape shape) {
        return new Operand(argument, slot, descriptor, offset, shape.size() / repetitions() * Float.BYTES);
    }

    private List<Window> windows() {
        List<Window> windows = new ArrayList<>();
        for (int tap = 0; tap < taps; tap++) {
            Window window = new Window(tap);
            if (window.size() > 0) {
                windows.add(window);
            }
        }
        return windows;
    }

    /** The elements under an element of the kernel: [images, channels, output positions outside of the padding]. */
    private final class Window {
        private final long[] dims;
        private final long[] inImage = image.strides();
        private final long[] inColumns = result.strides();
        private long imageOffset;
        private long columnOffset;

        Window(int tap) {
            dims = result.dims();
            dims[0] = images;
            dims[1] = channels;
            inColumns[0] = rows() * places;
            inColumns[1] = taps * places;
            columnOffset = tap * places;
            int rest = tap;
            for (int i = dims.length - 1; i > 1; i--) {
                int spatial = i - 2;
                long length = weights.dim(i);
                long shift = rest % length * geometry.window().dilation(spatial) - geometry.window().padBegin(spatial);
                rest /= (int) length;
                long first = Math.max(0, -shift);
                dims[i] = Math.max(0, Math.min(result.dim(i), image.dim(i) - shift) - first);
                imageOffset += (first + shift) * inImage[i];
                columnOffset += first * inColumns[i];
            }
        }

        long size() {
            return Shape.of(dims).size();
        }

        Operand ofImage(SequenceBuilder builder, int argument, int slot) {
            return moving(argument, slot, builder.describe(dims, DType.FLOAT32, inImage), imageOffset * Float.BYTES,
                    image);
        }

        Operand ofColumns(SequenceBuilder builder, int argument, Operand columns) {
            return new Operand(argument, columns.slot(), builder.describe(dims, DType.FLOAT32, inColumns),
                    columnOffset * Float.BYTES, 0);
        }
    }
}
