package io.seriatim.onnx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Gradients of imported models against differences. The models are the sample cases of the node tests and of
 * sequences, rewritten to double precision, so that differences are exact enough.
 */
final class ImportedGradientsTest {
    private static final String[] SAMPLES = {"/node-tests.zip", "/sequence-cases.zip"};
    private static final long SEED = 20261124;
    private static final double STEP = 1e-4;
    private static final double TOLERANCE = 1e-5;
    private static final long FLOAT = 1;
    private static final long DOUBLE = 11;

    @TempDir
    Path folder = Path.of("");

    private static Map<String, Map<String, byte[]>> cases() throws IOException {
        Map<String, Map<String, byte[]>> cases = new TreeMap<>();
        for (String file : SAMPLES) {
            try (InputStream in = Objects.requireNonNull(NodeTest.class.getResourceAsStream(file));
                    ZipInputStream zip = new ZipInputStream(in)) {
                for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                    String[] parts = entry.getName().split("/", 2);
                    if (parts.length == 2) {
                        cases.computeIfAbsent(parts[0], _ -> new TreeMap<>()).put(parts[1], zip.readAllBytes());
                    }
                }
            }
        }
        return cases;
    }

    /** A message with float64 for float32: types of values, tensors, and attributes that name a type. */
    private static WireMessage doubled(byte[] bytes, WireMessage.Kind kind) {
        WireMessage root = WireMessage.parse(bytes, kind);
        visit(root, kind);
        return root;
    }

    private static void visit(WireMessage message, WireMessage.Kind kind) {
        switch (kind) {
            case TENSOR_TYPE -> replace(message, 1);
            case TENSOR -> tensor(message);
            case ATTRIBUTE -> {
                String name = new String((byte[]) message.fields.getFirst().value(), StandardCharsets.UTF_8);
                if (name.equals("to") || name.equals("dtype") || name.equals("stash_type")) {
                    replace(message, 3);
                }
            }
            default -> {
                // The types are in the messages within.
            }
        }
        for (WireMessage.Field field : message.fields) {
            if (field.value() instanceof WireMessage inner) {
                visit(inner, Objects.requireNonNull(kind.messages().get(field.number())));
            }
        }
    }

    private static void replace(WireMessage message, int number) {
        message.fields.replaceAll(field -> field.number() == number && field.value().equals(FLOAT)
                ? new WireMessage.Field(number, field.wireType(), DOUBLE)
                : field);
    }

    /** The elements stand as bytes in field 9 or as numbers in field 4, one each or all in one. */
    private static void tensor(WireMessage message) {
        if (message.fields.stream().noneMatch(field -> field.number() == 2 && field.value().equals(FLOAT))) {
            return;
        }
        replace(message, 2);
        List<Float> elements = new ArrayList<>();
        message.fields.removeIf(field -> {
            boolean holds = field.number() == 9 || field.number() == 4;
            if (holds && field.value() instanceof byte[] bytes) {
                ByteBuffer from = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
                while (from.hasRemaining()) {
                    elements.add(from.getFloat());
                }
            } else if (holds) {
                elements.add(Float.intBitsToFloat(((Long) field.value()).intValue()));
            }
            return holds;
        });
        ByteBuffer to = ByteBuffer.allocate(Double.BYTES * elements.size()).order(ByteOrder.LITTLE_ENDIAN);
        elements.forEach(each -> to.putDouble(each));
        message.bytes(9, to.array());
    }

    /** The cases that cannot be compared, with their reasons. */
    private static Map<String, String> without() throws IOException {
        Map<String, String> without = new TreeMap<>();
        try (InputStream in = Objects.requireNonNull(NodeTest.class.getResourceAsStream("/gradients-without.txt"))) {
            for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList()) {
                if (!line.isBlank() && !line.startsWith("#")) {
                    String[] parts = line.split(": ", 2);
                    without.put(parts[0], parts[1]);
                }
            }
        }
        return without;
    }

    @Test
    void areSlopes() throws IOException {
        Map<String, String> without = without();
        List<String> failures = new ArrayList<>();
        int checked = 0;
        for (Map.Entry<String, Map<String, byte[]>> each : cases().entrySet()) {
            String failure = failure(each.getKey(), each.getValue());
            if (failure == null || failure.isEmpty()) {
                checked += failure == null ? 1 : 0;
                if (without.containsKey(each.getKey())) {
                    failures.add(each.getKey() + ": has a gradient, but is listed");
                }
            } else if (!without.containsKey(each.getKey())) {
                failures.add(each.getKey() + ": " + failure);
            }
        }
        System.out.println(checked + " gradients are slopes");
        assertEquals("", String.join("\n", failures));
        assertTrue(checked >= 250, checked + " gradients");
    }

    /** What is wrong; null if nothing is, empty if there is nothing to differentiate. */
    private @Nullable String failure(String name, Map<String, byte[]> files) throws IOException {
        byte[] bytes = files.get("model.onnx");
        if (bytes == null) {
            return "";
        }
        Path data = Files.createDirectories(folder.resolve(name));
        Path file = Files.write(data.resolve("model.onnx"), doubled(bytes, WireMessage.Kind.MODEL).toBytes());
        for (Map.Entry<String, byte[]> each : files.entrySet()) {
            if (each.getKey().startsWith("input_")) {
                Files.write(data.resolve(each.getKey()),
                        doubled(each.getValue(), WireMessage.Kind.TENSOR).toBytes());
            }
        }
        InferenceModel model;
        try {
            model = OnnxModels.load(file);
        } catch (IOException | IllegalArgumentException e) {
            // Types and operators that are not supported are tested elsewhere, as is what has no float64.
            return "";
        }
        try (model) {
            return failure(model, NodeCases.tensors(data, "input"));
        } catch (IllegalArgumentException e) {
            return String.valueOf(e.getMessage());
        }
    }

    private static @Nullable String failure(InferenceModel model, List<Tensor> inputs) {
        SplittableRandom random = new SplittableRandom(SEED);
        Map<String, Tensor> feeds = new LinkedHashMap<>();
        List<String> sought = new ArrayList<>();
        for (int i = 0; i < Math.min(inputs.size(), model.feeds().size()); i++) {
            Tensor x = inputs.get(i);
            if (x.dtype() == DType.FLOAT64 && x.shape().size() > 0) {
                // Nearer to 0 by a little, so that no two elements are equal.
                double[] moved = x.toDoubleArray();
                for (int k = 0; k < moved.length; k++) {
                    moved[k] *= 1 - 0.05 * random.nextDouble();
                }
                x = Tensor.of(DType.FLOAT64, moved, x.shape().dims());
                sought.add(model.feeds().get(i));
            }
            feeds.put(model.feeds().get(i), x);
        }
        Interpreter interpreter = Interpreter.of(Kernels.portable());
        model.parameters().forEach(interpreter::set);
        Map<String, Tensor> results = interpreter.run(model.program(), feeds, model.fetches());
        List<String> targets = model.fetches().stream()
                .filter(fetch -> Objects.requireNonNull(results.get(fetch)).dtype() == DType.FLOAT64
                        && Objects.requireNonNull(results.get(fetch)).shape().size() > 0)
                .toList();
        if (sought.isEmpty() || targets.isEmpty()) {
            return "";
        }
        Map<String, Tensor> given = new LinkedHashMap<>(feeds);
        List<@Nullable String> names = new ArrayList<>();
        Network network = Network.from(model, g -> {
            List<Value> weights = new ArrayList<>();
            for (String target : targets) {
                Tensor y = Objects.requireNonNull(results.get(target));
                given.put("weights of " + target, Tensor.of(DType.FLOAT64,
                        random.doubles(y.shape().size(), -1, 1).toArray(), y.shape().dims()));
                weights.add(g.data("weights of " + target, DType.FLOAT64,
                        model.program().global().get(target).tensor().shape()));
            }
            sought.forEach(name -> g.var(name).wantGradient());
            List<@Nullable Value> found = g.gradients(targets.stream().map(g::var).toList(), weights,
                    sought.stream().map(g::var).toList(), Set.of());
            found.forEach(value -> names.add(value == null ? null : value.name()));
            return Outputs.of("y", g.var(targets.getFirst()));
        });
        return compare(network.main(), interpreter, given, targets, sought, names, random);
    }

    private static @Nullable String compare(Program program, Interpreter interpreter, Map<String, Tensor> feeds,
            List<String> targets, List<String> sought, List<@Nullable String> gradients, SplittableRandom random) {
        Map<String, Tensor> found = interpreter.run(program, feeds,
                gradients.stream().filter(Objects::nonNull).map(Objects::requireNonNull).distinct().toList());
        for (int i = 0; i < sought.size(); i++) {
            Tensor x = Objects.requireNonNull(feeds.get(sought.get(i)));
            double[] direction = random.doubles(x.shape().size(), -1, 1).toArray();
            String name = gradients.get(i);
            double[] slopes = name == null
                    ? new double[direction.length]
                    : Objects.requireNonNull(found.get(name)).toDoubleArray();
            double actual = 0;
            double size = 0;
            for (int k = 0; k < direction.length; k++) {
                actual += slopes[k] * direction[k];
                size += Math.abs(slopes[k] * direction[k]);
            }
            double expected = (8 * (loss(program, interpreter, feeds, targets, sought.get(i), direction, STEP)
                    - loss(program, interpreter, feeds, targets, sought.get(i), direction, -STEP))
                    - loss(program, interpreter, feeds, targets, sought.get(i), direction, 2 * STEP)
                    + loss(program, interpreter, feeds, targets, sought.get(i), direction, -2 * STEP)) / (12 * STEP);
            if (!(Math.abs(expected - actual) <= TOLERANCE * (1 + Math.max(size, Math.abs(expected))))) {
                return "the slope of " + sought.get(i) + " is " + actual + ", but differences give " + expected;
            }
        }
        return null;
    }

    private static double loss(Program program, Interpreter interpreter, Map<String, Tensor> feeds,
            List<String> targets, String input, double[] direction, double step) {
        Tensor x = Objects.requireNonNull(feeds.get(input));
        double[] values = x.toDoubleArray();
        for (int k = 0; k < values.length; k++) {
            values[k] += step * direction[k];
        }
        Map<String, Tensor> moved = new LinkedHashMap<>(feeds);
        moved.put(input, Tensor.of(DType.FLOAT64, values, x.shape().dims()));
        double sum = 0;
        Map<String, Tensor> results = interpreter.run(program, moved, targets);
        for (String target : targets) {
            double[] y = Objects.requireNonNull(results.get(target)).toDoubleArray();
            double[] weights = Objects.requireNonNull(feeds.get("weights of " + target)).toDoubleArray();
            for (int k = 0; k < y.length; k++) {
                sum += weights[k] * y[k];
            }
        }
        return sum;
    }
}
