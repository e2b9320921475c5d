package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.executor.ir.Task;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Offsets of sequences go with values through programs, also through loops, branches and lists. */
class LodTest {
    private static final Tensor X = Tensor.of(new float[]{1, 2, 4, 8, 16, 32}, 6, 1);

    private static Value pool(Graph g, Value x) {
        return g.op("sequence_pool").in("X", x).attr("pooltype", "SUM").all("Out", "MaxIndex").getFirst();
    }

    private static Value reset(Graph g, Value x, int... offsets) {
        return g.op("lod_reset").in("X", x).attr("target_lod", offsets).one("Out");
    }

    private static Network network(UnaryOperator<Value> body) {
        return Network.define(g -> Outputs.of("y", body.apply(g.data("x", FLOAT32, -1, 1))));
    }

    /** The fetched result of a program, the same by the interpreter and by a plan that is run twice. */
    private static Tensor run(Network network, Map<String, Tensor> in) {
        String y = network.outputs().get("y").name();
        Tensor expected = Objects
                .requireNonNull(Interpreter.of(Kernels.portable()).run(network.main(), in, List.of(y)).get(y));
        try (Executor executor = Executor.on(Place.CPU)) {
            List<String> names = in.keySet().stream().sorted().toList();
            Plan plan = executor.compile(network.main(), feeds(names.toArray(String[]::new)), fetches(y));
            for (int i = 0; i < 2; i++) {
                Tensor actual = plan.run(names.stream().map(in::get).toArray(Tensor[]::new)).get(y);
                assertArrayEquals(expected.toFloatArray(), actual.toFloatArray());
                assertEquals(expected.shape(), actual.shape());
                assertEquals(expected.lod(), actual.lod());
            }
            return expected;
        }
    }

    private static void check(Network network, Tensor x, Lod lod, float... expected) {
        Tensor y = run(network, Map.of("x", x));
        assertArrayEquals(expected, y.toFloatArray());
        assertEquals(lod, y.lod());
    }

    @Test
    void sequencesOfFeedsAreUsed() {
        Network network = Network.define(g -> Outputs.of("y", pool(g, g.data("x", FLOAT32, -1, 1).relu())));
        check(network, X.withLod(new long[]{0, 2, 6}), Lod.NONE, 3, 60);
        check(network, X.withLod(new long[]{0, 5, 5, 6}), Lod.NONE, 31, 0, 32);
        check(network, X.withLod(new long[]{0, 1, 3}, new long[]{0, 1, 4, 6}), Lod.of(new long[]{0, 1, 3}), 1, 14,
                48);
    }

    @Test
    void offsetsOfFeedsReachFetches() {
        check(network(x -> x.relu().plus(1)), X.withLod(new long[]{0, 4, 6}), Lod.of(new long[]{0, 4, 6}), 2, 3, 5, 9,
                17, 33);
        check(network(Value::mean), X.withLod(new long[]{0, 4, 6}), Lod.NONE, 10.5f);
        check(network(x -> x.plus(1)), X, Lod.NONE, 2, 3, 5, 9, 17, 33);
    }

    @Test
    void onePlanServesDifferentOffsets() {
        Network network = Network.define(g -> Outputs.of("y", pool(g, g.data("x", FLOAT32, -1, 1))));
        String y = network.outputs().get("y").name();
        try (Executor executor = Executor.on(Place.CPU)) {
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(y));
            assertArrayEquals(new float[]{3, 60}, plan.run(X.withLod(new long[]{0, 2, 6})).get(y).toFloatArray());
            assertArrayEquals(new float[]{7, 56}, plan.run(X.withLod(new long[]{0, 3, 6})).get(y).toFloatArray());
            assertTrue(plan.specialisation(executor.scope(), X.withLod(new long[]{0, 3, 6})).tasks().stream()
                    .noneMatch(Task.Interpreted.class::isInstance), "the number of sequences is known");
        }
    }

    @Test
    void loopsChangeOffsets() {
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1, 1);
            Value two = g.full(INT64, 2, 1);
            List<Value> loop = g.whileLoop(v -> List.of(v.getFirst().lessThan(two)),
                    // The sums of the offsets before the loop, then of those of the first step.
                    v -> {
                        Value before = v.get(1).relu();
                        Value after = reset(g, v.get(1), 0, 1, 6);
                        return List.of(v.getFirst().plus(1), after, v.get(2).plus(pool(g, before)));
                    }, g.full(INT64, 0, 1), x.times(1), pool(g, x).times(0));
            return Outputs.of("y", loop.get(2).plus(pool(g, loop.get(1))));
        });
        check(network, X.withLod(new long[]{0, 2, 6}), Lod.NONE, 3 + 1 + 1, 60 + 62 + 62);
    }

    @Test
    void branchesChangeOffsets() {
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1, 1);
            Value chosen = g.ifElse(x.sum().lessThan(g.full(FLOAT32, 100)), () -> reset(g, x, 0, 1, 6),
                    () -> x.times(2));
            return Outputs.of("y", pool(g, chosen));
        });
        check(network, X.withLod(new long[]{0, 2, 6}), Lod.NONE, 1, 62);
        check(network, Tensor.of(new float[]{1, 2, 4, 8, 16, 320}, 6, 1).withLod(new long[]{0, 2, 6}), Lod.NONE, 6,
                696);
    }

    @Test
    void listsKeepOffsets() {
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1, 1);
            Value zero = g.full(INT64, 0, 1);
            Value one = g.full(INT64, 1, 1);
            Value list = g.op("write_to_array").in("X", x).in("I", zero).one("Out");
            g.op("write_to_array").in("X", reset(g, x, 0, 6)).in("I", one).to("Out", list).append();
            Value first = g.op("read_from_array").in("X", list).in("I", zero).one("Out");
            Value second = g.op("read_from_array").in("X", list).in("I", one).one("Out");
            return Outputs.of("y", pool(g, first).plus(pool(g, second)));
        });
        check(network, X.withLod(new long[]{0, 2, 6}), Lod.NONE, 66, 123);
    }

    @Test
    void offsetsOfTheScopeAreUsed() {
        Network network = Network.define(g -> {
            g.main().global().put(VarDesc.of("kept", VarType.dense(FLOAT32, 6, 1)).persistent());
            return Outputs.of("y", pool(g, g.var("kept")));
        });
        String y = network.outputs().get("y").name();
        try (Executor executor = Executor.on(Place.CPU)) {
            Plan plan = executor.compile(network.main(), feeds(), fetches(y));
            executor.scope().set("kept", X.withLod(new long[]{0, 2, 6}));
            assertArrayEquals(new float[]{3, 60}, plan.run().get(y).toFloatArray());
            executor.scope().set("kept", X.withLod(new long[]{0, 5, 6}));
            assertArrayEquals(new float[]{31, 32}, plan.run().get(y).toFloatArray());
        }
    }

    @Test
    void gradientsOfLoopsUseTheOffsetsOfTheirSteps() {
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1, 1).wantGradient();
            Value two = g.full(INT64, 2, 1);
            List<Value> loop = g.whileLoop(v -> List.of(v.getFirst().lessThan(two)),
                    v -> {
                        Value scaled = v.get(1).times(3);
                        Value sums = pool(g, scaled);
                        return List.of(v.getFirst().plus(1), reset(g, scaled, 0, 1, 6),
                                v.get(2).plus(sums.times(sums)));
                    }, g.full(INT64, 0, 1), x.times(1), pool(g, x).times(0));
            return Outputs.of("y", Objects
                    .requireNonNull(g.gradients(List.of(loop.get(2).sum()), List.of(x)).getFirst()));
        });
        // 3x is summed in the first step by [0, 2, 6], 9x in the second by [0, 1, 6].
        check(network, X.withLod(new long[]{0, 2, 6}), Lod.of(new long[]{0, 2, 6}), 54 + 162, 54 + 62 * 162,
                60 * 18 + 62 * 162, 60 * 18 + 62 * 162, 60 * 18 + 62 * 162, 60 * 18 + 62 * 162);
    }

    @Test
    void requestsWithOffsetsAreRunAlone() {
        Network network = Network.define(g -> Outputs.of("y", pool(g, g.data("x", FLOAT32, -1, 1))));
        String y = network.outputs().get("y").name();
        try (Executor executor = Executor.on(Place.CPU)) {
            RequestBatcher batcher = RequestBatcher.of(executor.compile(network.main(), feeds("x"), fetches(y)), 64, 1);
            assertArrayEquals(new float[]{3, 60},
                    batcher.run(X.withLod(new long[]{0, 2, 6})).get(y).toFloatArray());
        }
    }

    @Test
    void missingOffsetsAreNamed() {
        Network network = Network.define(g -> Outputs.of("y", pool(g, g.data("x", FLOAT32, -1, 1))));
        String y = network.outputs().get("y").name();
        try (Executor executor = Executor.on(Place.CPU)) {
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(y));
            String message = String
                    .valueOf(assertThrows(ProgramFailedException.class, () -> plan.run(X)).getMessage());
            assertTrue(message.contains("sequence_pool") && message.contains("X must be divided into sequences"),
                    message);
        }
        assertThrows(IllegalArgumentException.class, () -> X.withLod(new long[]{0, 4}));
    }
}
