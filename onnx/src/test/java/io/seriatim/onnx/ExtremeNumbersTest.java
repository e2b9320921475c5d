package io.seriatim.onnx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Each whole number of each sample case, as an attribute or in a small operand that becomes a constant, is set to
 * extreme values. The model is refused with the operator's name, or it runs or fails as other models do.
 */
final class ExtremeNumbersTest {
    private static final long[] NUMBERS = {Long.MIN_VALUE, -(1L << 62), -(1L << 32) + 1, Integer.MIN_VALUE, -1, 0,
            1 << 20, Integer.MAX_VALUE, 1L << 31, (1L << 32) + 1, 1L << 40, 1L << 62, Long.MAX_VALUE};
    private static final int SMALL = 8;
    private static final long MOST_ELEMENTS = 1 << 20;
    private static final int GRAPH = 7;
    private static final int INITIALIZER = 5;
    private static final int INPUT = 11;

    @TempDir
    Path folder = Path.of("");
    private final Map<String, String> failures = new TreeMap<>();
    /** Of how many models one is checked. */
    private final int share = Boolean.getBoolean("seriatim.full") ? 1 : 4;
    private int models;
    private int refused;
    private int ran;

    private static Map<String, Map<String, byte[]>> cases() throws IOException {
        Map<String, Map<String, byte[]>> cases = new TreeMap<>();
        try (InputStream in = Objects.requireNonNull(NodeTest.class.getResourceAsStream("/node-tests.zip"));
                ZipInputStream zip = new ZipInputStream(in)) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                String[] parts = entry.getName().split("/", 2);
                if (parts.length == 2) {
                    cases.computeIfAbsent(parts[0], _ -> new TreeMap<>()).put(parts[1], zip.readAllBytes());
                }
            }
        }
        return cases;
    }

    @Test
    void areRefusedOrRun() throws IOException {
        for (Map.Entry<String, Map<String, byte[]>> each : cases().entrySet()) {
            byte[] bytes = each.getValue().get("model.onnx");
            Path data = Files.createDirectories(folder.resolve(each.getKey()));
            each.getValue().forEach((name, content) -> write(data.resolve(name), content));
            if (bytes != null && isRead(data.resolve("model.onnx"))) {
                attributes(each.getKey(), bytes);
                operands(each.getKey(), bytes, each.getValue());
            }
        }
        System.out.println(models + " models, " + refused + " refused, " + ran + " ran");
        assertEquals("", String.join("\n", failures.entrySet().stream().map(each -> each.getValue() + ": "
                + each.getKey()).toList()));
        assertTrue(refused > 0 && ran > 0);
    }

    private static boolean isRead(Path model) throws IOException {
        try {
            OnnxModels.load(model).close();
            return true;
        } catch (IllegalArgumentException e) {
            // Types and operators that are not supported are tested elsewhere.
            return false;
        }
    }

    private static void write(Path file, byte[] content) {
        try {
            Files.write(file, content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void attributes(String name, byte[] bytes) throws IOException {
        WireMessage root = WireMessage.parse(bytes, WireMessage.Kind.MODEL);
        for (WireMessage message : root.all()) {
            boolean attribute = message.fields.stream().anyMatch(field -> field.number() == 20)
                    && message.fields.getFirst().number() == 1;
            for (int i = 0; attribute && i < message.fields.size(); i++) {
                WireMessage.Field field = message.fields.get(i);
                if ((field.number() == 3 || field.number() == 8) && field.value() instanceof Long) {
                    for (long number : NUMBERS) {
                        message.fields.set(i, new WireMessage.Field(field.number(), field.wireType(), number));
                        check(name, text(message) + " = " + number, root.toBytes());
                    }
                    message.fields.set(i, field);
                }
            }
        }
    }

    private static String text(WireMessage attribute) {
        return new String((byte[]) attribute.fields.getFirst().value(), StandardCharsets.UTF_8);
    }

    private void operands(String name, byte[] bytes, Map<String, byte[]> files) throws IOException {
        for (int k = 0; files.containsKey("input_" + k + ".pb"); k++) {
            WireMessage root = WireMessage.parse(bytes, WireMessage.Kind.MODEL);
            WireMessage graph = (WireMessage) root.fields.stream().filter(field -> field.number() == GRAPH).findFirst()
                    .orElseThrow().value();
            List<WireMessage> inputs = graph.fields.stream().filter(field -> field.number() == INPUT)
                    .map(field -> (WireMessage) field.value()).toList();
            WireMessage tensor = WireMessage.parse(Objects.requireNonNull(files.get("input_" + k + ".pb")),
                    WireMessage.Kind.TENSOR);
            byte[] raw = numbers(tensor);
            if (raw == null || k >= inputs.size()) {
                continue;
            }
            tensor.fields.removeIf(field -> field.number() == 8 || field.number() == 9 || field.number() == 5
                    || field.number() == 7);
            tensor.text(8, text(inputs.get(k)));
            graph.message(INITIALIZER, tensor);
            int size = isLong(tensor) ? Long.BYTES : Integer.BYTES;
            for (int at = 0; at < raw.length; at += size) {
                for (long number : NUMBERS) {
                    if (size == Long.BYTES || number == (int) number) {
                        byte[] changed = raw.clone();
                        for (int i = 0; i < size; i++) {
                            changed[at + i] = (byte) (number >>> (8 * i));
                        }
                        tensor.fields.removeIf(field -> field.number() == 9);
                        tensor.bytes(9, changed);
                        check(name, text(inputs.get(k)) + "[" + at / size + "] = " + number, root.toBytes());
                    }
                }
            }
        }
    }

    private static boolean isLong(WireMessage tensor) {
        return tensor.fields.stream().anyMatch(field -> field.number() == 2 && field.value().equals(7L));
    }

    /** The bytes of a small tensor of int32 or int64. */
    private static byte @Nullable [] numbers(WireMessage tensor) {
        boolean whole = isLong(tensor)
                || tensor.fields.stream().anyMatch(field -> field.number() == 2 && field.value().equals(6L));
        return !whole
                ? null
                : tensor.fields.stream().filter(field -> field.number() == 9).map(field -> (byte[]) field.value())
                        .filter(raw -> raw.length <= SMALL * Long.BYTES).findFirst().orElse(null);
    }

    private void check(String name, String what, byte[] bytes) throws IOException {
        if (++models % share != 0) {
            return;
        }
        Path file = Files.write(folder.resolve(name).resolve("extreme.onnx"), bytes);
        String wrong = null;
        try (InferenceModel model = OnnxModels.load(file)) {
            if (isSmall(model)) {
                wrong = run(file, model);
                ran++;
            }
        } catch (IOException | IllegalArgumentException e) {
            refused++;
            String message = String.valueOf(e.getMessage());
            wrong = message.contains("perator ") ? null : "without the operator: " + e;
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError | AssertionError e) {
            wrong = e + " at " + Arrays.stream(e.getStackTrace()).limit(8).toList();
        }
        if (wrong != null) {
            failures.putIfAbsent(wrong, name + " with " + what);
        }
    }

    private static boolean isSmall(InferenceModel model) {
        for (Block block : model.program().blocks()) {
            for (VarDesc desc : block.vars()) {
                if (desc.type() instanceof VarType.Dense dense && size(dense.tensor().shape()) > MOST_ELEMENTS) {
                    return false;
                }
            }
        }
        return true;
    }

    private static double size(long[] dims) {
        double size = 1;
        for (long dim : dims) {
            // What is not known until the run may be of any size.
            size *= dim < 0 ? MOST_ELEMENTS + 1d : dim;
        }
        return size;
    }

    private @Nullable String run(Path file, InferenceModel model) throws IOException {
        Map<String, Tensor> feeds = new LinkedHashMap<>();
        List<Tensor> inputs = NodeCases.tensors(Objects.requireNonNull(file.getParent()), "input");
        List<String> names = NodeCases.inputs(file);
        for (int i = 0; i < inputs.size(); i++) {
            if (model.feeds().contains(names.get(i))) {
                feeds.put(names.get(i), inputs.get(i));
            }
        }
        Interpreter interpreter = Interpreter.of(Kernels.system());
        model.parameters().forEach(interpreter::set);
        try {
            interpreter.run(model.program(), feeds, model.fetches());
            return null;
        } catch (IllegalArgumentException | ArithmeticException | IndexOutOfBoundsException e) {
            boolean named = String.valueOf(e.getMessage()).contains("peration ");
            boolean meant = e instanceof IllegalArgumentException && !(e.getCause() instanceof ArithmeticException)
                    && !(e.getCause() instanceof IndexOutOfBoundsException);
            return named && meant
                    ? null
                    : "in a run: " + e + " at " + Arrays.stream((e.getCause() == null ? e : e.getCause())
                            .getStackTrace()).limit(6).toList();
        }
    }
}
