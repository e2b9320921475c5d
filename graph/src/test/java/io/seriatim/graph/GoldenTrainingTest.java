package io.seriatim.graph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.util.Utf8;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Paddle's own programs are trained and used for inference here, and give what they gave there: made by
 * tools/golden/programs, whose docstring says how parameters are set.
 */
class GoldenTrainingTest {
    private static final int STEPS = 5;
    private static final double TOLERANCE = 1e-5;

    private final Map<String, Tensor> golden = new LinkedHashMap<>();

    GoldenTrainingTest() {
        golden.putAll(GoldenOperations.entries("/golden/programs.npz"));
        golden.putAll(GoldenOperations.entries("/golden/programs-regions.npz"));
    }

    @TestFactory
    Stream<DynamicTest> portable() {
        return networks().map(name -> DynamicTest.dynamicTest(name, () -> train(name, Kernels.portable())));
    }

    @TestFactory
    Stream<DynamicTest> fast() {
        return networks().map(name -> DynamicTest.dynamicTest(name, () -> train(name, Kernels.system())));
    }

    @TestFactory
    Stream<DynamicTest> inference() {
        return networks().filter(name -> golden.containsKey(name + "/inference"))
                .map(name -> DynamicTest.dynamicTest(name, () -> infer(name)));
    }

    private Stream<String> networks() {
        Set<String> names = new TreeSet<>();
        golden.keySet().forEach(key -> names.add(key.substring(0, key.indexOf('/'))));
        assertTrue(names.size() > 20, "there are golden programs");
        return names.stream();
    }

    private void train(String name, Kernels kernels) {
        Program main = GoldenOperations.program(golden, name + "/main");
        Interpreter interpreter = started(name, main, kernels);
        Map<String, Tensor> feed = part(name + "/feed/");
        Tensor losses = golden.get(name + "/loss");
        if (losses != null) {
            Tensor rates = golden.get(name + "/lr");
            double[] found = new double[STEPS];
            for (int step = 0; step < STEPS; step++) {
                if (rates != null) {
                    setRate(main, interpreter, rates.getDouble(step));
                }
                List<String> fetches = new ArrayList<>(List.of(loss(main)));
                Map<String, Tensor> others = step == 0 ? part(name + "/fetch/") : Map.of();
                others.keySet().forEach(label -> fetches.add(gradient(main, label)));
                Map<String, Tensor> results = interpreter.run(main, feed, fetches);
                found[step] = Objects.requireNonNull(results.get(fetches.getFirst())).toDoubleArray()[0];
                others.forEach((label, value) -> close(name + ": " + label, value.toDoubleArray(),
                        Objects.requireNonNull(results.get(gradient(main, label))).toDoubleArray()));
            }
            close(name + ": losses", losses.toDoubleArray(), found);
        }
        Tensor output = golden.get(name + "/test_out");
        if (output != null) {
            Program test = GoldenOperations.program(golden, name + "/infer_test");
            String result = output(test, feed.keySet());
            close(name + ": output for test", output.toDoubleArray(),
                    Objects.requireNonNull(interpreter.run(test, feed, List.of(result)).get(result)).toDoubleArray());
        }
    }

    /** The variable that is compared with the fed targets. */
    private static String output(Program test, Set<String> feeds) {
        OpDesc loss = test.global().ops().stream()
                .filter(op -> op.inputNames().stream()
                        .anyMatch(name -> feeds.contains(name) && (name.equals("y") || name.equals("label"))))
                .findFirst().orElseThrow();
        return loss.input(loss.type().equals("elementwise_sub") ? "X" : "Logits").getFirst();
    }

    /** Marked by minimize; without an optimizer the last mean. */
    private static String loss(Program main) {
        List<OpDesc> ops = main.global().ops();
        OpDesc mean = ops.stream().filter(op -> op.type().equals("reduce_mean")).reduce((_, last) -> last)
                .orElseThrow();
        return ops.stream().filter(op -> Roles.of(op) == (Roles.FORWARD | Roles.LOSS)).findFirst().orElse(mean)
                .outputNames().getFirst();
    }

    private static String gradient(Program main, String label) {
        String gradient = label.equals("first") ? "x@GRAD" : "grad/grad/create_parameter_0.w_0@GRAD";
        assertTrue(main.global().var(gradient) != null, gradient);
        return gradient;
    }

    private static void setRate(Program main, Interpreter interpreter, double rate) {
        Set<String> variables = new HashSet<>();
        main.global().ops().forEach(op -> variables.addAll(op.input("LearningRate")));
        for (String variable : variables) {
            Tensor old = interpreter.get(variable);
            interpreter.set(variable, Tensor.of(old.dtype(), new double[]{rate}, old.shape().dims()));
        }
    }

    private Interpreter started(String name, Program main, Kernels kernels) {
        Interpreter interpreter = Interpreter.of(kernels).paddleRandom(1);
        interpreter.run(GoldenOperations.program(golden, name + "/startup"), Map.of(), List.of());
        set(main, interpreter);
        return interpreter;
    }

    /**
     * The i-th parameter that is read, of n elements, is 0.3 · sin(1.7 · j + i), or 1 + 0.1 · that where it is the
     * scale of a normalisation.
     */
    private static void set(Program main, Interpreter interpreter) {
        Set<String> read = new HashSet<>();
        Set<String> statistics = new HashSet<>();
        Set<String> scales = new HashSet<>();
        main.blocks().forEach(block -> block.ops().forEach(op -> {
            read.addAll(op.inputNames());
            if (op.type().equals("batch_norm")) {
                statistics.addAll(op.input("Mean"));
                statistics.addAll(op.input("Variance"));
            }
            if (op.type().equals("batch_norm") || op.type().equals("layer_norm")) {
                scales.addAll(op.input("Scale"));
            }
        }));
        List<String> names = main.parameters().stream().map(VarDesc::name).filter(read::contains)
                .filter(each -> !statistics.contains(each))
                .sorted(Utf8.ORDER).toList();
        for (int i = 0; i < names.size(); i++) {
            Tensor old = interpreter.get(names.get(i));
            double[] values = new double[Math.toIntExact(old.shape().size())];
            for (int j = 0; j < values.length; j++) {
                values[j] = 0.3 * Math.sin(1.7 * j + i);
                values[j] = scales.contains(names.get(i)) ? 1 + 0.1 * values[j] : values[j];
            }
            interpreter.set(names.get(i), Tensor.of(old.dtype(), values, old.shape().dims()));
        }
    }

    private void infer(String name) {
        Program main = GoldenOperations.program(golden, name + "/main");
        Program inference = GoldenOperations.program(golden, name + "/inference");
        for (Kernels kernels : List.of(Kernels.portable(), Kernels.system())) {
            Interpreter interpreter = started(name, main, kernels);
            List<String> feeds = variables(inference, "feed", true);
            List<String> fetches = variables(inference, "fetch", false);
            Map<String, Tensor> feed = part(name + "/feed/");
            feed.keySet().retainAll(feeds);
            Tensor found = Objects.requireNonNull(interpreter.run(inference, feed, fetches).get(fetches.getFirst()));
            Tensor expected = Objects.requireNonNull(golden.get(name + "/inference_out/0"));
            assertEquals(expected.shape(), found.shape(), name);
            close(name + ": output of the exported program", expected.toDoubleArray(), found.toDoubleArray());
        }
    }

    private static List<String> variables(Program program, String type, boolean outputs) {
        return program.global().ops().stream().filter(op -> op.type().equals(type))
                .map(op -> outputs ? op.output("Out").getFirst() : op.input("X").getFirst()).toList();
    }

    private Map<String, Tensor> part(String prefix) {
        Map<String, Tensor> part = new LinkedHashMap<>();
        golden.forEach((key, tensor) -> {
            if (key.startsWith(prefix)) {
                part.put(key.substring(prefix.length()), tensor);
            }
        });
        return part;
    }

    private static void close(String what, double[] expected, double[] found) {
        assertEquals(expected.length, found.length, what);
        double scale = Arrays.stream(expected).map(Math::abs).max().orElse(0);
        List<String> wrong = new ArrayList<>();
        for (int i = 0; i < expected.length; i++) {
            // An output's elements may cancel to almost nothing; its largest says what rounding is.
            if (!(Math.abs(expected[i] - found[i]) <= TOLERANCE * Math.max(Math.abs(expected[i]), 0.1 * scale))) {
                wrong.add(i + ": " + expected[i] + " but " + found[i]);
            }
        }
        assertTrue(wrong.isEmpty(), () -> what + " differ: " + wrong);
    }
}
