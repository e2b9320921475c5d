package io.seriatim.tensor.internal.ffi;

import org.jspecify.annotations.Nullable;

/**
 * Creates primitive descriptors, each by one function of the library. Methods whose names begin with {@code try} return
 * null if the library has no implementation for these types and layouts on this processor; any other failure is a
 * {@link DnnlException}. The caller destroys the descriptors. Numbers of algorithms and propagation kinds are those of
 * the library.
 */
public final class PrimitiveDescriptors {
    private final CheckedCalls calls;
    private final Dnnl.NativeEngine engine;
    private final TiledProducts tiled;

    PrimitiveDescriptors(CheckedCalls calls, Dnnl.NativeEngine engine) {
        this.calls = calls;
        this.engine = engine;
        this.tiled = new TiledProducts(calls);
    }

    /**
     * Describes a product of matrices.
     *
     * @param src
     *            the input
     * @param weights
     *            the weights
     * @param bias
     *            null if there is none
     * @param dst
     *            the output
     * @param attributes
     *            are copied
     * @return null if the library has no implementation
     */
    public @Nullable PrimitiveDescriptor tryMatMul(MemoryDescriptor src, MemoryDescriptor weights,
            @Nullable MemoryDescriptor bias, MemoryDescriptor dst, Attributes attributes) {
        PrimitiveDescriptor product =
                calls.tryDescribe("dnnl_matmul_primitive_desc_create", engine, src, weights, bias, dst, attributes);
        return product == null ? null : tiled.rightly(product, src);
    }

    /**
     * Describes a direct convolution.
     *
     * @param kind
     *            the propagation kind
     * @param src
     *            the input
     * @param weights
     *            the weights
     * @param bias
     *            null if there is none
     * @param dst
     *            the output
     * @param window
     *            how the window moves
     * @param attributes
     *            are copied
     * @return null if the library has no implementation
     */
    public @Nullable PrimitiveDescriptor tryConvolution(int kind, MemoryDescriptor src, MemoryDescriptor weights,
            @Nullable MemoryDescriptor bias, MemoryDescriptor dst, WindowGeometry window, Attributes attributes) {
        return calls.tryDescribe("dnnl_convolution_forward_primitive_desc_create", engine, kind,
                DnnlConstants.CONVOLUTION_DIRECT, src, weights, bias, dst, window.strides(), window.dilations(),
                window.padBegin(), window.padEnd(), attributes);
    }

    /**
     * Describes a direct transposed convolution.
     *
     * @param src
     *            the input
     * @param weights
     *            the weights, outputs first
     * @param bias
     *            null if there is none
     * @param dst
     *            the output
     * @param window
     *            how the window moves over the output
     * @param attributes
     *            are copied
     * @return null if the library has no implementation
     */
    public @Nullable PrimitiveDescriptor tryTransposedConvolution(MemoryDescriptor src, MemoryDescriptor weights,
            @Nullable MemoryDescriptor bias, MemoryDescriptor dst, WindowGeometry window, Attributes attributes) {
        return calls.tryDescribe("dnnl_deconvolution_forward_primitive_desc_create", engine,
                DnnlConstants.FORWARD_INFERENCE, DnnlConstants.DECONVOLUTION_DIRECT, src, weights, bias, dst,
                window.strides(), window.dilations(), window.padBegin(), window.padEnd(), attributes);
    }

    /**
     * Describes the gradient of the input of a direct convolution.
     *
     * @param diffSrc
     *            the gradient of the input
     * @param weights
     *            the weights
     * @param diffDst
     *            the gradient of the output
     * @param window
     *            how the window moves
     * @param hint
     *            the forward primitive
     * @param attributes
     *            are copied
     * @return null if the library has no implementation
     */
    public @Nullable PrimitiveDescriptor tryConvolutionGradInput(MemoryDescriptor diffSrc, MemoryDescriptor weights,
            MemoryDescriptor diffDst, WindowGeometry window, PrimitiveDescriptor hint, Attributes attributes) {
        return calls.tryDescribe("dnnl_convolution_backward_data_primitive_desc_create", engine,
                DnnlConstants.CONVOLUTION_DIRECT, diffSrc, weights, diffDst, window.strides(), window.dilations(),
                window.padBegin(), window.padEnd(), hint, attributes);
    }

    /**
     * Describes the gradient of the weights and the bias of a direct convolution.
     *
     * @param src
     *            the input
     * @param diffWeights
     *            the gradient of the weights
     * @param diffBias
     *            null if there is none
     * @param diffDst
     *            the gradient of the output
     * @param window
     *            how the window moves
     * @param hint
     *            the forward primitive
     * @param attributes
     *            are copied
     * @return null if the library has no implementation
     */
    public @Nullable PrimitiveDescriptor tryConvolutionGradWeights(MemoryDescriptor src, MemoryDescriptor diffWeights,
            @Nullable MemoryDescriptor diffBias, MemoryDescriptor diffDst, WindowGeometry window,
            PrimitiveDescriptor hint, Attributes attributes) {
        return calls.tryDescribe("dnnl_convolution_backward_weights_primitive_desc_create", engine,
                DnnlConstants.CONVOLUTION_DIRECT, src, diffWeights, diffBias, diffDst, window.strides(),
                window.dilations(), window.padBegin(), window.padEnd(), hint, attributes);
    }

    /**
     * Describes a function of one element.
     *
     * @param kind
     *            the propagation kind
     * @param algorithm
     *            the algorithm's number
     * @param src
     *            the input
     * @param dst
     *            the output
     * @param alpha
     *            the first parameter of the function
     * @param beta
     *            the second parameter of the function
     * @param attributes
     *            are copied
     * @return null if the library has no implementation
     */
    public @Nullable PrimitiveDescriptor tryEltwise(int kind, int algorithm, MemoryDescriptor src, MemoryDescriptor dst,
            float alpha, float beta, Attributes attributes) {
        return calls.tryDescribe("dnnl_eltwise_forward_primitive_desc_create", engine, kind, algorithm, src, dst, alpha,
                beta, attributes);
    }

    /**
     * Describes the gradient of a function of one element.
     *
     * @param algorithm
     *            the algorithm's number
     * @param diffSrc
     *            the gradient of the input
     * @param diffDst
     *            the gradient of the output
     * @param data
     *            the input, or the output for algorithms that use it
     * @param alpha
     *            the first parameter of the function
     * @param beta
     *            the second parameter of the function
     * @param hint
     *            the forward primitive
     * @param attributes
     *            are copied
     * @return null if the library has no implementation
     */
    public @Nullable PrimitiveDescriptor tryEltwiseGrad(int algorithm, MemoryDescriptor diffSrc,
            MemoryDescriptor diffDst, MemoryDescriptor data, float alpha, float beta, PrimitiveDescriptor hint,
            Attributes attributes) {
        return calls.tryDescribe("dnnl_eltwise_backward_primitive_desc_create", engine, algorithm, diffSrc, diffDst,
                data, alpha, beta, hint, attributes);
    }

    /**
     * Describes a function of two elements.
     *
     * @param algorithm
     *            the algorithm's number
     * @param src
     *            the input
     * @param src1
     *            the second input
     * @param dst
     *            the output
     * @param attributes
     *            are copied
     * @return null if the library has no implementation
     */
    public @Nullable PrimitiveDescriptor tryBinary(int algorithm, MemoryDescriptor src, MemoryDescriptor src1,
            MemoryDescriptor dst, Attributes attributes) {
        return calls.tryDescribe("dnnl_binary_primitive_desc_create", engine, algorithm, src, src1, dst, attributes);
    }

    /**
     * Describes a reduction of the dimensions that have length 1 in the output.
     *
     * @param algorithm
     *            the algorithm's number
     * @param src
     *            the input
     * @param dst
     *            the output
     * @param attributes
     *            are copied
     * @return null if the library has no implementation
     */
    public @Nullable PrimitiveDescriptor tryReduction(int algorithm, MemoryDescriptor src, MemoryDescriptor dst,
            Attributes attributes) {
        return calls.tryDescribe("dnnl_reduction_primitive_desc_create", engine, algorithm, src, dst, 0f, 0f,
                attributes);
    }

    /**
     * Describes a softmax, or its logarithm.
     *
     * @param kind
     *            the propagation kind
     * @param algorithm
     *            the algorithm's number
     * @param src
     *            the input
     * @param dst
     *            the output
     * @param axis
     *            the dimension
     * @param attributes
     *            are copied
     * @return null if the library has no implementation
     */
    public @Nullable PrimitiveDescriptor trySoftmax(int kind, int algorithm, MemoryDescriptor src, MemoryDescriptor dst,
            int axis, Attributes attributes) {
        return calls.tryDescribe("dnnl_softmax_forward_primitive_desc_create", engine, kind, algorithm, src, dst, axis,
                attributes);
    }

    /**
     * Describes the gradient of a softmax, or of its logarithm.
     *
     * @param algorithm
     *            the algorithm's number
     * @param diffSrc
     *            the gradient of the input
     * @param diffDst
     *            the gradient of the output
     * @param dst
     *            the output
     * @param axis
     *            the dimension
     * @param hint
     *            the forward primitive
     * @param attributes
     *            are copied
     * @return null if the library has no implementation
     */
    public @Nullable PrimitiveDescriptor trySoftmaxGrad(int algorithm, MemoryDescriptor diffSrc,
            MemoryDescriptor diffDst, MemoryDescriptor dst, int axis, PrimitiveDescriptor hint, Attributes attributes) {
        return calls.tryDescribe("dnnl_softmax_backward_primitive_desc_create", engine, algorithm, diffSrc, diffDst,
                dst, axis, hint, attributes);
    }

    /**
     * Describes a layer normalisation.
     *
     * @param kind
     *            the propagation kind
     * @param src
     *            the input
     * @param dst
     *            the output
     * @param statistics
     *            mean and variance
     * @param epsilon
     *            is added to the variance
     * @param flags
     *            which inputs there are
     * @param attributes
     *            are copied
     * @return null if the library has no implementation
     */
    public @Nullable PrimitiveDescriptor tryLayerNorm(int kind, MemoryDescriptor src, MemoryDescriptor dst,
            MemoryDescriptor statistics, float epsilon, int flags, Attributes attributes) {
        return calls.tryDescribe("dnnl_layer_normalization_forward_primitive_desc_create", engine, kind, src, dst,
                statistics, epsilon, flags, attributes);
    }

    /**
     * Describes the gradients of a layer normalisation.
     *
     * @param kind
     *            the propagation kind
     * @param diffSrc
     *            the gradient of the input
     * @param diffDst
     *            the gradient of the output
     * @param src
     *            the input
     * @param statistics
     *            mean and variance
     * @param epsilon
     *            is added to the variance
     * @param flags
     *            which inputs there are
     * @param hint
     *            the forward primitive
     * @param attributes
     *            are copied
     * @return null if the library has no implementation
     */
    public @Nullable PrimitiveDescriptor tryLayerNormGrad(int kind, MemoryDescriptor diffSrc, MemoryDescriptor diffDst,
            MemoryDescriptor src, MemoryDescriptor statistics, float epsilon, int flags, PrimitiveDescriptor hint,
            Attributes attributes) {
        return calls.tryDescribe("dnnl_layer_normalization_backward_primitive_desc_create", engine, kind, diffSrc,
                diffDst, src, statistics, epsilon, flags, hint, attributes);
    }

    /**
     * Describes a batch normalisation.
     *
     * @param kind
     *            the propagation kind
     * @param src
     *            the input
     * @param dst
     *            the output
     * @param epsilon
     *            is added to the variance
     * @param flags
     *            which inputs there are
     * @param attributes
     *            are copied
     * @return null if the library has no implementation
     */
    public @Nullable PrimitiveDescriptor tryBatchNorm(int kind, MemoryDescriptor src, MemoryDescriptor dst,
            float epsilon, int flags, Attributes attributes) {
        return calls.tryDescribe("dnnl_batch_normalization_forward_primitive_desc_create", engine, kind, src, dst,
                epsilon, flags, attributes);
    }

    /**
     * Describes the gradients of a batch normalisation.
     *
     * @param kind
     *            the propagation kind
     * @param diffSrc
     *            the gradient of the input
     * @param diffDst
     *            the gradient of the output
     * @param src
     *            the input
     * @param epsilon
     *            is added to the variance
     * @param flags
     *            which inputs there are
     * @param hint
     *            the forward primitive
     * @param attributes
     *            are copied
     * @return null if the library has no implementation
     */
    public @Nullable PrimitiveDescriptor tryBatchNormGrad(int kind, MemoryDescriptor diffSrc, MemoryDescriptor diffDst,
            MemoryDescriptor src, float epsilon, int flags, PrimitiveDescriptor hint, Attributes attributes) {
        return calls.tryDescribe("dnnl_batch_normalization_backward_primitive_desc_create", engine, kind, diffSrc,
                diffDst, src, epsilon, flags, hint, attributes);
    }

    /**
     * Describes a pooling.
     *
     * @param kind
     *            the propagation kind
     * @param algorithm
     *            the algorithm's number
     * @param src
     *            the input
     * @param dst
     *            the output
     * @param kernel
     *            the lengths of the window
     * @param window
     *            how the window moves
     * @param attributes
     *            are copied
     * @return null if the library has no implementation
     */
    public @Nullable PrimitiveDescriptor tryPooling(int kind, int algorithm, MemoryDescriptor src, MemoryDescriptor dst,
            long[] kernel, WindowGeometry window, Attributes attributes) {
        return calls.tryDescribe("dnnl_pooling_forward_primitive_desc_create", engine, kind, algorithm, src, dst,
                window.strides(), kernel, window.dilations(), window.padBegin(), window.padEnd(), attributes);
    }

    /**
     * Describes the gradient of a pooling.
     *
     * @param algorithm
     *            the algorithm's number
     * @param diffSrc
     *            the gradient of the input
     * @param diffDst
     *            the gradient of the output
     * @param kernel
     *            the lengths of the window
     * @param window
     *            how the window moves
     * @param hint
     *            the forward primitive
     * @param attributes
     *            are copied
     * @return null if the library has no implementation
     */
    public @Nullable PrimitiveDescriptor tryPoolingGrad(int algorithm, MemoryDescriptor diffSrc,
            MemoryDescriptor diffDst, long[] kernel, WindowGeometry window, PrimitiveDescriptor hint,
            Attributes attributes) {
        return calls.tryDescribe("dnnl_pooling_backward_primitive_desc_create", engine, algorithm, diffSrc, diffDst,
                window.strides(), kernel, window.dilations(), window.padBegin(), window.padEnd(), hint, attributes);
    }

    /**
     * Describes a copy from one layout and type to another.
     *
     * @param from
     *            the tensor that is read
     * @param to
     *            the tensor that is written
     * @param attributes
     *            are copied
     * @return null if the library has no implementation
     */
    public @Nullable PrimitiveDescriptor tryReorder(MemoryDescriptor from, MemoryDescriptor to,
            Attributes attributes) {
        return calls.tryDescribe("dnnl_reorder_primitive_desc_create", from, engine, to, engine, attributes);
    }
}
