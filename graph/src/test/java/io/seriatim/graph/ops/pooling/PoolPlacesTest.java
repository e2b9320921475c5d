package io.seriatim.graph.ops.pooling;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Maxima with their places, as PaddlePaddle 2.6.2 and 3.3.1 compute them. */
class PoolPlacesTest {
    /** Adaptive windows over the whole image are as many as there are elements. */
    @ParameterizedTest
    @CsvSource({"2,false,1", "2,true,6", "3,false,1", "3,true,24"})
    void adaptiveWindowsOfTheWholeImageAreItsElements(int spatial, boolean adaptive, int count) {
        long[] dims = spatial == 2 ? new long[]{1, 1, 2, 3} : new long[]{1, 1, 2, 3, 4};
        int elements = (int) Arrays.stream(dims).reduce(1, Math::multiplyExact);
        double[] values = new double[elements];
        Arrays.setAll(values, i -> Math.sin(i));
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT64, dims)));
        int[] kernel = new int[spatial];
        Arrays.fill(kernel, 2);
        Appender.append(program.global(), OpDesc.of("max_pool" + spatial + "d_with_index").in("X", "x")
                .out("Out", "out").out("Mask", "mask").attr("ksize", kernel).attr("global_pooling", true)
                .attr("adaptive", adaptive).build(), Roles.FORWARD);
        Map<String, Tensor> results = Interpreter.of(Kernels.portable()).run(program,
                Map.of("x", Tensor.of(DType.FLOAT64, values, dims)), List.of("out", "mask"));
        long[] mask = Objects.requireNonNull(results.get("mask")).toLongArray();
        double[] out = Objects.requireNonNull(results.get("out")).toDoubleArray();
        long[] places = new long[count];
        double[] maxima = new double[count];
        double largest = Arrays.stream(values).max().orElseThrow();
        for (int i = 0; i < count; i++) {
            places[i] = adaptive ? i : Arrays.stream(values).boxed().toList().indexOf(largest);
            maxima[i] = adaptive ? values[i] : largest;
        }
        assertArrayEquals(places, mask);
        assertArrayEquals(maxima, out);
    }
}
