package io.seriatim.executor.pass;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.executor.Bits;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.ImagePasses;
import io.seriatim.executor.Pass;
import io.seriatim.executor.Results;
import io.seriatim.executor.ir.Stage;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Copy;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** What concatenations have in common is copied from the first one. */
class SharedConcatenationsTest {
    private static final long SEED = 20261127;

    private static boolean isCopy(Stage stage) {
        return stage.computation() instanceof Copy;
    }

    private static Value concat(Graph g, int axis, List<Value> parts) {
        return g.concat(axis, parts.toArray(Value[]::new));
    }

    /** Every layer reads the results of all before it. */
    private static Network dense(int layers, boolean newestFirst) {
        return Network.define(3, g -> {
            List<Value> all = new ArrayList<>(List.of(g.data("x", DType.FLOAT32, -1, 5, 6, 7)));
            for (int i = 0; i < layers; i++) {
                Value whole = all.size() == 1 ? all.getFirst() : concat(g, 1, newestFirst ? all.reversed() : all);
                all.add(g.conv2d(whole.square(), 4, 3, 1, 1).relu());
            }
            return Outputs.of("y", g.linear(concat(g, 1, all).globalAveragePool2d().flatten(1), 5));
        });
    }

    @Test
    void layersOfADenseNetwork() {
        for (boolean newestFirst : new boolean[]{false, true}) {
            Network network = dense(6, newestFirst);
            Program main = network.main().copyForTest();
            Tensor x = Bits.normal(1, 2, 5, 6, 7);
            long copies = ImagePasses.count(network, main, SharedConcatenationsTest::isCopy, x);
            long expected = newestFirst ? 5 * 2 + 7 : 6 * 2;
            assertEquals(expected, copies, newestFirst ? "newest first" : "newest last");
            ImagePasses.assertAlike(network, main, 7, x, Pass.SIMPLIFICATION, "newest first: " + newestFirst);
        }
    }

    /** Any values, in any order, along any axis, and again: the bits are the same. */
    @Test
    void randomConcatenations() {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int trial = 0; trial < 40; trial++) {
            int axis = random.nextInt(3);
            List<String> names = new ArrayList<>();
            Network network = Network.define(3, g -> {
                Value x = g.data("x", DType.FLOAT32, 4, 4, 4);
                List<List<Value>> made = new ArrayList<>();
                List<Value> parts = new ArrayList<>();
                for (int i = 0; i < 4; i++) {
                    parts.add(x.times(i + 1f));
                }
                Value sum = x.mean();
                for (int i = 0; i < 6; i++) {
                    List<Value> own = new ArrayList<>();
                    while (own.size() < 2 || (own.size() < 9 && random.nextInt(3) > 0)) {
                        if (!made.isEmpty() && random.nextBoolean()) {
                            own.addAll(made.get(random.nextInt(made.size())));
                        } else {
                            own.add(parts.get(random.nextInt(parts.size())));
                        }
                    }
                    made.add(own);
                    Value whole = concat(g, random.nextInt(8) == 0 ? (axis + 1) % 3 : axis, own);
                    sum = sum.plus(whole.square().mean());
                    if (random.nextInt(4) == 0) {
                        names.add(whole.name());
                    }
                }
                names.add(sum.name());
                return Outputs.of("sum", sum);
            });
            Tensor x = Bits.normal(trial, 4, 4, 4);
            List<Tensor> expected = results(network.main(), names, x, Executor.builder().threads(1)
                    .without(Pass.SIMPLIFICATION));
            for (int threads = 1; threads <= 2; threads++) {
                List<Tensor> found = results(network.main(), names, x, Executor.builder().threads(threads));
                for (int i = 0; i < found.size(); i++) {
                    Bits.assertSame(expected.get(i), found.get(i),
                            "seed " + SEED + ", trial " + trial + ", " + names.get(i) + ", threads " + threads);
                }
            }
        }
    }

    private static List<Tensor> results(Program main, List<String> names, Tensor x, Executor.Builder builder) {
        try (Executor executor = builder.build()) {
            Results results = executor.compile(main, Executor.feeds("x"), new Fetches(names)).run(x);
            return names.stream().map(name -> Bits.copy(results.get(name))).toList();
        }
    }
}
