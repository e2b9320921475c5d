package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.network.AdaptivePooling;
import io.seriatim.tensor.computation.network.BatchNorm;
import io.seriatim.tensor.computation.network.BatchNormFactors;
import io.seriatim.tensor.computation.network.BatchNormGrad;
import io.seriatim.tensor.computation.network.BilinearSamples;
import io.seriatim.tensor.computation.network.BilinearSamplesGradImages;
import io.seriatim.tensor.computation.network.BilinearSamplesGradPlaces;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.computation.network.ConvolutionAddWeights;
import io.seriatim.tensor.computation.network.ConvolutionGradInput;
import io.seriatim.tensor.computation.network.ConvolutionGradWeights;
import io.seriatim.tensor.computation.network.CrossEntropy;
import io.seriatim.tensor.computation.network.CrossEntropyGrad;
import io.seriatim.tensor.computation.network.GroupNorm;
import io.seriatim.tensor.computation.network.GroupNormGrad;
import io.seriatim.tensor.computation.network.Interpolation;
import io.seriatim.tensor.computation.network.InterpolationGrad;
import io.seriatim.tensor.computation.network.LayerNorm;
import io.seriatim.tensor.computation.network.LayerNormGrad;
import io.seriatim.tensor.computation.network.LinearResampling;
import io.seriatim.tensor.computation.network.Pooling;
import io.seriatim.tensor.computation.network.PoolingGrad;
import io.seriatim.tensor.computation.network.Recurrence;
import io.seriatim.tensor.computation.network.RecurrenceGrad;
import io.seriatim.tensor.computation.network.RoiAlign;
import io.seriatim.tensor.computation.network.RoiAlignGrad;
import io.seriatim.tensor.computation.network.Softmax;
import io.seriatim.tensor.computation.network.SoftmaxGrad;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.KernelFactory;
import io.seriatim.tensor.kernel.Kernels;
import io.seriatim.tensor.kernel.QuantizedOperands;
import java.util.List;

/**
 * Matrix products, convolutions, poolings, interpolations, samples of regions, normalisations, recurrences, softmax and
 * cross entropy.
 */
final class NetworkKernels {
    private static final List<DType> FLOATS = List.of(DType.FLOAT32, DType.FLOAT64, DType.FLOAT16, DType.BFLOAT16);
    private static final List<DType> NUMBERS = List.of(DType.FLOAT32, DType.FLOAT64, DType.FLOAT16, DType.BFLOAT16,
            DType.INT32,
            DType.INT64, DType.INT16, DType.UINT16, DType.UINT32, DType.UINT64);

    private NetworkKernels() {
    }

    static void register(Kernels kernels) {
        kernels.register(PortableKernels.PROVIDER, PortableKernels.CPU, "matmul", MatMul.class, NUMBERS,
                PortableKernels.plain(PortableMatMul::of));
        kernels.register(PortableKernels.PROVIDER, PortableKernels.CPU, "matmul", MatMul.class,
                QuantizedOperands.TYPES, PortableKernels.plain(PortableMatMul::of));
        kernels.register(PortableKernels.PROVIDER, PortableKernels.CPU, "convolution", Convolution.class,
                QuantizedOperands.TYPES, PortableKernels.plain(PortableConvolution::quantized));
        floating(kernels, "convolution", Convolution.class, PortableConvolution::forward);
        floating(kernels, "convolution_grad_input", ConvolutionGradInput.class, PortableConvolution::gradInput);
        floating(kernels, "convolution_grad_weights", ConvolutionGradWeights.class, PortableConvolution::gradWeights);
        floating(kernels, "convolution_add_weights", ConvolutionAddWeights.class, PortableConvolution::addWeights);
        floating(kernels, "pooling", Pooling.class, PortablePooling::forward);
        floating(kernels, "adaptive_pooling", AdaptivePooling.class, PortablePooling::forward);
        floating(kernels, "pooling_grad", PoolingGrad.class, PortablePooling::grad);
        floating(kernels, "interpolation", Interpolation.class, PortableInterpolation::forward);
        floating(kernels, "resampling", LinearResampling.class, PortableResampling::kernel);
        floating(kernels, "interpolation_grad", InterpolationGrad.class, PortableInterpolation::grad);
        floating(kernels, "roi_align", RoiAlign.class, PortableRoiAlign::forward);
        floating(kernels, "roi_align_grad", RoiAlignGrad.class, PortableRoiAlign::grad);
        samples(kernels);
        floating(kernels, "batch_norm", BatchNorm.class, PortableNorm::batchNorm);
        kernels.register(PortableKernels.PROVIDER, PortableKernels.CPU, "batch_norm_factors", BatchNormFactors.class,
                List.of(DType.FLOAT32),
                PortableKernels.plain(PortableNorm::batchNormFactors));
        floating(kernels, "batch_norm_grad", BatchNormGrad.class, PortableNorm::batchNormGrad);
        floating(kernels, "layer_norm", LayerNorm.class, PortableNorm::layerNorm);
        floating(kernels, "layer_norm_grad", LayerNormGrad.class, PortableNorm::layerNormGrad);
        floating(kernels, "group_norm", GroupNorm.class, PortableNorm::groupNorm);
        floating(kernels, "group_norm_grad", GroupNormGrad.class, PortableNorm::groupNormGrad);
        floating(kernels, "recurrence", Recurrence.class, PortableRecurrence::forward);
        floating(kernels, "recurrence_grad", RecurrenceGrad.class, PortableRecurrence::grad);
        floating(kernels, "softmax", Softmax.class, PortableSoftmax::forward);
        floating(kernels, "softmax_grad", SoftmaxGrad.class, PortableSoftmax::grad);
        floating(kernels, "cross_entropy", CrossEntropy.class, PortableSoftmax::crossEntropy);
        floating(kernels, "cross_entropy_grad", CrossEntropyGrad.class, PortableSoftmax::crossEntropyGrad);
    }

    private static void samples(Kernels kernels) {
        floating(kernels, "bilinear_samples", BilinearSamples.class,
                (_, arguments) -> PortableBilinearSamples.forward(arguments));
        floating(kernels, "bilinear_samples_grad_images", BilinearSamplesGradImages.class,
                (_, arguments) -> PortableBilinearSamples.gradImages(arguments));
        floating(kernels, "bilinear_samples_grad_places", BilinearSamplesGradPlaces.class,
                (_, arguments) -> PortableBilinearSamples.gradPlaces(arguments));
    }

    private static <C extends Computation> void floating(Kernels kernels, String operation, Class<C> type,
            KernelFactory<C> factory) {
        kernels.register(PortableKernels.PROVIDER, PortableKernels.CPU, operation, type, FLOATS,
                PortableKernels.plain(factory));
    }
}
