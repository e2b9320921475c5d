package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import java.lang.ref.WeakReference;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the plan cache of an executor: results do not change, the least recently used plan is evicted, and different
 * keys have different plans.
 */
class ReferenceCacheTest {
    @AfterEach
    void noHooks() {
        Probes.allOff();
    }

    /** Returns a program that computes y = x · by, with a probe whose key serves to count plans. */
    private static Program times(float by, String key) {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(FLOAT32, -1)))
                .put(VarDesc.of("y", VarType.dense(FLOAT32, -1)))
                .add(OpDesc.of("scale").in("X", "x").out("Out", "y").attr("scale", by).build())
                .add(Probes.of(Probes.CALL, "y", key));
        return program;
    }

    private static double run(Executor executor, Program program, int size) {
        double[] ones = new double[size];
        Arrays.fill(ones, 1);
        return executor.run(program, Map.of("x", Bits.floats(ones)), fetches("y")).get("y").getDouble(0);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void keptPlansComputeWhatNewOnesDo(int threads) {
        Network network = Network.define(4, g -> {
            Value x = g.data("x", FLOAT32, -1, 6);
            Value loss = g.linear(g.linear(x, 8).tanh(), 1).square().mean();
            g.minimize(loss, Adam.of(0.05));
            return Outputs.of("loss", loss);
        });
        String loss = network.outputs().get("loss").name();
        try (Executor keeps = Executor.builder().threads(threads).eager().build();
                Executor first = Executor.on(Place.CPU)) {
            keeps.run(network.startup());
            first.run(network.startup());
            Scope variables = first.scope();
            for (int i = 0; i < 6; i++) {
                Map<String, Tensor> x = Map.of("x", Bits.normal(i, 2 + i % 2, 6));
                try (Executor forgets = Executor.builder().threads(threads).eager().build()) {
                    Tensor expected = forgets.compile(network.main(), feeds("x"), fetches(loss))
                            .run(variables, x.values().iterator().next())
                            .get(loss);
                    Bits.assertSame(expected, keeps.run(network.main(), x, fetches(loss)).get(loss), "step " + i);
                }
            }
            variables.names().forEach(name -> Bits.assertSame(variables.get(name), keeps.scope().get(name), name));
        }
    }

    @Test
    void aProgramIsKnownByWhatIsInIt() {
        Program program = times(2, "content");
        try (Executor executor = Executor.on(Place.CPU)) {
            assertEquals(2, run(executor, program, 1));
            assertEquals(2, run(executor, program.copy(), 1), "an equal one");
            assertEquals(1, Probes.inferred("content"), "has the same plan");
            program.global().set(0, OpDesc.of("scale").in("X", "x").out("Out", "y").attr("scale", 5f).build());
            assertEquals(5, run(executor, program, 1), "a changed one has another");
            assertEquals(2, run(executor, times(2, "content"), 1));
        }
    }

    @Test
    void aProgramIsHashedOnceForEachState() {
        Program program = times(2, "hashed");
        try (Executor executor = Executor.on(Place.CPU)) {
            for (int i = 0; i < 5; i++) {
                assertEquals(2, run(executor, program, 1 + i));
            }
            assertEquals(1, executor.hashed());
            program.global().set(0, OpDesc.of("scale").in("X", "x").out("Out", "y").attr("scale", 5f).build());
            for (int i = 0; i < 5; i++) {
                assertEquals(5, run(executor, program, 1 + i));
            }
            assertEquals(2, executor.hashed());
        }
    }

    /** The seed is not part of a program's file, and therefore not of its hash. */
    @Test
    void aProgramWithAnotherSeedHasAnotherPlan() {
        Program program = new Program();
        program.global().put(VarDesc.of("y", VarType.dense(FLOAT32, 4)))
                .add(OpDesc.of("uniform_random").out("Out", "y").attr("shape", new long[]{4}).attr("min", 0f)
                        .attr("max", 1f)
                        .attr("seed", 0)
                        .attr("dtype", 5).build());
        float[] expected;
        try (Executor executor = Executor.builder().firstRun(1).build()) {
            expected = executor.run(program.copy().randomSeed(8), Map.of(), fetches("y")).get("y").toFloatArray();
        }
        try (Executor executor = Executor.on(Place.CPU)) {
            executor.run(program.randomSeed(7), Map.of(), fetches("y"));
            assertArrayEquals(expected,
                    executor.run(program.randomSeed(8), Map.of(), fetches("y")).get("y").toFloatArray());
        }
    }

    @Test
    void aPlanDoesNotSeeThatItsProgramChanges() {
        Program program = times(2, "copied");
        try (Executor executor = Executor.on(Place.CPU)) {
            Plan plan = executor.compile(program, feeds("x"), fetches("y"));
            program.global().set(0, OpDesc.of("scale").in("X", "x").out("Out", "y").attr("scale", 5f).build());
            assertArrayEquals(new float[]{6}, plan.run(Bits.floats(3)).get("y").toFloatArray());
        }
    }

    @Test
    void thePlanThatWasNotUsedForLongestGoes() {
        Program a = times(2, "a");
        Program b = times(3, "b");
        Program c = times(5, "c");
        try (Executor executor = Executor.builder().cachedPlans(2).build()) {
            assertEquals(2, run(executor, a, 1));
            assertEquals(3, run(executor, b, 1));
            assertEquals(2, run(executor, a, 1));
            assertEquals(5, run(executor, c, 1), "b goes");
            assertEquals(2, run(executor, a, 1));
            assertEquals(1, Probes.inferred("a"));
            assertEquals(1, Probes.inferred("b"));
            assertEquals(3, run(executor, b, 1), "c goes");
            assertEquals(2, Probes.inferred("b"));
            assertEquals(2, run(executor, a, 1));
            assertEquals(1, Probes.inferred("a"));
            assertEquals(1, Probes.inferred("c"));
        }
    }

    @Test
    void theShapesThatWereNotUsedForLongestGo() {
        try (Executor executor = Executor.builder().specialisations(2).build()) {
            Program program = times(2, "shapes");
            Plan plan = executor.compile(program, feeds("x"), fetches("y"));
            int[] sizes = {4, 7, 4, 4, 9, 4, 7, 4};
            int[] expected = {1, 2, 2, 2, 3, 3, 4, 4};
            for (int i = 0; i < sizes.length; i++) {
                Tensor x = Bits.normal(i, sizes[i]);
                assertEquals(2 * (float) x.getDouble(sizes[i] - 1),
                        (float) plan.run(x).get("y").getDouble(sizes[i] - 1));
                assertEquals(expected[i], Probes.inferred("shapes"), "after run " + i);
            }
        }
    }

    @Test
    void aShapeIsWorkedOutOnceForManyRuns() {
        try (Executor executor = Executor.on(Place.CPU)) {
            for (int i = 0; i < 50; i++) {
                run(executor, times(2, "many"), 1 + i % 3);
            }
            assertEquals(3, Probes.inferred("many"));
        }
    }

    /** Runs a new program, and returns a reference to an object that only this program and its plans keep reachable. */
    private static WeakReference<OpDesc> ran(Executor executor, float by, boolean once) {
        Program program = new Program();
        program.global().put(VarDesc.of("w", VarType.dense(FLOAT32, 1)).persistent())
                .add(OpDesc.of("fill_constant").out("Out", "w").attr("shape", new long[]{1}).attr("dtype", 5)
                        .attr("value", by).build());
        if (once) {
            executor.run(program);
        } else {
            executor.run(program, Map.of(), fetches("w"));
        }
        assertEquals(by, executor.scope().get("w").getDouble(0));
        return new WeakReference<>(program.global().ops().getFirst());
    }

    private static boolean isForgotten(WeakReference<?> reference) {
        for (int i = 0; i < 20 && reference.get() != null; i++) {
            System.gc();
        }
        return reference.get() == null;
    }

    @Test
    void whatIsNotKeptIsForgotten() {
        try (Executor executor = Executor.builder().cachedPlans(1).build()) {
            WeakReference<OpDesc> once = ran(executor, 1, true);
            WeakReference<OpDesc> kept = ran(executor, 2, false);
            assertFalse(isForgotten(kept), "the plan that was used last is kept");
            assertTrue(isForgotten(once), "a program that was run once");
            WeakReference<OpDesc> next = ran(executor, 3, false);
            assertTrue(isForgotten(kept), "a plan that went from the cache");
            assertFalse(isForgotten(next), "the plan that was used last is kept");
        }
    }

    /** Uses names that would collide if they were joined into one string. */
    @Test
    void feedsAndFetchesAreNotMixedUp() {
        Program program = new Program();
        for (String name : List.of("a", "b", "c", "a,b", "b,c")) {
            program.global().put(VarDesc.of(name, VarType.dense(FLOAT32, 1)));
        }
        program.global()
                .add(OpDesc.of("elementwise_add").in("X", "a").in("Y", "b").out("Out", "c").attr("axis", -1).build());
        Tensor one = Bits.floats(1);
        Tensor two = Bits.floats(2);
        try (Executor executor = Executor.on(Place.CPU)) {
            assertEquals(3, executor.run(program, Map.of("a", one, "b", two), fetches("c")).scalar("c"));
            String text = String.valueOf(
                    assertThrows(RuntimeException.class,
                            () -> executor.run(program, Map.of("a", one), fetches("b", "c"))).getMessage());
            assertTrue(text.contains("'b'"), "b is missing: " + text);
            Results all = executor.run(program, Map.of("a", one, "b", two), fetches("b", "c"));
            assertEquals(List.of("b", "c"), List.copyOf(all.all().keySet()));
            Results turned = executor.run(program, Map.of("a", one, "b", two), fetches("c", "b"));
            assertEquals(List.of("c", "b"), List.copyOf(turned.all().keySet()));
            assertThrows(RuntimeException.class, () -> executor.run(program, Map.of("a,b", one), fetches("c")));
            assertThrows(IllegalArgumentException.class,
                    () -> executor.run(program, Map.of("a", one, "b", two), fetches("b,c")));
            assertEquals(3, executor.run(program, Map.of("b", two, "a", one), fetches("c")).scalar("c"));
        }
    }

    @Test
    void orderOfFeedsIsThatOfThePlan() {
        Program program = new Program();
        for (String name : List.of("a", "b", "c")) {
            program.global().put(VarDesc.of(name, VarType.dense(FLOAT32, 1)));
        }
        program.global()
                .add(OpDesc.of("elementwise_sub").in("X", "a").in("Y", "b").out("Out", "c").attr("axis", -1).build());
        try (Executor executor = Executor.on(Place.CPU)) {
            assertEquals(-1, executor.compile(program, feeds("a", "b"), fetches("c"))
                    .run(Bits.floats(1), Bits.floats(2)).scalar("c"));
            assertEquals(1, executor.compile(program, feeds("b", "a"), fetches("c")).run(Bits.floats(1), Bits.floats(2))
                    .scalar("c"));
            String twice = String
                    .valueOf(assertThrows(IllegalArgumentException.class, () -> feeds("a", "b", "a")).getMessage());
            assertTrue(twice.contains("[a, b, a]"), twice);
        }
    }
}
