package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Npz;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The plan of every golden case of an operation and its gradient computes what the interpreter does. That the
 * interpreter computes what PaddlePaddle does is a test of the module graph.
 */
class GoldenOperationsPlanTest {
    private static final long SEED = 7;

    @TestFactory
    Stream<DynamicContainer> files() throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.list(Path.of("../graph/src/test/resources/golden"))) {
            files = all.filter(file -> file.getFileName().toString().matches("operations.*\\.npz")).sorted().toList();
        }
        assertTrue(files.size() > 10, files::toString);
        return files.stream().map(
                file -> DynamicContainer.dynamicContainer(file.getFileName().toString(), Stream.of(file).flatMap(
                        GoldenOperationsPlanTest::cases)));
    }

    private static Stream<DynamicTest> cases(Path file) {
        Map<String, Tensor> entries;
        try {
            entries = Npz.read(file);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return entries.keySet().stream().filter(key -> key.endsWith("/program"))
                .map(key -> key.substring(0, key.lastIndexOf('/')))
                .map(name -> DynamicTest.dynamicTest(name, () -> compare(name, entries)));
    }

    private static void compare(String name, Map<String, Tensor> entries) throws IOException {
        Program program = ProgramFiles.parse(name, bytes(Objects.requireNonNull(entries.get(name + "/program"))));
        Map<String, Tensor> feeds = part(entries, name + "/in/");
        part(entries, name + "/lod/").forEach((variable, offsets) -> feeds.computeIfPresent(variable,
                (_, tensor) -> tensor.withLod(Lod.of(offsets))));
        List<String> wanted = List.copyOf(part(entries, name + "/out/").keySet());
        Map<String, Tensor> expected = Interpreter.of(Kernels.system()).paddleRandom(SEED).run(program, feeds, wanted);
        try (Executor executor = Executor.builder().threads(2).paddleRandom(SEED).ignoreUnknownFeeds().build()) {
            Results results = executor.run(program, feeds, new Fetches(wanted));
            expected.forEach((variable, tensor) -> same(name + " " + variable, tensor, results.get(variable)));
        }
    }

    private static byte[] bytes(Tensor tensor) {
        long[] values = tensor.toLongArray();
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return bytes;
    }

    private static Map<String, Tensor> part(Map<String, Tensor> entries, String prefix) {
        Map<String, Tensor> part = new TreeMap<>();
        entries.forEach((key, tensor) -> {
            if (key.startsWith(prefix)) {
                part.put(key.substring(prefix.length()), tensor);
            }
        });
        return part;
    }

    /** Fused kernels may round once where the interpreter rounds twice. */
    private static void same(String name, Tensor expected, Tensor actual) {
        assertEquals(expected.spec(), actual.spec(), name);
        assertEquals(expected.lod(), actual.lod(), name);
        boolean complex = expected.dtype().isComplex();
        double[] want = (complex ? expected.asReal() : expected).toDoubleArray();
        double[] have = (complex ? actual.asReal() : actual).toDoubleArray();
        double tolerance = switch (expected.dtype()) {
            case FLOAT64, COMPLEX128 -> 1e-11;
            case FLOAT32, COMPLEX64 -> 1e-5;
            case FLOAT16, BFLOAT16 -> 1e-2;
            default -> 0;
        };
        double scale = Arrays.stream(want).filter(Double::isFinite).map(Math::abs).max().orElse(0);
        List<String> wrong = new ArrayList<>();
        for (int i = 0; i < want.length && wrong.size() < 5; i++) {
            boolean equal = Double.compare(want[i], have[i]) == 0 || want[i] == have[i]
                    || Math.abs(want[i] - have[i]) <= tolerance * Math.max(Math.abs(want[i]), 0.1 * scale);
            if (!equal) {
                wrong.add(i + ": " + want[i] + " but " + have[i]);
            }
        }
        assertEquals(List.of(), wrong, name);
    }
}
