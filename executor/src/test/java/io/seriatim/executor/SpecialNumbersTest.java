package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Npz;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Every operation alone, with special numbers, empty axes and axes of length 1, against PaddlePaddle 2.6.2, in the
 * interpreter, in a plan and in a plan without fusion. What differs is listed with its reason.
 * {@code tools/golden/special/paddle_cases.py} made the results. {@code -Dspecial=REGEX} picks cases.
 */
class SpecialNumbersTest {
    private static final Path GOLDEN = Path.of("../graph/src/test/resources/golden");
    private static final long SEED = 7;
    /** Of the cases, how many the default build runs: one of so many. */
    private static final int SHARE = Boolean.getBoolean("seriatim.full") ? 1 : 16;

    /** What was wrong once is always run. */
    private static final Pattern ALWAYS = Pattern.compile(
            "^(hard_shrink|softshrink|thresholded_relu|dist|determinant|momentum|merged_momentum|label_smooth|kldiv_loss|"
                    + "sigmoid_cross_entropy_with_logits|elementwise_floordiv|elementwise_pow|p_norm|batch_norm|softmax|log_softmax)\\.");

    /** A case and the results that the reference has. */
    private record Case(String template, String kind, DType dtype, Map<String, Tensor> expected) {
        String operation() {
            return template.substring(0, template.indexOf('.'));
        }

        @Override
        public String toString() {
            return template + " " + kind + " " + dtype;
        }
    }

    @Test
    void resultsAreThoseOfPaddleOrTheReasonIsListed() throws IOException {
        Map<String, Pattern> reasons = reasons();
        Pattern chosen = Pattern.compile(System.getProperty("special", ""));
        boolean all = SHARE == 1 || !chosen.pattern().isEmpty();
        Map<String, Map<String, Tensor>> templates = new HashMap<>();
        List<String> wrong = new ArrayList<>();
        Set<String> used = new LinkedHashSet<>();
        int count = 0;
        int number = 0;
        for (Case each : cases()) {
            if (!chosen.matcher(each.toString()).find()
                    || (!all && number++ % SHARE != 0 && !ALWAYS.matcher(each.toString()).find())) {
                continue;
            }
            Map<String, Tensor> template = templates.computeIfAbsent(each.template(), SpecialNumbersTest::template);
            for (String failure : failures(each, template)) {
                String line = each + " " + failure;
                String reason = reasons.keySet().stream()
                        .filter(key -> Objects.requireNonNull(reasons.get(key)).matcher(line).find()).findFirst()
                        .orElse(null);
                if (reason == null) {
                    wrong.add(line);
                } else {
                    used.add(reason);
                }
            }
            count++;
        }
        String out = System.getProperty("failures", "");
        if (!out.isEmpty()) {
            Files.write(Path.of(out), wrong);
        }
        assertEquals("", String.join("\n", wrong));
        assertTrue(count > 100 || !chosen.pattern().isEmpty(), "cases: " + count);
        System.out.println(count + " cases with special numbers");
        if (SHARE == 1 && chosen.pattern().isEmpty()) {
            assertEquals(reasons.keySet(), used, "reasons that are needed");
        }
    }

    /** Patterns of what differs, by their lines: {@code PATTERN: reason}. */
    private static Map<String, Pattern> reasons() throws IOException {
        Map<String, Pattern> reasons = new LinkedHashMap<>();
        for (String line : Files.readAllLines(GOLDEN.resolve("special-differs.txt"))) {
            if (!line.isBlank() && !line.startsWith("#")) {
                reasons.put(line, Pattern.compile("^" + line.substring(0, line.indexOf(": "))));
            }
        }
        return reasons;
    }

    private static List<Case> cases() throws IOException {
        Map<String, Case> cases = new LinkedHashMap<>();
        try (InputStream file = Files.newInputStream(GOLDEN.resolve("special.gz"));
                DataInputStream in = new DataInputStream(new GZIPInputStream(file))) {
            for (String line = next(in); line != null; line = next(in)) {
                String[] parts = line.split(" ", 4);
                DType type = type(in.readUTF());
                long[] dims = new long[in.readUnsignedByte()];
                long size = 1;
                for (int i = 0; i < dims.length; i++) {
                    dims[i] = in.readInt();
                    size *= dims[i];
                }
                Tensor value = Tensor.allocate(type, dims);
                value.memory().copyFrom(MemorySegment
                        .ofArray(in.readNBytes(Math.toIntExact(size * type.bytes()))));
                cases.computeIfAbsent(line.substring(0, line.lastIndexOf(' ')),
                        _ -> new Case(parts[0], parts[1], dtype(parts[2]), new TreeMap<>())).expected()
                        .put(parts[3], value);
            }
        }
        return List.copyOf(cases.values());
    }

    private static @Nullable String next(DataInputStream in) throws IOException {
        in.mark(1);
        int high = in.read();
        if (high < 0) {
            return null;
        }
        byte[] text = in.readNBytes(high << 8 | in.readUnsignedByte());
        return new String(text, StandardCharsets.UTF_8);
    }

    private static DType dtype(String name) {
        return Arrays.stream(DType.values()).filter(each -> each.toString().equals(name)).findFirst().orElseThrow();
    }

    /** Of NumPy's abbreviations. */
    private static DType type(String name) {
        return switch (name.substring(1)) {
            case "b1" -> DType.BOOL;
            case "f2" -> DType.FLOAT16;
            case "f4" -> DType.FLOAT32;
            case "f8" -> DType.FLOAT64;
            case "i1" -> DType.INT8;
            case "u1" -> DType.UINT8;
            case "i2" -> DType.INT16;
            case "u2" -> DType.BFLOAT16;
            case "i4" -> DType.INT32;
            default -> DType.INT64;
        };
    }

    private static final Map<String, Map<String, Tensor>> ENTRIES = new HashMap<>();

    /** The entries of a golden case of an operation. */
    private static Map<String, Tensor> template(String name) {
        if (ENTRIES.isEmpty()) {
            try (Stream<Path> files = Files.list(GOLDEN)) {
                for (Path file : files.filter(each -> each.getFileName().toString().matches("operations.*\\.npz"))
                        .toList()) {
                    Npz.read(file).forEach((key, value) -> ENTRIES
                            .computeIfAbsent(key.substring(0, key.indexOf('/')), _ -> new LinkedHashMap<>())
                            .put(key.substring(key.indexOf('/') + 1), value));
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
        return Objects.requireNonNull(ENTRIES.get(name), name);
    }

    private static List<String> failures(Case each, Map<String, Tensor> template) throws IOException {
        Program program = program(each, template);
        Map<String, Tensor> feeds = feeds(each, template, program);
        List<String> fetches = List.copyOf(each.expected().keySet());
        List<String> failures = new ArrayList<>();
        compare("interpreter", each, failures, () -> Interpreter.of(Kernels.system()).paddleRandom(SEED)
                .run(program, copies(feeds), fetches));
        for (boolean fusion : new boolean[]{true, false}) {
            compare(fusion ? "plan" : "plain plan", each, failures, () -> {
                try (Executor executor = Executor.builder().threads(1).fusion(fusion).paddleRandom(SEED)
                        .ignoreUnknownFeeds().build()) {
                    return executor.run(program, copies(feeds), new Fetches(fetches)).all();
                }
            });
        }
        // What the interpreter and the plans have in common is said once.
        Set<String> said = new LinkedHashSet<>();
        failures.removeIf(failure -> !said.add(failure.substring(failure.indexOf(": "))));
        return failures;
    }

    private static Map<String, Tensor> copies(Map<String, Tensor> feeds) {
        Map<String, Tensor> copies = new TreeMap<>();
        feeds.forEach((name, tensor) -> {
            Tensor copy = Tensor.allocate(tensor.dtype(), tensor.shape().dims());
            copy.memory().copyFrom(tensor.memory());
            copies.put(name, copy.withLod(tensor.lod()));
        });
        return copies;
    }

    private interface Run {
        Map<String, Tensor> run() throws IOException;
    }

    private static void compare(String by, Case each, List<String> failures, Run run) throws IOException {
        Map<String, Tensor> results;
        try {
            results = run.run();
        } catch (RuntimeException e) {
            failures.add(by + ": " + String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
            return;
        }
        each.expected().forEach((name, expected) -> {
            String failure = difference(expected, results.get(name));
            if (failure != null) {
                failures.add(by + " " + name + ": " + failure);
            }
        });
    }

    private static @Nullable String difference(Tensor expected, @Nullable Tensor actual) {
        if (actual == null) {
            return "missing";
        }
        if (!expected.spec().equals(actual.spec())) {
            return actual.dtype() + " " + actual.shape() + " instead of " + expected.dtype() + " " + expected.shape();
        }
        double[] want = expected.toDoubleArray();
        double[] have = actual.toDoubleArray();
        double tolerance = switch (expected.dtype()) {
            case FLOAT64 -> 1e-9;
            case FLOAT32 -> 2e-5;
            case FLOAT16, BFLOAT16 -> 1e-2;
            default -> 0;
        };
        double scale = Arrays.stream(want).filter(Double::isFinite).map(Math::abs).max().orElse(0);
        StringBuilder wrong = new StringBuilder();
        int count = 0;
        for (int i = 0; i < want.length; i++) {
            boolean equal = Double.compare(want[i], have[i]) == 0 || want[i] == have[i]
                    || Math.abs(want[i] - have[i]) <= tolerance * Math.max(Math.abs(want[i]), 0.1 * scale);
            if (!equal && ++count <= 4) {
                wrong.append(count > 1 ? ", " : "").append(have[i]).append(" instead of ").append(want[i])
                        .append(" at ").append(i);
            }
        }
        return count == 0 ? null : wrong + (count > 4 ? " and " + (count - 4) + " more" : "");
    }

    private static Map<String, Tensor> feeds(Case each, Map<String, Tensor> template, Program program) {
        OpDesc op = program.global().ops().getFirst();
        Map<String, Tensor> feeds = new LinkedHashMap<>();
        template.forEach((key, tensor) -> {
            String name = key.substring(key.indexOf('/') + 1);
            if (key.startsWith("in/") && op.inputs().values().stream().anyMatch(names -> names.contains(name))) {
                Tensor offsets = template.get("lod/" + name);
                feeds.put(name, offsets == null ? tensor : tensor.withLod(Lod.of(offsets)));
            }
        });
        Tensor first = feeds.values().iterator().next();
        feeds.replaceAll((name, tensor) -> feed(each, name, tensor, first));
        return feeds;
    }

    private static Tensor feed(Case each, String name, Tensor tensor, Tensor first) {
        if (each.kind().startsWith("length")) {
            int axis = each.kind().charAt(each.kind().length() - 1) - '0';
            int length = each.kind().charAt("length".length()) - '0';
            return tensor.shape().equals(first.shape()) ? copied(tensor.slice(axis, 0, length)) : tensor;
        }
        boolean chosen = each.kind().equals("whole")
                ? isWhole(tensor.dtype()) && Set.of("x", "y", "x0", "x1", "input").contains(name)
                : tensor.dtype() == DType.FLOAT32;
        if (!chosen) {
            return tensor;
        }
        Tensor typed = tensor.dtype() == DType.FLOAT32 && each.dtype() != DType.FLOAT32
                ? Tensor.of(each.dtype(), tensor.toDoubleArray(), tensor.shape().dims()).withLod(tensor.lod())
                : tensor;
        return SpecialNumbers.replaced(typed, each.kind(), each.template() + "/" + each.kind() + "/" + name);
    }

    private static boolean isWhole(DType dtype) {
        return !dtype.isFloating() && !dtype.isComplex() && dtype != DType.BOOL;
    }

    private static Tensor copied(Tensor view) {
        if (view.dtype().isComplex()) {
            double[] parts = view.asReal().toDoubleArray();
            Tensor copy = Tensor.allocate(view.dtype(), view.shape().dims());
            copy.asReal().memory().copyFrom(
                    Tensor.of(copy.asReal().dtype(), parts, copy.asReal().shape().dims()).memory());
            return copy;
        }
        return view.dtype().isFloating()
                ? Tensor.of(view.dtype(), view.toDoubleArray(), view.shape().dims())
                : Tensor.of(view.dtype(), view.toLongArray(), view.shape().dims());
    }

    /** The operation alone, in another type of elements. */
    private static Program program(Case each, Map<String, Tensor> template) throws IOException {
        Program program = ProgramFiles.parse(each.template(),
                bytes(Objects.requireNonNull(template.get("program")))).copy();
        Block block = program.global();
        OpDesc op = block.ops().stream().filter(one -> one.type().equals(each.operation())).findFirst().orElseThrow();
        if (each.dtype() != DType.FLOAT32) {
            for (VarDesc desc : List.copyOf(block.vars())) {
                if (desc.type() instanceof VarType.Dense dense && dense.tensor().dtype() == DType.FLOAT32) {
                    block.put(desc.with(new VarType.Dense(
                            VarType.TensorType.of(each.dtype(), dense.tensor().shape()), dense.lodLevel())));
                }
            }
            int number = each.dtype() == DType.FLOAT64 ? 6 : 4;
            List<Attribute.Named> attributes = op.attributes().stream()
                    .map(one -> Set.of("dtype", "in_dtype", "out_dtype").contains(one.name())
                            && one.value() instanceof Attribute.Int(int given) && given == 5
                                    ? new Attribute.Named(one.name(), new Attribute.Int(number))
                                    : one)
                    .toList();
            op = new OpDesc(op.type(), op.inputs(), op.outputs(), attributes, null);
        }
        block.setOps(List.of(op));
        if (each.kind().startsWith("length")) {
            for (VarDesc desc : List.copyOf(block.vars())) {
                if (desc.type() instanceof VarType.Dense dense) {
                    long[] dims = dense.tensor().shape();
                    Arrays.fill(dims, -1);
                    block.put(desc.with(new VarType.Dense(VarType.TensorType.of(dense.tensor().dtype(), dims),
                            dense.lodLevel())));
                }
            }
        }
        return program;
    }

    private static byte[] bytes(Tensor tensor) {
        long[] values = tensor.toLongArray();
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return bytes;
    }
}
