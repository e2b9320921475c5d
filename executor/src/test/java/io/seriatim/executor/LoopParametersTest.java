package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.ParameterSpec;
import io.seriatim.graph.Value;
import io.seriatim.tensor.Tensor;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the body of a loop computes from parameters alone is computed once, and follows the parameters nevertheless. */
class LoopParametersTest {
    private static final int WIDTH = 8;
    private static final Tensor X = Bits.normal(1, 3, WIDTH);

    /** Where an operation changes a parameter. */
    enum Change {
        NOWHERE, BETWEEN_LOOPS, BETWEEN_ITERATIONS
    }

    private static Value loop(Graph g, Value start, Value matrix, Value scale, Change change) {
        return g.whileLoop(v -> List.of(v.getFirst().lessThan(g.full(INT64, 4, 1))), v -> {
            Value next = v.get(1).matmul(matrix.plus(matrix.square())).tanh().times(scale.times(0.5).exp());
            if (change == Change.BETWEEN_ITERATIONS) {
                next = g.whileLoop(w -> List.of(w.getFirst().lessThan(g.full(INT64, 2, 1))),
                        w -> List.of(w.getFirst().plus(1), w.get(1).plus(matrix.times(scale).sum())),
                        g.full(INT64, 0, 1), next).get(1);
                scale.increment(0.25);
            }
            return List.of(v.getFirst().plus(1), next);
        }, g.full(INT64, 0, 1), start).get(1);
    }

    private static Network network(Change change) {
        return Network.define(3, g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            Value matrix = g.parameter(ParameterSpec.DEFAULT, FLOAT32, WIDTH, WIDTH);
            Value scale = g.parameter(ParameterSpec.DEFAULT, FLOAT32, 1);
            Value first = loop(g, x.times(1), matrix, scale, change);
            if (change == Change.BETWEEN_LOOPS) {
                scale.increment(0.5);
            }
            Value second = loop(g, x.times(1), matrix, scale, change);
            return Outputs.of("first", first, "second", second);
        });
    }

    private static List<Tensor> run(Executor executor, Network network, Tensor x, int run) {
        String[] names = {network.outputs().get("first").name(), network.outputs().get("second").name()};
        Plan plan = executor.compile(network.main(), feeds("x"), fetches(names));
        if (run % 3 == 2) {
            // New tensors in the scope.
            RandomImages.fill(executor.scope(), network.main(), run);
        }
        Results results = plan.run(x);
        return List.of(Bits.copy(results.get(names[0])), Bits.copy(results.get(names[1])));
    }

    @ParameterizedTest
    @EnumSource(Change.class)
    void resultsFollowTheParameters(Change change) {
        Network network = network(change);
        try (Executor executor = Executor.builder().threads(1).build();
                Executor other = Executor.builder().threads(1).without(Pass.LAYOUTS).build()) {
            for (Executor each : List.of(executor, other)) {
                each.run(network.startup());
                RandomImages.fill(each.scope(), network.main(), 0);
            }
            for (int run = 0; run < 8; run++) {
                List<Tensor> expected = run(other, network, X, run);
                List<Tensor> found = run(executor, network, X, run);
                Bits.assertSame(expected.getFirst(), found.getFirst(), "run " + run + ", first");
                Bits.assertSame(expected.getLast(), found.getLast(), "run " + run + ", second");
            }
        }
    }

    /** Two scopes with other parameters, in turn. */
    @Test
    void scopesHaveTheirOwn() {
        Network network = network(Change.NOWHERE);
        String name = network.outputs().get("second").name();
        try (Executor executor = Executor.builder().threads(1).build()) {
            executor.run(network.startup());
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(name));
            Scope one = executor.scope().child();
            Scope two = executor.scope().child();
            RandomImages.fill(one, network.main(), 1);
            RandomImages.fill(two, network.main(), 2);
            Tensor first = Bits.copy(plan.run(one, X).get(name));
            Tensor second = Bits.copy(plan.run(two, X).get(name));
            for (int run = 0; run < 4; run++) {
                Bits.assertSame(first, plan.run(one, X).get(name), "one");
                Bits.assertSame(second, plan.run(two, X).get(name), "two");
            }
        }
    }
}
