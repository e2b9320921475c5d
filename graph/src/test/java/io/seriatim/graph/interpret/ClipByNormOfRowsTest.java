package io.seriatim.graph.interpret;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.SelectedRows;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClipByNormOfRowsTest {
    private static SelectedRows clip(double most, boolean portable, long[] rows, double... values) {
        Environment environment = new Environment(null);
        Tensor contents = Tensor.of(DType.FLOAT32, values, rows.length, values.length / rows.length);
        environment.set("g", new SelectedRows(Tensor.of(rows, rows.length), contents, 9));
        OpDesc op = OpDesc.of("clip_by_norm").in("X", "g").out("Out", "clipped").attr("max_norm", (float) most).build();
        OpRunner runner = new OpRunner(portable ? Kernels.portable() : Kernels.system());
        RunState state = new RunState(new Program(), runner, environment, environment, Map.of(), 0, null,
                AllowedFiles.NONE);
        runner.run(op, Operations.system().get("clip_by_norm"), environment, state, Tensor.of(new long[]{0, 0}, 2));
        return (SelectedRows) environment.get("clipped");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aRowThatOccursTwiceCountsAsItsSum(boolean portable) {
        // The rows are 7: (3, 0) and 2: (0, 4), so that the norm is 5.
        SelectedRows clipped = clip(2.5, portable, new long[]{7, 2, 7}, 5, 1, 0, 4, -2, -1);
        assertArrayEquals(new long[]{7, 2, 7}, clipped.rows().toLongArray());
        assertArrayEquals(new double[]{2.5, 0.5, 0, 2, -1, -0.5}, clipped.values().toDoubleArray(), 1e-6);
        assertEquals(9, clipped.height());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void smallRowsStayAsTheyAre(boolean portable) {
        assertArrayEquals(new double[]{5, -4.75},
                clip(0.25, portable, new long[]{3, 3}, 5, -4.75).values().toDoubleArray());
    }
}
