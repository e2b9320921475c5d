package io.seriatim.graph.autodiff;

import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.seriatim.graph.GradientPrograms;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.computation.Unary;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Backward appends to small programs what Paddle appends: operations in the same order with the same names, variables,
 * blocks and roles, and the same results.
 */
public class BackwardTest {
    @TestFactory
    Stream<DynamicTest> asPaddle() {
        return GradientPrograms.of("backward.txt").stream()
                .map(each -> DynamicTest.dynamicTest(each.name(), () -> compare(each)));
    }

    /** Cases in which Paddle's answer is wrong, each with the reason. */
    @TestFactory
    Stream<DynamicTest> ofOurOwn() {
        return GradientPrograms.of("backward-own.txt").stream()
                .map(each -> DynamicTest.dynamicTest(each.name(), () -> compare(each)));
    }

    private static void compare(GradientPrograms golden) {
        Program program = golden.program();
        Set<String> known = new HashSet<>(GradientPrograms.lines(program));
        known.removeIf(line -> line.startsWith("block "));
        List<String> expected = new ArrayList<>();
        List<String> actual = new ArrayList<>();
        for (GradientPrograms.Call call : golden.calls()) {
            call.answers().forEach(answer -> expected.add("answer " + answer));
            answers(program, call).forEach(answer -> actual.add("answer " + answer));
        }
        expected.addAll(inOrder(golden.then()));
        actual.addAll(inOrder(GradientPrograms.lines(program).stream().filter(line -> !known.contains(line)).toList()));
        assertEquals(String.join("\n", expected), String.join("\n", actual));
    }

    private static List<String> answers(Program program, GradientPrograms.Call call) {
        Set<String> stopped = Set.copyOf(call.names("no"));
        if (call.function().equals("backward")) {
            List<String> only = call.names("only");
            List<String> parameters = program.parameters().stream().map(VarDesc::name)
                    .filter(name -> only.isEmpty() ? !program.global().get(name).stopsGradient() : only.contains(name))
                    .toList();
            int chain = Integer.parseInt(call.arguments().getOrDefault("chain", "0"));
            return Backward.append(program, call.names("loss").getFirst(), parameters, stopped, chain).stream()
                    .map(pair -> pair.parameter() + " " + pair.gradient()).toList();
        }
        return Backward
                .gradients(program, call.names("of"), new ArrayList<>(call.names("given")), call.names("to"), stopped)
                .stream()
                .map(name -> Objects.requireNonNullElse(name, "none")).toList();
    }

    /**
     * Variables of a block by name. What Paddle takes from an unordered set of names comes in the order of the names.
     */
    public static List<String> inOrder(List<String> lines) {
        List<String> result = new ArrayList<>();
        List<String> variables = new ArrayList<>();
        for (String line : lines) {
            if (line.startsWith("  var ")) {
                variables.add(line);
            } else {
                variables.stream().sorted().forEach(result::add);
                variables.clear();
                result.add(line.startsWith("  op while_grad(") ? withSortedLists(line) : line);
            }
        }
        variables.stream().sorted().forEach(result::add);
        return result;
    }

    private static String withSortedLists(String line) {
        return Arrays.stream(line.split(" ", -1))
                .map(word -> word.contains("Out@GRAD=") || word.contains("original_output_grad=")
                        ? Arrays.stream(word.split("[=,\\[\\]]", -1)).sorted().collect(Collectors.joining(","))
                        : word)
                .collect(Collectors.joining(" "));
    }

    private static void refused(String message, Consumer<Graph> body) {
        Exception e = assertThrows(IllegalArgumentException.class, () -> Network.define(graph -> {
            body.accept(graph);
            return Outputs.none();
        }));
        assertEquals(message, e.getMessage());
    }

    @Test
    void lossThatNothingComputes() {
        refused("Nothing computes the loss 'x'; give a variable that operations of the program write",
                g -> g.backward(g.data("x", FLOAT32)));
    }

    @Test
    void lossToMinimizeHasOneElement() {
        refused("A loss has one element, but 'linear_1.tmp_1' is float32[-1, 3]; take the mean or the sum of it",
                g -> g.minimize(g.linear(g.data("x", FLOAT32, -1, 4), 3), Sgd.of(0.1)));
        refused("A loss has one element, but 'linear_1.tmp_1' is float32[-1, 1]; take the mean or the sum of it",
                g -> g.minimize(g.linear(g.data("x", FLOAT32, -1, 4), 1), Sgd.of(0.1)));
        refused("A loss has one element, but 'linear_1.tmp_1' is float32[1, 2]; take the mean or the sum of it",
                g -> g.minimize(g.linear(g.data("x", FLOAT32, 1, 4), 2), Sgd.of(0.1)));
    }

    @Test
    void givenGradientsFitTheTargets() {
        refused("The gradient 'd' of target 'tanh_0.tmp_0' must be float32[2, 3] as the target is, but is float32[3]",
                g -> {
                    Value x = g.data("x", FLOAT32, 2, 3).wantGradient();
                    g.gradients(List.of(x.tanh()), List.of(g.data("d", FLOAT32, 3)), List.of(x), Set.of());
                });
        refused("The gradient 'd' of target 'tanh_0.tmp_0' must be float32[2, 3] as the target is, but is int64[2, 3]",
                g -> {
                    Value x = g.data("x", FLOAT32, 2, 3).wantGradient();
                    g.gradients(List.of(x.tanh()), List.of(g.data("d", INT64, 2, 3)), List.of(x), Set.of());
                });
        refused("Each target has a gradient of its own, or none is given, but there are 2 targets and 1 gradients",
                g -> {
                    Value x = g.data("x", FLOAT32, 2, 3).wantGradient();
                    g.gradients(List.of(x.tanh(), x.exp()), List.of(g.data("d", FLOAT32, 2, 3)), List.of(x), Set.of());
                });
    }

    @Test
    void variablesAreOfThisNetwork() {
        Value[] other = new Value[1];
        Network.define(g -> {
            other[0] = g.data("x", FLOAT32, 2);
            return Outputs.of("x", other[0]);
        });
        String message = "Variable 'x' belongs to another network; a network uses its own variables only";
        refused(message, g -> g.backward(other[0]));
        refused(message, g -> g.backward(g.data("y", FLOAT32, 2).tanh(), List.of(other[0]), Set.of()));
        refused(message, g -> g.backward(g.data("y", FLOAT32, 2).tanh(), List.of(), Set.of(other[0])));
        refused(message, g -> g.gradients(List.of(other[0]), List.of(g.data("y", FLOAT32, 2))));
        refused(message, g -> g.gradients(List.of(g.data("y", FLOAT32, 2)), List.of(other[0])));
    }

    @Test
    void noGradientReachesAnyParameter() {
        Network.define(g -> {
            Value x = g.data("x", FLOAT32, 2, 3);
            Value chosen = g.linear(x, 4).argMax(1).cast(FLOAT32).mean();
            assertEquals(List.of(), g.backward(chosen));
            return Outputs.none();
        });
    }

    @Test
    void gradientWithoutGradient() {
        // Only an executor carries out the gradient, so that it has no steps.
        Operation.define("test_carried_out").in("X").out("Out").infer(inference -> inference.same("X", "Out"))
                .lower(l -> l.out("Out", l.unary(Unary.Function.EXP, l.in("X"))))
                .grad("test_carried_out_grad(Out, Out@GRAD) -> X@GRAD").register(Operations.system());
        Operation.define("test_carried_out_grad").in("Out", "Out@GRAD").out("X@GRAD")
                .infer(inference -> inference.same("Out", "X@GRAD")).register(Operations.system());
        refused("Operation 'test_carried_out_grad' (outputs [x@GRAD]) has no gradient; stop the gradient at its inputs "
                + "[test_carried_out_0.tmp_0, test_carried_out_0.tmp_0@GRAD]",
                g -> {
                    Value x = g.data("x", FLOAT32, 2).wantGradient();
                    Value y = g.op("test_carried_out").in("X", x).one("Out");
                    Value first = Objects.requireNonNull(g.gradients(List.of(y), List.of(x)).getFirst());
                    g.gradients(List.of(first), List.of(x));
                });
        Network.define(g -> {
            Value x = g.data("x", FLOAT32, 2).wantGradient();
            Value first = Objects.requireNonNull(g.gradients(List.of(x.exp()), List.of(x)).getFirst());
            Value second = Objects
                    .requireNonNull(g.gradients(List.of(first.stopGradient().times(x)), List.of(x)).getFirst());
            assertEquals("grad/grad/x@GRAD", second.name());
            return Outputs.none();
        });
    }

    @Test
    void gradientThatNoSchemaDefines() {
        Network.define(g -> {
            Value x = g.data("x", FLOAT32, 2).wantGradient();
            Value first = Objects.requireNonNull(g.gradients(List.of(x.exp()), List.of(x)).getFirst());
            Value second = Objects.requireNonNull(g.gradients(List.of(first), List.of(x)).getFirst());
            assertEquals("grad/grad/x@GRAD", second.name());
            OpDesc derived =
                    g.main().global().ops().stream().filter(op -> op.type().equals("exp_grad_grad")).findFirst()
                            .orElseThrow();
            assertEquals(Map.of("Out", List.of("exp_0.tmp_0"), "Out@GRAD", List.of("exp_0.tmp_0@GRAD"),
                    "X@GRAD@GRAD", List.of("x@GRAD@GRAD")), derived.inputs());
            assertEquals(List.of("grad/grad/exp_0.tmp_0@GRAD"), derived.output("Out@GRAD"));
            return Outputs.none();
        });
    }

    @Test
    void blockWithoutGradient() {
        Program program = new Program();
        Block inner = program.addBlock(0, null);
        Block block = program.global();
        block.put(VarDesc.of("x", VarType.dense(FLOAT32, 2)));
        block.put(VarDesc.of("y", VarType.dense(FLOAT32, 2)));
        block.add(OpDesc.of("run_program").in("X", "x").out("Out", "y").attr("sub_block", inner).build());
        Exception e = assertThrows(IllegalArgumentException.class,
                () -> Backward.append(program, "y", List.of(), Set.of(), 0));
        assertEquals(
                "Operation 'run_program' runs a block, and there is no gradient of that; there is for "
                        + "conditional_block, while and"
                        + " recurrent",
                e.getMessage());
    }
}
