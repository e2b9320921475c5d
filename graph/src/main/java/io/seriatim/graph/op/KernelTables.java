package io.seriatim.graph.op;

import io.seriatim.device.DeviceMemoryException;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Fourier;
import io.seriatim.tensor.computation.Pad;
import io.seriatim.tensor.computation.PadGrad;
import io.seriatim.tensor.computation.TopK;
import io.seriatim.tensor.computation.network.AdaptivePooling;
import io.seriatim.tensor.computation.network.BatchNorm;
import io.seriatim.tensor.computation.network.BatchNormGrad;
import io.seriatim.tensor.computation.network.BilinearSamples;
import io.seriatim.tensor.computation.network.BilinearSamplesGradImages;
import io.seriatim.tensor.computation.network.BilinearSamplesGradPlaces;
import io.seriatim.tensor.computation.network.Convolution;
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
import io.seriatim.tensor.computation.network.Pooling;
import io.seriatim.tensor.computation.network.PoolingGrad;
import io.seriatim.tensor.computation.network.RoiAlign;
import io.seriatim.tensor.computation.network.RoiAlignGrad;
import io.seriatim.tensor.computation.network.Softmax;
import io.seriatim.tensor.computation.network.SoftmaxGrad;
import io.seriatim.tensor.kernel.Computation;
import java.util.Arrays;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The memory of the arrays that kernels make on the Java heap for the axes of their operands. Most are as long as a
 * tensor that is counted itself, and are not counted again. Counted here are those that may be longer: the tables of an
 * axis, and the rows and planes of operands that take no memory for each of their elements, because they have none or
 * because they are views that repeat elements.
 */
public final class KernelTables {
    private static final int SPATIAL = 2;
    /** Two indexes and two weights for each place. */
    private static final int INTERPOLATED = 2 * (Integer.BYTES + Double.BYTES);
    /** The bounds of a window and how many elements it counts. */
    private static final int POOLED = 3 * Integer.BYTES;

    private KernelTables() {
    }

    /**
     * Checks the arrays of a kernel before it is prepared.
     *
     * @param computation
     *            what it computes
     * @param arguments
     *            inputs, then outputs; null for those that are left out
     * @throws DeviceMemoryException
     *             if they do not fit into the memory of the host; it does not name the operation
     */
    public static void require(Computation computation, @Nullable TensorSpec... arguments) {
        require(computation, WorkingMemory.limit(), arguments);
    }

    /**
     * Checks the arrays of a kernel before it is prepared, against a given limit.
     *
     * @param computation
     *            what it computes
     * @param limit
     *            in bytes
     * @param arguments
     *            inputs, then outputs; null for those that are left out
     * @throws DeviceMemoryException
     *             if they do not fit into the limit; it does not name the operation
     */
    public static void require(Computation computation, long limit, @Nullable TensorSpec... arguments) {
        long bytes = bytes(computation, arguments);
        if (bytes > limit) {
            throw new DeviceMemoryException((bytes == Long.MAX_VALUE ? "More than 2^63" : bytes)
                    + WorkingMemory.tooMuch("the arrays of the kernel of " + computation.operation() + ", "
                            + Arrays.stream(arguments).filter(Objects::nonNull)
                                    .map(spec -> spec.dtype() + spec.shape().toString())
                                    .collect(Collectors.joining(", ")),
                            limit));
        }
    }

    private static long bytes(Computation computation, @Nullable TensorSpec[] specs) {
        TensorSpec first = specs.length == 0 ? null : specs[0];
        TensorSpec last = specs.length == 0 ? null : specs[specs.length - 1];
        if (first == null || last == null) {
            return 0;
        }
        return switch (computation) {
            case Pad _ -> tables(last, 0, Integer.BYTES);
            case PadGrad _ -> tables(first, 0, Integer.BYTES);
            case Pooling _,AdaptivePooling _ -> sum(tables(last, SPATIAL, POOLED), planes(specs));
            // Of the places of dy.
            case PoolingGrad _ -> sum(tables(Objects.requireNonNull(specs[2]), SPATIAL, POOLED), planes(specs));
            case Interpolation _ -> sum(tables(last, SPATIAL, INTERPOLATED), planes(specs));
            case InterpolationGrad _ -> sum(tables(first, SPATIAL, INTERPOLATED), planes(specs));
            case RoiAlign align -> sum(regions(align, last.shape().dim(0), first), planes(first, last));
            case RoiAlignGrad grad ->
                sum(regions(grad.forward(), first.shape().dim(0), last), planes(specs[2], last));
            case Convolution _,ConvolutionGradInput _,ConvolutionGradWeights _ -> planes(specs);
            case BatchNorm _,BatchNormGrad _,GroupNorm _,GroupNormGrad _ -> planes(specs);
            case BilinearSamples _,BilinearSamplesGradImages _,BilinearSamplesGradPlaces _ -> planes(specs);
            case Softmax softmax -> row(first, softmax.axis());
            case SoftmaxGrad grad -> row(first, grad.axis());
            case CrossEntropy entropy -> row(first, entropy.axis());
            case CrossEntropyGrad grad -> row(first, grad.forward().axis());
            case TopK best -> row(first, best.axis());
            case Fourier fourier -> row(first, fourier.axis());
            case LayerNorm norm -> rows(first, norm.axis());
            case LayerNormGrad grad -> rows(first, grad.forward().axis());
            default -> 0;
        };
    }

    /** The tables of all axes from one. */
    private static long tables(TensorSpec spec, int from, int bytes) {
        long sum = 0;
        for (int axis = from; axis < spec.shape().rank(); axis++) {
            sum = sum(sum, product(spec.shape().dim(axis), bytes));
        }
        return sum;
    }

    /** Each region has weights of the elements of the image for each of its bins. */
    private static long regions(RoiAlign align, long count, TensorSpec images) {
        return product(count, sum(tables(images, SPATIAL, Double.BYTES),
                4L * Double.BYTES * ((long) align.height() + align.width())));
    }

    /** One channel of each operand that is not counted itself. */
    private static long planes(@Nullable TensorSpec... specs) {
        long sum = 0;
        for (TensorSpec spec : specs) {
            if (spec != null && spec.shape().rank() > SPATIAL) {
                sum = sum(sum, rows(spec, SPATIAL));
            }
        }
        return sum;
    }

    /** One row along an axis of an operand, unless it is counted itself. */
    private static long row(TensorSpec spec, int axis) {
        Shape shape = spec.shape();
        return isCounted(spec) || shape.rank() == 0
                ? 0
                : product(shape.dim(axis < 0 ? axis + shape.rank() : axis), Double.BYTES);
    }

    /** One row of all axes from one of an operand, unless it is counted itself. */
    private static long rows(TensorSpec spec, int axis) {
        Shape shape = spec.shape();
        long bytes = isCounted(spec) ? 0 : Double.BYTES;
        for (int i = axis < 0 ? axis + shape.rank() : axis; i < shape.rank(); i++) {
            bytes = product(bytes, shape.dim(i));
        }
        return bytes;
    }

    /** Whether it takes memory for each of its elements. */
    private static boolean isCounted(TensorSpec spec) {
        Shape shape = spec.shape();
        long[] strides = spec.strides();
        boolean repeats = false;
        for (int i = 0; i < strides.length; i++) {
            repeats |= strides[i] == 0 && shape.dim(i) > 1;
        }
        return shape.size() > 0 && !repeats;
    }

    private static long sum(long a, long b) {
        return a > Long.MAX_VALUE - b ? Long.MAX_VALUE : a + b;
    }

    private static long product(long a, long b) {
        return Math.multiplyHigh(a, b) == 0 && a * b >= 0 ? a * b : Long.MAX_VALUE;
    }
}
