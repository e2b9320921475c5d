package io.seriatim.graph.ops.convolution;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.OneRun;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Convolutions and poolings beyond the golden cases: second gradients and biases that Paddle lacks on a processor,
 * maxima in which it errs.
 */
class ConvolutionOperationsTest {
    private static final long SEED = 20261121;
    private static final double STEP = 1e-5;

    static List<Arguments> secondGradients() {
        OpDesc.Builder depthwise = OpDesc.of("depthwise_conv2d").attr("groups", 2).attr("strides", new int[]{2, 1})
                .attr("paddings", new int[]{1, 0})
                .attr("dilations", new int[]{1, 2});
        OpDesc.Builder transposed = OpDesc.of("conv2d_transpose").attr("groups", 2).attr("strides", new int[]{2, 1})
                .attr("paddings", new int[]{1, 0, 0, 1}).attr("output_padding", new int[]{1, 0});
        OpDesc.Builder last = OpDesc.of("conv2d_transpose").attr("data_format", "NHWC").attr("strides",
                new int[]{1, 2});
        return List.of(
                Arguments.of(depthwise.build(), "grad_input@GRAD", new long[]{1, 2, 4, 5}, new long[]{4, 1, 2, 2}),
                Arguments.of(transposed.build(), "grad_x@GRAD", new long[]{2, 4, 3, 2}, new long[]{4, 1, 3, 2}),
                Arguments.of(last.build(), "grad_x@GRAD", new long[]{1, 2, 3, 3}, new long[]{3, 2, 2, 2}));
    }

    /** The second gradients are those of what the first ones give, weighted: against central differences in float64. */
    @ParameterizedTest
    @MethodSource("secondGradients")
    void secondGradientsAgainstDifferences(OpDesc attributes, String ddx, long[] x, long[] w) {
        String type = attributes.type();
        SplittableRandom random = new SplittableRandom(SEED);
        Map<String, Tensor> feeds = new HashMap<>();
        for (String name : List.of("x", "ddx")) {
            feeds.put(name, OneRun.random(random, DType.FLOAT64, x));
        }
        for (String name : List.of("w", "ddw")) {
            feeds.put(name, OneRun.random(random, DType.FLOAT64, w));
        }
        OpDesc forward = with(OpDesc.of(type).in("Input", "x").in("Filter", "w").out("Output", "y"), attributes);
        feeds.put("dy",
                OneRun.random(random, DType.FLOAT64, OneRun.get(OneRun.of(feeds, forward), "y").shape().dims()));
        OpDesc first = with(OpDesc.of(type + "_grad").in("Input", "x").in("Filter", "w").in("Output@GRAD", "dy")
                .out("Input@GRAD", "dx")
                .out("Filter@GRAD", "dw"), attributes);
        OpDesc second = with(
                OpDesc.of(type + "_grad_grad").in("Input", "x").in("Filter", "w").in("grad_out", "dy").in(ddx, "ddx")
                        .in("grad_filter@GRAD", "ddw").out("Input@GRAD", "of x").out("Filter@GRAD", "of w")
                        .out("grad_out@GRAD", "of dy"),
                attributes);
        Map<String, Tensor> results = OneRun.of(feeds, second);
        for (String name : List.of("x", "w", "dy")) {
            double[] gradient = OneRun.values(results, "of " + name);
            Tensor along = OneRun.random(random, DType.FLOAT64, OneRun.get(feeds, name).shape().dims());
            double difference = (weighted(feeds, first, name, along, STEP) - weighted(feeds, first, name, along, -STEP))
                    / (2 * STEP);
            assertEquals(difference, dot(gradient, along.toDoubleArray()), 1e-7 * Math.max(1, Math.abs(difference)),
                    type + " of " + name + ", seed " + SEED);
        }
    }

    private static OpDesc with(OpDesc.Builder builder, OpDesc attributes) {
        attributes.attributes().forEach(each -> builder.attr(each.name(), each.value()));
        return builder.build();
    }

    private static double weighted(Map<String, Tensor> feeds, OpDesc first, String name, Tensor along, double step) {
        double[] values = OneRun.values(feeds, name).clone();
        double[] direction = along.toDoubleArray();
        for (int i = 0; i < values.length; i++) {
            values[i] += step * direction[i];
        }
        Map<String, Tensor> moved = new HashMap<>(feeds);
        moved.put(name, Tensor.of(DType.FLOAT64, values, along.shape().dims()));
        Map<String, Tensor> results = OneRun.of(moved, first);
        return dot(OneRun.values(results, "dx"), OneRun.values(feeds, "ddx"))
                + dot(OneRun.values(results, "dw"), OneRun.values(feeds, "ddw"));
    }

    private static double dot(double[] a, double[] b) {
        double sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += a[i] * b[i];
        }
        return sum;
    }

    @Test
    void aTransposedConvolutionAddsItsBias() {
        Map<String, Tensor> feeds = Map.of("x", Tensor.of(new float[]{2}, 1, 1, 1, 1), "w",
                Tensor.of(new float[]{1, 2, 3, 4}, 1, 2, 1, 2),
                "b",
                Tensor.of(new float[]{10, 20}, 2));
        OpDesc.Builder op = OpDesc.of("conv2d_transpose").in("Input", "x").in("Filter", "w").in("Bias", "b")
                .out("Output", "y");
        assertArrayEquals(new double[]{12, 14, 26, 28}, OneRun.values(OneRun.of(feeds, op.build()), "y"));
        OpDesc last = op.attr("data_format", "NHWC").build();
        assertArrayEquals(new double[]{12, 26, 14, 28}, OneRun.values(OneRun.of(feeds, last), "y"));
    }

    @Test
    void adaptiveMaximaAreThoseOfTheirParts() {
        Map<String, Tensor> feeds = Map.of("x", Tensor.of(new float[]{1, 2, 9, 4, 5, 6, 7, 8, 3, 0}, 1, 1, 2, 5), "dy",
                Tensor.of(new float[]{1, 10}, 1, 1, 1, 2));
        OpDesc op = OpDesc.of("pool2d").in("X", "x").out("Out", "y").attr("ksize", new int[]{1, 2})
                .attr("pooling_type", "max")
                .attr("adaptive", true)
                .build();
        OpDesc gradient = with(
                OpDesc.of("pool2d_grad").in("X", "x").in("Out", "y").in("Out@GRAD", "dy").out("X@GRAD", "dx"), op);
        Map<String, Tensor> results = OneRun.of(feeds, op, gradient);
        assertArrayEquals(new double[]{9, 9}, OneRun.values(results, "y"));
        assertArrayEquals(new double[]{0, 0, 11, 0, 0, 0, 0, 0, 0, 0}, OneRun.values(results, "dx"));
    }
}
