package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Equal operations, and plans for further sizes, take over what was folded or lowered for equal inputs. */
class FoldedShapesTest {
    private static final int ROUNDS = 3;
    /** More than the results that are kept of an operation. */
    private static final int LENGTHS = 12;

    private static Program program() {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, -1, -1)));
        append(program, OpDesc.of("shape").in("Input", "x").out("Out", "sizes"));
        append(program, part("rows", 0));
        append(program, part("columns", 1));
        append(program, OpDesc.of("elementwise_mul").in("X", "rows").in("Y", "columns").out("Out", "count"));
        append(program, OpDesc.of("fill_constant").in("ShapeTensor", "count").out("Out", "twos").attr("dtype", 5)
                .attr("value", 2f));
        append(program, OpDesc.of("reshape2").in("X", "x").in("Shape", "count").out("Out", "flat"));
        append(program, OpDesc.of("cast").in("X", "rows").out("Out", "factor").attr("in_dtype", 2)
                .attr("out_dtype", 5));
        append(program, OpDesc.of("scale").in("X", "factor").out("Out", "half").attr("scale", 0.5f));
        append(program, OpDesc.of("elementwise_add").in("X", "flat").in("Y", "twos").out("Out", "sum"));
        append(program, OpDesc.of("elementwise_mul").in("X", "sum").in("Y", "half").out("Out", "y"));
        return program;
    }

    private static OpDesc.Builder part(String name, int at) {
        return OpDesc.of("slice").in("Input", "sizes").out("Out", name).attr("axes", new int[]{0})
                .attr("starts", new int[]{at}).attr("ends", new int[]{at + 1});
    }

    private static void append(Program program, OpDesc.Builder op) {
        Appender.append(program.global(), op.build(), 0);
    }

    @Test
    void resultsFollowFromTheSizesOfTheRun() {
        try (Executor executor = Executor.builder().specialisations(2).build()) {
            Plan plan = executor.compile(program(), feeds("x"), fetches("y"));
            for (int run = 0; run < ROUNDS * LENGTHS; run++) {
                for (int rows = 1; rows <= 3; rows++) {
                    int columns = 1 + run % LENGTHS;
                    Tensor x = Bits.normal(run, rows, columns);
                    float[] expected = x.toFloatArray();
                    for (int i = 0; i < expected.length; i++) {
                        expected[i] = (expected[i] + 2) * (rows * 0.5f);
                    }
                    assertArrayEquals(expected, plan.run(x).get("y").toFloatArray(), rows + " by " + columns);
                }
            }
            assertTrue(plan.bindings().bound() > ROUNDS * LENGTHS * 2, "most sizes are bound again");
        }
    }

    @Test
    void equalOperationsAreLoweredForTheirOwnInputs() {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, -1, 3)));
        append(program, doubled("x", "a"));
        append(program, doubled("a", "b"));
        append(program, OpDesc.of("concat").in("X", "b", "b").out("Out", "twice").attr("axis", 0));
        append(program, doubled("twice", "y"));
        try (Executor executor = Executor.builder().build()) {
            Plan plan = executor.compile(program, feeds("x"), fetches("a", "y"));
            for (int rows = 1; rows <= LENGTHS; rows++) {
                Tensor x = Bits.normal(rows, rows, 3);
                Results results = plan.run(x);
                float[] a = x.toFloatArray();
                float[] y = new float[2 * a.length];
                for (int i = 0; i < a.length; i++) {
                    a[i] = a[i] * 2 + 1;
                    y[i] = (a[i] * 2 + 1) * 2 + 1;
                    y[a.length + i] = y[i];
                }
                assertArrayEquals(a, results.get("a").toFloatArray());
                assertArrayEquals(y, results.get("y").toFloatArray());
            }
        }
    }

    private static OpDesc.Builder doubled(String from, String to) {
        return OpDesc.of("scale").in("X", from).out("Out", to).attr("scale", 2f).attr("bias", 1f);
    }

    @Test
    void aShapeIsFoldedAlsoIfAnEqualOperationGivesAResult() {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, -1, -1)));
        append(program, OpDesc.of("shape").in("Input", "x").out("Out", "result"));
        append(program, OpDesc.of("shape").in("Input", "x").out("Out", "sizes"));
        append(program, OpDesc.of("fill_constant").in("ShapeTensor", "sizes").out("Out", "twos").attr("dtype", 5)
                .attr("value", 2f));
        append(program, OpDesc.of("elementwise_add").in("X", "x").in("Y", "twos").out("Out", "y"));
        try (Executor executor = Executor.builder().build()) {
            Plan plan = executor.compile(program, feeds("x"), fetches("result", "y"));
            for (int rows = 1; rows <= LENGTHS; rows++) {
                Results results = plan.run(Tensor.of(new float[rows * 2], rows, 2));
                assertArrayEquals(new long[]{rows, 2}, results.get("result").toLongArray());
                float[] twos = new float[rows * 2];
                Arrays.fill(twos, 2);
                assertArrayEquals(twos, results.get("y").toFloatArray());
            }
        }
    }
}
