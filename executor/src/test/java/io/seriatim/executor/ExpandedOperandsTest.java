package io.seriatim.executor;

import static io.seriatim.executor.Executor.fetches;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.graph.append.Appender;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An expanded operand that memory cannot hold need not exist: what reads it reads the original. */
class ExpandedOperandsTest {
    private static final int ROWS = 1 << 10;
    private static final int COLUMNS = 1 << 11;
    /** Less than the expanded operand needs, 8 MiB. */
    private static final long LIMIT = 5 << 20;

    private static double[] result(Executor executor, int rows, int columns, OpDesc reader) {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, rows, columns)));
        program.global().put(VarDesc.of("w", VarType.dense(DType.FLOAT32, COLUMNS, 2)));
        program.global().put(VarDesc.of("i", VarType.dense(DType.INT64, 2)));
        Appender.append(program.global(), OpDesc.of("expand_v2").in("X", "x").out("Out", "e")
                .attr("shape", new int[]{ROWS, COLUMNS}).build(), 0);
        Appender.append(program.global(), reader, 0);
        try (Tensor x = Tensor.of(numbers(rows * columns), rows, columns);
                Tensor w = Tensor.of(numbers(2 * COLUMNS), COLUMNS, 2);
                Tensor i = Tensor.of(new long[]{3, 1}, 2)) {
            return executor.run(program, Map.of("x", x, "w", w, "i", i), fetches("y")).get("y").toDoubleArray();
        }
    }

    private static float[] numbers(int count) {
        float[] numbers = new float[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = (i * 7 % 11 - 3) / 4f;
        }
        return numbers;
    }

    private static OpDesc.Builder op(String type) {
        return OpDesc.of(type).in("X", "e").out("Out", "y");
    }

    private static List<OpDesc> readers() {
        return List.of(op("reduce_sum").attr("reduce_all", true).attr("keep_dim", false).build(),
                op("reduce_max").attr("reduce_all", true).attr("keep_dim", false).build(),
                op("reduce_mean").attr("dim", new int[]{0}).attr("keep_dim", true).build(),
                op("reduce_sum").attr("dim", new int[]{1}).attr("keep_dim", false).build(),
                op("reduce_min").attr("dim", new int[]{1}).attr("keep_dim", false).build(),
                op("matmul_v2").in("Y", "w").build(),
                op("cast").attr("in_dtype", 5).attr("out_dtype", 20).build(),
                op("gather").in("Index", "i").attr("axis", 0).build());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anExpandedOperandBeyondTheLimitIsNotMade(boolean eager) {
        int count = 0;
        for (int[] shape : new int[][]{{1, 1}, {ROWS, 1}, {1, COLUMNS}}) {
            for (OpDesc reader : readers()) {
                try (Devices devices = Devices.builder().cpuMemory(LIMIT).build();
                        Executor limited = executor(eager).devices(devices).build();
                        Executor free = executor(eager).build()) {
                    double[] expected = result(free, shape[0], shape[1], reader);
                    double largest = Arrays.stream(expected).map(Math::abs).max().orElse(0);
                    assertArrayEquals(expected, result(limited, shape[0], shape[1], reader), 1e-5 * largest,
                            () -> reader + " of " + Arrays.toString(shape));
                    count++;
                }
            }
        }
        assertEquals(24, count);
    }

    private static Executor.Builder executor(boolean eager) {
        return eager ? Executor.builder().eager() : Executor.builder();
    }

    /** A result that exists is still refused, by its own name. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aResultBeyondTheLimitIsRefused(boolean eager) {
        try (Devices devices = Devices.builder().cpuMemory(LIMIT).build();
                Executor limited = executor(eager).devices(devices).build()) {
            String message = String.valueOf(assertThrows(ProgramFailedException.class,
                    () -> result(limited, 1, 1, op("relu").build())).getMessage());
            assertTrue(message.contains("(relu,") && message.contains("its result 'y'"), message);
        }
    }
}
