package io.seriatim.graph.ops.normalisation;

import static io.seriatim.graph.ops.SmallProgram.run;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** One element a channel has no variance. The numbers are those of PaddlePaddle 2.6.2. */
class SingleElementBatchNormTest {
    private static Tensor channels(double... values) {
        return Tensor.of(values, values.length);
    }

    @ParameterizedTest
    @CsvSource({"out,1 2 3", "mean,0.5 0.5 0.5", "variance,1 1 1", "savedMean,0 0 0"})
    void itIsLeftAsItIs(String fetch, String expected) {
        OpDesc op = OpDesc.of("batch_norm").in("X", "x").in("Scale", "scale").in("Bias", "bias").in("Mean", "mean")
                .in("Variance", "variance").out("Y", "out").out("MeanOut", "mean").out("VarianceOut", "variance")
                .out("SavedMean", "savedMean").out("SavedVariance", "savedVariance").attr("momentum", 0.9f).build();
        Map<String, Tensor> feeds = Map.of("x", Tensor.of(new double[]{1, 2, 3}, 1, 3), "scale", channels(2, 2, 2),
                "bias", channels(7, 7, 7), "mean", channels(0.5, 0.5, 0.5), "variance", channels(1, 1, 1));
        assertArrayEquals(numbers(expected), run(op, feeds, fetch).toDoubleArray());
    }

    @ParameterizedTest
    @CsvSource({"dx,2 3 4", "dscale,0 0 0", "dbias,0 0 0"})
    void itsGradientPassesThrough(String fetch, String expected) {
        OpDesc op = OpDesc.of("batch_norm_grad").in("X", "x").in("Scale", "scale").in("Bias", "bias")
                .in("SavedMean", "saved").in("SavedVariance", "saved").in("Y@GRAD", "dy").out("X@GRAD", "dx")
                .out("Scale@GRAD", "dscale").out("Bias@GRAD", "dbias").build();
        Map<String, Tensor> feeds = Map.of("x", Tensor.of(new double[]{1, 2, 3}, 1, 3, 1, 1), "scale",
                channels(2, 2, 2), "bias", channels(7, 7, 7), "saved", channels(0, 0, 0), "dy",
                Tensor.of(new double[]{2, 3, 4}, 1, 3, 1, 1));
        assertArrayEquals(numbers(expected), run(op, feeds, fetch).toDoubleArray());
    }

    private static double[] numbers(String text) {
        return Arrays.stream(text.split(" ")).mapToDouble(Double::parseDouble).toArray();
    }
}
