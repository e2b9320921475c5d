package io.seriatim.onnx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.seriatim.device.Devices;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that are damaged or made to harm are refused with errors that name the file. */
final class HostileModelsTest {
    private static final long SEED = 20261124;
    private static final int LARGEST = 6_000;
    /** What loading a small file may allocate in the heap, and what all files together may take outside of it. */
    private static final long MOST_ALLOCATED = 64L << 20;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final long[] NUMBERS =
            {0, 1, 2, 3, 7, 16, -1, -2, 100, 1 << 20, Integer.MAX_VALUE, 1L << 31, 1L << 32,
                    1L << 40, 1L << 62, Long.MAX_VALUE, Long.MIN_VALUE};
    private static final String[] OPERATORS = {"Expand", "Tile", "Range", "Pad", "Resize", "OneHot", "ConstantOfShape",
            "Reshape", "Split", "Conv", "Gather", "Slice", "Loop", "Scan", "If", "LSTM", "Softmax", "Concat", "Cast",
            "TopK", "Transpose", "Unsqueeze", "MaxPool", "ReduceSum", "Einsum", "MatMul", "Add", "EyeLike",
            "Attention", "SequenceConstruct", "SequenceAt", "SequenceInsert", "SplitToSequence", "ConcatFromSequence",
            "OptionalGetElement"};

    @TempDir
    Path folder = Path.of("");

    private long mostAllocated;
    private long slowest;

    /** Loads a file; what is wrong with how it is refused or with what it takes, or null. */
    private @Nullable String wrong(byte[] bytes) throws IOException {
        Path file = folder.resolve("hostile.onnx");
        Files.write(file, bytes);
        long start = System.nanoTime();
        long before = THREADS.getCurrentThreadAllocatedBytes();
        String wrong = wrong(file);
        long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
        mostAllocated = Math.max(mostAllocated, allocated);
        slowest = Math.max(slowest, System.nanoTime() - start);
        return wrong == null && allocated > MOST_ALLOCATED
                ? "allocates " + allocated + " bytes for a file of " + bytes.length
                : wrong;
    }

    private static @Nullable String wrong(Path file) {
        try {
            OnnxModels.load(file).close();
            return null;
        } catch (IOException | IllegalArgumentException e) {
            return String.valueOf(e.getMessage()).contains("hostile.onnx") ? null : "without the file's name: " + e;
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError | AssertionError e) {
            StackTraceElement[] trace = e.getStackTrace();
            return e + " at " + Arrays.stream(trace).limit(12).toList();
        }
    }

    private static Map<String, byte[]> models() throws IOException {
        Map<String, byte[]> models = new TreeMap<>();
        for (String file : new String[]{"/node-tests.zip", "/sequence-cases.zip", "/recurrent-cases.zip"}) {
            try (InputStream in = Objects.requireNonNull(NodeTest.class.getResourceAsStream(file));
                    ZipInputStream zip = new ZipInputStream(in)) {
                for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                    byte[] bytes = zip.readAllBytes();
                    if (entry.getName().endsWith("model.onnx") && bytes.length <= LARGEST) {
                        models.put(entry.getName(), bytes);
                    }
                }
            }
        }
        return models;
    }

    @Test
    void changedFilesAreReadOrRefused() throws IOException {
        Map<String, byte[]> models = models();
        assertFalse(models.isEmpty());
        List<String> names = List.copyOf(models.keySet());
        int count = Integer.getInteger("seriatim.hostile", Boolean.getBoolean("seriatim.full") ? 100_000 : 2_000);
        SplittableRandom seeds = new SplittableRandom(SEED);
        Map<String, String> failures = new TreeMap<>();
        long used = Devices.system().host().memory().used();
        for (int i = 0; i < count; i++) {
            SplittableRandom random = seeds.split();
            String name = names.get(random.nextInt(names.size()));
            byte[] model = Objects.requireNonNull(models.get(name));
            byte[] changed = random.nextInt(3) == 0 ? bytesChanged(model, random) : fieldsChanged(model, random);
            String wrong = wrong(changed);
            if (wrong != null) {
                failures.putIfAbsent(wrong, i + " of " + name);
            }
        }
        System.out.printf(Locale.ROOT, "%d changed files; most allocated for one %d KiB, the slowest took %d ms%n",
                count,
                mostAllocated >> 10, slowest / 1_000_000);
        long peak = Devices.system().host().memory().peak() - used;
        assertTrue(peak < MOST_ALLOCATED, "tensors took " + peak + " bytes");
        assertEquals("", String.join("\n", failures.entrySet().stream().map(each -> each.getValue() + ": "
                + each.getKey()).toList()));
    }

    private static byte[] bytesChanged(byte[] model, SplittableRandom random) {
        byte[] changed = model.clone();
        for (int i = random.nextInt(4); i >= 0; i--) {
            changed[random.nextInt(changed.length)] = (byte) random.nextInt();
        }
        return random.nextInt(5) == 0 ? Arrays.copyOf(changed, random.nextInt(changed.length)) : changed;
    }

    private static byte[] fieldsChanged(byte[] model, SplittableRandom random) {
        WireMessage root = WireMessage.parse(model, WireMessage.Kind.MODEL);
        for (int i = random.nextInt(3); i >= 0; i--) {
            List<WireMessage> messages = root.all().stream().filter(each -> !each.fields.isEmpty()).toList();
            change(messages.get(random.nextInt(messages.size())), messages, random);
        }
        return root.toBytes();
    }

    private static void change(WireMessage message, List<WireMessage> messages, SplittableRandom random) {
        List<WireMessage.Field> fields = message.fields;
        int at = random.nextInt(fields.size());
        WireMessage.Field field = fields.get(at);
        switch (random.nextInt(8)) {
            case 0 -> fields.remove(at);
            case 1 -> fields.add(field);
            case 2 -> fields.addFirst(fields.remove(at));
            default -> fields.set(at, new WireMessage.Field(field.number(), field.wireType(),
                    value(field.value(), messages, random)));
        }
    }

    private static Object value(Object old, List<WireMessage> messages, SplittableRandom random) {
        return switch (old) {
            case Long number -> random.nextInt(4) == 0
                    ? number + random.nextInt(-2, 3)
                    : NUMBERS[random.nextInt(NUMBERS.length)];
            case WireMessage message -> message;
            default -> switch (random.nextInt(5)) {
                case 0 -> OPERATORS[random.nextInt(OPERATORS.length)].getBytes(StandardCharsets.UTF_8);
                case 1 -> numbers((byte[]) old, random);
                default -> other(old, messages, random);
            };
        };
    }

    /** The bytes with another number of 64 bits in them. */
    private static byte[] numbers(byte[] old, SplittableRandom random) {
        byte[] changed = Arrays.copyOf(old, Math.max(old.length, Long.BYTES));
        long number = NUMBERS[random.nextInt(NUMBERS.length)];
        int at = random.nextInt(changed.length / Long.BYTES) * Long.BYTES;
        for (int i = 0; i < Long.BYTES; i++) {
            changed[at + i] = (byte) (number >>> (8 * i));
        }
        return changed;
    }

    /** The bytes of another field. */
    private static Object other(Object old, List<WireMessage> messages, SplittableRandom random) {
        List<Object> others = new ArrayList<>();
        for (WireMessage message : messages) {
            message.fields.stream().map(WireMessage.Field::value).filter(byte[].class::isInstance)
                    .forEach(others::add);
        }
        return others.isEmpty() ? old : others.get(random.nextInt(others.size()));
    }
}
