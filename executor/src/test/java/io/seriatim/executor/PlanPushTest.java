package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.engine.Engine;
import io.seriatim.engine.Lane;
import io.seriatim.engine.OperationFailedException;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.array.NDArray;
import io.seriatim.tensor.array.NDArrays;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Pushes runs of plans on an engine, between operations on arrays. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class PlanPushTest {
    private static final long SEED = 7;
    private static final String WEIGHTS = "linear_0.w_0";

    /** The kinds of engines. */
    enum Kind {
        CREATE, NAIVE, POOLED_1, POOLED_3, PER_DEVICE, SHUFFLED_1, SHUFFLED_2;

        Engine open() {
            return switch (this) {
                case CREATE -> Engine.create();
                case NAIVE -> Engine.builder().naive().build();
                case POOLED_1 -> Engine.builder().pooled(1).build();
                case POOLED_3 -> Engine.builder().pooled(3).checked(true).build();
                case PER_DEVICE -> Engine.builder().perDevice().workers(Lane.CPU, 2).checked(true).build();
                case SHUFFLED_1 -> Engine.builder().shuffled(SEED).build();
                case SHUFFLED_2 -> Engine.builder().shuffled(SEED + 1).checked(true).build();
            };
        }
    }

    /** Returns a network for one training step, with the loss before the step and the weights after it. */
    private static Network training() {
        return Network.define(3, g -> {
            Value x = g.data("x", FLOAT32, -1, 3);
            Value y = g.data("y", FLOAT32, -1, 2);
            Value loss = g.linear(x, 2).tanh().minus(y).square().mean();
            g.minimize(loss, Sgd.of(0.5));
            return Outputs.of("loss", loss);
        });
    }

    /** Returns a network that depends on the weights and looks up rows, which can fail. */
    private static Network looking() {
        return Network.define(g -> {
            Value table = g.data("table", FLOAT32, -1, 2);
            Value which = g.data("which", INT64, -1);
            return Outputs.of("rows", table.gather(which, 0));
        });
    }

    private static float[] numbers(long seed, int count) {
        Random random = new Random(seed);
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return values;
    }

    private static float[] halved(float[] values) {
        float[] halves = new float[values.length];
        for (int i = 0; i < values.length; i++) {
            halves[i] = values[i] * 0.5f;
        }
        return halves;
    }

    @ParameterizedTest
    @EnumSource
    void stepsAmongArrayOperationsGiveWhatRunsGive(Kind kind) throws InterruptedException {
        Network network = training();
        String loss = network.outputs().get("loss").name();
        for (int threads : new int[]{1, 2}) {
            try (Engine engine = kind.open(); Executor executor = Executor.builder().threads(threads).eager().build()) {
                executor.run(network.startup());
                Plan plan = executor.compile(network.main(), feeds("x", "y"), fetches(loss, WEIGHTS));
                Scope pushed = copy(executor.scope());
                NDArrays nd = NDArrays.on(engine);
                NDArray x = nd.zeros(4, 3);
                NDArray lossArray = nd.zeros();
                NDArray weights = nd.zeros(3, 2);
                NDArray losses = nd.zeros(6);
                NDArray history = nd.zeros(6, 3, 2);
                float[] expectedLosses = new float[6];
                List<Float> expectedHistory = new ArrayList<>();
                for (int i = 0; i < 6; i++) {
                    float[] values = numbers(SEED + i, 12);
                    float[] wanted = numbers(SEED + 100 + i, 8);
                    // The feed and the outputs are computed before the run and overwritten after it.
                    x.copyFrom(values).multiplyAssign(0.5);
                    NDArray y = nd.of(wanted, 4, 2);
                    plan.push(engine, pushed, Map.of("x", x, "y", y), Map.of(loss, lossArray, WEIGHTS, weights));
                    x.fill(-1);
                    y.close();
                    losses.select(0, i).copyFrom(lossArray);
                    history.select(0, i).copyFrom(weights);
                    Results results = plan.run(Tensor.of(halved(values), 4, 3), Tensor.of(wanted, 4, 2));
                    expectedLosses[i] = (float) results.scalar(loss);
                    for (float weight : results.get(WEIGHTS).toFloatArray()) {
                        expectedHistory.add(weight);
                    }
                }
                assertArrayEquals(expectedLosses, losses.toArray(), () -> kind + " with seed " + SEED);
                float[] actual = history.toArray();
                for (int i = 0; i < actual.length; i++) {
                    assertEquals(expectedHistory.get(i), actual[i], "weight " + i);
                }
                engine.waitToRead(pushed.var());
                assertArrayEquals(executor.scope().get(WEIGHTS).toFloatArray(), pushed.get(WEIGHTS).toFloatArray());
            }
        }
    }

    private static Scope copy(Scope scope) {
        Scope copy = new Scope();
        for (String name : scope.names()) {
            Tensor tensor = scope.get(name);
            copy.set(name, Tensor.of(tensor.dtype(), tensor.toDoubleArray(), tensor.shape().dims()));
        }
        return copy;
    }

    @ParameterizedTest
    @EnumSource
    void runsOfOneScopeKeepPushOrder(Kind kind) throws InterruptedException {
        try (Engine engine = kind.open(); Executor executor = Executor.builder().build()) {
            Plan plus = executor.compile(changing(1, 1), feeds(), fetches());
            Plan times = executor.compile(changing(2, 0), feeds(), fetches("n"));
            Scope scope = new Scope().set("n", Tensor.of(new float[]{1}, 1));
            NDArrays nd = NDArrays.on(engine);
            NDArray n = nd.zeros(1);
            Random random = new Random(SEED);
            float expected = 1;
            for (int i = 0; i < 20; i++) {
                if (random.nextBoolean()) {
                    plus.push(engine, scope.child(), Map.of(), Map.of());
                    expected += 1;
                } else {
                    times.push(engine, scope, Map.of(), Map.of("n", n));
                    expected *= 2;
                }
            }
            times.push(engine, scope, Map.of(), Map.of("n", n));
            assertArrayEquals(new float[]{2 * expected}, n.toArray(), () -> "seed " + SEED);
        }
    }

    /** Returns a program that replaces n by factor · n + summand. */
    private static Program changing(double factor, double summand) {
        Program program = new Program();
        program.global().put(VarDesc.of("n", VarType.dense(FLOAT32, 1)).persistent());
        program.global()
                .add(OpDesc.of("scale").in("X", "n").out("Out", "n").attr("scale", (float) factor)
                        .attr("bias", (float) summand).build());
        return program;
    }

    private static String message(NDArray array) {
        OperationFailedException failure = assertThrows(OperationFailedException.class, array::toArray);
        return String.valueOf(failure.getMessage());
    }

    @ParameterizedTest
    @EnumSource
    void aFailureFailsOutputsAndScopeUntilTheyAreHealed(Kind kind) throws InterruptedException {
        Network network = looking();
        String rows = network.outputs().get("rows").name();
        network.main().global().put(VarDesc.of("n", VarType.dense(FLOAT32, 1)).persistent());
        network.main().global().add(OpDesc.of("scale").in("X", "n").out("Out", "n").attr("scale", 2f).build());
        try (Engine engine = kind.open(); Executor executor = Executor.builder().build()) {
            Plan plan = executor.compile(network.main(), feeds("table", "which"), fetches(rows));
            Scope scope = new Scope().set("n", Tensor.of(new float[]{1}, 1));
            NDArrays nd = NDArrays.on(engine);
            NDArray table = nd.of(new float[]{1, 2, 3, 4, 5, 6}, 3, 2);
            NDArray good = nd.of(new long[]{2, 0});
            NDArray outside = nd.of(new long[]{2, 3});
            NDArray out = nd.zeros(2, 2);
            NDArray other = nd.zeros(2, 2);
            plan.push(engine, scope, Map.of("table", table, "which", outside), Map.of(rows, out));
            plan.push(engine, scope, Map.of("table", table, "which", good), Map.of(rows, other));
            NDArray after = out.add(1);
            String why = message(out);
            assertTrue(why.contains("run of a plan") && why.contains("(gather") && why.contains("3"), why);
            assertTrue(message(after).contains("(gather"), "what is computed from it");
            assertTrue(message(other).contains("(gather"), "a later run of the scope is skipped");
            Throwable failure = assertThrows(OperationFailedException.class, () -> engine.waitToRead(scope.var()));
            Throwable request = assertInstanceOf(BadRequestException.class, failure.getCause());
            assertEquals("gather", assertInstanceOf(ProgramFailedException.class, request.getCause()).operation());
            assertArrayEquals(new float[]{1, 2, 3, 4, 5, 6}, table.toArray(), "feeds are as they were");
            engine.clearFailure(scope.var());
            Tensor kept = scope.get("n");
            float before = kept.toFloatArray()[0];
            plan.push(engine, scope, Map.of("table", table, "which", good), Map.of(rows, out));
            assertArrayEquals(new float[]{5, 6, 1, 2}, out.toArray(), "overwriting heals");
            engine.waitToRead(scope.var());
            assertEquals(2 * before, scope.get("n").toFloatArray()[0]);
        }
    }

    @ParameterizedTest
    @EnumSource
    void afterAFailedArrayOperationThePlanIsSkipped(Kind kind) throws InterruptedException {
        try (Engine engine = kind.open(); Executor executor = Executor.builder().build()) {
            Network network = looking();
            String rows = network.outputs().get("rows").name();
            Plan plan = executor.compile(network.main(), feeds("table", "which"), fetches(rows));
            Scope scope = new Scope();
            NDArrays nd = NDArrays.on(engine);
            NDArray broken = nd.of(new float[]{1, 2}, 1, 2).gather(nd.of(new long[]{4}, 1), 0);
            NDArray out = nd.zeros(1, 2);
            plan.push(engine, scope, Map.of("table", broken, "which", nd.of(new long[]{0}, 1)), Map.of(rows, out));
            assertTrue(message(out).contains("'gather'"), message(out));
            assertInstanceOf(OperationFailedException.class, engine.failure(scope.var()));
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatDoesNotFitIsRefusedOrFailsTheRun(Kind kind) throws InterruptedException {
        Network network = training();
        String loss = network.outputs().get("loss").name();
        try (Engine engine = kind.open(); Executor executor = Executor.builder().build()) {
            executor.run(network.startup());
            Plan plan = executor.compile(network.main(), feeds("x", "y"), fetches(loss));
            NDArrays nd = NDArrays.on(engine);
            NDArray y = nd.zeros(2, 2);
            Scope one = copy(executor.scope());
            NDArray out = nd.zeros();
            NDArray other = nd.zeros(2, 4);
            String refused = String.valueOf(assertThrows(BadRequestException.class,
                    () -> plan.push(engine, one, Map.of("x", other, "y", y), Map.of(loss, out))).getMessage());
            assertTrue(refused.contains("Feed 'x' must be float32[-1, 3]"), refused);
            Scope two = copy(executor.scope());
            NDArray wide = nd.zeros(2);
            plan.push(engine, two, Map.of("x", nd.zeros(2, 3), "y", y), Map.of(loss, wide));
            assertTrue(message(wide).contains("The result '" + loss + "' is float32"), message(wide));
        }
    }

    @Test
    void acceleratorsFeedAndGetResultsByCopies() throws InterruptedException {
        Network network = looking();
        String rows = network.outputs().get("rows").name();
        try (Devices devices = Devices.builder().build();
                Engine engine = Engine.builder().workers(Lane.CPU, 2).build();
                Executor executor = Executor.builder().build()) {
            Plan plan = executor.compile(network.main(), feeds("table", "which"), fetches(rows));
            NDArrays nd = NDArrays.on(engine, devices);
            NDArrays there = nd.at(Place.sim(0));
            Scope scope = new Scope();
            for (int i = 0; i < 20; i++) {
                NDArray table = there.of(numbers(SEED + i, 6), 3, 2).multiply(2);
                NDArray out = i % 2 == 0 ? there.zeros(2, 2) : nd.at(Place.sim(1)).zeros(3, 2).slice(0, 1, 3);
                plan.push(engine, scope, List.of(table, nd.of(new long[]{2, 1})), List.of(out));
                table.fill(0);
                float[] expected = numbers(SEED + i, 6);
                assertArrayEquals(new float[]{2 * expected[4], 2 * expected[5], 2 * expected[2], 2 * expected[3]},
                        out.toArray());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void feedsAndOutputsMayBeViewsOfOneArray(Kind kind) throws InterruptedException {
        Network network = looking();
        String rows = network.outputs().get("rows").name();
        try (Engine engine = kind.open(); Executor executor = Executor.builder().build()) {
            Plan plan = executor.compile(network.main(), feeds("table", "which"), fetches(rows));
            NDArrays nd = NDArrays.on(engine);
            NDArray base = nd.of(new float[]{1, 2, 3, 4, 5, 6}, 2, 3);
            NDArray table = base.transpose(1, 0);
            NDArray which = nd.of(new long[]{2, 0, 1});
            plan.push(engine, new Scope(), Map.of("table", table, "which", which), Map.of(rows, table));
            assertArrayEquals(new float[]{3, 1, 2, 6, 4, 5}, base.toArray());
        }
    }

    @Test
    void pushingDoesNotWait() throws InterruptedException {
        Network network = looking();
        String rows = network.outputs().get("rows").name();
        CountDownLatch go = new CountDownLatch(1);
        try (Engine engine = Engine.builder().workers(Lane.CPU, 2).build();
                Executor executor = Executor.builder().build()) {
            Plan plan = executor.compile(network.main(), feeds("table", "which"), fetches(rows));
            NDArrays nd = NDArrays.on(engine);
            NDArray table = nd.zeros(2, 2);
            NDArray out = nd.zeros(1, 2);
            nd.waitForAll();
            long before = out.var().version();
            nd.push("late", List.of(), List.of(table), (_, writes) -> {
                go.await();
                writes.getFirst().memory().fill((byte) 0);
            });
            Scope scope = new Scope();
            plan.push(engine, scope, Map.of("table", table, "which", nd.of(new long[]{0}, 1)), Map.of(rows, out));
            assertEquals(before, out.var().version());
            assertEquals(0, scope.var().version());
            go.countDown();
            assertArrayEquals(new float[]{0, 0}, out.toArray());
            assertEquals(1, scope.var().version());
        }
    }

    @ParameterizedTest
    @EnumSource
    void theEndOfAReaderIsTheFailure(Kind kind) throws InterruptedException {
        Network network = Network.define(
                g -> Outputs.of("y",
                        g.reader("data", Map.of("x", VarType.TensorType.of(FLOAT32, -1))).getFirst().times(2)));
        String y = network.outputs().get("y").name();
        try (Engine engine = kind.open();
                Executor executor = Executor.builder().build();
                Reader reader = Reader.builder(new NumberSource(2)).engine(engine).build()) {
            Plan plan = executor.compile(network.main(), feeds(), fetches(y));
            Scope scope = new Scope().set("data", reader);
            NDArrays nd = NDArrays.on(engine);
            List<NDArray> outs = List.of(nd.zeros(1), nd.zeros(1), nd.zeros(1));
            outs.forEach(out -> plan.push(engine, scope, Map.of(), Map.of(y, out)));
            assertArrayEquals(new float[]{0}, outs.get(0).toArray());
            assertArrayEquals(new float[]{2}, outs.get(1).toArray());
            OperationFailedException end = assertThrows(OperationFailedException.class, outs.get(2)::toArray);
            assertInstanceOf(EndOfDataException.class, end.getCause());
            engine.clearFailure(scope.var());
            plan.push(engine, scope, Map.of(), Map.of(y, outs.get(2)));
            assertArrayEquals(new float[]{200}, outs.get(2).toArray());
        }
    }

    @Test
    void saysWhatIsWrongAtTheCall() {
        Network network = looking();
        String rows = network.outputs().get("rows").name();
        try (Engine engine = Engine.create();
                Engine second = Engine.create();
                Executor executor = Executor.builder().build()) {
            Plan plan = executor.compile(network.main(), feeds("table", "which"), fetches(rows));
            NDArrays nd = NDArrays.on(engine);
            NDArray table = nd.zeros(2, 2);
            NDArray which = nd.of(new long[]{0}, 1);
            NDArray out = nd.zeros(1, 2);
            Map<String, NDArray> feeds = Map.of("table", table, "which", which);
            Scope scope = new Scope();
            assertThrows(IllegalStateException.class, scope::var);
            refused(() -> plan.push(engine, scope, Map.of("table", table), Map.of()), "none is given for 'which'");
            refused(() -> plan.push(engine, scope, Map.of("table", table, "which", which, "z", out), Map.of()),
                    "compile the plan with these feeds", "[z]");
            refused(() -> plan.push(engine, scope, feeds, Map.of("table", out)),
                    "compile the plan with these fetches", "[table]");
            refused(() -> plan.push(second, scope, feeds, Map.of(rows, out)), "another engine", "'table'");
            refused(() -> plan.push(engine, scope, List.of(table), List.of(out)), "[table, which]", "1 and 1");
            refused(() -> plan.push(engine, scope, List.of(table, which), List.of()), "[" + rows + "]", "2 and 0");
            NDArray foreign = NDArrays.on(second).zeros(1, 2);
            refused(() -> plan.push(engine, scope, feeds, Map.of(rows, foreign)), "another engine", rows);
            assertThrows(IllegalStateException.class, scope::var, "a push that was refused binds nothing");
            plan.push(engine, scope, feeds, Map.of(rows, out));
            assertSame(scope.var(), scope.child().var(engine));
            assertSame(scope.var(), scope.child().child().var());
            refused(() -> scope.var(second), "one engine", "another scope");
            NDArray closed = nd.zeros(1, 2);
            closed.close();
            String message = String
                    .valueOf(assertThrows(IllegalStateException.class,
                            () -> plan.push(engine, scope, feeds, Map.of(rows, closed)))
                            .getMessage());
            assertTrue(message.contains("closed"), message);
            assertNull(engine.failure(scope.var()));
        }
    }

    private static void refused(Runnable call, String... parts) {
        String message = String.valueOf(assertThrows(IllegalArgumentException.class, call::run).getMessage());
        for (String part : parts) {
            assertTrue(message.contains(part), () -> "no '" + part + "' in: " + message);
        }
    }
}
