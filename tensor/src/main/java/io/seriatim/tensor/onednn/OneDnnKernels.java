package io.seriatim.tensor.onednn;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Quantize;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.UnaryGrad;
import io.seriatim.tensor.computation.network.BatchNorm;
import io.seriatim.tensor.computation.network.BatchNormGrad;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.computation.network.ConvolutionAddWeights;
import io.seriatim.tensor.computation.network.ConvolutionGradInput;
import io.seriatim.tensor.computation.network.ConvolutionGradWeights;
import io.seriatim.tensor.computation.network.CrossEntropy;
import io.seriatim.tensor.computation.network.LayerNorm;
import io.seriatim.tensor.computation.network.LayerNormGrad;
import io.seriatim.tensor.computation.network.Pooling;
import io.seriatim.tensor.computation.network.PoolingGrad;
import io.seriatim.tensor.computation.network.Recurrence;
import io.seriatim.tensor.computation.network.RecurrenceGrad;
import io.seriatim.tensor.computation.network.Softmax;
import io.seriatim.tensor.computation.network.SoftmaxGrad;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.kernel.KernelProvider;
import io.seriatim.tensor.kernel.Kernels;
import io.seriatim.tensor.kernel.QuantizedOperands;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The kernels of oneDNN. */
public final class OneDnnKernels implements KernelProvider {
    static final String PROVIDER = "onednn";
    /** The name of the layout of convolution weights that are blocked as a matrix, [window · channels, outputs]. */
    static final String MATRIX = "onednn, as a matrix";
    /** The name of the layout of weights that the library's transposed convolutions read. */
    static final String TRANSPOSED = "onednn, transposed";
    /** The name of the layout of the transposed weights of recurrences as a dense matrix. */
    static final String ROWS = "onednn, in rows";
    private static final String CPU = "cpu";
    private static final List<DType> FLOATS = List.of(DType.FLOAT32, DType.BFLOAT16, DType.FLOAT16);

    /** Made by the service loader. */
    public OneDnnKernels() {
        // It has no state.
    }

    @Override
    public int rank() {
        return LIBRARY;
    }

    @Override
    public void loadAhead() {
        OneDnn.loadAhead();
    }

    @Override
    public void register(Kernels kernels) {
        Dnnl dnnl = Dnnl.get();
        if (dnnl == null) {
            System.getLogger(OneDnnKernels.class.getName()).log(System.Logger.Level.WARNING,
                    "{0}; the portable kernels are used, which are slower. ''seriatim doctor'' says more.",
                    Dnnl.problem());
            return;
        }
        kernels.register(PROVIDER, CPU, "matmul", MatMul.class, FLOATS,
                (computation, arguments) -> MatMulRecipe.kernel(dnnl, computation, arguments));
        kernels.register(PROVIDER, CPU, "matmul", MatMul.class, QuantizedOperands.TYPES,
                (computation, arguments) -> fitQuantized(computation.postOps(), arguments)
                        || (!computation.bias() && areSummed(dnnl, computation.postOps(), arguments))
                                ? MatMulRecipe.kernel(dnnl, computation, arguments)
                                : null);
        kernels.register(PROVIDER, CPU, "convolution", Convolution.class, QuantizedOperands.TYPES,
                (c, arguments) -> fitQuantized(c.postOps(), arguments)
                        || (!c.bias() && areSummed(dnnl, c.postOps(), arguments))
                                ? ConvolutionForward.kernel(dnnl, c, arguments)
                                : null);
        kernels.register(PROVIDER, CPU, "copy", Copy.class, List.of(DType.INT8),
                (c, arguments) -> CopyRecipe.packing(dnnl, arguments));
        kernels.register(PROVIDER, CPU, "convolution", Convolution.class, FLOATS,
                (c, arguments) -> ConvolutionForward.kernel(dnnl, c, arguments));
        kernels.register(PROVIDER, CPU, "convolution_grad_input", ConvolutionGradInput.class, FLOATS,
                (c, arguments) -> ConvolutionRecipes.gradInput(dnnl, c, arguments));
        kernels.register(PROVIDER, CPU, "convolution_grad_weights", ConvolutionGradWeights.class, FLOATS,
                (c, arguments) -> ConvolutionRecipes.gradWeights(dnnl, c, arguments));
        kernels.register(PROVIDER, CPU, "convolution_add_weights", ConvolutionAddWeights.class, FLOATS,
                (c, arguments) -> ConvolutionRecipes.addWeights(dnnl, c, arguments));
        kernels.register(PROVIDER, CPU, "unary", Unary.class, FLOATS,
                (c, arguments) -> ElementwiseRecipes.unary(dnnl, c, arguments));
        kernels.register(PROVIDER, CPU, "unary_grad", UnaryGrad.class, FLOATS,
                (c, arguments) -> ElementwiseRecipes.unaryGrad(dnnl, c, arguments));
        kernels.register(PROVIDER, CPU, "binary", Binary.class, FLOATS,
                (c, arguments) -> ElementwiseRecipes.binary(dnnl, c, arguments));
        kernels.register(PROVIDER, CPU, "quantize", Quantize.class, List.of(DType.FLOAT32),
                (c, arguments) -> ElementwiseRecipes.quantize(dnnl, c, arguments));
        kernels.register(PROVIDER, CPU, "reduction", Reduction.class, FLOATS,
                (c, arguments) -> ElementwiseRecipes.reduction(dnnl, c, arguments));
        kernels.register(PROVIDER, CPU, "softmax", Softmax.class, FLOATS,
                (c, arguments) -> NormalisationRecipes.softmax(dnnl, c, arguments));
        kernels.register(PROVIDER, CPU, "softmax_grad", SoftmaxGrad.class, FLOATS,
                (c, arguments) -> NormalisationRecipes.softmaxGrad(dnnl, c, arguments));
        kernels.register(PROVIDER, CPU, "cross_entropy", CrossEntropy.class, FLOATS,
                (c, arguments) -> CrossEntropyKernel.of(dnnl, c, arguments));
        kernels.register(PROVIDER, CPU, "layer_norm", LayerNorm.class, FLOATS,
                (c, arguments) -> NormalisationRecipes.layerNorm(dnnl, c, arguments));
        kernels.register(PROVIDER, CPU, "layer_norm_grad", LayerNormGrad.class, FLOATS,
                (c, arguments) -> NormalisationRecipes.layerNormGrad(dnnl, c, arguments));
        kernels.register(PROVIDER, CPU, "batch_norm", BatchNorm.class, FLOATS,
                (c, arguments) -> NormalisationRecipes.batchNorm(dnnl, c, arguments));
        kernels.register(PROVIDER, CPU, "batch_norm_grad", BatchNormGrad.class, FLOATS,
                (c, arguments) -> NormalisationRecipes.batchNormGrad(dnnl, c, arguments));
        kernels.register(PROVIDER, CPU, "pooling", Pooling.class, FLOATS,
                (c, arguments) -> PoolingRecipes.forward(dnnl, c, arguments));
        kernels.register(PROVIDER, CPU, "pooling_grad", PoolingGrad.class, FLOATS,
                (c, arguments) -> PoolingRecipes.grad(dnnl, c, arguments));
        kernels.register(PROVIDER, CPU, "recurrence", Recurrence.class, List.of(DType.FLOAT32),
                (c, arguments) -> RecurrentProducts.kernel(dnnl, c, arguments));
        kernels.register(PROVIDER, CPU, "recurrence_grad", RecurrenceGrad.class, List.of(DType.FLOAT32),
                (c, arguments) -> RecurrentProducts.grad(dnnl, c, arguments));
        kernels.register(PROVIDER, CPU, "copy", Copy.class, FLOATS,
                (c, arguments) -> CopyRecipe.kernel(dnnl, c, arguments));
        // They are asked where the library has refused the same arguments above.
        kernels.register(PROVIDER, CPU, "matmul", MatMul.class, List.of(DType.FLOAT16),
                (c, arguments) -> WidenedHalves.of(c, c.postOps(), arguments));
        kernels.register(PROVIDER, CPU, "convolution", Convolution.class, List.of(DType.FLOAT16),
                (c, arguments) -> WidenedHalves.of(c, c.postOps(), arguments));
    }

    /** Whether these are sums in int32 that the library computes exactly. */
    private static boolean areSummed(Dnnl dnnl, List<PostOp> postOps, @Nullable TensorSpec[] arguments) {
        return postOps.isEmpty() && OneDnn.sumsExactly(dnnl)
                && QuantizedOperands.areSummed(Objects.requireNonNull(arguments[0]),
                        Objects.requireNonNull(arguments[1]), Objects.requireNonNull(arguments[arguments.length - 1]));
    }

    private static boolean fitQuantized(List<PostOp> postOps, @Nullable TensorSpec[] arguments) {
        return QuantizedOperands.fit(PostOp.endInLevels(postOps), Objects.requireNonNull(arguments[0]),
                Objects.requireNonNull(arguments[1]), Objects.requireNonNull(arguments[arguments.length - 1]));
    }
}
