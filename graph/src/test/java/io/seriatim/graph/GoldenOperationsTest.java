package io.seriatim.graph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Every operation and its gradient against the real Paddle: what it infers, and what it computes, with portable and
 * with fast kernels. {@code -Dgolden=type,type} picks some.
 */
class GoldenOperationsTest {
    /**
     * Results in which Paddle 2.6.2 errs, and which are not compared. Each was checked against differences of Paddle's
     * own forward operation or another library, or says why it needs no check.
     */
    private static final Set<String> WRONG = Set.of(
            // Without a scale, the mean of the result's gradient is left out.
            "group_norm.bare x@GRAD",
            // Factors of float64 averages are rounded to float32.
            "pool2d.avg_valid x@GRAD",
            // Adaptive maxima are taken as if they were not adaptive: pooled to 1, an image gives its first element.
            "pool2d.max_adaptive out", "pool2d.max_adaptive x@GRAD",
            // Paddle's gradient is not 0 for the diagonal that a unit triangle does not read.
            "triangular_solve.unit_lower_transpose x@GRAD",
            // The sum over the products of weights and gradients is taken over the weights alone.
            "spectral_norm.plain weight@GRAD", "spectral_norm.images weight@GRAD", "spectral_norm.second weight@GRAD",
            "spectral_norm.none weight@GRAD",
            "spectral_norm.double weight@GRAD", "spectral_norm.epsilon weight@GRAD",
            // In the backward direction, the state before the last step of a short sequence is taken for 0.
            "rnn.gru_lengths input@GRAD", "rnn.gru_lengths weightlist7@GRAD", "rnn.gru_lengths weightlist6@GRAD",
            "rnn.gru_lengths weightlist2@GRAD", "rnn.gru_lengths prestate0@GRAD", "rnn.gru_lengths weightlist3@GRAD",
            "rnn.lstm_lengths weightlist3@GRAD",
            // Aligned regions that are smaller than an element count as one of its size.
            "roi_align.small x@GRAD", "roi_align.no_samples x@GRAD",
            // Gradients are moved from group to group as elements are, instead of back.
            "shuffle_channel.gradient x@GRAD");

    /** The shapes of results whose length Paddle declares as half of an unknown one, −1, and one more: 1. */
    private static final Map<String, long[]> HALF_OF_UNKNOWN = Map.of("fft_r2c.unknown Out", new long[]{-1, -1});

    private static Stream<GoldenOperations> cases() {
        String wanted = System.getProperty("golden", "");
        Set<String> types = Set.of(wanted.split(","));
        return GoldenOperations.all().values().stream()
                .filter(each -> wanted.isEmpty() || types.contains(each.operation()));
    }

    @TestFactory
    Stream<DynamicTest> portable() {
        return cases().map(each -> DynamicTest.dynamicTest(each.name(), () -> values(each, Kernels.portable())));
    }

    @TestFactory
    Stream<DynamicTest> fast() {
        return cases().map(each -> DynamicTest.dynamicTest(each.name(), () -> values(each, Kernels.system())));
    }

    @TestFactory
    Stream<DynamicTest> inference() {
        return cases().map(each -> DynamicTest.dynamicTest(each.name(), () -> inferred(each)));
    }

    private static void values(GoldenOperations golden, Kernels kernels) {
        Map<String, Tensor> results = Interpreter.of(kernels).paddleRandom(7).run(golden.program(), golden.in(),
                List.copyOf(golden.out().keySet()));
        assertTrue(!results.isEmpty(), "the case has results");
        golden.out().forEach((name, expected) -> {
            String result = golden.name() + " " + name;
            if (!WRONG.contains(result)) {
                Tensor actual = Objects.requireNonNull(results.get(name));
                same(result, expected, actual);
                if (!name.contains(GradientRule.SUFFIX)) {
                    assertEquals(golden.lods().getOrDefault(name, Lod.NONE), actual.lod(), () -> "LoD of " + result);
                }
            }
        });
    }

    static void same(String name, Tensor expected, Tensor actual) {
        assertEquals(expected.shape(), actual.shape(), name);
        assertEquals(expected.dtype(), actual.dtype(), name);
        if (expected.dtype().isComplex()) {
            same(name, expected.asReal(), actual.asReal());
            return;
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
        List<String> wrong = new ArrayList<>();
        for (int i = 0; i < want.length; i++) {
            boolean equal = Double.compare(want[i], have[i]) == 0 || want[i] == have[i]
                    || Math.abs(want[i] - have[i]) <= tolerance * Math.max(Math.abs(want[i]), 0.1 * scale);
            if (!equal && wrong.size() < 5) {
                wrong.add(i + ": " + want[i] + " but " + have[i]);
            }
        }
        assertTrue(wrong.isEmpty(),
                () -> name + ": " + wrong + "\n want " + Arrays.toString(want) + "\n have " + Arrays.toString(have));
    }

    /** Inference gives the types that Paddle inferred while it built the program, unknown dimensions included. */
    private static void inferred(GoldenOperations golden) {
        Block block = golden.program().global();
        List<String> wrong = new ArrayList<>();
        for (OpDesc op : block.ops()) {
            Operation schema = Operations.system().get(op.type());
            if (schema.isLowered()) {
                Map<String, List<@Nullable ArgType>> results = schema.infer(op, new Appender.BuildTime(block, op));
                results.forEach((slot, types) -> {
                    for (int i = 0; i < types.size(); i++) {
                        compare(golden, block, op, slot, i, types.get(i), wrong);
                    }
                });
                op.outputs().forEach((slot, names) -> {
                    if (!names.isEmpty() && !results.containsKey(slot) && !slot.equals("XShape")) {
                        wrong.add(op.type() + " says nothing of " + slot);
                    }
                });
            }
        }
        assertEquals("", wrong.stream().collect(Collectors.joining("; ")), golden.name());
    }

    private static void compare(GoldenOperations golden, Block block, OpDesc op, String slot, int index,
            @Nullable ArgType type,
            List<String> wrong) {
        VarDesc desc = block.find(op.output(slot).get(index));
        VarType.TensorType declared = desc == null ? null : desc.type().tensorType();
        if (desc != null && declared != null && type != null && !slot.equals("XShape")) {
            long[] meant = HALF_OF_UNKNOWN.get(golden.name() + " " + slot);
            VarType.TensorType expected = meant == null ? declared : VarType.TensorType.of(declared.dtype(), meant);
            VarType.TensorType found = Objects.requireNonNull(type.varType().tensorType());
            boolean gradient = desc.name().endsWith(GradientRule.SUFFIX) && compatible(expected, found);
            if (!expected.equals(found) && !gradient
                    && !(type.isKnown() && contradicted(golden, desc, expected, type))) {
                wrong.add(op.type() + "." + slot + " is " + expected + " in Paddle, but " + found + " here");
            }
        }
    }

    /** Paddle declares gradients with the shapes of what they are gradients of, whatever their operations infer. */
    private static boolean compatible(VarType.TensorType declared, VarType.TensorType inferred) {
        long[] dims = declared.shape();
        long[] found = inferred.shape();
        boolean compatible = declared.dtype() == inferred.dtype() && dims.length == found.length;
        for (int i = 0; compatible && i < dims.length; i++) {
            compatible = dims[i] < 0 || found[i] < 0 || dims[i] == found[i];
        }
        return compatible;
    }

    /** Sometimes Paddle infers another type than it computes; then the computed type counts. */
    private static boolean contradicted(GoldenOperations golden, VarDesc desc, VarType.TensorType inferred,
            ArgType type) {
        Tensor value = golden.out().get(desc.name());
        if (value == null || !value.spec().equals(type.spec())) {
            return false;
        }
        long[] dims = inferred.shape();
        boolean differs = inferred.dtype() != value.dtype() || dims.length != value.shape().rank();
        for (int i = 0; !differs && i < dims.length; i++) {
            differs = dims[i] >= 0 && dims[i] != value.shape().dim(i);
        }
        return differs;
    }
}
