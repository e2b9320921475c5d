package io.seriatim.tensor.onednn;

import io.seriatim.device.Place;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.network.Pooling;
import io.seriatim.tensor.computation.network.PoolingGrad;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.Kernels;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import java.util.function.IntToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Poolings. The library's gradient of a maximum wants to know which element it was: its forward is run again for that,
 * into scratch memory.
 */
final class PoolingRecipes {
    private static final Kernels PORTABLE = Kernels.portable();

    private PoolingRecipes() {
    }

    static @Nullable Kernel forward(Dnnl dnnl, Pooling pooling, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        TensorSpec y = Objects.requireNonNull(arguments[1]);
        if (!NormalisationRecipes.isWhole(arguments)) {
            return null;
        }
        DnnlKernel fast = DnnlKernel.of(dnnl, builder -> {
            long source = builder.describe(x);
            long target = builder.describe(y);
            long description = forward(builder, pooling, DnnlConstants.FORWARD_INFERENCE, source, target);
            if (!ElementwiseRecipes.isFast(dnnl, description)) {
                return false;
            }
            builder.step(description, new Operand(DnnlConstants.SRC, 0, source),
                    new Operand(DnnlConstants.DST, 1, target));
            return true;
        });
        if (pooling.kind() != Pooling.Kind.MAX || fast == null) {
            return fast;
        }
        return Specs.isDense(x)
                ? NanGuardedKernel.of(ElementwiseRecipes.sum(dnnl, TensorSpec.of(x.dtype(), x.shape().size())), fast,
                        PORTABLE.prepare(pooling, Place.CPU, arguments))
                : null;
    }

    static @Nullable Kernel grad(Dnnl dnnl, PoolingGrad grad, @Nullable TensorSpec[] arguments) {
        TensorSpec dy = Objects.requireNonNull(arguments[2]);
        TensorSpec dx = Objects.requireNonNull(arguments[3]);
        if (!(grad.forward() instanceof Pooling pooling) || !NormalisationRecipes.isWhole(arguments)) {
            return null;
        }
        boolean max = pooling.kind() == Pooling.Kind.MAX;
        return DnnlKernel.of(dnnl, builder -> {
            long source = builder.describe(Objects.requireNonNull(arguments[0]));
            long gradient = builder.describe(dy);
            long sourceGradient = builder.describe(dx);
            long hint = forward(builder, pooling, DnnlConstants.FORWARD_TRAINING, source, gradient);
            long description = hint == 0 ? 0 : backward(builder, pooling, sourceGradient, gradient, hint);
            if (!ElementwiseRecipes.isFast(dnnl, description)) {
                return false;
            }
            Operand toGradient = new Operand(DnnlConstants.DIFF_DST, 2, gradient);
            Operand fromGradient = new Operand(DnnlConstants.DIFF_SRC, 3, sourceGradient);
            if (!max) {
                builder.step(description, toGradient, fromGradient);
                return true;
            }
            Operand workspace = builder.temporary(DnnlConstants.WORKSPACE,
                    dnnl.query(hint, DnnlConstants.QUERY_WORKSPACE));
            builder.step(hint, new Operand(DnnlConstants.SRC, 0, source),
                    builder.temporary(DnnlConstants.DST, gradient), workspace);
            builder.step(description, toGradient, fromGradient, workspace);
            return true;
        });
    }

    private static int algorithm(Pooling.Kind kind) {
        return switch (kind) {
            case MAX -> DnnlConstants.POOLING_MAX;
            case AVERAGE -> DnnlConstants.POOLING_AVERAGE;
            case AVERAGE_WITH_PADDING -> DnnlConstants.POOLING_AVERAGE_WITH_PADDING;
        };
    }

    private static long forward(SequenceBuilder builder, Pooling pooling, int kind, long source, long target) {
        return forward(builder, pooling, kind, source, target, builder.attributes());
    }

    /** The description of a primitive; 0 if there is none. */
    static long forward(SequenceBuilder builder, Pooling pooling, int kind, long source, long target, long attributes) {
        Dnnl dnnl = builder.dnnl();
        try (Arena arena = Arena.ofConfined()) {
            return builder.keep(Dnnl.handle(out -> dnnl.call("dnnl_pooling_forward_primitive_desc_create",
                    "ppiipppppppp", out,
                    dnnl.engine(), kind, algorithm(pooling.kind()), source, target,
                    values(arena, pooling, pooling.window()::stride), values(arena, pooling, pooling.kernel()::get),
                    values(arena, pooling, i -> pooling.window().dilation(i) - 1L),
                    values(arena, pooling, pooling.window()::padBegin),
                    values(arena, pooling, pooling.window()::padEnd),
                    attributes)));
        }
    }

    private static long backward(SequenceBuilder builder, Pooling pooling, long sourceGradient, long gradient,
            long hint) {
        Dnnl dnnl = builder.dnnl();
        try (Arena arena = Arena.ofConfined()) {
            return builder.keep(
                    Dnnl.handle(out -> dnnl.call("dnnl_pooling_backward_primitive_desc_create", "ppippppppppp", out,
                            dnnl.engine(), algorithm(pooling.kind()), sourceGradient,
                            gradient, values(arena, pooling, pooling.window()::stride),
                            values(arena, pooling, pooling.kernel()::get),
                            values(arena, pooling, i -> pooling.window().dilation(i) - 1L),
                            values(arena, pooling, pooling.window()::padBegin),
                            values(arena, pooling, pooling.window()::padEnd),
                            hint, builder.attributes())));
        }
    }

    private static long values(Arena arena, Pooling pooling, IntToLongFunction value) {
        long[] values = new long[pooling.window().rank()];
        for (int i = 0; i < values.length; i++) {
            values[i] = value.applyAsLong(i);
        }
        return arena.allocateFrom(ValueLayout.JAVA_LONG, values).address();
    }
}
