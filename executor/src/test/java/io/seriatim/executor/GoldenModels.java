package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Npz;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/**
 * A file of programs that PaddlePaddle has built, with the results that it has computed. The scripts in
 * tools/golden/executor write it; their docstrings describe the entries.
 */
final class GoldenModels {
    private final Map<String, Tensor> entries;

    private GoldenModels(Map<String, Tensor> entries) {
        this.entries = entries;
    }

    static GoldenModels read(String file) {
        try {
            return new GoldenModels(Npz
                    .read(Path.of(Objects.requireNonNull(GoldenModels.class.getResource("/golden/" + file)).toURI())));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    List<String> names() {
        return List.copyOf(
                new TreeSet<>(entries.keySet().stream().map(key -> key.substring(0, key.indexOf('/'))).toList()));
    }

    Tensor get(String entry) {
        return Objects.requireNonNull(entries.get(entry), entry);
    }

    boolean has(String entry) {
        return entries.containsKey(entry);
    }

    byte[] bytes(String entry) {
        return get(entry).memory().toArray(ValueLayout.JAVA_BYTE);
    }

    String text(String entry) {
        return new String(bytes(entry), StandardCharsets.UTF_8);
    }

    Program program(String entry) {
        try {
            return ProgramFiles.parse(entry, bytes(entry));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the entries with a prefix, by the rest of their names. */
    Map<String, Tensor> under(String prefix) {
        Map<String, Tensor> part = new LinkedHashMap<>();
        entries.forEach((key, tensor) -> {
            if (key.startsWith(prefix)) {
                part.put(key.substring(prefix.length()), tensor);
            }
        });
        return part;
    }

    /** Returns the number of numbered groups of entries of a model. */
    int groups(String name) {
        int count = 0;
        while (!under(name + "/" + count + "/").isEmpty()) {
            count++;
        }
        assertTrue(count > 0, name);
        return count;
    }

    /** Returns a batch that {@link GoldenFormula} computes. */
    Tensor batch(String model, String feed, String name, long... dims) {
        String bound = model + "/bound/" + feed;
        return GoldenFormula.batch(name, has(bound) ? get(bound).getLong() : 0, dims);
    }

    /**
     * Sets the parameters of a program. In an inference program, which no longer marks parameters, sets all persistable
     * variables.
     */
    static void setParameters(Program program, Scope scope) {
        GoldenFormula.Parameters formula = new GoldenFormula.Parameters(program);
        List<VarDesc> marked = program.parameters();
        for (VarDesc desc : marked.isEmpty() ? program.persistables() : marked) {
            VarType.TensorType type = desc.type().tensorType();
            if (type != null && type.dtype() == DType.FLOAT32) {
                scope.set(desc.name(), formula.value(desc.name(), type.shape()));
            }
        }
    }

    /** Returns the variables of the feed or fetch operations, by column. */
    static List<String> columns(Program program, String type) {
        return program.global().ops().stream().filter(op -> op.type().equals(type))
                .sorted(Comparator.comparingInt(GoldenModels::column))
                .map(op -> (type.equals("feed") ? op.output("Out") : op.input("X")).getFirst()).toList();
    }

    private static int column(OpDesc op) {
        return op.attribute("col") instanceof Attribute.Int(int column) ? column : -1;
    }

    /**
     * Asserts that shapes are equal, that integers are equal, and that other numbers differ by at most the tolerance
     * times the largest expected magnitude.
     */
    static void assertClose(Tensor expected, Tensor found, double tolerance, String what) {
        assertEquals(expected.shape(), found.shape(), what);
        assertEquals(expected.dtype(), found.dtype(), what);
        if (!Set.of(DType.FLOAT32, DType.FLOAT64).contains(expected.dtype())) {
            assertArrayEquals(expected.toLongArray(), found.toLongArray(), what);
            return;
        }
        double[] a = expected.toDoubleArray();
        double[] b = found.toDoubleArray();
        double difference = 0;
        double largest = Float.MIN_NORMAL;
        for (int i = 0; i < a.length; i++) {
            // Math.max returns NaN if either argument is NaN.
            difference = Math.max(difference, Math.abs(a[i] - b[i]));
            largest = Math.max(largest, Math.abs(a[i]));
        }
        double relative = difference / largest;
        assertTrue(relative <= tolerance,
                () -> what + " differs from Paddle's by " + relative + " of its largest element");
    }

    /** Asserts that tensors are equal bit for bit. */
    static void assertSame(Map<String, Tensor> expected, Map<String, Tensor> found, String what) {
        assertEquals(expected.keySet(), found.keySet(), what);
        expected.forEach((name, tensor) -> assertEquals(-1,
                tensor.memory().mismatch(Objects.requireNonNull(found.get(name)).memory()),
                () -> what + ": first byte of '" + name + "' that differs"));
    }
}
