package io.seriatim.tensor.onednn;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import io.seriatim.tensor.kernel.BatchNorm;
import io.seriatim.tensor.kernel.BatchNormGrad;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.LayerNorm;
import io.seriatim.tensor.kernel.LayerNormGrad;
import io.seriatim.tensor.kernel.PostOp;
import io.seriatim.tensor.kernel.Softmax;
import io.seriatim.tensor.kernel.SoftmaxGrad;
import io.seriatim.tensor.kernel.Unary;
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
            builder.step(description, new Operand(DnnlConstants.SRC, 0, source), new Operand(DnnlConstants.DST, 1, target));
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
            long description = hint == 0 ? 0
                    : builder.keep(Dnnl.handle(out -> dnnl.call("dnnl_softmax_backward_primitive_desc_create", "ppipppipp", out, dnnl.engine(), algorithm(grad.log()), sourceGrad,
                            resultGrad, result, axis, hint, builder.attributes())));
            if (!ElementwiseRecipes.isFast(dnnl, description)) {
                return false;
            }
            builder.step(description, new Operand(DnnlConstants.DST, 0, result), new Operand(DnnlConstants.DIFF_DST, 1, resultGrad),
                    new Operand(DnnlConstants.DIFF_SRC, 2, sourceGrad));
            return true;
        });
    }

    private static long softmax(SequenceBuilder builder, int kind, boolean log, long source, long target, int axis) {
        Dnnl dnnl = builder.dnnl();
        return builder.keep(Dnnl.handle(out -> dnnl.call("dnnl_softmax_forward_primitive_desc_create", "ppiippip", out, dnnl.engine(), kind, algorithm(log), source, target, axis,
                builder.attributes())));
    }

    private static int algorithm(boolean log) {
        return log ? DnnlConstants.SOFTMAX_LOG : DnnlConstants.SOFTMAX;
    }

    static @Nullable Kernel layerNorm(Dnnl dnnl, LayerNorm norm, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        int inputs = arguments.length - 3;
        if (!isWhole(arguments) || !isRowMajor(arguments) || !areFloat32(Arrays.copyOfRange(arguments, 1, inputs)) || !areFloat32(arguments[inputs + 1], arguments[inputs + 2])) {
            return null;
        }
        Rows rows = Rows.of(x.shape(), norm.axis());
        int flags = (norm.scale() ? DnnlConstants.USE_SCALE : 0) | (norm.bias() ? DnnlConstants.USE_SHIFT : 0);
        return DnnlKernel.of(dnnl, builder -> {
            long data = rows.describe(builder, x.dtype());
            long statistics = rows.statistics(builder);
            long description = layerNorm(builder, data, statistics, norm.epsilon(), flags);
            if (!ElementwiseRecipes.isFast(dnnl, description)) {
                return false;
            }
            List<Operand> operands = new ArrayList<>();
            operands.add(new Operand(DnnlConstants.SRC, 0, data));
            int slot = 1;
            long parameters = rows.parameters(builder);
            if (norm.scale()) {
                operands.add(new Operand(DnnlConstants.SCALE, slot++, parameters));
            }
            if (norm.bias()) {
                operands.add(new Operand(DnnlConstants.SHIFT, slot++, parameters));
            }
            operands.add(new Operand(DnnlConstants.DST, slot, data));
            operands.add(new Operand(DnnlConstants.MEAN, slot + 1, statistics));
            operands.add(new Operand(DnnlConstants.VARIANCE, slot + 2, statistics));
            builder.step(description, operands.toArray(Operand[]::new));
            return true;
        });
    }

    private static long layerNorm(SequenceBuilder builder, long data, long statistics, float epsilon, int flags) {
        Dnnl dnnl = builder.dnnl();
        return builder.keep(Dnnl.handle(out -> dnnl.call("dnnl_layer_normalization_forward_primitive_desc_create", "ppipppfip", out, dnnl.engine(), DnnlConstants.FORWARD_TRAINING, data,
                data, statistics, epsilon, flags, builder.attributes())));
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
        return Arrays.stream(arguments).allMatch(spec -> spec == null || spec.shape().size() > 0 && spec.shape().rank() <= 12 && Specs.areForward(spec));
    }

    static boolean isRowMajor(@Nullable TensorSpec[] arguments) {
        return Arrays.stream(arguments).allMatch(spec -> spec == null || spec.isRowMajor());
    }

    static boolean areFloat32(@Nullable TensorSpec... specs) {
        return Arrays.stream(specs).allMatch(spec -> spec == null || spec.dtype() == DType.FLOAT32);
    }
}
