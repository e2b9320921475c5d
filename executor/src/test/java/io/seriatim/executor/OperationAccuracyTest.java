package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Measures the error of elementwise operations and their gradients, executed by the fast kernels, by the portable
 * kernels and by two threads. All registered elementwise operations, which are found by running them, must have a
 * reference in {@link OperationReferences}. The table in docs/operations.md is written with
 * {@code -Dseriatim.write-accuracy-table=true}.
 */
class OperationAccuracyTest {
    private static final long SEED = 20261122;
    private static final float[] POINTS = {0, 1, -1, 0.5f, -0.5f, 2, 3, -2.5f, 6, 20, 24, 88.7f, -87.3f, 1.4616321f,
            (float) Math.PI,
            (float) (Math.PI / 2)};
    private static final float[] SPECIAL = {0f, -0f, Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY};
    private static final int IN_BINADE = 6;
    private static final int AROUND = 24;
    private static final int RANDOM = 2_500;
    /** The range of exponents of pairs, whose products, quotients and squares are normal numbers. */
    private static final int BINADES_OF_PAIRS = 20;
    private static final String BEGIN = "## Accuracy of operations\n";
    private static final String END = "## Accuracy\n";
    private static final String HINT = "docs/operations.md is out of date; write its table anew with: mvn test -pl "
            + "executor -am "
            + "-Dtest=OperationAccuracyTest -Dsurefire.failIfNoSpecifiedTests=false "
            + "-DargLine=\"-Dseriatim.write-accuracy-table=true --enable-native-access=ALL-UNNAMED\"";
    private static final String INTRODUCTION = """

            Elementwise operations and their gradients in float32 with the attributes' defaults (`pow`: 2.5,
            `scale`: 3 and 0.7), as programs run them. `OperationAccuracyTest` finds all that are registered and
            compares them with float64: by the fast kernels, by the portable ones, and by two threads. Arguments
            of one input are those of the table below; of more inputs, all pairs of signs with sizes from 2⁻²⁰
            to 2²⁰. Allowed is an error of so many units in the last place of the exact result (ulp), or the
            absolute one. The largest errors of the fast kernels follow: in ulp, as far as that bound goes, then
            the absolute one beyond it. Gradients that are computed from the result (`exp`, `sqrt`, `sigmoid`,
            `tanh`, `selu`, …) are computed from the rounded one.

            | operation | allowed | seen | gradients: allowed | seen |
            |---|---|---|---|---|
            """;

    /** Elementwise operations whose rounding is not measured, with the reasons. */
    private static final Map<String, String> OTHERS = new TreeMap<>();

    static {
        for (String copy : List.of("conj", "flatten2", "flatten_contiguous_range", "label_smooth", "memcpy",
                "memcpy_d2h",
                "memcpy_h2d",
                "rnn_memory_helper", "share_data", "squeeze2", "test_probe", "tile", "transfer_layout", "unsqueeze2")) {
            OTHERS.put(copy, "a copy");
        }
        for (String loss : List.of("bce_loss", "hinge_loss", "huber_loss", "log_loss",
                "sigmoid_cross_entropy_with_logits")) {
            OTHERS.put(loss, "a loss: a sum of functions that are measured");
        }
    }

    private static final Map<String, Operation> FOUND = ElementwiseOperations.find();

    private static final class Errors {
        private final OperationReferences.Bound bound;
        private double ulps;
        private double absolute;
        private String at = "";
        private String beyond = "";

        Errors(OperationReferences.Bound bound) {
            this.bound = bound;
        }

        void add(double[] in, double exact, double got, double term) {
            boolean overflows = Math.abs(exact) > Float.MAX_VALUE
                    && got == Math.copySign(Double.POSITIVE_INFINITY, exact);
            if (Double.isNaN(exact) ? Double.isNaN(got) : exact == got || overflows) {
                return;
            }
            double size = Math.max(Math.abs(exact), term);
            double ulp = size > Float.MAX_VALUE ? Math.ulp(Float.MAX_VALUE) : Math.ulp((float) size);
            double limit = 2.0 * Float.MAX_VALUE;
            double error = Math.abs(Math.clamp(got, -limit, limit) - Math.clamp(exact, -limit, limit));
            if (error / ulp <= bound.ulps()) {
                if (error / ulp > ulps) {
                    ulps = error / ulp;
                    at = " at " + text(in);
                }
                return;
            }
            absolute = Double.isNaN(error) ? error : Math.max(absolute, error);
            if (!(error <= bound.absolute()) && beyond.isEmpty()) {
                beyond = String.format(Locale.ROOT,
                        "at %s: %s instead of %s, %.3g ulp, absolute %.3g; allowed are %s ulp or %s",
                        text(in), got, exact, error / ulp, error, bound.ulps(), bound.absolute());
            }
        }

        private static String text(double[] in) {
            StringBuilder text = new StringBuilder();
            for (double each : in) {
                text.append(text.isEmpty() ? "" : ", ").append(String.format(Locale.ROOT, "%.6g", each));
            }
            return text.toString();
        }

        String text() {
            String relative = ulps == 0 ? "0" : String.format(Locale.ROOT, "%.2f ulp%s", ulps, at);
            return absolute == 0 ? relative : relative + String.format(Locale.ROOT, "; %.2g", absolute);
        }
    }

    /** Returns the arguments of all inputs. */
    private static List<double[][]> samples(int inputs) {
        Random random = new Random(SEED);
        return inputs == 1
                ? List.<double[][]>of(unary(random), new double[][]{wide(SPECIAL)})
                : List.<double[][]>of(pairs(random, inputs));
    }

    private static double[][] unary(Random random) {
        List<Double> values = new ArrayList<>();
        for (int exponent = 0; exponent < 255; exponent++) {
            for (int i = 0; i < IN_BINADE; i++) {
                double x = Float.intBitsToFloat(exponent << 23 | random.nextInt(1 << 23));
                values.add(x);
                values.add(-x);
            }
        }
        for (float point : POINTS) {
            float up = point;
            float down = point;
            for (int i = 0; i < AROUND; i++) {
                values.add((double) up);
                values.add((double) down);
                up = Math.nextUp(up);
                down = Math.nextDown(down);
            }
            for (int bits = 2; bits < 24; bits++) {
                values.add((double) (point + Math.scalb(1f, -bits)));
                values.add((double) (point - Math.scalb(1f, -bits)));
            }
        }
        for (int i = 0; i < RANDOM; i++) {
            values.add((double) (float) (random.nextDouble() * 210 - 105));
            values.add((double) (float) (random.nextGaussian() * 3));
            values.add((double) random.nextFloat());
        }
        return new double[][]{values.stream().mapToDouble(Double::doubleValue).toArray()};
    }

    /**
     * Returns arguments of all magnitudes and signs. One pair in eight has equal numbers, one in eight has integers.
     */
    private static double[][] pairs(Random random, int inputs) {
        double[][] all = new double[inputs][3 * RANDOM];
        for (int i = 0; i < all[0].length; i++) {
            for (int k = 0; k < inputs; k++) {
                float value = (float) Math.scalb(1 + random.nextDouble(),
                        random.nextInt(2 * BINADES_OF_PAIRS) - BINADES_OF_PAIRS);
                value = i % 3 == 0 ? (float) random.nextGaussian() * 3 : value;
                value = i % 8 == 0 ? Math.round(value) % 100 : value;
                all[k][i] = random.nextBoolean() ? value : -value;
            }
            if (i % 8 == 1) {
                all[1][i] = all[0][i];
            }
        }
        return all;
    }

    private static double[] wide(float[] values) {
        double[] wide = new double[values.length];
        for (int i = 0; i < values.length; i++) {
            wide[i] = values[i];
        }
        return wide;
    }

    /** A way to run a program: with the fast kernels, the portable kernels, or two threads. */
    private enum Way {
        FAST, PORTABLE, TWO_THREADS;

        private static final Interpreter SYSTEM = Interpreter.of(Kernels.system());
        private static final Interpreter PLAIN = Interpreter.of(Kernels.portable());

        Map<String, double[]> run(Program program, Map<String, Tensor> feeds, List<String> fetches) {
            Map<String, double[]> values = new LinkedHashMap<>();
            if (this == TWO_THREADS) {
                try (Executor executor = Executor.builder().threads(2).eager().build()) {
                    Results results = executor.run(program, feeds, new Fetches(fetches));
                    fetches.forEach(name -> values.put(name, results.get(name).toDoubleArray()));
                }
            } else {
                (this == FAST ? SYSTEM : PLAIN).run(program, feeds, fetches)
                        .forEach((name, tensor) -> values.put(name, tensor.toDoubleArray()));
            }
            return values;
        }
    }

    private record Measured(Errors forward, Errors gradient) {
    }

    /** A program of one operation and its gradients, and the exact value of each element of each fetch. */
    private record Case(Program program, Map<String, Tensor> feeds, List<String> fetches, List<double[]> exact) {
    }

    private static Map<Way, Measured> measure(String type, Way... ways) {
        Operation operation = Objects.requireNonNull(FOUND.get(type));
        OperationReferences.Entry entry = Objects.requireNonNull(OperationReferences.all().get(type));
        Map<Way, Measured> all = new EnumMap<>(Way.class);
        for (Way way : ways) {
            all.put(way, new Measured(new Errors(entry.bound()), new Errors(entry.gradientBound())));
        }
        for (double[][] sample : samples(ElementwiseOperations.inputs(operation).size())) {
            Case each = of(operation, entry, sample);
            all.forEach((way, measured) -> {
                Map<String, double[]> got = way.run(each.program(), each.feeds(), each.fetches());
                for (int k = 0; k < each.fetches().size(); k++) {
                    double[] results = Objects.requireNonNull(got.get(each.fetches().get(k)));
                    for (int i = 0; i < results.length; i++) {
                        double[] in = in(sample, i);
                        if (k == 0) {
                            measured.forward().add(in, each.exact().get(0)[i], results[i], entry.terms().of(in));
                        } else if (!OperationReferences.isAtStep(type, in[0])) {
                            measured.gradient().add(in, each.exact().get(k)[i], results[i], 0);
                        }
                    }
                }
            });
        }
        return all;
    }

    private static double[] in(double[][] sample, int i) {
        double[] in = new double[sample.length];
        for (int k = 0; k < in.length; k++) {
            in[k] = sample[k][i];
        }
        return in;
    }

    private static Case of(Operation operation, OperationReferences.Entry entry, double[][] sample) {
        List<String> inputs = ElementwiseOperations.inputs(operation);
        int size = sample[0].length;
        Program program = new Program();
        Map<String, Tensor> feeds = new LinkedHashMap<>();
        for (int k = 0; k < inputs.size(); k++) {
            feeds.put(inputs.get(k), Tensor.of(DType.FLOAT32, sample[k], size));
        }
        OpDesc call = ElementwiseOperations.call(operation).build();
        program.global().add(call);
        List<String> fetches = new ArrayList<>(List.of("result"));
        List<OperationReferences.Function> functions = new ArrayList<>(List.of(entry.function()));
        GradientRule rule = operation.gradient();
        // Gradients at infinity and NaN are not specified.
        if (rule != null && size != SPECIAL.length) {
            double[] ones = new double[size];
            Arrays.fill(ones, 1);
            feeds.put(GradientRule.gradient("result"), Tensor.of(DType.FLOAT32, ones, size));
            rule.make(call, _ -> true).forEach(program.global()::add);
            inputs.subList(0, entry.gradients().size()).forEach(name -> fetches.add(GradientRule.gradient(name)));
            functions.addAll(entry.gradients());
        }
        Stream.concat(feeds.keySet().stream(), fetches.stream())
                .forEach(name -> program.global().put(VarDesc.of(name, VarType.dense(DType.FLOAT32, size))));
        List<double[]> exact = functions.stream()
                .map(function -> IntStream.range(0, size).mapToDouble(i -> function.of(in(sample, i))).toArray())
                .toList();
        return new Case(program, feeds, fetches, exact);
    }

    static Stream<String> types() {
        return OperationReferences.all().keySet().stream();
    }

    /**
     * Each elementwise operation has a reference or a reason why it has none, and each entry belongs to an operation.
     */
    @Test
    void allElementwiseOperationsAreMeasured() {
        Set<String> known = new TreeSet<>(OTHERS.keySet());
        known.addAll(OperationReferences.all().keySet());
        assertEquals(known, new TreeSet<>(FOUND.keySet()), "add what is new to OperationReferences");
        for (String type : OperationReferences.all().keySet()) {
            boolean differentiable = Objects.requireNonNull(FOUND.get(type)).gradient() != null;
            assertEquals(differentiable,
                    !Objects.requireNonNull(OperationReferences.all().get(type)).gradients().isEmpty(), type);
        }
    }

    @ParameterizedTest
    @MethodSource("types")
    void operationsAreWithinTheirBounds(String type) {
        List<String> beyond = new ArrayList<>();
        measure(type, Way.values()).forEach((way, measured) -> {
            if (!measured.forward().beyond.isEmpty()) {
                beyond.add(way + " " + measured.forward().beyond);
            }
            if (!measured.gradient().beyond.isEmpty()) {
                beyond.add(way + " gradient " + measured.gradient().beyond);
            }
        });
        assertTrue(beyond.isEmpty(), () -> type + ", seed " + SEED + ": " + beyond);
    }

    private static String bounds(OperationReferences.Bound bound) {
        String ulps = String.format(Locale.ROOT, "%.0f ulp", bound.ulps());
        String absolute = bound.absolute() == 0 ? "" : String.format(Locale.ROOT, " or %.2g", bound.absolute());
        return ulps + absolute + (bound.reason().isEmpty() ? "" : " (" + bound.reason() + ")");
    }

    private static String row(String type, String seen, String seenOfGradient) {
        OperationReferences.Entry entry = Objects.requireNonNull(OperationReferences.all().get(type));
        boolean differentiable = !entry.gradients().isEmpty();
        return "| `" + type + "` | " + bounds(entry.bound()) + " |" + seen + "| "
                + (differentiable ? bounds(entry.gradientBound()) : "–") + " |" + seenOfGradient + "|";
    }

    @Test
    void thePageListsTheBounds() throws IOException {
        Path root = Path.of("").toAbsolutePath();
        Path page = (Files.exists(root.resolve("docs")) ? root.resolve("docs") : root.resolve("../docs"))
                .resolve("operations.md");
        String text = Files.readString(page);
        int end = text.indexOf(END);
        if (Boolean.getBoolean("seriatim.write-accuracy-table")) {
            StringBuilder table = new StringBuilder(BEGIN).append(INTRODUCTION);
            types().forEach(type -> {
                Measured measured = Objects.requireNonNull(measure(type, Way.FAST).get(Way.FAST));
                boolean differentiable = Objects.requireNonNull(FOUND.get(type)).gradient() != null;
                String back = differentiable ? " " + measured.gradient().text() + " " : " – ";
                table.append(row(type, " " + measured.forward().text() + " ", back)).append('\n');
            });
            int begin = text.contains(BEGIN) ? text.indexOf(BEGIN) : end;
            text = text.substring(0, begin) + table + "\n" + text.substring(end);
            Files.writeString(page, text);
            end = text.indexOf(END);
        }
        assertTrue(text.contains(BEGIN) && end > 0, HINT);
        String section = text.substring(text.indexOf(BEGIN) + BEGIN.length(), end);
        assertTrue(section.startsWith(INTRODUCTION), HINT);
        List<String> listed = section.lines().filter(line -> line.startsWith("| `")).map(line -> {
            String[] cells = line.split("\\|", -1);
            return "|" + cells[1] + "|" + cells[2] + "||" + cells[4] + "||";
        }).toList();
        assertEquals(types().map(type -> row(type, "", "")).toList(), listed, HINT);
    }
}
