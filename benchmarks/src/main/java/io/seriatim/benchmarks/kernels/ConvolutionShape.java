package io.seriatim.benchmarks.kernels;

/**
 * A square two-dimensional convolution.
 *
 * @param images
 *            the number of images
 * @param channels
 *            the channels of an image
 * @param size
 *            the height and width of an image
 * @param outputs
 *            the channels of the result
 * @param kernel
 *            the height and width of the kernel
 * @param stride
 *            the stride in both dimensions
 * @param padding
 *            the padding at all four sides
 */
record ConvolutionShape(long images, long channels, long size, long outputs, long kernel, int stride, int padding) {
    long[] x() {
        return new long[]{images, channels, size, size};
    }

    long[] weights() {
        return new long[]{outputs, channels, kernel, kernel};
    }

    private long resultSize() {
        return (size + 2L * padding - kernel) / stride + 1;
    }

    long[] y() {
        return new long[]{images, outputs, resultSize(), resultSize()};
    }

    double flops() {
        return 2.0 * images * outputs * resultSize() * resultSize() * channels * kernel * kernel;
    }

    @Override
    public String toString() {
        return images + "×" + channels + "×" + size + "² " + kernel + "²→" + outputs
                + (stride == 1 ? "" : " /" + stride);
    }
}
