package io.seriatim.executor.pass;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.executor.Bits;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Internals;
import io.seriatim.executor.Pass;
import io.seriatim.executor.Plan;
import io.seriatim.executor.Results;
import io.seriatim.executor.ir.Task;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Copy;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Results that would be copies of temporary values are computed in place of these. */
class DirectResultsTest {
    /** Returns how many copies a plan makes, after comparing its results with those of one without passes. */
    private static long copies(Function<Graph, Outputs> definition) {
        Network network = Network.define(7, definition);
        String[] names = network.outputs().values().values().stream().map(Value::name).toArray(String[]::new);
        Tensor x = Bits.normal(1, 4, 4);
        try (Executor with = Executor.builder().threads(1).build();
                Executor without = Executor.builder().threads(1).without(Pass.values()).build()) {
            Plan plan = with.compile(network.main(), feeds("x"), fetches(names));
            Results expected = without.compile(network.main(), feeds("x"), fetches(names)).run(x);
            for (int run = 0; run < 3; run++) {
                Results found = plan.run(x);
                for (String name : names) {
                    Bits.assertSame(expected.get(name), found.get(name), name + ", run " + run);
                }
            }
            return Task.stages(Internals.compiled(plan, with.scope(), x).tasks())
                    .filter(stage -> stage.computation() instanceof Copy).count();
        }
    }

    private static Value x(Graph g) {
        return g.data("x", DType.FLOAT32, -1, 4);
    }

    @Test
    void aTemporaryValueIsComputedAsTheResult() {
        assertEquals(0, copies(g -> Outputs.of("y", x(g).softmax(1).assign())));
    }

    @Test
    void otherReadersReadTheResult() {
        assertEquals(0, copies(g -> {
            Value softmax = x(g).softmax(1);
            return Outputs.of("y", softmax.assign(), "z", softmax.matmul(softmax));
        }));
    }

    /** Integers, whose copies no chain takes up. */
    @Test
    void integersAreNotCopied() {
        assertEquals(0, copies(g -> Outputs.of("y", x(g).argMax(1).plus(1).assign())));
    }

    @Test
    void twoResultsNeedTwoTensors() {
        assertEquals(1, copies(g -> {
            Value softmax = x(g).softmax(1);
            return Outputs.of("y", softmax.assign(), "z", softmax.assign());
        }));
    }

    @Test
    void feedsAreCopied() {
        assertEquals(1, copies(g -> Outputs.of("y", x(g).assign())));
    }

    /** A value that is overwritten after the copy, and a result that is overwritten after it. */
    @Test
    void whatIsOverwrittenStays() {
        copies(g -> {
            Value softmax = x(g).softmax(1);
            Value copy = softmax.assign();
            g.op("assign").in("X", copy.matmul(copy)).to("Out", softmax).append();
            return Outputs.of("y", copy, "z", softmax.plus(1));
        });
        copies(g -> {
            Value softmax = x(g).softmax(1);
            Value copy = softmax.assign();
            Value product = copy.matmul(softmax);
            g.op("assign").in("X", product.softmax(0)).to("Out", copy).append();
            return Outputs.of("y", copy, "z", product, "v", copy.matmul(softmax));
        });
    }

    @Test
    void aResultOfAnotherShape() {
        assertEquals(0, copies(g -> Outputs.of("y", x(g).softmax(1).reshape(-1))));
    }

    @Test
    void manyReadersKeepTheCopy() {
        assertEquals(1, copies(g -> {
            Value softmax = x(g).softmax(1);
            Value sum = softmax.matmul(softmax);
            for (int i = 0; i < 10; i++) {
                sum = sum.matmul(softmax);
            }
            return Outputs.of("y", softmax.assign(), "z", sum);
        }));
    }
}
