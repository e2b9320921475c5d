package io.seriatim.mxnet;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Longs;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Inputs whose declared type is not float32: results have that type, with the values of MXNet 1.9.1. */
class WholeNumbersTest {
    private static final List<DType> NUMBERS = List.of(DType.FLOAT32, DType.FLOAT64, DType.FLOAT16, DType.UINT8,
            DType.INT32, DType.INT8, DType.INT64);

    @TempDir
    private Path folder;

    private Tensor run(String operator, String attributes, int arity, DType dtype, long... values) throws IOException {
        String x = "[0, 0, 0]";
        Path symbol = Files.writeString(folder.resolve("m-symbol.json"),
                """
                        {"nodes": [{"op": "null", "name": "x", "attrs": {"__dtype__": "%d", "__shape__": "(%d,)"}, "inputs": []},
                        {"op": "%s", "name": "y", "attrs": {%s}, "inputs": [%s]}],
                        "arg_nodes": [0], "heads": [[1, 0, 0]], "attrs": {"mxnet_version": ["int", 10901]}}
                        """
                        .formatted(NUMBERS.indexOf(dtype), values.length, operator, attributes,
                                arity == 1 ? x : x + ", " + x));
        Files.write(folder.resolve("m-0000.params"),
                ByteBuffer.allocate(32).order(ByteOrder.LITTLE_ENDIAN).putLong(0x112).array());
        try (InferenceModel model = InferenceModels.load(symbol)) {
            Tensor fed = Tensor.allocate(dtype, values.length);
            for (int i = 0; i < values.length; i++) {
                Longs.set(fed.memory(), dtype, (long) i * dtype.bytes(), values[i]);
            }
            return Objects.requireNonNull(Interpreter.of(Kernels.system())
                    .run(model.program(), Map.of("x", fed), model.fetches()).get(model.fetches().getFirst()));
        }
    }

    @ParameterizedTest
    @CsvSource({"exp, 2 0 20 -2147483648", "expm1, 1 0 19 -2147483648", "sqrt, 1 -2147483648 1 5",
            "log1p, 0 -2147483648 1 3", "tanh, 0 0 0 1", "sigmoid, 0 0 0 0", "cbrt, 1 -2 1 3", "rcbrt, 1 0 0 0",
            "reciprocal, 1 0 0 0", "degrees, 57 -458 171 1718", "radians, 0 0 0 0", "softsign, 0 0 0 0",
            "cosh, 1 1490 10 -2147483648", "smooth_l1, 0 7 2 29", "sum, 26", "nansum, 26", "argmax, 3", "argmin, 1",
            "prod, -720", "_hypot, 1 11 4 42", "abs, 1 8 3 30", "square, 1 64 9 900"})
    void functionsOfWholeNumbersDropFractions(String operator, String expected) throws IOException {
        String attributes = operator.equals("smooth_l1") ? "\"scalar\": \"2\"" : "";
        int arity = operator.equals("_hypot") ? 2 : 1;
        for (DType dtype : List.of(DType.INT32, DType.INT64)) {
            boolean exceeds = expected.contains("-2147483648");
            if (dtype == DType.INT32 || !exceeds) {
                Tensor y = run(operator, attributes, arity, dtype, 1, -8, 3, 30);
                assertEquals(dtype, y.dtype());
                assertArrayEquals(Arrays.stream(expected.split(" ", -1)).mapToLong(Long::parseLong).toArray(),
                        y.toLongArray(), () -> Arrays.toString(y.toLongArray()));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"FLOAT16", "FLOAT32", "FLOAT64", "INT8", "UINT8", "INT32", "INT64"})
    void placesOfExtremesHaveTheTypeOfTheElements(DType dtype) throws IOException {
        for (String axis : List.of("", "\"axis\": \"0\"", "\"axis\": \"0\", \"keepdims\": \"True\"")) {
            assertEquals(dtype, run("argmax", axis, 1, dtype, 1, 3, 2).dtype());
            assertEquals(1, run("argmax", axis, 1, dtype, 1, 3, 2).toLongArray()[0]);
            assertEquals(2, run("argmin", axis, 1, dtype, 2, 3, 1).toLongArray()[0]);
        }
    }
}
