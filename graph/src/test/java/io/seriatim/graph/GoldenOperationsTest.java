package io.seriatim.graph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Every operation and its gradient against the real Paddle: what it infers, and what it computes, with portable and with fast kernels. {@code -Dgolden=type,type} picks some. */
class GoldenOperationsTest {
    private static Stream<GoldenOperations> cases() {
        String wanted = System.getProperty("golden", "");
        Set<String> types = Set.of(wanted.split(","));
        return GoldenOperations.all().values().stream().filter(each -> wanted.isEmpty() || types.contains(each.operation()));
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
        golden.out().forEach((name, expected) -> same(golden.name() + " " + name, expected, results.get(name)));
    }

    static void same(String name, Tensor expected, Tensor actual) {
        assertEquals(expected.shape(), actual.shape(), name);
        assertEquals(expected.dtype(), actual.dtype(), name);
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
        assertTrue(wrong.isEmpty(), () -> name + ": " + wrong + "\n want " + Arrays.toString(want) + "\n have " + Arrays.toString(have));
    }

    /** What Paddle inferred while it built the program is inferred here too, unknown dimensions included. */
    private static void inferred(GoldenOperations golden) {
        Block block = golden.program().global();
        List<String> wrong = new ArrayList<>();
        for (OpDesc op : block.ops()) {
            Operation schema = Operations.system().get(op.type());
            if (schema.isLowered()) {
                Map<String, List<@Nullable ArgType>> results = schema.infer(op, new BuildTime(block, op));
                results.forEach((slot, types) -> {
                    for (int i = 0; i < types.size(); i++) {
                        compare(block, op, slot, i, types.get(i), wrong);
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

    private static void compare(Block block, OpDesc op, String slot, int index, @Nullable ArgType type, List<String> wrong) {
        VarDesc desc = block.find(op.output(slot).get(index));
        VarType.TensorType expected = desc == null ? null : desc.type().tensorType();
        if (expected != null && type != null && !slot.equals("XShape")) {
            VarType.TensorType found = type.varType().tensorType();
            if (!expected.equals(found)) {
                wrong.add(op.type() + "." + slot + " is " + expected + " in Paddle, but " + found + " here");
            }
        }
    }

    private record BuildTime(Block block, OpDesc op) implements Inference.Source {
        @Override
        public @Nullable ArgType type(String slot, int index) {
            VarDesc desc = block.find(op.input(slot).get(index));
            VarType.TensorType tensor = desc == null ? null : desc.type().tensorType();
            if (desc == null || tensor == null) {
                return null;
            }
            return switch (desc.type()) {
                case VarType.Rows _ -> ArgType.rows(tensor.dtype(), -1, tensor.shape());
                case VarType.TensorArray _ -> ArgType.array(tensor.dtype(), tensor.shape());
                default -> ArgType.dense(tensor.dtype(), tensor.shape());
            };
        }

        @Override
        public long @Nullable [] values(String slot, int index) {
            return null;
        }
    }
}
