package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.network.AdaptivePooling;
import io.seriatim.tensor.computation.network.BatchNorm;
import io.seriatim.tensor.computation.network.BatchNormGrad;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.computation.network.ConvolutionGradInput;
import io.seriatim.tensor.computation.network.ConvolutionGradWeights;
import io.seriatim.tensor.computation.network.GroupNorm;
import io.seriatim.tensor.computation.network.GroupNormGrad;
import io.seriatim.tensor.computation.network.LayerNorm;
import io.seriatim.tensor.computation.network.LayerNormGrad;
import io.seriatim.tensor.computation.network.Pooling;
import io.seriatim.tensor.computation.network.Window;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Operands that a computation refuses, and what it says. */
class OperandChecksTest {
    private static final PostOp ADD = new PostOp.Combine(Binary.Function.ADD);

    private static TensorSpec floats(long... dims) {
        return TensorSpec.of(DType.FLOAT32, dims);
    }

    private static TensorSpec of(DType dtype, long... dims) {
        return TensorSpec.of(dtype, dims);
    }

    private static void refuses(Computation computation, List<TensorSpec> inputs, String... parts) {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class,
                () -> computation.infer(inputs.toArray(TensorSpec[]::new)), () -> computation + " of " + inputs);
        String message = String.valueOf(e.getMessage());
        assertTrue(message.startsWith(computation.operation() + ": "), message);
        for (String part : parts) {
            assertTrue(message.contains(part), () -> "'" + part + "' is not in: " + message);
        }
    }

    private static void accepts(Computation computation, TensorSpec... inputs) {
        assertEquals(1, computation.infer(inputs).length, () -> computation + " of " + Arrays.toString(inputs));
    }

    private static long[] dims(int rank, long each) {
        long[] dims = new long[rank];
        Arrays.fill(dims, each);
        return dims;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 4})
    void imagesHaveOneToThreeSpatialDimensions(int spatial) {
        Window window = Window.of(spatial, 1, 0);
        TensorSpec images = floats(dims(spatial + 2, 2));
        List<Long> each = Collections.nCopies(spatial, 2L);
        String rule = "one to three spatial dimensions, but there are " + spatial;
        refuses(new Convolution(window, 1, false, List.of()), List.of(images, images), rule);
        refuses(new ConvolutionGradInput(window, 1, each), List.of(images, images), rule);
        refuses(new ConvolutionGradWeights(window, 1, false, each), List.of(images, images), rule);
        refuses(new Pooling(Pooling.Kind.MAX, each, window), List.of(images), rule);
        refuses(new AdaptivePooling(Pooling.Kind.AVERAGE, each), List.of(images), rule);
    }

    @Test
    void batchNormHasTwoToFiveDimensions() {
        TensorSpec channel = floats(2);
        for (int rank : new int[]{1, 6}) {
            TensorSpec x = floats(dims(rank, 2));
            String rule = "two to five dimensions, of which the second is the channels, but has " + rank;
            refuses(new BatchNorm(1e-5f, true), List.of(x, channel, channel), rule);
            refuses(new BatchNorm(1e-5f, false), List.of(x, channel, channel, channel, channel), rule);
            refuses(new BatchNormGrad(new BatchNorm(1e-5f, true)), List.of(x, x, channel, channel, channel), rule);
        }
        accepts(new BatchNorm(1e-5f, false), floats(dims(5, 2)), channel, channel, channel, channel);
    }

    @Test
    void kernelsAreNotEmpty() {
        Window window = Window.of(2, 1, 1);
        String rule = "the kernel must have one element or more in each";
        TensorSpec x = floats(1, 1, 4, 4);
        refuses(new Convolution(window, 1, false, List.of()), List.of(x, floats(1, 1, 0, 3)), rule, "[1, 1, 0, 3]");
        refuses(new ConvolutionGradInput(window, 1, List.of(4L, 4L)), List.of(floats(1, 1, 7, 4), floats(1, 1, 0, 3)),
                rule,
                "[1, 1, 0, 3]");
        refuses(new ConvolutionGradWeights(window, 1, false, List.of(3L, 0L)), List.of(x, floats(1, 1, 4, 7)), rule,
                "[3, 0]");
        for (Pooling.Kind kind : Pooling.Kind.values()) {
            refuses(new Pooling(kind, List.of(0L, 2L), Window.of(2, 1, 0)), List.of(x), rule, "[0, 2]");
        }
    }

    @Test
    void convolutionChecksBiasAndPostOps() {
        Window window = Window.of(1, 1, 0);
        TensorSpec x = floats(2, 3, 6);
        TensorSpec w = floats(4, 3, 2);
        Convolution biased = new Convolution(window, 1, true, List.of());
        refuses(biased, List.of(x, w, of(DType.INT32, 4)), "bias", "floating", "int32");
        refuses(biased, List.of(x, w, floats(3)), "bias", "[4]", "[3]");
        accepts(biased, x, w, of(DType.BFLOAT16, 4));
        Convolution combined = new Convolution(window, 1, true,
                List.of(new PostOp.Apply(Unary.Function.RELU, 0, 0), ADD, ADD));
        TensorSpec bias = floats(4);
        refuses(combined, List.of(x, w, bias, floats(4, 1), floats(4, 4)), "post-op number 1", "[2, 4, 5]", "[4, 4]");
        refuses(combined, List.of(x, w, bias, floats(3, 4, 5), floats(1)), "post-op number 0", "[2, 4, 5]",
                "[3, 4, 5]");
        refuses(combined, List.of(x, w, bias, floats(1, 2, 4, 5), floats(1)), "post-op number 0", "[2, 4, 5]",
                "[1, 2, 4, 5]");
        refuses(combined, List.of(x, w, bias, of(DType.INT64, 4, 1), floats(1)), "post-op number 0", "float32",
                "int64");
        accepts(combined, x, w, bias, floats(4, 1), floats());
        refuses(new Convolution(window, 1, false, List.of()),
                List.of(of(DType.INT32, 2, 3, 6), of(DType.INT32, 4, 3, 2)), "floating");
    }

    @Test
    void gradientsOfConvolutionCheckTheirImages() {
        refuses(new ConvolutionGradWeights(Window.of(1, 1, 0), 1, true, List.of(2L)),
                List.of(floats(2, 3, 6), floats(1, 4, 5)),
                "as many images", "2 and 1");
    }

    @Test
    void matMulChecksBiasAndPostOps() {
        MatMul biased = new MatMul(false, false, true, List.of());
        TensorSpec ints = of(DType.INT32, 2, 2);
        refuses(biased, List.of(ints, ints, of(DType.FLOAT64, 2)), "bias", "int32", "float64");
        refuses(biased, List.of(ints, ints, of(DType.INT64, 2)), "bias", "int32", "int64");
        accepts(biased, ints, ints, of(DType.INT32, 2));
        TensorSpec x = floats(2, 2);
        refuses(biased, List.of(x, x, of(DType.BOOL, 2)), "bias", "float32", "bool");
        refuses(biased, List.of(x, x, floats(3)), "bias", Shape.of(2, 2).toString(), "[3]");
        accepts(biased, x, x, of(DType.FLOAT64, 2));
        MatMul combined = new MatMul(false, false, false, List.of(ADD));
        refuses(combined, List.of(x, x, of(DType.INT32, 2)), "post-op number 0", "float32", "int32");
        refuses(combined, List.of(x, x, floats(2, 2, 2)), "post-op number 0", "[2, 2, 2]");
    }

    @Test
    void normsWantFloatingScalesAndStatistics() {
        TensorSpec x = floats(2, 4);
        TensorSpec whole = of(DType.INT32, 4);
        TensorSpec statistics = floats(2);
        TensorSpec wholeStatistics = of(DType.INT64, 2);
        LayerNorm layer = new LayerNorm(1, 1e-5f, true, true);
        GroupNorm group = new GroupNorm(1, 1e-5f, true, true);
        for (Computation norm : List.of(layer, group)) {
            refuses(norm, List.of(x, whole, floats(4)), "floating", "int32");
            refuses(norm, List.of(x, floats(4), whole), "floating", "int32");
            refuses(norm, List.of(x, floats(4), floats(3)), "4 elements", "[3]");
        }
        for (Computation gradient : List.of(new LayerNormGrad(layer), new GroupNormGrad(group))) {
            refuses(gradient, List.of(x, x, whole, statistics, statistics), "scale", "floating", "int32");
            refuses(gradient, List.of(x, x, floats(4), wholeStatistics, statistics), "mean", "floating", "int64");
            refuses(gradient, List.of(x, x, floats(4), statistics, wholeStatistics), "variance", "floating", "int64");
            refuses(gradient, List.of(x, x, floats(4), statistics, floats(3)), "2 elements", "[3]");
        }
    }
}
