package io.seriatim.graph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.opentest4j.AssertionFailedError;

/** The comparison of gradients with differences finds bugs that are planted into the summing of gradients. */
class GradientMutantTest {
    /** Plants a bug at an operation of a program's block. */
    private interface Bug extends BiFunction<List<OpDesc>, Integer, List<OpDesc>> {
    }

    /** A sum that stands before the last of the operations that compute its parts leaves that part out. */
    private static List<OpDesc> tooEarly(List<OpDesc> ops, int at) {
        OpDesc sum = ops.get(at);
        List<String> parts = sum.input("X");
        Map<String, List<String>> inputs = new LinkedHashMap<>(sum.inputs());
        inputs.put("X", parts.subList(0, parts.size() - 1));
        List<OpDesc> changed = new ArrayList<>(ops);
        changed.remove(at);
        changed.add(indexOfWriter(ops, parts.getLast()), sum.with(inputs, sum.outputs()));
        return changed;
    }

    private static int indexOfWriter(List<OpDesc> ops, String name) {
        return IntStream.range(0, ops.size()).filter(i -> ops.get(i).outputNames().contains(name)).findFirst()
                .orElseThrow();
    }

    /** Without a sum the last operation that computes the gradient wins. */
    private static List<OpDesc> lastWins(List<OpDesc> ops, int at) {
        OpDesc sum = ops.get(at);
        List<OpDesc> changed = new ArrayList<>(ops);
        changed.set(at,
                OpDesc.of("assign").in("X", sum.input("X").getLast()).out("Out", sum.output("Out").getFirst()).build());
        return changed;
    }

    /** A part that is counted twice. */
    private static List<OpDesc> twice(List<OpDesc> ops, int at) {
        OpDesc sum = ops.get(at);
        Map<String, List<String>> inputs = new LinkedHashMap<>(sum.inputs());
        List<String> parts = new ArrayList<>(sum.input("X"));
        parts.set(0, parts.getLast());
        inputs.put("X", parts);
        List<OpDesc> changed = new ArrayList<>(ops);
        changed.set(at, sum.with(inputs, sum.outputs()));
        return changed;
    }

    @Test
    void sumBeforeTheWrongOperation() {
        caught(GradientMutantTest::tooEarly);
    }

    @Test
    void noSum() {
        caught(GradientMutantTest::lastWins);
    }

    @Test
    void partCountedTwice() {
        caught(GradientMutantTest::twice);
    }

    private static void caught(Bug bug) {
        for (long seed = 0; seed < 12; seed++) {
            long number = seed;
            Network.define(graph -> {
                RandomPrograms programs = new RandomPrograms(graph, number, true);
                Value x = programs.inputs().getFirst();
                // Both parts of the gradient of h differ and are not zero.
                Value h = x.matmul(x, false, true).tanh();
                Value loss = h.sin().plus(h.square().times(3)).mean().plus(programs.loss(3));
                Program forward = graph.main().copy();
                List<String> gradients = NumericGradientTest.names(graph.gradients(List.of(loss), programs.inputs()));
                GradientCheck check = new GradientCheck(forward, loss.name(), programs.feeds);
                List<String> inputs = NumericGradientTest.names(programs.inputs());
                check.check("seed " + number, graph.main(), inputs, gradients, number);
                Program mutant = graph.main().copy();
                List<OpDesc> ops = mutant.global().ops();
                int at = indexOfWriter(ops, h.name() + "@GRAD");
                assertEquals("sum", ops.get(at).type(), "seed " + number);
                mutant.global().setOps(bug.apply(ops, at));
                AssertionFailedError error = assertThrows(AssertionFailedError.class,
                        () -> check.check("mutant", mutant, inputs, gradients, number),
                        () -> "the mutant of seed " + number + " lives");
                assertTrue(String.valueOf(error.getMessage()).startsWith("mutant: the gradient of x0 "),
                        String.valueOf(error));
                return Outputs.none();
            });
        }
    }
}
