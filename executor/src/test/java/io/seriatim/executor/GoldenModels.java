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
 * A file of programs that PaddlePaddle has built, and what it has computed with them: made by the scripts in
 * tools/golden/executor, whose docstrings name the entries.
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

    private byte[] bytes(String entry) {
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

    /** The entries under a prefix, by the rest of their names. */
    Map<String, Tensor> under(String prefix) {
        Map<String, Tensor> part = new LinkedHashMap<>();
        entries.forEach((key, tensor) -> {
            if (key.startsWith(prefix)) {
                part.put(key.substring(prefix.length()), tensor);
            }
        });
        return part;
    }

    /** How many numbered groups of entries a model has. */
    int groups(String name) {
        int count = 0;
        while (!under(name + "/" + count + "/").isEmpty()) {
            count++;
        }
        assertTrue(count > 0, name);
        return count;
    }

    /** A batch by the formula. */
    Tensor batch(String model, String feed, String name, long... dims) {
        String bound = model + "/bound/" + feed;
        return GoldenFormula.batch(name, has(bound) ? get(bound).getLong() : 0, dims);
    }

    /**
     * Sets what the program declares as parameters, or, where inference has removed these marks, all that outlives
     * runs.
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

    /** The variables of operations feed, or of operations fetch, by their columns. */
    static List<String> columns(Program program, String type) {
        return program.global().ops().stream().filter(op -> op.type().equals(type))
                .sorted(Comparator.comparingInt(GoldenModels::column))
                .map(op -> (type.equals("feed") ? op.output("Out") : op.input("X")).getFirst()).toList();
    }

    private static int column(OpDesc op) {
        return op.attribute("col") instanceof Attribute.Int(int column) ? column : -1;
    }

    /**
     * Requires equal shapes, equal whole numbers, and for others a largest difference below the tolerance times the
     * largest expected magnitude.
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
            // Math.max gives NaN if either is NaN.
            difference = Math.max(difference, Math.abs(a[i] - b[i]));
            largest = Math.max(largest, Math.abs(a[i]));
        }
        double relative = difference / largest;
        assertTrue(relative <= tolerance,
                () -> what + " differs from Paddle's by " + relative + " of its largest element");
    }

    /** Requires equal bits. */
    static void assertSame(Map<String, Tensor> expected, Map<String, Tensor> found, String what) {
        assertEquals(expected.keySet(), found.keySet(), what);
        expected.forEach((name, tensor) -> assertEquals(-1,
                tensor.memory().mismatch(Objects.requireNonNull(found.get(name)).memory()),
                () -> what + ": first byte of '" + name + "' that differs"));
    }
}
