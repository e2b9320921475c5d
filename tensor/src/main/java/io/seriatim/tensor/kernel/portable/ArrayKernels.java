package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.AllFinite;
import io.seriatim.tensor.computation.ArgReduction;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.BinaryGrad;
import io.seriatim.tensor.computation.Chain;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Fill;
import io.seriatim.tensor.computation.LevelTable;
import io.seriatim.tensor.computation.Pad;
import io.seriatim.tensor.computation.PadGrad;
import io.seriatim.tensor.computation.Quantize;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.ReductionGrad;
import io.seriatim.tensor.computation.Scan;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.UnaryGrad;
import io.seriatim.tensor.computation.Where;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.KernelFactory;
import io.seriatim.tensor.kernel.Kernels;
import java.util.List;

/** Elementwise functions, reductions, copies and padding. */
final class ArrayKernels {
    private static final List<DType> FLOATS = List.of(DType.FLOAT32, DType.FLOAT64, DType.FLOAT16, DType.BFLOAT16);
    private static final List<DType> ALL = List.of(DType.values());

    /** All types but the complex ones, whose kernels are {@link ComplexKernels}. */
    static final List<DType> REAL = ALL.stream().filter(dtype -> !dtype.isComplex()).toList();

    private ArrayKernels() {
    }

    static void register(Kernels kernels) {
        register(kernels, "quantize", Quantize.class, List.of(DType.FLOAT32), PortableElementwise::quantize);
        register(kernels, "level_table", LevelTable.class, List.of(DType.INT8, DType.UINT8),
                PortableElementwise::lookup);
        register(kernels, "unary", Unary.class, REAL, PortableElementwise::unary);
        register(kernels, "unary_grad", UnaryGrad.class, FLOATS, PortableElementwise::unaryGrad);
        register(kernels, "binary", Binary.class, REAL, PortableElementwise::binary);
        register(kernels, "binary_grad", BinaryGrad.class, FLOATS, PortableBinaryGrad::of);
        register(kernels, "chain", Chain.class, REAL, PortableChain::of);
        register(kernels, "where", Where.class, REAL, PortableElementwise::where);
        register(kernels, "reduction", Reduction.class, REAL, PortableReduction::forwardOfAny);
        register(kernels, "reduction_grad", ReductionGrad.class, FLOATS, PortableReduction::grad);
        register(kernels, "all_finite", AllFinite.class, ALL, FiniteNumbers::kernel);
        register(kernels, "arg_reduction", ArgReduction.class, REAL, PortableScan::extreme);
        register(kernels, "scan", Scan.class, REAL, PortableScan::scan);
        register(kernels, "copy", Copy.class, ALL, PortableCopy::copy);
        register(kernels, "fill", Fill.class, ALL, PortableCopy::fill);
        register(kernels, "pad", Pad.class, REAL, PortablePad::forward);
        register(kernels, "pad_grad", PadGrad.class, FLOATS, PortablePad::grad);
    }

    private static <C extends Computation> void register(Kernels kernels, String operation, Class<C> type,
            List<DType> dtypes,
            KernelFactory<C> factory) {
        kernels.register(PortableKernels.PROVIDER, PortableKernels.CPU, operation, type, dtypes,
                PortableKernels.plain(factory));
    }
}
