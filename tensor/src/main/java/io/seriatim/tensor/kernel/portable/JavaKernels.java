package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.kernel.BatchNorm;
import io.seriatim.tensor.kernel.BatchNormGrad;
import io.seriatim.tensor.kernel.Kernels;
import io.seriatim.tensor.kernel.Pooling;
import io.seriatim.tensor.kernel.PoolingGrad;
import io.seriatim.tensor.kernel.Reduction;
import io.seriatim.tensor.kernel.Unary;
import io.seriatim.tensor.kernel.UnaryGrad;
import java.util.List;

/**
 * Kernels in plain Java that are faster than a library's. They are asked first; for what they are not made for they
 * give null.
 */
public final class JavaKernels {
    static final String PROVIDER = "java";
    private static final List<DType> FLOAT32 = List.of(DType.FLOAT32);
    private static final List<DType> HALF = List.of(DType.BFLOAT16);
    private static final List<DType> BOTH = List.of(DType.FLOAT32, DType.BFLOAT16);

    private JavaKernels() {
    }

    /**
     * Adds them.
     *
     * @param kernels
     *            the registry
     */
    public static void register(Kernels kernels) {
        kernels.register(PROVIDER, PortableKernels.CPU, "batch_norm", BatchNorm.class, BOTH,
                PortableKernels.plain(PanelNorm::forward));
        kernels.register(PROVIDER, PortableKernels.CPU, "batch_norm_grad", BatchNormGrad.class, BOTH,
                PortableKernels.plain(PanelNorm::grad));
        kernels.register(PROVIDER, PortableKernels.CPU, "unary", Unary.class, FLOAT32,
                PortableKernels.plain(FloatLog::of));
        kernels.register(PROVIDER, PortableKernels.CPU, "unary_grad", UnaryGrad.class, HALF,
                PortableKernels.plain(HalfReluGrad::of));
        kernels.register(PROVIDER, PortableKernels.CPU, "reduction", Reduction.class, FLOAT32,
                PortableKernels.plain(PanelSum::of));
        kernels.register(PROVIDER, PortableKernels.CPU, "pooling", Pooling.class, BOTH,
                PortableKernels.plain(PairPooling::forward));
        kernels.register(PROVIDER, PortableKernels.CPU, "pooling_grad", PoolingGrad.class, BOTH,
                PortableKernels.plain(PairPooling::grad));
    }
}
