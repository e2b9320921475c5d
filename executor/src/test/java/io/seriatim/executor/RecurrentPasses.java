package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.Network;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.IntFunction;

/** Compares the training of recurrent networks, with feed x and output loss, with a pass to training without it. */
public final class RecurrentPasses {
    /**
     * The bound of differences relative to the largest element, after some training steps with another order of
     * summation.
     */
    private static final double BOUND = 2e-5;

    private RecurrentPasses() {
    }

    public static String loss(Network network) {
        return network.outputs().get("loss").name();
    }

    public static Plan plan(Executor executor, Network network) {
        return executor.compile(network.main(), feeds("x"), fetches(loss(network)));
    }

    /**
     * Trains with both executors, and compares fetches and parameters.
     *
     * @param x
     *            the feed of each run
     */
    public static void train(Executor.Builder one, Executor.Builder other, Program program, Network network,
            List<String> fetched, int runs,
            IntFunction<Tensor> x, String where) {
        try (Executor with = one.build(); Executor without = other.build()) {
            with.run(network.startup());
            without.run(network.startup());
            String[] names = fetched.toArray(String[]::new);
            Plan changed = with.compile(program, feeds("x"), fetches(names));
            Plan plain = without.compile(program, feeds("x"), fetches(names));
            for (int run = 0; run < runs; run++) {
                Results found = changed.run(x.apply(run));
                Results expected = plain.run(x.apply(run));
                for (String name : names) {
                    assertClose(expected.get(name), found.get(name), where + ", run " + run + ", " + name);
                }
            }
            for (VarDesc each : program.persistables()) {
                assertClose(Objects.requireNonNull(without.scope().get(each.name())),
                        Objects.requireNonNull(with.scope().get(each.name())), where + ", " + each.name());
            }
        }
    }

    private static void assertClose(Tensor expected, Tensor found, String where) {
        double[] a = expected.toDoubleArray();
        double[] b = found.toDoubleArray();
        assertEquals(a.length, b.length, where);
        double largest = Arrays.stream(a).map(Math::abs).max().orElse(0);
        for (int i = 0; i < a.length; i++) {
            assertTrue(Math.abs(a[i] - b[i]) <= BOUND * largest,
                    where + ", element " + i + ": expected " + a[i] + ", but found " + b[i] + ", the largest is "
                            + largest);
        }
    }

    /** Asserts that dependencies and memory plan are correct. */
    public static void assertRight(Network network, Tensor x, String where) {
        try (Executor serial = Executor.builder().build();
                Executor parallel = Executor.builder().threads(2).eager().build()) {
            for (Executor each : List.of(serial, parallel)) {
                each.run(network.startup());
                PlanCheck.assertRight(plan(each, network).specialisation(each.scope(), x), each == serial, where);
            }
        }
    }
}
