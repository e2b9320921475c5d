package io.seriatim.tensor.onednn;

import io.seriatim.device.Place;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.network.Pooling;
import io.seriatim.tensor.computation.network.PoolingGrad;
import io.seriatim.tensor.internal.ffi.Attributes;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import io.seriatim.tensor.internal.ffi.MemoryDescriptor;
import io.seriatim.tensor.internal.ffi.PrimitiveDescriptor;
import io.seriatim.tensor.internal.ffi.WindowGeometry;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.Kernels;
import io.seriatim.tensor.onednn.ConvolutionRecipes.Geometry;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Poolings. The library's gradient of a maximum needs the position of the largest element: the forward primitive runs
 * again for it, and writes its output to scratch memory.
 */
final class PoolingRecipes {
    private static final Kernels PORTABLE = Kernels.portable();

    private PoolingRecipes() {
    }

    static @Nullable Kernel forward(Dnnl dnnl, Pooling pooling, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        TensorSpec y = Objects.requireNonNull(arguments[1]);
        if (!isReadable(pooling, x) || !NormalisationRecipes.isWhole(arguments)) {
            return null;
        }
        Kernel mean = isMean(pooling, x, y) ? mean(dnnl, x, y) : null;
        if (mean != null) {
            return mean;
        }
        DnnlKernel fast = DnnlKernel.of(dnnl, builder -> {
            MemoryDescriptor source = builder.describe(x);
            MemoryDescriptor target = builder.describe(y);
            PrimitiveDescriptor descriptor = builder.keepFast(tryForward(builder, pooling,
                    DnnlConstants.FORWARD_INFERENCE, source, target, builder.attributes()));
            if (descriptor == null) {
                return false;
            }
            builder.step(descriptor, new Operand(DnnlConstants.SRC, 0, source),
                    new Operand(DnnlConstants.DST, 1, target));
            return true;
        });
        if (pooling.kind() != Pooling.Kind.MAX || fast == null) {
            return fast;
        }
        return Operands.isDense(x)
                ? NanGuardedKernel.of(ElementwiseRecipes.sum(dnnl, TensorSpec.of(x.dtype(), x.shape().size())), fast,
                        PORTABLE.prepare(pooling, Place.CPU, arguments))
                : null;
    }

    static @Nullable Kernel grad(Dnnl dnnl, PoolingGrad grad, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        TensorSpec dy = Objects.requireNonNull(arguments[2]);
        TensorSpec dx = Objects.requireNonNull(arguments[3]);
        if (!(grad.forward() instanceof Pooling pooling) || !isReadable(pooling, x)
                || !NormalisationRecipes.isWhole(arguments)) {
            return null;
        }
        boolean max = pooling.kind() == Pooling.Kind.MAX;
        return DnnlKernel.of(dnnl, builder -> {
            MemoryDescriptor source = builder.describe(x);
            MemoryDescriptor gradient = builder.describe(dy);
            MemoryDescriptor sourceGradient = builder.describe(dx);
            PrimitiveDescriptor hint = builder.keep(tryForward(builder, pooling, DnnlConstants.FORWARD_TRAINING, source,
                    gradient, builder.attributes()));
            PrimitiveDescriptor descriptor = hint == null
                    ? null
                    : builder.keepFast(builder.primitives().tryPoolingGrad(algorithm(pooling.kind()), sourceGradient,
                            gradient, kernel(pooling), geometry(pooling), hint, builder.attributes()));
            if (hint == null || descriptor == null) {
                return false;
            }
            Operand toGradient = new Operand(DnnlConstants.DIFF_DST, 2, gradient);
            Operand fromGradient = new Operand(DnnlConstants.DIFF_SRC, 3, sourceGradient);
            if (!max) {
                builder.step(descriptor, toGradient, fromGradient);
                return true;
            }
            Operand workspace = builder.temporary(DnnlConstants.WORKSPACE,
                    dnnl.get(hint, DnnlConstants.QUERY_WORKSPACE));
            builder.step(hint, new Operand(DnnlConstants.SRC, 0, source),
                    builder.temporary(DnnlConstants.DST, gradient), workspace);
            builder.step(descriptor, toGradient, fromGradient, workspace);
            return true;
        });
    }

    /** Whether each element of the result is the mean of a channel whose elements lie next to each other. */
    private static boolean isMean(Pooling pooling, TensorSpec x, TensorSpec y) {
        return pooling.kind() != Pooling.Kind.MAX && x.isRowMajor() && y.isRowMajor()
                && IntStream.range(0, pooling.window().rank()).allMatch(i -> y.shape().dim(2 + i) == 1
                        && pooling.kernel().get(i) == x.shape().dim(2 + i) && pooling.window().padBegin(i) == 0
                        && pooling.window().padEnd(i) == 0);
    }

    /** The library's pooling goes through the channels one element at a time, its reduction by vectors. */
    private static @Nullable Kernel mean(Dnnl dnnl, TensorSpec x, TensorSpec y) {
        long channels = y.shape().size();
        return x.shape().size() == channels
                ? null
                : ElementwiseRecipes.reduction(dnnl, new Reduction(Reduction.Function.MEAN, List.of(1), true),
                        new TensorSpec[]{TensorSpec.of(x.dtype(), channels, x.shape().size() / channels),
                                TensorSpec.of(y.dtype(), channels, 1)});
    }

    private static int algorithm(Pooling.Kind kind) {
        return switch (kind) {
            case MAX -> DnnlConstants.POOLING_MAX;
            case AVERAGE -> DnnlConstants.POOLING_AVERAGE;
            case AVERAGE_WITH_PADDING -> DnnlConstants.POOLING_AVERAGE_WITH_PADDING;
        };
    }

    /** Null if the library has no implementation. */
    static @Nullable PrimitiveDescriptor tryForward(SequenceBuilder builder, Pooling pooling, int kind,
            MemoryDescriptor source, MemoryDescriptor target, Attributes attributes) {
        return builder.primitives().tryPooling(kind, algorithm(pooling.kind()), source, target, kernel(pooling),
                geometry(pooling), attributes);
    }

    /** The library pools one to three dimensions, and its means of elements need an element in each window. */
    private static boolean isReadable(Pooling pooling, TensorSpec x) {
        boolean padded = IntStream.range(0, pooling.window().rank())
                .anyMatch(i -> pooling.window().padEnd(i) >= pooling.kernel().get(i));
        return x.shape().rank() >= 3 && x.shape().rank() <= 5 && (pooling.kind() != Pooling.Kind.AVERAGE || !padded);
    }

    private static long[] kernel(Pooling pooling) {
        return pooling.kernel().stream().mapToLong(Long::longValue).toArray();
    }

    private static WindowGeometry geometry(Pooling pooling) {
        return new Geometry(pooling.window(), 1).forLibrary();
    }
}
