package io.seriatim.tensor.onednn;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.internal.ffi.Attributes;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import io.seriatim.tensor.internal.ffi.MemoryDescriptor;
import io.seriatim.tensor.internal.ffi.PrimitiveDescriptor;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.onednn.ConvolutionRecipes.Geometry;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Convolutions with few output pixels, as a product of im2col rows, [pixels, window · channels], with packed weights,
 * [window · channels, outputs]. With so few rows, the time is that of reading the weights, which the library's own
 * convolutions do more slowly. It is used only for weights that are packed once and used often.
 */
final class Im2colProducts {
    /** The most pixels of a single image: with more, the library's convolutions are as fast. */
    private static final long MOST_PIXELS = 8;
    /** The most pixels of each of several images: the library's convolutions read all weights again for each image. */
    private static final long MOST_PIXELS_OF_SEVERAL = 16;
    /** Smaller weights stay in the second-level cache. */
    private static final long FEWEST_WEIGHTS = 1 << 17;

    private final Convolution convolution;
    private final TensorSpec x;
    private final TensorSpec w;
    private final @Nullable TensorSpec bias;
    private final List<TensorSpec> combined;
    private final TensorSpec y;
    private final long rows;
    private final long length;
    private final long outputs;

    private Im2colProducts(Convolution convolution, TensorSpec x, TensorSpec w, @Nullable TensorSpec bias,
            List<TensorSpec> combined,
            TensorSpec y) {
        this.convolution = convolution;
        this.x = x;
        this.w = w;
        this.bias = bias;
        this.combined = combined;
        this.y = y;
        outputs = w.shape().dim(0);
        length = w.shape().size() / outputs;
        rows = y.shape().size() / outputs;
    }

    /** Null where the library's own convolution is as fast. */
    static @Nullable Im2colProducts of(Convolution convolution, TensorSpec x, TensorSpec w, @Nullable TensorSpec bias,
            List<TensorSpec> combined, TensorSpec y) {
        boolean fits = convolution.groups() == 1 && NormalisationRecipes.areFloat32(x, w, y) && Specs.areForward(x, y)
                && (bias == null || (bias.isRowMajor() && NormalisationRecipes.areFloat32(bias)))
                && combined.stream().allMatch(spec -> NormalisationRecipes.areFloat32(spec) && isOfPixels(spec, y))
                && convolution.postOps().stream().noneMatch(PostOp.Accumulate.class::isInstance);
        long rows = y.shape().size() / Math.max(1, y.shape().dim(1));
        boolean pays = w.shape().size() >= FEWEST_WEIGHTS && rows > 0 && rows <= y.shape().dim(1)
                && (rows <= MOST_PIXELS || (y.shape().dim(0) > 1 && rows <= MOST_PIXELS_OF_SEVERAL * y.shape().dim(0)));
        return fits && pays ? new Im2colProducts(convolution, x, w, bias, combined, y) : null;
    }

    private static boolean isOfPixels(TensorSpec spec, TensorSpec y) {
        long size = spec.shape().size();
        return spec.shape().equals(y.shape()) || size == 1 || (size == y.shape().dim(1) && spec.shape().dim(1) == size);
    }

    /** Whether the weights are those of {@link #preferred}. */
    boolean arePacked() {
        return w.layout() instanceof Layout.Opaque layout && layout.library().equals(OneDnnKernels.MATRIX);
    }

    TensorSpec preferred(SequenceBuilder builder) {
        Dnnl dnnl = builder.dnnl();
        MemoryDescriptor any = builder.describeAny(new long[]{length, outputs}, DType.FLOAT32);
        PrimitiveDescriptor descriptor = builder.keepFast(builder.primitives().tryMatMul(builder.rowMajor(rows, length),
                any, null, builder.rowMajor(rows, outputs), builder.attributes()));
        if (!w.isRowMajor() || descriptor == null) {
            return w;
        }
        MemoryDescriptor wanted = dnnl.get(descriptor, DnnlConstants.QUERY_WEIGHTS);
        return new TensorSpec(w.dtype(), w.shape(),
                new Layout.Opaque(OneDnnKernels.MATRIX, dnnl.blob(wanted), dnnl.size(wanted)));
    }

    /** Null if the library has no such product. */
    @Nullable
    Kernel kernel(Dnnl dnnl) {
        return DnnlKernel.of(dnnl, builder -> {
            List<PostOp> postOps = new ArrayList<>();
            List<MemoryDescriptor> descriptors = new ArrayList<>();
            List<Operand> operands = new ArrayList<>();
            MemoryDescriptor biasDescriptor = bias == null ? null : builder.rowMajor(1, outputs);
            int slot = 2;
            if (biasDescriptor != null) {
                operands.add(new Operand(DnnlConstants.BIAS, slot++, biasDescriptor));
            }
            int next = 0;
            for (PostOp postOp : convolution.postOps()) {
                if (postOp instanceof PostOp.Combine) {
                    int argument = DnnlConstants.POST_OP * (postOps.size() + 1) | DnnlConstants.SRC_1;
                    operands.add(combined(builder, argument, slot++, combined.get(next++)));
                    descriptors.add(operands.getLast().descriptor());
                }
                postOps.add(postOp);
            }
            Operand result = builder.output(DnnlConstants.DST, slot, builder.describe(y), channelsLast(builder, y));
            operands.add(new Operand(DnnlConstants.DST, result.slot(), builder.rowMajor(rows, outputs)));
            Attributes attributes = builder.tryAttributes(postOps, descriptors);
            MemoryDescriptor weights = builder.describe(w);
            PrimitiveDescriptor descriptor = attributes == null
                    ? null
                    : builder.keepFast(builder.primitives().tryMatMul(builder.rowMajor(rows, length), weights,
                            biasDescriptor, builder.rowMajor(rows, outputs), attributes));
            if (descriptor == null) {
                return false;
            }
            operands.add(gathered(builder));
            operands.add(new Operand(DnnlConstants.WEIGHTS, 1, weights));
            builder.step(descriptor, operands.toArray(Operand[]::new));
            return true;
        });
    }

    private Operand combined(SequenceBuilder builder, int argument, int slot, TensorSpec spec) {
        if (!spec.shape().equals(y.shape())) {
            return new Operand(argument, slot, builder.rowMajor(1, spec.shape().size()));
        }
        Operand brought = builder.input(argument, slot, builder.describe(spec), channelsLast(builder, spec));
        return new Operand(argument, brought.slot(), builder.rowMajor(rows, outputs));
    }

    /**
     * Gathers the elements under the window at each pixel, with channels innermost, so that the channels of each
     * element of the window are contiguous.
     */
    private Operand gathered(SequenceBuilder builder) {
        Operand images = builder.temporary(DnnlConstants.DST, channelsLast(builder, x));
        builder.copy(new Operand(DnnlConstants.SRC, 0, builder.describe(x)), images);
        Operand covered = builder.temporary(DnnlConstants.SRC, builder.rowMajor(rows, length));
        int[] pixels = pixels();
        float[] padding = new float[Math.toIntExact(x.shape().dim(1))];
        long run = (long) padding.length * Float.BYTES;
        builder.action((scratch, _) -> {
            long to = ~covered.slot();
            for (int pixel : pixels) {
                if (pixel < 0) {
                    MemorySegment.copy(padding, 0, scratch, ValueLayout.JAVA_FLOAT_UNALIGNED, to, padding.length);
                } else {
                    MemorySegment.copy(scratch, ~images.slot() + pixel * run, scratch, to, run);
                }
                to += run;
            }
        });
        return covered;
    }

    /** For each pixel of the result and each element of the window, the pixel of x under it; −1 for padding. */
    private int[] pixels() {
        int rank = convolution.window().rank();
        Geometry geometry = new Geometry(convolution.window(), 1);
        int[] lengths = Im2col.spatial(x.shape().dims(), rank);
        int[] places = Im2col.spatial(y.shape().dims(), rank);
        int[] window = Im2col.spatial(w.shape().dims(), rank);
        int taps = Im2col.product(window);
        int perImage = Im2col.product(places);
        int[] pixels = new int[Math.toIntExact(rows) * taps];
        for (int i = 0; i < pixels.length; i++) {
            int place = i / taps;
            int pixel = Im2col.pixel(geometry, lengths, places, window, i % taps, place % perImage);
            pixels[i] = pixel < 0 ? pixel : place / perImage * Im2col.product(lengths) + pixel;
        }
        return pixels;
    }

    /** Packs plain weights, [outputs, channels, window...], into the layout of {@link #preferred}. */
    static @Nullable Kernel packing(Dnnl dnnl, TensorSpec from, TensorSpec to) {
        if (!from.isRowMajor()) {
            return null;
        }
        return DnnlKernel.of(dnnl, builder -> {
            long[] dims = from.shape().dims();
            long window = from.shape().size() / dims[0] / dims[1];
            long[] turned = {window, dims[1], dims[0]};
            MemoryDescriptor given = builder.describe(turned, DType.FLOAT32, new long[]{1, window, window * dims[1]});
            Operand plain = builder.temporary(DnnlConstants.DST,
                    builder.rowMajor(turned));
            builder.copy(new Operand(DnnlConstants.SRC, 0, given), plain);
            builder.copy(new Operand(DnnlConstants.SRC, plain.slot(), builder.rowMajor(window * dims[1], dims[0])),
                    new Operand(DnnlConstants.DST, 1, builder.describe(to)));
            return true;
        });
    }

    private static MemoryDescriptor channelsLast(SequenceBuilder builder, TensorSpec spec) {
        long[] dims = spec.shape().dims();
        long[] strides = new long[dims.length];
        strides[1] = 1;
        long step = dims[1];
        for (int i = dims.length - 1; i > 1; i--) {
            strides[i] = step;
            step *= dims[i];
        }
        strides[0] = step;
        return builder.describe(dims, DType.FLOAT32, strides);
    }
}
