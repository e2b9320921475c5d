package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.ParameterFiles;
import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests persistable and temporary variables, derived from the reference system's tests. */
class ReferenceScopesTest {
    private static VarDesc kept(String name, long... dims) {
        return VarDesc.of(name, VarType.dense(FLOAT32, dims)).persistent();
    }

    private static VarDesc passing(String name, long... dims) {
        return VarDesc.of(name, VarType.dense(FLOAT32, dims));
    }

    private static OpDesc scale(String from, String to, float by) {
        return OpDesc.of("scale").in("X", from).out("Out", to).attr("scale", by).build();
    }

    @Test
    void twoProgramsShareTheVariablesOfOneExecutor() {
        Program writes = new Program();
        writes.global().put(kept("w", 2)).put(passing("x", 2)).add(scale("x", "w", 3));
        Program reads = new Program();
        reads.global().put(kept("w", 2)).put(passing("y", 2)).add(scale("w", "y", 10));
        try (Executor executor = Executor.on(Place.CPU); Executor other = Executor.on(Place.CPU)) {
            for (int i = 1; i <= 3; i++) {
                executor.run(writes, Map.of("x", Bits.floats(i, -i)), fetches());
                assertArrayEquals(new float[]{30 * i, -30 * i},
                        executor.run(reads, Map.of(), fetches("y")).get("y").toFloatArray());
            }
            String missing = String
                    .valueOf(assertThrows(RuntimeException.class, () -> other.run(reads, Map.of(), fetches("y")))
                            .getMessage());
            assertTrue(missing.contains("'w'"), "another executor has variables of its own: " + missing);
        }
    }

    @Test
    void temporariesDoNotReachTheRoot() {
        Network network = Network.define(2, g -> {
            Value x = g.data("x", FLOAT32, -1, 4);
            Value loss = g.linear(x, 3).relu().mean();
            g.minimize(loss, Adam.of(0.1));
            return Outputs.of("loss", loss);
        });
        String loss = network.outputs().get("loss").name();
        try (Executor executor = Executor.on(Place.CPU)) {
            executor.run(network.startup());
            executor.run(network.main(), Map.of("x", Bits.normal(1, 2, 4)), fetches(loss));
            List<String> persistables = network.main().persistables().stream().map(VarDesc::name).toList();
            assertEquals(List.copyOf(new TreeSet<>(persistables)), executor.scope().names());
            assertNull(executor.scope().find(loss));
            assertNull(executor.scope().find("x"));
            String none = String.valueOf(
                    assertThrows(IllegalArgumentException.class, () -> executor.scope().get(loss)).getMessage());
            assertTrue(none.contains("'" + loss + "'"), none);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void whatOutlivesRunsIsNeverFreed(int threads) {
        Program program = new Program();
        program.global().put(kept("w", 1000)).put(kept("idle", 1000)).put(passing("x", 1000)).put(passing("a", 1000))
                .add(OpDesc.of("elementwise_add").in("X", "w").in("Y", "x").out("Out", "a").attr("axis", -1).build());
        String last = "a";
        for (int i = 0; i < 40; i++) {
            String next = "t" + i;
            program.global().put(passing(next, 1000)).add(scale(last, next, i % 2 == 0 ? 2 : 0.5f));
            last = next;
        }
        Tensor w = Bits.normal(1, 1000);
        Tensor idle = Bits.normal(2, 1000);
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            executor.scope().set("w", Bits.copy(w)).set("idle", Bits.copy(idle));
            Plan plan = executor.compile(program, feeds("x"), fetches(last));
            Tensor first = plan.run(Bits.normal(3, 1000)).get(last);
            for (int i = 0; i < 3; i++) {
                Bits.assertSame(first, plan.run(Bits.normal(3, 1000)).get(last), "run " + i);
                Bits.assertSame(w, executor.scope().get("w"), "w after run " + i);
                Bits.assertSame(idle, executor.scope().get("idle"), "idle after run " + i);
            }
        }
    }

    @Test
    void aFetchedVariableOfTheScopeIsACopy() {
        Program program = new Program();
        program.global().put(kept("n", 1))
                .add(OpDesc.of("increment").in("X", "n").out("Out", "n").attr("step", 1f).build());
        try (Executor executor = Executor.on(Place.CPU)) {
            Tensor mine = Bits.floats(0);
            executor.scope().set("n", mine);
            Plan plan = executor.compile(program, feeds(), fetches("n"));
            Tensor one = plan.run().get("n");
            Tensor two = plan.run().get("n");
            assertEquals(1, one.getDouble(0));
            assertEquals(2, two.getDouble(0));
            assertEquals(2, executor.scope().get("n").getDouble(0));
        }
    }

    @Test
    void aPlanSeesWhatIsSetBetweenRuns() {
        Program program = new Program();
        program.global().put(kept("w", -1)).put(passing("y", -1)).add(scale("w", "y", 2));
        try (Executor executor = Executor.on(Place.CPU)) {
            Plan plan = executor.compile(program, feeds(), fetches("y"));
            executor.scope().set("w", Bits.floats(1, 2));
            assertArrayEquals(new float[]{2, 4}, plan.run().get("y").toFloatArray());
            executor.scope().set("w", Bits.floats(3, 4));
            assertArrayEquals(new float[]{6, 8}, plan.run().get("y").toFloatArray(), "another tensor");
            executor.scope().set("w", Bits.floats(5, 6, 7));
            assertArrayEquals(new float[]{10, 12, 14}, plan.run().get("y").toFloatArray(), "of another shape");
        }
    }

    @Test
    void aRunOnAChildScopeReadsTheRootAndWritesThere() {
        Program program = new Program();
        program.global().put(kept("n", 1)).put(passing("y", 1))
                .add(OpDesc.of("increment").in("X", "n").out("Out", "n").attr("step", 1f).build())
                .add(scale("n", "y", 10));
        try (Executor executor = Executor.on(Place.CPU)) {
            Plan plan = executor.compile(program, feeds(), fetches("y"));
            Scope root = new Scope().set("n", Bits.floats(1));
            Scope other = new Scope().set("n", Bits.floats(100));
            assertEquals(20, plan.run(root).scalar("y"));
            assertEquals(1010, plan.run(other).scalar("y"));
            assertEquals(30, plan.run(root.child()).scalar("y"), "a child sees what is above it");
            assertEquals(3, root.get("n").getDouble(0), "what outlives runs is in the root");
            assertEquals(101, other.get("n").getDouble(0));
            assertEquals(List.of(), executor.scope().names(), "the executor's own scope has no part in it");
        }
    }

    /** Returns a chain x → t0 → t1 → … → t9, each twice the previous value, so that memory is reused. */
    private static Program chain() {
        Program program = new Program();
        program.global().put(passing("x", -1));
        String last = "x";
        for (int i = 0; i < 10; i++) {
            program.global().put(passing("t" + i, -1)).add(scale(last, "t" + i, 2));
            last = "t" + i;
        }
        return program;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void whatIsKeptStaysAndWhatIsNotDoesNot(int threads) {
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            Scope scope = executor.scope().keep("t1", "t4", "no such variable");
            Plan plan = executor.compile(chain(), feeds("x"), fetches("t9"));
            Tensor before = null;
            for (int run = 1; run <= 2; run++) {
                assertEquals(1024 * run, plan.run(Bits.floats(run)).scalar("t9"));
                assertEquals(List.of("t1", "t4"), scope.names(), "run " + run);
                assertEquals(4 * run, scope.get("t1").getDouble(0), "run " + run);
                assertEquals(32 * run, scope.get("t4").getDouble(0), "run " + run);
                if (before != null) {
                    assertEquals(4, before.getDouble(0), "what one run has left, the next one does not touch");
                }
                before = scope.get("t1");
            }
            Scope other = new Scope();
            plan.run(other, Bits.floats(1));
            assertEquals(List.of(), other.names(), "another scope keeps nothing");
        }
    }

    @Test
    void whatIsKeptLater() {
        try (Executor executor = Executor.on(Place.CPU)) {
            Plan plan = executor.compile(chain(), feeds("x"), fetches("t9"));
            plan.run(Bits.floats(1, 2));
            assertNull(executor.scope().find("t3"));
            executor.scope().keep("t3");
            assertArrayEquals(new float[]{1024, 2048}, plan.run(Bits.floats(1, 2)).get("t9").toFloatArray());
            assertArrayEquals(new float[]{16, 32}, executor.scope().get("t3").toFloatArray());
        }
    }

    @Test
    void whatIsKeptOfALoop() {
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1);
            Value three = g.full(INT64, 3, 1);
            Value h = x.times(2);
            List<Value> loop = g.whileLoop(v -> List.of(v.getFirst().lessThan(three)),
                    v -> List.of(v.getFirst().plus(1), v.get(1).times(2)),
                    g.full(INT64, 0, 1), h);
            return Outputs.of("h", loop.get(1), "y", loop.get(1).plus(1), "i", loop.getFirst());
        });
        String h = network.outputs().get("h").name();
        String i = network.outputs().get("i").name();
        String y = network.outputs().get("y").name();
        try (Executor executor = Executor.on(Place.CPU)) {
            executor.scope().keep(h, i);
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(y));
            for (int run = 1; run <= 2; run++) {
                assertEquals(16 * run + 1, plan.run(Bits.floats(run)).scalar(y));
                assertEquals(16 * run, executor.scope().get(h).getDouble(0));
                assertEquals(3, executor.scope().get(i).getLong(0));
            }
        }
    }

    private static Network recurrent() {
        return Network.define(5, g -> {
            Value x = g.data("x", FLOAT32, 4, -1, 3);
            Value zeros = g.op("fill_constant_batch_size_like").in("Input", x).attr("shape", new long[]{-1, 6})
                    .attr("value", 0f)
                    .attr("dtype", 5).attr("input_dim_idx", 1).attr("output_dim_idx", 0).one("Out");
            List<Value> outputs = g.staticRnn(rnn -> {
                Value step = rnn.step(x);
                Value state = rnn.state(zeros);
                Value next = g.linear(g.concat(1, step, state), 6).tanh();
                rnn.update(state, next);
                rnn.output(next);
            });
            Value y = g.linear(outputs.getFirst(), 2);
            Value loss = y.square().mean();
            g.minimize(loss, Sgd.of(0.5));
            return Outputs.of("loss", loss, "y", y);
        });
    }

    private static void train(Executor executor, Network network, Tensor x) {
        String loss = network.outputs().get("loss").name();
        executor.run(network.startup());
        Plan step = executor.compile(network.main(), feeds("x"), fetches(loss));
        double before = step.run(x).scalar(loss);
        for (int i = 0; i < 5; i++) {
            step.run(x);
        }
        assertTrue(step.run(x).scalar(loss) < before, "it learns");
    }

    @Test
    void aRecurrentNetworkIsSavedAndLoaded(@TempDir Path folder) throws IOException {
        Network network = recurrent();
        String y = network.outputs().get("y").name();
        Tensor x = Bits.normal(3, 4, 2, 3);
        Program test = network.main().copyForTest();
        Tensor trained;
        try (Executor executor = Executor.on(Place.CPU)) {
            executor.run(network.startup());
            Tensor untrained = executor.run(test, Map.of("x", x), fetches(y)).get(y);
            train(executor, network, x);
            trained = executor.run(test, Map.of("x", x), fetches(y)).get(y);
            assertFalse(Bits.same(untrained, trained));
            ParameterFiles.writeCombined(folder.resolve("all.pdiparams"), network.main(), executor.scope()::find);
            ProgramFiles.write(folder.resolve("test.pdmodel"), test);
        }
        try (Executor executor = Executor.on(Place.CPU)) {
            executor.run(network.startup());
            ParameterFiles.readCombined(folder.resolve("all.pdiparams"), network.main()).forEach(executor.scope()::set);
            Program loaded = ProgramFiles.read(folder.resolve("test.pdmodel"));
            Bits.assertSame(trained, executor.run(loaded, Map.of("x", x), fetches(y)).get(y), "what was loaded");
        }
    }

    @Test
    void aRecurrentNetworkIsSavedAndLoadedForInference(@TempDir Path folder) throws IOException {
        Network network = recurrent();
        String y = network.outputs().get("y").name();
        Tensor x = Bits.normal(3, 4, 2, 3);
        Tensor trained;
        try (Executor executor = Executor.on(Place.CPU)) {
            train(executor, network, x);
            trained = executor.run(network.main().copyForTest(), Map.of("x", x), fetches(y)).get(y);
            InferenceModels.save(folder.resolve("model"), network.main(), List.of("x"), List.of(y),
                    executor.scope()::find);
        }
        try (Executor executor = Executor.on(Place.CPU);
                InferenceModels.InferenceModel model = InferenceModels.load(folder.resolve("model"))) {
            model.parameters().forEach(executor.scope()::set);
            String output = model.fetches().getFirst();
            Bits.assertSame(trained, executor.run(model.program(), Map.of("x", x), fetches(output)).get(output),
                    "what was loaded");
        }
    }

    @Test
    void aListStartsEmptyInEveryRun() {
        Network network = Network.define(g -> {
            Value count = g.data("count", INT64, 1);
            Value zero = g.full(INT64, 0, 1);
            Value list = g.op("write_to_array").in("X", g.full(FLOAT32, 7, 2)).in("I", zero).one("Out");
            g.whileLoop(v -> List.of(v.getFirst().lessThan(count)), v -> {
                g.op("write_to_array").in("X", v.getFirst().cast(FLOAT32).expand(2)).in("I", v.getFirst())
                        .to("Out", list).append();
                return List.of(v.getFirst().plus(1));
            }, g.full(INT64, 1, 1));
            Value length = g.op("lod_array_length").in("X", list).one("Out");
            return Outputs.of("length", length, "all",
                    g.op("tensor_array_to_tensor").in("X", list).attr("axis", 0).all("Out", "OutIndex").getFirst());
        });
        String length = network.outputs().get("length").name();
        String all = network.outputs().get("all").name();
        try (Executor executor = Executor.on(Place.CPU)) {
            Plan plan = executor.compile(network.main(), feeds("count"), fetches(length, all));
            for (int count : new int[]{4, 2, 1, 3}) {
                Results results = plan.run(Bits.longs(count));
                assertEquals(count, results.scalar(length));
                float[] values = results.get(all).toFloatArray();
                assertEquals(2 * count, values.length);
                assertEquals(count == 1 ? 7 : count - 1, values[values.length - 1]);
            }
        }
    }

    @Test
    void randomNumbersDifferFromRunToRunAndNotFromPlanToPlan() {
        Network network = Network.define(9, g -> Outputs.of("u", g.uniform(FLOAT32, 0, 1, 16)));
        String u = network.outputs().get("u").name();
        try (Executor executor = Executor.on(Place.CPU);
                Executor again = Executor.builder().threads(3).eager().build()) {
            Plan plan = executor.compile(network.main(), feeds(), fetches(u));
            Plan same = again.compile(network.main(), feeds(), fetches(u));
            Tensor first = plan.run().get(u);
            Tensor second = plan.run().get(u);
            assertNotEquals(first.getDouble(0), second.getDouble(0));
            Bits.assertSame(first, same.run().get(u), "first run");
            Bits.assertSame(second, same.run().get(u), "second run");
            assertEquals(16, Objects.requireNonNull(first).shape().size());
        }
    }
}
