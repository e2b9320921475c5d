package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.UnaryGrad;
import io.seriatim.tensor.computation.network.BatchNorm;
import io.seriatim.tensor.computation.network.BatchNormGrad;
import io.seriatim.tensor.computation.network.GroupNorm;
import io.seriatim.tensor.computation.network.Pooling;
import io.seriatim.tensor.computation.network.PoolingGrad;
import io.seriatim.tensor.computation.network.Recurrence;
import io.seriatim.tensor.computation.network.RecurrenceGrad;
import io.seriatim.tensor.computation.network.Softmax;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.KernelProvider;
import io.seriatim.tensor.kernel.Kernels;
import io.seriatim.tensor.kernel.portable.view.WindowPooling;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Kernels in plain Java that are faster than a library's. They are asked first, and decline other computations. */
public final class JavaKernels implements KernelProvider {
    static final String PROVIDER = "java";
    private static final List<DType> FLOAT32 = List.of(DType.FLOAT32);
    private static final List<DType> HALF = List.of(DType.BFLOAT16);
    private static final List<DType> BOTH = List.of(DType.FLOAT32, DType.BFLOAT16);

    /** Made by the service loader. */
    public JavaKernels() {
        // It has no state.
    }

    @Override
    public int rank() {
        return SPECIALISED;
    }

    @Override
    public void register(Kernels kernels) {
        kernels.register(PROVIDER, PortableKernels.CPU, "batch_norm", BatchNorm.class, BOTH,
                PortableKernels.plain(BlockedBatchNorm::forward));
        kernels.register(PROVIDER, PortableKernels.CPU, "batch_norm_grad", BatchNormGrad.class, BOTH,
                PortableKernels.plain(BlockedBatchNorm::grad));
        kernels.register(PROVIDER, PortableKernels.CPU, "group_norm", GroupNorm.class, FLOAT32,
                PortableKernels.plain(FloatGroupNorm::of));
        kernels.register(PROVIDER, PortableKernels.CPU, "matmul", MatMul.class, FLOAT32,
                PortableKernels.plain(RowProducts::of));
        kernels.register(PROVIDER, PortableKernels.CPU, "softmax", Softmax.class,
                List.of(DType.FLOAT32, DType.BFLOAT16, DType.FLOAT16),
                PortableKernels.plain(RowSoftmax::of));
        kernels.register(PROVIDER, PortableKernels.CPU, "unary", Unary.class, FLOAT32,
                PortableKernels.plain(FloatLog::of));
        kernels.register(PROVIDER, PortableKernels.CPU, "unary_grad", UnaryGrad.class, HALF,
                PortableKernels.plain(HalfReluGrad::of));
        kernels.register(PROVIDER, PortableKernels.CPU, "reduction", Reduction.class, FLOAT32,
                PortableKernels.plain(BlockedChannelSum::of));
        kernels.register(PROVIDER, PortableKernels.CPU, "pooling", Pooling.class, BOTH,
                PortableKernels.plain(JavaKernels::pooling));
        kernels.register(PROVIDER, PortableKernels.CPU, "recurrence", Recurrence.class, FLOAT32,
                JavaProducts::of);
        kernels.register(PROVIDER, PortableKernels.CPU, "recurrence_grad", RecurrenceGrad.class, FLOAT32,
                JavaProducts::grad);
        kernels.register(PROVIDER, PortableKernels.CPU, "copy", Copy.class, FLOAT32,
                (_, arguments) -> JavaProducts.packing(arguments));
        kernels.register(PROVIDER, PortableKernels.CPU, "pooling_grad", PoolingGrad.class, BOTH,
                PortableKernels.plain(MaxPool2x2::grad));
    }

    private static @Nullable Kernel pooling(Pooling pooling, @Nullable TensorSpec[] arguments) {
        Kernel small = MaxPool2x2.forward(pooling, arguments);
        WindowPooling windows = small != null
                ? null
                : WindowPooling.of(pooling, Objects.requireNonNull(arguments[0]), Objects.requireNonNull(arguments[1]));
        return windows == null ? small : new PortableKernel() {
            @Override
            void compute(@Nullable Tensor[] all, KernelContext context) {
                windows.run(Objects.requireNonNull(all[0]), Objects.requireNonNull(all[1]), context);
            }

            @Override
            public String provider() {
                return PROVIDER;
            }
        };
    }
}
