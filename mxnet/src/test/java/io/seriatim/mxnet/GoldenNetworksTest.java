package io.seriatim.mxnet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Fetches;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.tensor.Npy;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares the results of models that MXNet 1.9.1 saved with those that it computed. {@code tools/golden/mxnet} makes
 * the committed ones and, for the profile golden, many more.
 */
class GoldenNetworksTest {
    /** Of the largest element of a result. */
    private static final double TOLERANCE = 1e-4;
    /** Of float64: numbers that were rounded to float32 would show. */
    private static final double WIDE_TOLERANCE = 1e-12;
    private static final String ALL = System.getProperty("seriatim.golden", "");
    private static final int COMMITTED = 114;

    @TempDir
    static Path folder;

    @TestFactory
    Stream<DynamicTest> resultsAreThoseOfMxnet() throws IOException {
        return cases().map(each -> DynamicTest.dynamicTest(each.getFileName().toString(), () -> check(each)));
    }

    private static Stream<Path> cases() throws IOException {
        Path committed = GoldenZip.unpacked(folder);
        Path more = Path.of(ALL, "mxnet");
        return ALL.isEmpty() || !Files.isDirectory(more)
                ? list(committed).stream()
                : Stream.concat(list(committed).stream(), list(more).stream());
    }

    private static List<Path> list(Path parent) throws IOException {
        try (Stream<Path> files = Files.list(parent)) {
            return files.filter(Files::isDirectory).sorted().toList();
        }
    }

    @Test
    void enoughCasesAreCommitted() throws IOException {
        assertTrue(list(GoldenZip.unpacked(folder)).size() >= COMMITTED, "too few cases");
    }

    private static void check(Path name) throws IOException {
        try (InferenceModel model = InferenceModels.load(name.resolve("net-symbol.json"));
                Executor executor = Executor.builder().build()) {
            Map<String, Tensor> fed = feeds(name, model);
            Map<String, Tensor> expected = new LinkedHashMap<>();
            for (String fetch : model.fetches()) {
                expected.put(fetch, Npy.read(name.resolve("out." + fetch + ".npy")));
            }
            model.parameters().forEach((parameter, value) -> executor.scope().setCopy(parameter, value));
            Map<String, Tensor> found = executor
                    .run(model.program(), fed, new Fetches(model.fetches())).all();
            expected.forEach((fetch, value) -> assertClose(value, Objects.requireNonNull(found.get(fetch)), fetch));
            if (model.program().global().ops().size() < 40) {
                Map<String, Tensor> in = new TreeMap<>(model.parameters());
                in.putAll(fed);
                Map<String, Tensor> interpreted = Interpreter.of(Kernels.portable()).run(model.program(), in,
                        model.fetches());
                expected.forEach((fetch, value) -> assertClose(value,
                        Objects.requireNonNull(interpreted.get(fetch)), fetch));
            }
        }
    }

    private static Map<String, Tensor> feeds(Path name, InferenceModel model) throws IOException {
        Map<String, Tensor> fed = new LinkedHashMap<>();
        for (String feed : model.feeds()) {
            Path file = name.resolve("in." + feed + ".npy");
            assertTrue(Files.exists(file), () -> "an input that MXNet does not ask for: " + feed);
            fed.put(feed, Npy.read(file));
        }
        return fed;
    }

    private static void assertClose(Tensor expected, Tensor found, String name) {
        assertEquals(expected.spec(), found.spec(), name);
        double[] wanted = expected.toDoubleArray();
        double[] values = found.toDoubleArray();
        double largest = 0;
        for (double each : wanted) {
            largest = Double.isFinite(each) ? Math.max(largest, Math.abs(each)) : largest;
        }
        double tolerance = largest * switch (expected.dtype()) {
            case FLOAT16, BFLOAT16 -> 1e-2;
            case FLOAT64 -> WIDE_TOLERANCE;
            default -> expected.dtype().isFloating() ? TOLERANCE : 0;
        };
        for (int i = 0; i < wanted.length; i++) {
            boolean close = Double.compare(wanted[i], values[i]) == 0 || wanted[i] == values[i]
                    || Math.abs(wanted[i] - values[i]) <= tolerance;
            assertTrue(close, name + "[" + i + "] must be " + wanted[i] + ", but is " + values[i]);
        }
    }
}
