package io.seriatim.graph;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
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

/**
 * Averages that count padding are those of PaddlePaddle 2.6.2 and 3.3.1: behind the elements, a window counts as much
 * padding as there is before them, whatever the padding there.
 */
class AveragesOfPaddingTest {
    /** The first column of the averages of ones[1, 1, 4, 4] over 3 by 3, moved by 2, padded before and behind. */
    @ParameterizedTest
    @CsvSource({"0,1,false,1 1", "0,1,true,1 1", "1,0,false,.6666667 1", "1,2,false,.6666667 1 .5",
            "1,2,true,.6666667 1 .5", "2,1,false,.3333333 1 .6666667", "2,1,true,.3333333 1 .6666667",
            "1,1,false,.6666667 1", "1,1,true,.6666667 1 .5"})
    void countAsManyElementsAsPaddlePaddle(int before, int behind, boolean ceil, String column) {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, 1, 1, 4, 4)));
        program.global().add(OpDesc.of("pool2d").in("X", "x").out("Out", "y").attr("ksize", new int[]{3, 3})
                .attr("strides", new int[]{2, 2}).attr("paddings", new int[]{before, behind, 0, 0})
                .attr("pooling_type", "avg").attr("exclusive", false).attr("ceil_mode", ceil).build());
        float[] ones = new float[16];
        Arrays.fill(ones, 1);
        for (Kernels kernels : List.of(Kernels.portable(), Kernels.system())) {
            Tensor y = Objects.requireNonNull(Interpreter.of(kernels).run(program, Map.of("x", Tensor.of(ones, 1, 1, 4,
                    4)), List.of("y")).get("y"));
            float[] all = y.toFloatArray();
            int width = Math.toIntExact(y.shape().dim(3));
            String[] wanted = column.split(" ", -1);
            float[] want = new float[wanted.length];
            float[] have = new float[wanted.length];
            for (int i = 0; i < want.length; i++) {
                want[i] = Float.parseFloat(wanted[i]);
                have[i] = all[i * width];
            }
            assertArrayEquals(want, have, 1e-6f, Arrays.toString(all));
        }
    }
}
