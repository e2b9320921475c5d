package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.graph.Network;
import io.seriatim.graph.Value;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** Compares inference with a pass to inference without it. */
public final class ImagePasses {
    /**
     * The bound of differences relative to the largest result. A dozen consecutive normalisations or convolutions sum
     * in another order.
     */
    private static final float BOUND = 1e-4f;

    private ImagePasses() {
    }

    public static List<Supplier<Executor.Builder>> executors() {
        return List.of(() -> Executor.builder().threads(1), () -> Executor.builder().threads(2).eager(),
                () -> Executor.builder().threads(3).eager().inPlace(false),
                () -> Executor.builder().threads(2).eager().memoryPlan(false));
    }

    static Stream<Stage> stages(CompiledPlan plan) {
        return Task.stages(plan.tasks());
    }

    public static List<String> names(Network network) {
        return network.outputs().values().values().stream().map(Value::name).toList();
    }

    /** Returns the number of stages of a plan that satisfy a predicate. */
    public static long count(Network network, Program main, Predicate<Stage> property, Tensor x, Pass... without) {
        Executor.Builder builder = Executor.builder().threads(1);
        for (Pass pass : without) {
            builder = builder.without(pass);
        }
        try (Executor executor = builder.build()) {
            executor.run(network.startup());
            Plan plan = executor.compile(main, Executor.feeds("x"), new Fetches(names(network)));
            return stages(plan.specialisation(executor.scope(), x)).filter(property).count();
        }
    }

    /** Returns the number of stages of a program's plan that satisfy a predicate. */
    public static long count(Program program, String fetched, Predicate<Stage> property, Map<String, Tensor> feeds) {
        try (Executor executor = Executor.builder().threads(1).build()) {
            List<String> names = List.copyOf(feeds.keySet());
            Plan plan = executor.compile(program, Executor.feeds(names.toArray(String[]::new)),
                    new Fetches(List.of(fetched)));
            Tensor[] given = names.stream().map(feeds::get).toArray(Tensor[]::new);
            return stages(plan.specialisation(executor.scope(), given)).filter(property).count();
        }
    }

    static List<Tensor> results(Executor.Builder builder, Network network, Program main, long seed, Tensor x,
            String where) {
        List<Tensor> found = new ArrayList<>();
        try (Executor executor = builder.build()) {
            executor.run(network.startup());
            RandomImages.fill(executor.scope(), main, seed);
            Plan plan = executor.compile(main, Executor.feeds("x"), new Fetches(names(network)));
            CompiledPlan specialisation = plan.specialisation(executor.scope(), x);
            PlanCheck.assertRight(specialisation, executor.options().inOrder(), where);
            for (int run = 0; run < 2; run++) {
                Results results = plan.run(x);
                names(network).forEach(name -> found.add(Bits.copy(results.get(name))));
            }
        }
        return found;
    }

    /** Asserts that all kinds of executors compute the same with a pass as without it. */
    public static void assertAlike(Network network, Program main, long seed, Tensor x, Pass pass, String where) {
        assertAlike(network, main, seed, x, pass, where, builder -> builder);
    }

    /** Asserts it for executors with further options. */
    public static void assertAlike(Network network, Program main, long seed, Tensor x, Pass pass, String where,
            UnaryOperator<Executor.Builder> options) {
        List<Tensor> expected = results(options
                .apply(Executor.builder().threads(1).without(Pass.FOLDING).without(Pass.CHANNELS_LAST)),
                network, main, seed, x, where);
        for (int i = 0; i < executors().size(); i++) {
            String here = where + ", executor " + i;
            Supplier<Executor.Builder> builder = executors().get(i);
            List<Tensor> found = results(options.apply(builder.get()), network, main, seed, x, here);
            List<Tensor> without = results(options.apply(builder.get()).without(pass), network, main, seed, x, here);
            for (int k = 0; k < expected.size(); k++) {
                assertAlike(expected.get(k), found.get(k), here + ", with it, result " + k);
                assertAlike(expected.get(k), without.get(k), here + ", without it, result " + k);
            }
        }
    }

    public static void assertAlike(Tensor expected, Tensor found, String where) {
        assertEquals(expected.spec(), found.spec(), where);
        float[] a = expected.toFloatArray();
        float[] b = found.toFloatArray();
        float largest = 1;
        for (float value : a) {
            largest = Float.isFinite(value) ? Math.max(largest, Math.abs(value)) : largest;
        }
        for (int i = 0; i < a.length; i++) {
            boolean alike = Float.isFinite(a[i])
                    ? Math.abs(a[i] - b[i]) <= BOUND * largest
                    : Float.compare(a[i], b[i]) == 0;
            String element = where + ", element " + i + ": expected " + a[i] + ", but found " + b[i];
            assertTrue(alike, element);
        }
    }
}
