package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.kernel.BatchNorm;
import io.seriatim.tensor.kernel.BatchNormGrad;
import io.seriatim.tensor.kernel.Kernels;
import io.seriatim.tensor.kernel.Pooling;
import io.seriatim.tensor.kernel.PoolingGrad;
import io.seriatim.tensor.kernel.Reduction;
import java.util.List;

/** Kernels in plain Java that are faster than a library's. They are asked first; for what they are not made for they give null. */
public final class JavaKernels {
    private static final String PROVIDER = "java";
    private static final List<DType> FLOAT32 = List.of(DType.FLOAT32);

    private JavaKernels() {
    }

    /**
     * Adds them.
     *
     * @param kernels
     *            the registry
     */
    public static void register(Kernels kernels) {
        kernels.register(PROVIDER, PortableKernels.CPU, "batch_norm", BatchNorm.class, FLOAT32, PortableKernels.plain(PanelNorm::forward));
        kernels.register(PROVIDER, PortableKernels.CPU, "batch_norm_grad", BatchNormGrad.class, FLOAT32,
                PortableKernels.plain(PanelNorm::grad));
        kernels.register(PROVIDER, PortableKernels.CPU, "reduction", Reduction.class, FLOAT32, PortableKernels.plain(PanelSum::of));
        kernels.register(PROVIDER, PortableKernels.CPU, "pooling", Pooling.class, FLOAT32, PortableKernels.plain(PairPooling::forward));
        kernels.register(PROVIDER, PortableKernels.CPU, "pooling_grad", PoolingGrad.class, FLOAT32,
                PortableKernels.plain(PairPooling::grad));
    }
}
