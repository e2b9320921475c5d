package io.seriatim.onnx;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Fetches;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/** Models of one operator, their operands and the results of ONNX Runtime. */
final class SingleCases {
    /** A case and the results that the reference has. */
    @SuppressWarnings("ArrayRecordComponent") // it is never compared
    record Case(String name, byte[] model, List<Tensor> inputs, List<Tensor> expected) {
    }

    private SingleCases() {
    }

    /** Patterns of what differs, by their lines: {@code PATTERN: reason}. */
    static Map<String, Pattern> reasons(InputStream in) throws IOException {
        Map<String, Pattern> reasons = new LinkedHashMap<>();
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
            for (String line : reader.lines().toList()) {
                if (!line.isBlank() && !line.startsWith("#")) {
                    reasons.put(line, Pattern.compile("^" + line.substring(0, line.indexOf(": "))));
                }
            }
        }
        return reasons;
    }

    /**
     * What is wrong with cases, but for what differs for a reason; the property {@code failures} names a file for it.
     *
     * @param used
     *            gets the reasons that are needed
     * @param file
     *            for the models
     */
    static List<String> unexplained(List<Case> cases, Map<String, Pattern> reasons, Set<String> used, Path file)
            throws IOException {
        List<String> wrong = new ArrayList<>();
        for (Case each : cases) {
            for (String failure : failures(each, file)) {
                String line = each.name() + " " + failure;
                String reason = reasons.keySet().stream()
                        .filter(key -> Objects.requireNonNull(reasons.get(key)).matcher(line).find())
                        .findFirst().orElse(null);
                if (reason == null) {
                    wrong.add(line);
                } else {
                    used.add(reason);
                }
            }
        }
        String out = System.getProperty("failures", "");
        if (!out.isEmpty()) {
            Files.write(Path.of(out), wrong);
        }
        return wrong;
    }

    /** The cases that tools/golden/special/onnx_cases.py or tools/onnx/single_operators.py wrote. */
    static List<Case> of(InputStream file) throws IOException {
        List<Case> cases = new ArrayList<>();
        try (DataInputStream in = new DataInputStream(new GZIPInputStream(file))) {
            for (int high = in.read(); high >= 0; high = in.read()) {
                byte[] name = in.readNBytes(high << 8 | in.readUnsignedByte());
                byte[] model = in.readNBytes(in.readInt());
                List<Tensor> inputs = tensors(in);
                cases.add(new Case(new String(name, StandardCharsets.UTF_8), model, inputs, tensors(in)));
            }
        }
        return cases;
    }

    private static List<Tensor> tensors(DataInputStream in) throws IOException {
        List<Tensor> tensors = new ArrayList<>();
        int count = in.readUnsignedByte();
        for (int i = 0; i < count; i++) {
            DType type = type(in.readUTF());
            long[] dims = new long[in.readUnsignedByte()];
            long size = 1;
            for (int j = 0; j < dims.length; j++) {
                dims[j] = in.readInt();
                size *= dims[j];
            }
            Tensor value = Tensor.allocate(type, dims);
            value.memory().copyFrom(MemorySegment.ofArray(in.readNBytes(Math.toIntExact(size * type.bytes()))));
            tensors.add(value);
        }
        return tensors;
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
            case "u2" -> DType.UINT16;
            case "i4" -> DType.INT32;
            case "u4" -> DType.UINT32;
            case "i8" -> DType.INT64;
            case "u8" -> DType.UINT64;
            default -> throw new IllegalArgumentException(name);
        };
    }

    /** What is wrong with a case, in the interpreter, in a plan and in a plan without fusion. */
    private static List<String> failures(Case each, Path file) throws IOException {
        Files.write(file, each.model());
        List<String> failures = new ArrayList<>();
        try (InferenceModel model = OnnxModels.load(file)) {
            Map<String, Tensor> feeds = new LinkedHashMap<>();
            for (int i = 0; i < each.inputs().size(); i++) {
                if (i < model.feeds().size()) {
                    feeds.put(model.feeds().get(i), each.inputs().get(i));
                }
            }
            compare("interpreter", each, model, failures, () -> {
                Interpreter interpreter = Interpreter.of(Kernels.system());
                model.parameters().forEach(interpreter::set);
                return interpreter.run(model.program(), feeds, model.fetches());
            });
            for (boolean fusion : new boolean[]{true, false}) {
                compare(fusion ? "plan" : "plain plan", each, model, failures, () -> {
                    try (Executor executor = Executor.builder().threads(1).fusion(fusion).build()) {
                        model.parameters().forEach(executor.scope()::setCopy);
                        return executor.run(model.program(), feeds, new Fetches(model.fetches())).all();
                    }
                });
            }
        } catch (IOException | RuntimeException e) {
            failures.add("load: " + String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
        }
        // What the interpreter and the plans have in common is said once.
        Set<String> said = new LinkedHashSet<>();
        failures.removeIf(failure -> !said.add(failure.substring(failure.indexOf(": "))));
        return failures;
    }

    private interface Run {
        Map<String, Tensor> run() throws IOException;
    }

    private static void compare(String by, Case each, InferenceModel model, List<String> failures, Run run)
            throws IOException {
        Map<String, Tensor> results;
        try {
            results = run.run();
        } catch (RuntimeException e) {
            failures.add(by + ": " + String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
            return;
        }
        for (int i = 0; i < each.expected().size(); i++) {
            String failure = difference(each.expected().get(i), results.get(model.fetches().get(i)));
            if (failure != null) {
                failures.add(by + " " + i + ": " + failure);
            }
        }
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
}
