package io.seriatim.graph;

import io.seriatim.graph.program.Program;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Gradients of random programs against differences of their losses. */
class NumericGradientTest {
    @TestFactory
    Stream<DynamicTest> first() {
        return IntStream.range(0, 200).mapToObj(seed -> DynamicTest.dynamicTest("seed " + seed, () -> first(seed)));
    }

    private static void first(long seed) {
        Network.define(graph -> {
            RandomPrograms programs = new RandomPrograms(graph, seed, false);
            Value loss = programs.loss(3 + (int) (seed % 6));
            Program forward = graph.main().copy();
            List<String> gradients = names(graph.gradients(List.of(loss), programs.inputs()));
            new GradientCheck(forward, loss.name(), programs.feeds).check("seed " + seed, graph.main(),
                    names(programs.inputs()), gradients,
                    seed);
            return Outputs.none();
        });
    }

    static List<String> names(List<? extends Value> values) {
        return values.stream().map(value -> Objects.requireNonNull(value).name()).toList();
    }

    @TestFactory
    Stream<DynamicTest> second() {
        return IntStream.range(0, 100).mapToObj(seed -> DynamicTest.dynamicTest("seed " + seed, () -> second(seed)));
    }

    private static void second(long seed) {
        Network.define(graph -> {
            RandomPrograms programs = new RandomPrograms(graph, seed, true);
            Value loss = programs.loss(3 + (int) (seed % 4));
            List<Value> parts = new ArrayList<>();
            for (Value gradient : graph.gradients(List.of(loss), programs.inputs())) {
                parts.add(Objects.requireNonNull(gradient).square().sum());
            }
            Value penalty = graph.addAll(parts.toArray(Value[]::new));
            Program forward = graph.main().copy();
            List<String> gradients = names(graph.gradients(List.of(penalty), programs.inputs()));
            new GradientCheck(forward, penalty.name(), programs.feeds).check("seed " + seed, graph.main(),
                    names(programs.inputs()),
                    gradients, seed);
            return Outputs.none();
        });
    }
}
