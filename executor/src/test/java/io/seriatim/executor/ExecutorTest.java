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
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.optimizer.Clip;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExecutorTest {
    private static Tensor numbers(long seed, long... dims) {
        Random random = new Random(seed);
        long size = 1;
        for (long dim : dims) {
            size *= dim;
        }
        float[] values = new float[Math.toIntExact(size)];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return Tensor.of(values, dims);
    }

    private static Network classifier() {
        return Network.define(3, g -> {
            Value x = g.data("x", FLOAT32, -1, 20);
            Value y = g.data("y", INT64, -1, 1);
            Value logits = g.linear(g.linear(x, 16).relu(), 5);
            Value loss = g.softmaxCrossEntropy(logits, y).mean();
            g.minimize(loss, Adam.of(0.01).clip(Clip.globalNorm(1)));
            return Outputs.of("loss", loss, "logits", logits);
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void trainsAsTheInterpreterDoesToTheBit(int threads) {
        Network network = classifier();
        String loss = network.outputs().get("loss").name();
        Interpreter interpreter = Interpreter.of(Kernels.system());
        interpreter.run(network.startup(), Map.of(), List.of());
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            executor.run(network.startup());
            Plan step = executor.compile(network.main(), feeds("x", "y"), fetches(loss));
            for (int i = 0; i < 12; i++) {
                // The last batch is smaller.
                int rows = i == 11 ? 3 : 8;
                Tensor x = numbers(i, rows, 20);
                Tensor y = Tensor.of(new Random(i).longs(rows, 0, 5).toArray(), rows, 1);
                double expected = Objects
                        .requireNonNull(
                                interpreter.run(network.main(), Map.of("x", x, "y", y), List.of(loss)).get(loss))
                        .getDouble();
                assertEquals(expected, step.run(x, y).scalar(loss), "step " + i);
            }
        }
    }

    @Test
    void manyThreadsRunOnePlan() throws InterruptedException {
        Network network = Network.define(1, g -> {
            Value x = g.data("x", FLOAT32, -1, 6);
            return Outputs.of("y", g.linear(g.linear(x, 32).tanh(), 4).softmax(-1));
        });
        String y = network.outputs().get("y").name();
        try (Executor executor = Executor.on(Place.CPU)) {
            executor.run(network.startup());
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(y));
            float[][] expected = new float[8][];
            for (int i = 0; i < 8; i++) {
                expected[i] = plan.run(numbers(i, 1 + i % 3, 6)).get(y).toFloatArray();
            }
            List<Thread> threads = new ArrayList<>();
            List<String> wrong = Collections.synchronizedList(new ArrayList<>());
            for (int t = 0; t < 4; t++) {
                int first = t;
                threads.add(Thread.ofPlatform().start(() -> {
                    for (int i = 0; i < 200; i++) {
                        int which = (first + i) % 8;
                        if (!Arrays.equals(expected[which],
                                plan.run(numbers(which, 1 + which % 3, 6)).get(y).toFloatArray())) {
                            wrong.add("thread " + first + ", run " + i);
                        }
                    }
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertEquals(List.of(), wrong);
        }
    }

    @Test
    void branchesAndLoopsRun() {
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, 2);
            Value branch = g.ifElse(x.sum().greaterThan(0), () -> x.times(2), () -> x.minus(1));
            Value i = g.full(INT64, 0, 1);
            Value last = g.full(INT64, 5, 1);
            List<Value> loop = g.whileLoop(v -> List.of(v.get(0).lessThan(last)),
                    v -> List.of(v.get(0).plus(1), v.get(1).plus(1)), i,
                    branch.assign());
            return Outputs.of("y", loop.get(1));
        });
        String y = network.outputs().get("y").name();
        try (Executor executor = Executor.on(Place.CPU)) {
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(y));
            assertArrayEquals(new float[]{7, 9}, plan.run(Tensor.of(new float[]{1, 2}, 2)).get(y).toFloatArray());
            assertArrayEquals(new float[]{3, 2}, plan.run(Tensor.of(new float[]{-1, -2}, 2)).get(y).toFloatArray());
        }
    }

    @Test
    void whatIsFetchedBelongsToTheCaller() {
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, 2);
            Value y = g.linear(x.reshape(1, 2), 2);
            g.minimize(y.mean(), Sgd.of(1));
            return Outputs.of("y", y);
        });
        String y = network.outputs().get("y").name();
        try (Executor executor = Executor.on(Place.CPU)) {
            executor.run(network.startup());
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(y, "linear_0.w_0"));
            Results first = plan.run(numbers(1, 2));
            float[] weights = first.get("linear_0.w_0").toFloatArray();
            float[] before = first.get(y).toFloatArray();
            plan.run(numbers(2, 2));
            assertArrayEquals(weights, first.get("linear_0.w_0").toFloatArray());
            assertArrayEquals(before, first.get(y).toFloatArray());
        }
    }

    @Test
    void saysWhatIsWrong() {
        Network network = classifier();
        String loss = network.outputs().get("loss").name();
        try (Executor executor = Executor.builder().nanCheck().build()) {
            executor.run(network.startup());
            Plan plan = executor.compile(network.main(), feeds("x", "y"), fetches(loss));
            Tensor y = Tensor.of(new long[]{1}, 1, 1);
            String shape = String.valueOf(
                    assertThrows(IllegalArgumentException.class, () -> plan.run(numbers(1, 1, 21), y)).getMessage());
            assertTrue(shape.contains("Feed 'x' must be float32[-1, 20]"), shape);
            String count = String.valueOf(assertThrows(IllegalArgumentException.class, () -> plan.run(y)).getMessage());
            assertTrue(count.contains("[x, y]"), count);
            Tensor bad = numbers(1, 1, 20);
            float[] values = bad.toFloatArray();
            values[3] = Float.NaN;
            ProgramFailedException nan = assertThrows(ProgramFailedException.class,
                    () -> plan.run(Tensor.of(values, 1, 20), y));
            assertEquals("matmul_v2", nan.operation());
            assertTrue(String.valueOf(nan.getMessage()).contains("NaN"), nan.getMessage());
            assertTrue(Double.isFinite(plan.run(bad, y).scalar(loss)), "the next run works");
        }
    }
}
