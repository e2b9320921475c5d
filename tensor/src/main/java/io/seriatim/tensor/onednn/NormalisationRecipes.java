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
import io.seriatim.tensor.kernel.Kernel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Softmax, layer and batch normalisation. The library keeps statistics, scales and shifts in float32. */
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
        return DnnlKernel.of(dnnl, builder -> {
            long source = builder.describe(x);
            long target = builder.describe(y);
            long description = softmax(builder, DnnlConstants.FORWARD_INFERENCE, softmax.log(), source, target, axis);
            if (!ElementwiseRecipes.isFast(dnnl, description)) {
                return false;
            }
            builder.step(description, new Operand(DnnlConstants.SRC, 0, source),
                    new Operand(DnnlConstants.DST, 1, target));
            return true;
        });
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
            long result = builder.describe(y);
            long resultGrad = builder.describe(dy);
            long sourceGrad = builder.describe(dx);
            long hint = softmax(builder, DnnlConstants.FORWARD_TRAINING, grad.log(), sourceGrad, result, axis);
            long description = hint == 0
                    ? 0
                    : builder.keep(Dnnl
                            .handle(out -> dnnl.call("dnnl_softmax_backward_primitive_desc_create", "ppipppipp", out,
                                    dnnl.engine(), algorithm(grad.log()), sourceGrad,
                                    resultGrad, result, axis, hint, builder.attributes())));
            if (!ElementwiseRecipes.isFast(dnnl, description)) {
                return false;
            }
            builder.step(description, new Operand(DnnlConstants.DST, 0, result),
                    new Operand(DnnlConstants.DIFF_DST, 1, resultGrad),
                    new Operand(DnnlConstants.DIFF_SRC, 2, sourceGrad));
            return true;
        });
    }

    static long softmax(SequenceBuilder builder, int kind, boolean log, long source, long target, int axis) {
        Dnnl dnnl = builder.dnnl();
        return builder.keep(Dnnl.handle(
                out -> dnnl.call("dnnl_softmax_forward_primitive_desc_create", "ppiippip", out, dnnl.engine(), kind,
                        algorithm(log), source, target, axis,
                        builder.attributes())));
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
            long source = rows.describe(builder, x.dtype());
            long target = rows.describe(builder, y.dtype());
            long statistics = rows.statistics(builder);
            long description = layerNorm(builder, source, target, statistics, norm.epsilon(), flags);
            if (!ElementwiseRecipes.isFast(dnnl, description)) {
                return false;
            }
            List<Operand> operands = new ArrayList<>();
            operands.add(new Operand(DnnlConstants.SRC, 0, source));
            int slot = 1;
            long parameters = rows.parameters(builder);
            if (norm.scale()) {
                operands.add(new Operand(DnnlConstants.SCALE, slot++, parameters));
            }
            if (norm.bias()) {
                operands.add(new Operand(DnnlConstants.SHIFT, slot++, parameters));
            }
            operands.add(new Operand(DnnlConstants.DST, slot, target));
            operands.add(new Operand(DnnlConstants.MEAN, slot + 1, statistics));
            operands.add(new Operand(DnnlConstants.VARIANCE, slot + 2, statistics));
            builder.step(description, operands.toArray(Operand[]::new));
            return true;
        });
    }

    private static long layerNorm(SequenceBuilder builder, long source, long target, long statistics, float epsilon,
            int flags) {
        Dnnl dnnl = builder.dnnl();
        return builder.keep(
                Dnnl.handle(out -> dnnl.call("dnnl_layer_normalization_forward_primitive_desc_create", "ppipppfip", out,
                        dnnl.engine(), DnnlConstants.FORWARD_TRAINING, source,
                        target, statistics, epsilon, flags, builder.attributes())));
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
            long source = rows.describe(builder, x.dtype());
            long resultGrad = rows.describe(builder, dy.dtype());
            long sourceGrad = rows.describe(builder, dx.dtype());
            long statistics = rows.statistics(builder);
            long hint = layerNorm(builder, source, resultGrad, statistics, norm.epsilon(), flags);
            int kind = flags == 0 ? DnnlConstants.BACKWARD_DATA : DnnlConstants.BACKWARD;
            long description = hint == 0
                    ? 0
                    : builder.keep(Dnnl.handle(
                            out -> dnnl.call("dnnl_layer_normalization_backward_primitive_desc_create", "ppippppfipp",
                                    out, dnnl.engine(), kind, sourceGrad, resultGrad, source,
                                    statistics, norm.epsilon(), flags, hint, builder.attributes())));
            if (!ElementwiseRecipes.isFast(dnnl, description)) {
                return false;
            }
            List<Operand> operands = new ArrayList<>();
            long parameters = rows.parameters(builder);
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
            builder.step(description, operands.toArray(Operand[]::new));
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
            long source = builder.describe(x);
            long target = builder.describe(y);
            long channel = builder.describe(new long[]{x.shape().dim(1)}, DType.FLOAT32, new long[]{1});
            long description = batchNorm(builder, norm, source, target);
            if (!ElementwiseRecipes.isFast(dnnl, description)) {
                return false;
            }
            Operand variance = norm.training()
                    ? builder.temporary(DnnlConstants.VARIANCE, channel)
                    : new Operand(DnnlConstants.VARIANCE, 4, channel);
            builder.step(description, new Operand(DnnlConstants.SRC, 0, source),
                    new Operand(DnnlConstants.SCALE, 1, channel),
                    new Operand(DnnlConstants.SHIFT, 2, channel),
                    new Operand(DnnlConstants.MEAN, norm.training() ? out + 1 : 3, channel), variance,
                    new Operand(DnnlConstants.DST, out, target));
            if (norm.training()) {
                // 1 / sqrt(variance + epsilon)
                chain(builder, variance.slot(), out + 2, channel, Algorithms.linear(1, norm.epsilon()),
                        Algorithms.power(-0.5f));
            }
            return true;
        });
    }

    private static long batchNorm(SequenceBuilder builder, BatchNorm norm, long source, long target) {
        Dnnl dnnl = builder.dnnl();
        int flags = DnnlConstants.USE_SCALE | DnnlConstants.USE_SHIFT
                | (norm.training() ? 0 : DnnlConstants.USE_GLOBAL_STATS);
        int kind = norm.training() ? DnnlConstants.FORWARD_TRAINING : DnnlConstants.FORWARD_INFERENCE;
        return builder.keep(
                Dnnl.handle(out -> dnnl.call("dnnl_batch_normalization_forward_primitive_desc_create", "ppippfip", out,
                        dnnl.engine(), kind, source, target, norm.epsilon(),
                        flags, builder.attributes())));
    }

    /** Two functions, one after the other, of a few values. */
    private static void chain(SequenceBuilder builder, long from, long to, long data, Algorithms.Eltwise first,
            Algorithms.Eltwise second) {
        apply(builder, from, to, data, first);
        apply(builder, to, to, data, second);
    }

    private static void apply(SequenceBuilder builder, long from, long to, long data, Algorithms.Eltwise function) {
        Dnnl dnnl = builder.dnnl();
        long description = builder
                .keep(Dnnl.handle(out -> dnnl.call("dnnl_eltwise_forward_primitive_desc_create", "ppiippffp", out,
                        dnnl.engine(), DnnlConstants.FORWARD_INFERENCE,
                        function.algorithm(), data, data, function.alpha(), function.beta(), builder.attributes())));
        builder.step(description, new Operand(DnnlConstants.SRC, from, data), new Operand(DnnlConstants.DST, to, data));
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
            long source = builder.describe(x);
            long gradient = builder.describe(dy);
            long sourceGradient = builder.describe(dx);
            long channel = builder.describe(new long[]{x.shape().dim(1)}, DType.FLOAT32, new long[]{1});
            long hint = batchNorm(builder, new BatchNorm(norm.epsilon(), true), source, gradient);
            long description = hint == 0
                    ? 0
                    : builder.keep(Dnnl.handle(out -> dnnl.call(
                            "dnnl_batch_normalization_backward_primitive_desc_create", "ppipppfipp",
                            out, dnnl.engine(), DnnlConstants.BACKWARD,
                            sourceGradient, gradient, source, norm.epsilon(), flags, hint, builder.attributes())));
            if (!ElementwiseRecipes.isFast(dnnl, description)) {
                return false;
            }
            Operand variance = norm.training()
                    ? builder.temporary(DnnlConstants.VARIANCE, channel)
                    : new Operand(DnnlConstants.VARIANCE, 4, channel);
            if (norm.training()) {
                // The library wants the variance, of which it uses only variance + epsilon: nothing is lost on the way
                // back from its root.
                chain(builder, 4, variance.slot(), channel, Algorithms.power(-2),
                        Algorithms.linear(1, -norm.epsilon()));
            }
            builder.step(description, new Operand(DnnlConstants.SRC, 0, source),
                    new Operand(DnnlConstants.DIFF_DST, 1, gradient),
                    new Operand(DnnlConstants.SCALE, 2, channel),
                    new Operand(DnnlConstants.MEAN, 3, channel), variance,
                    new Operand(DnnlConstants.DIFF_SRC, 5, sourceGradient),
                    new Operand(DnnlConstants.DIFF_SCALE, 6, channel),
                    new Operand(DnnlConstants.DIFF_SHIFT, 7, channel));
            return true;
        });
    }

    /** What is normalised, as rows of one length. */
    private record Rows(long count, long length) {
        static Rows of(Shape shape, int axis) {
            int at = shape.axis(axis);
            return new Rows(shape.slice(0, at).size(), shape.slice(at, shape.rank()).size());
        }

        long describe(SequenceBuilder builder, DType dtype) {
            return builder.describe(new long[]{count, length}, dtype, new long[]{length, 1});
        }

        long statistics(SequenceBuilder builder) {
            return builder.describe(new long[]{count}, DType.FLOAT32, new long[]{1});
        }

        long parameters(SequenceBuilder builder) {
            return builder.describe(new long[]{length}, DType.FLOAT32, new long[]{1});
        }
    }

    static boolean isWhole(@Nullable TensorSpec[] arguments) {
        return Arrays.stream(arguments)
                .allMatch(spec -> spec == null
                        || (spec.shape().size() > 0 && spec.shape().rank() <= 12 && Specs.areForward(spec)));
    }

    /** The library reads and writes what has one value a channel one after the other. */
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
