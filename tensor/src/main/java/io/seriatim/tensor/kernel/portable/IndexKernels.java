package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.computation.FrontIndexes;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.GatherGrad;
import io.seriatim.tensor.computation.GatherNd;
import io.seriatim.tensor.computation.OneHot;
import io.seriatim.tensor.computation.PutAlongAxis;
import io.seriatim.tensor.computation.Range;
import io.seriatim.tensor.computation.Scatter;
import io.seriatim.tensor.computation.ScatterNd;
import io.seriatim.tensor.computation.TakeAlongAxis;
import io.seriatim.tensor.computation.TopK;
import io.seriatim.tensor.computation.Triangle;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.KernelFactory;
import io.seriatim.tensor.kernel.Kernels;

/** Kernels that move elements by index. */
final class IndexKernels {

    private IndexKernels() {
    }

    static void register(Kernels kernels) {
        register(kernels, "gather", Gather.class, PortableIndex::gather);
        register(kernels, "gather_grad", GatherGrad.class, PortableIndex::gatherGrad);
        register(kernels, "gather_nd", GatherNd.class, (_, arguments) -> PortableIndex.gatherNd(arguments));
        register(kernels, "scatter_nd", ScatterNd.class, PortableIndex::scatterNd);
        register(kernels, "scatter", Scatter.class, PortableIndex::scatter);
        register(kernels, "take_along_axis", TakeAlongAxis.class, PortableAlongAxis::take);
        register(kernels, "put_along_axis", PutAlongAxis.class, PortableAlongAxis::put);
        register(kernels, "top_k", TopK.class, PortableAlongAxis::topK);
        register(kernels, "front_indexes", FrontIndexes.class, (front, _) -> PortableAlongAxis.frontIndexes(front));
        register(kernels, "one_hot", OneHot.class, (oneHot, _) -> PortableAlongAxis.oneHot(oneHot));
        register(kernels, "range", Range.class, (range, _) -> PortableAlongAxis.range(range));
        register(kernels, "triangle", Triangle.class, PortableAlongAxis::triangle);
    }

    private static <C extends Computation> void register(Kernels kernels, String operation, Class<C> type,
            KernelFactory<C> factory) {
        kernels.register(PortableKernels.PROVIDER, PortableKernels.CPU, operation, type, ArrayKernels.REAL,
                PortableKernels.plain(factory));
    }
}
