package io.seriatim.tensor.onednn;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.network.BatchNorm;
import io.seriatim.tensor.computation.network.BatchNormGrad;
import io.seriatim.tensor.computation.network.LayerNorm;
import io.seriatim.tensor.computation.network.LayerNormGrad;
import io.seriatim.tensor.computation.network.Softmax;
import io.seriatim.tensor.computation.network.SoftmaxGrad;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import io.seriatim.tensor.internal.ffi.MemoryDescriptor;
import io.seriatim.tensor.internal.ffi.PrimitiveDescriptor;
import io.seriatim.tensor.kernel.Kernel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Softmax, layer and batch normalisation. The library needs statistics, scales and shifts in float32. */
final class NormalisationRecipes {
    private NormalisationRecipes() {
    }

    static @Nullable Kernel softmax(Dnnl dnnl, Softmax softmax, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        TensorSpec y = Objects.requireNonNull(arguments[1]);
        if (!isWhole(arguments) || x.shape().rank() == 0) {
            return null;
        }
        int axis = x.shape().axis(softmax.axis());
        DnnlKernel fast = DnnlKernel.of(dnnl, builder -> {
            MemoryDescriptor source = builder.describe(x);
            MemoryDescriptor target = builder.describe(y);
            PrimitiveDescriptor descriptor = builder.keepFast(trySoftmax(builder, DnnlConstants.FORWARD_INFERENCE,
                    softmax.log(), source, target, axis));
            if (descriptor == null) {
                return false;
            }
            builder.step(descriptor, new Operand(DnnlConstants.SRC, 0, source),
                    new Operand(DnnlConstants.DST, 1, target));
            return true;
        });
        return SoftmaxKernel.of(dnnl, fast, 1, y, axis);
    }

    static @Nullable Kernel softmaxGrad(Dnnl dnnl, SoftmaxGrad grad, @Nullable TensorSpec[] arguments) {
        TensorSpec y = Objects.requireNonNull(arguments[0]);
        TensorSpec dy = Objects.requireNonNull(arguments[1]);
        TensorSpec dx = Objects.requireNonNull(arguments[2]);
        if (!isWhole(arguments) || y.shape().rank() == 0) {
            return null;
        }
        int axis = y.shape().axis(grad.axis());
        return DnnlKernel.of(dnnl, builder -> {
            MemoryDescriptor result = builder.describe(y);
            MemoryDescriptor resultGrad = builder.describe(dy);
            MemoryDescriptor sourceGrad = builder.describe(dx);
            PrimitiveDescriptor hint = builder.keep(trySoftmax(builder, DnnlConstants.FORWARD_TRAINING, grad.log(),
                    sourceGrad, result, axis));
            PrimitiveDescriptor descriptor = hint == null
                    ? null
                    : builder.keepFast(builder.primitives().trySoftmaxGrad(algorithm(grad.log()), sourceGrad,
                            resultGrad, result, axis, hint, builder.attributes()));
            if (descriptor == null) {
                return false;
            }
            builder.step(descriptor, new Operand(DnnlConstants.DST, 0, result),
                    new Operand(DnnlConstants.DIFF_DST, 1, resultGrad),
                    new Operand(DnnlConstants.DIFF_SRC, 2, sourceGrad));
            return true;
        });
    }

    static @Nullable PrimitiveDescriptor trySoftmax(SequenceBuilder builder, int kind, boolean log,
            MemoryDescriptor source, MemoryDescriptor target, int axis) {
        return builder.primitives().trySoftmax(kind, algorithm(log), source, target, axis, builder.attributes());
    }

    private static int algorithm(boolean log) {
        return log ? DnnlConstants.SOFTMAX_LOG : DnnlConstants.SOFTMAX;
    }

    static @Nullable Kernel layerNorm(Dnnl dnnl, LayerNorm norm, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        int inputs = arguments.length - 3;
        if (!isWhole(arguments) || !isRowMajor(arguments) || !areFloat32(Arrays.copyOfRange(arguments, 1, inputs))
                || !areFloat32(arguments[inputs + 1], arguments[inputs + 2])) {
            return null;
        }
        TensorSpec y = Objects.requireNonNull(arguments[inputs]);
        Rows rows = Rows.of(x.shape(), norm.axis());
        int flags = flags(norm);
        return DnnlKernel.of(dnnl, builder -> {
            MemoryDescriptor source = rows.describe(builder, x.dtype());
            MemoryDescriptor target = rows.describe(builder, y.dtype());
            MemoryDescriptor statistics = rows.statistics(builder);
            PrimitiveDescriptor descriptor = builder
                    .keepFast(tryLayerNorm(builder, source, target, statistics, norm.epsilon(), flags));
            if (descriptor == null) {
                return false;
            }
            List<Operand> operands = new ArrayList<>();
            operands.add(new Operand(DnnlConstants.SRC, 0, source));
            int slot = 1;
            MemoryDescriptor parameters = rows.parameters(builder);
            if (norm.scale()) {
                operands.add(new Operand(DnnlConstants.SCALE, slot++, parameters));
            }
            if (norm.bias()) {
                operands.add(new Operand(DnnlConstants.SHIFT, slot++, parameters));
            }
            operands.add(new Operand(DnnlConstants.DST, slot, target));
            operands.add(new Operand(DnnlConstants.MEAN, slot + 1, statistics));
            operands.add(new Operand(DnnlConstants.VARIANCE, slot + 2, statistics));
            builder.step(descriptor, operands.toArray(Operand[]::new));
            return true;
        });
    }

    private static @Nullable PrimitiveDescriptor tryLayerNorm(SequenceBuilder builder, MemoryDescriptor source,
            MemoryDescriptor target, MemoryDescriptor statistics, float epsilon, int flags) {
        return builder.primitives().tryLayerNorm(DnnlConstants.FORWARD_TRAINING, source, target, statistics, epsilon,
                flags, builder.attributes());
    }

    static @Nullable Kernel layerNormGrad(Dnnl dnnl, LayerNormGrad grad, @Nullable TensorSpec[] arguments) {
        LayerNorm norm = grad.forward();
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        TensorSpec dy = Objects.requireNonNull(arguments[1]);
        int mean = norm.scale() ? 3 : 2;
        TensorSpec dx = Objects.requireNonNull(arguments[mean + 2]);
        if (!isWhole(arguments) || !isRowMajor(arguments) || !areFloat32(Arrays.copyOfRange(arguments, 2, mean + 2))
                || !areFloat32(Arrays.copyOfRange(arguments, mean + 3, arguments.length))) {
            return null;
        }
        Rows rows = Rows.of(x.shape(), norm.axis());
        int flags = flags(norm);
        return DnnlKernel.of(dnnl, builder -> {
            MemoryDescriptor source = rows.describe(builder, x.dtype());
            MemoryDescriptor resultGrad = rows.describe(builder, dy.dtype());
            MemoryDescriptor sourceGrad = rows.describe(builder, dx.dtype());
            MemoryDescriptor statistics = rows.statistics(builder);
            PrimitiveDescriptor hint = builder
                    .keep(tryLayerNorm(builder, source, resultGrad, statistics, norm.epsilon(), flags));
            int kind = flags == 0 ? DnnlConstants.BACKWARD_DATA : DnnlConstants.BACKWARD;
            PrimitiveDescriptor descriptor = hint == null
                    ? null
                    : builder.keepFast(builder.primitives().tryLayerNormGrad(kind, sourceGrad, resultGrad, source,
                            statistics, norm.epsilon(), flags, hint, builder.attributes()));
            if (descriptor == null) {
                return false;
            }
            List<Operand> operands = new ArrayList<>();
            MemoryDescriptor parameters = rows.parameters(builder);
            operands.add(new Operand(DnnlConstants.SRC, 0, source));
            operands.add(new Operand(DnnlConstants.DIFF_DST, 1, resultGrad));
            operands.add(new Operand(DnnlConstants.MEAN, mean, statistics));
            operands.add(new Operand(DnnlConstants.VARIANCE, mean + 1, statistics));
            operands.add(new Operand(DnnlConstants.DIFF_SRC, mean + 2, sourceGrad));
            int slot = mean + 3;
            if (norm.scale()) {
                operands.add(new Operand(DnnlConstants.SCALE, 2, parameters));
                operands.add(new Operand(DnnlConstants.DIFF_SCALE, slot++, parameters));
            }
            if (norm.bias()) {
                operands.add(new Operand(DnnlConstants.DIFF_SHIFT, slot, parameters));
            }
            builder.step(descriptor, operands.toArray(Operand[]::new));
            return true;
        });
    }

    private static int flags(LayerNorm norm) {
        return (norm.scale() ? DnnlConstants.USE_SCALE : 0) | (norm.bias() ? DnnlConstants.USE_SHIFT : 0);
    }

    static @Nullable Kernel batchNorm(Dnnl dnnl, BatchNorm norm, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        int out = norm.training() ? 3 : 5;
        TensorSpec y = Objects.requireNonNull(arguments[out]);
        if (!isWhole(arguments) || !areChannelsDense(arguments)) {
            return null;
        }
        return DnnlKernel.of(dnnl, builder -> {
            MemoryDescriptor source = builder.describe(x);
            MemoryDescriptor target = builder.describe(y);
            MemoryDescriptor channel = builder.describe(new long[]{x.shape().dim(1)}, DType.FLOAT32, new long[]{1});
            PrimitiveDescriptor descriptor = builder.keepFast(tryBatchNorm(builder, norm, source, target));
            if (descriptor == null) {
                return false;
            }
            Operand variance = norm.training()
                    ? builder.temporary(DnnlConstants.VARIANCE, channel)
                    : new Operand(DnnlConstants.VARIANCE, 4, channel);
            builder.step(descriptor, new Operand(DnnlConstants.SRC, 0, source),
                    new Operand(DnnlConstants.SCALE, 1, channel),
                    new Operand(DnnlConstants.SHIFT, 2, channel),
                    new Operand(DnnlConstants.MEAN, norm.training() ? out + 1 : 3, channel), variance,
                    new Operand(DnnlConstants.DST, out, target));
            if (norm.training()) {
                // 1 / sqrt(variance + epsilon)
                return tryChain(builder, variance.slot(), out + 2, channel, Algorithms.linear(1, norm.epsilon()),
                        Algorithms.power(-0.5f));
            }
            return true;
        });
    }

    private static @Nullable PrimitiveDescriptor tryBatchNorm(SequenceBuilder builder, BatchNorm norm,
            MemoryDescriptor source, MemoryDescriptor target) {
        int flags = DnnlConstants.USE_SCALE | DnnlConstants.USE_SHIFT
                | (norm.training() ? 0 : DnnlConstants.USE_GLOBAL_STATS);
        int kind = norm.training() ? DnnlConstants.FORWARD_TRAINING : DnnlConstants.FORWARD_INFERENCE;
        return builder.primitives().tryBatchNorm(kind, source, target, norm.epsilon(), flags, builder.attributes());
    }

    /** Adds two functions of a few values, one after the other; false if the library does not have them. */
    private static boolean tryChain(SequenceBuilder builder, long from, long to, MemoryDescriptor data,
            Algorithms.Eltwise first, Algorithms.Eltwise second) {
        return tryApply(builder, from, to, data, first) && tryApply(builder, to, to, data, second);
    }

    private static boolean tryApply(SequenceBuilder builder, long from, long to, MemoryDescriptor data,
            Algorithms.Eltwise function) {
        PrimitiveDescriptor descriptor = builder.keep(builder.primitives().tryEltwise(DnnlConstants.FORWARD_INFERENCE,
                function.algorithm(), data, data, function.alpha(), function.beta(), builder.attributes()));
        if (descriptor == null) {
            return false;
        }
        builder.step(descriptor, new Operand(DnnlConstants.SRC, from, data), new Operand(DnnlConstants.DST, to, data));
        return true;
    }

    static @Nullable Kernel batchNormGrad(Dnnl dnnl, BatchNormGrad grad, @Nullable TensorSpec[] arguments) {
        BatchNorm norm = grad.forward();
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        TensorSpec dy = Objects.requireNonNull(arguments[1]);
        TensorSpec dx = Objects.requireNonNull(arguments[5]);
        if (!isWhole(arguments) || !areChannelsDense(arguments)) {
            return null;
        }
        int flags = DnnlConstants.USE_SCALE | DnnlConstants.USE_SHIFT
                | (norm.training() ? 0 : DnnlConstants.USE_GLOBAL_STATS);
        return DnnlKernel.of(dnnl, builder -> {
            MemoryDescriptor source = builder.describe(x);
            MemoryDescriptor gradient = builder.describe(dy);
            MemoryDescriptor sourceGradient = builder.describe(dx);
            MemoryDescriptor channel = builder.describe(new long[]{x.shape().dim(1)}, DType.FLOAT32, new long[]{1});
            PrimitiveDescriptor hint = builder
                    .keep(tryBatchNorm(builder, new BatchNorm(norm.epsilon(), true), source, gradient));
            PrimitiveDescriptor descriptor = hint == null
                    ? null
                    : builder.keepFast(builder.primitives().tryBatchNormGrad(DnnlConstants.BACKWARD, sourceGradient,
                            gradient, source, norm.epsilon(), flags, hint, builder.attributes()));
            if (descriptor == null) {
                return false;
            }
            Operand variance = norm.training()
                    ? builder.temporary(DnnlConstants.VARIANCE, channel)
                    : new Operand(DnnlConstants.VARIANCE, 4, channel);
            // The library reads the variance but uses only variance + epsilon: computing it back from 1 / sqrt(variance
            // + epsilon) loses nothing.
            if (norm.training() && !tryChain(builder, 4, variance.slot(), channel, Algorithms.power(-2),
                    Algorithms.linear(1, -norm.epsilon()))) {
                return false;
            }
            builder.step(descriptor, new Operand(DnnlConstants.SRC, 0, source),
                    new Operand(DnnlConstants.DIFF_DST, 1, gradient),
                    new Operand(DnnlConstants.SCALE, 2, channel),
                    new Operand(DnnlConstants.MEAN, 3, channel), variance,
                    new Operand(DnnlConstants.DIFF_SRC, 5, sourceGradient),
                    new Operand(DnnlConstants.DIFF_SCALE, 6, channel),
                    new Operand(DnnlConstants.DIFF_SHIFT, 7, channel));
            return true;
        });
    }

    /** The normalised dimensions as rows of one length. */
    private record Rows(long count, long length) {
        static Rows of(Shape shape, int axis) {
            int at = shape.axis(axis);
            return new Rows(shape.slice(0, at).size(), shape.slice(at, shape.rank()).size());
        }

        MemoryDescriptor describe(SequenceBuilder builder, DType dtype) {
            return builder.describe(new long[]{count, length}, dtype, new long[]{length, 1});
        }

        MemoryDescriptor statistics(SequenceBuilder builder) {
            return builder.describe(new long[]{count}, DType.FLOAT32, new long[]{1});
        }

        MemoryDescriptor parameters(SequenceBuilder builder) {
            return builder.describe(new long[]{length}, DType.FLOAT32, new long[]{1});
        }
    }

    static boolean isWhole(@Nullable TensorSpec[] arguments) {
        return Arrays.stream(arguments)
                .allMatch(spec -> spec == null
                        || (spec.shape().size() > 0 && spec.shape().rank() <= 12 && Specs.areForward(spec)));
    }

    /** The library reads and writes operands with one value a channel as contiguous. */
    private static boolean areChannelsDense(@Nullable TensorSpec[] arguments) {
        return Arrays.stream(arguments).allMatch(spec -> spec == null || spec.shape().rank() != 1 || spec.isRowMajor());
    }

    static boolean isRowMajor(@Nullable TensorSpec[] arguments) {
        return Arrays.stream(arguments).allMatch(spec -> spec == null || spec.isRowMajor());
    }

    static boolean areFloat32(@Nullable TensorSpec... specs) {
        return Arrays.stream(specs).allMatch(spec -> spec == null || spec.dtype() == DType.FLOAT32);
    }
}
