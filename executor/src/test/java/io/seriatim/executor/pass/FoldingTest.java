package io.seriatim.executor.pass;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.executor.Bits;
import io.seriatim.executor.Executor;
import io.seriatim.executor.ImagePasses;
import io.seriatim.executor.Pass;
import io.seriatim.executor.RandomImages;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.network.BatchNorm;
import io.seriatim.tensor.computation.network.BatchNormFactors;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Normalisations in inference are part of the convolution before them. */
class FoldingTest {
    private static Value normalised(Graph g, Value x, int filters, int stride) {
        return g.batchNorm(g.layers().conv2d(x.dim(1), filters, 3).stride(stride).padding(1).apply(x));
    }

    private static Network residual() {
        return Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 3, 12, 12);
            Value y = normalised(g, x, 16, 2).relu();
            Value z = normalised(g, normalised(g, y, 16, 1).relu(), 16, 1).plus(y).relu();
            return Outputs.of("z", z, "mean", z.globalAveragePool2d().flatten(1));
        });
    }

    private static long norms(Network network, Program main, Tensor x, Pass... without) {
        return ImagePasses.count(network, main, stage -> stage.computation() instanceof BatchNorm, x, without);
    }

    /** Without {@link Pass#LAYOUTS}, in each run. */
    private static long factors(Network network, Program main, Tensor x, Pass... without) {
        Pass[] all = Arrays.copyOf(without, without.length + 1);
        all[without.length] = Pass.LAYOUTS;
        return ImagePasses.count(network, main, stage -> stage.computation() instanceof BatchNormFactors, x, all);
    }

    @Test
    void aResidualNetworkHasNoNormalisationsLeft() {
        Network network = residual();
        Program main = network.main().copyForTest();
        for (int images : new int[]{1, 4}) {
            Tensor x = Bits.normal(images, images, 3, 12, 12);
            assertEquals(List.of(0L, 3L), List.of(norms(network, main, x), factors(network, main, x)));
            assertEquals(List.of(3L, 0L),
                    List.of(norms(network, main, x, Pass.FOLDING), factors(network, main, x, Pass.FOLDING)));
            ImagePasses.assertAlike(network, main, 7, x, Pass.FOLDING, images + " images");
        }
    }

    @Test
    void transposedConvolutionsTakeNormalisationsAndFunctions() {
        for (int filters : new int[]{3, 16, 20}) {
            Network network = Network.define(3, g -> {
                Value x = g.data("x", DType.FLOAT32, -1, 3, 12, 12);
                Value y = g.batchNorm(g.layers().conv2dTranspose(3, 24, 4, 2, 1).apply(x)).relu();
                return Outputs.of("z", g.batchNorm(g.layers().conv2dTranspose(24, filters, 3, 2, 1).apply(y)).tanh());
            });
            Program main = network.main().copyForTest();
            for (int images : new int[]{1, 4}) {
                Tensor x = Bits.normal(images, images, 3, 12, 12);
                assertEquals(List.of(0L, 2L), List.of(norms(network, main, x), factors(network, main, x)));
                assertEquals(2L, ImagePasses.count(network, main, _ -> true, x));
                ImagePasses.assertAlike(network, main, 7, x, Pass.FOLDING, images + " images, " + filters);
            }
        }
    }

    private static Value normalisedByConstants(Graph g, Value x, int filters, long seed) {
        return g.op("batch_norm").in("X", g.conv2d(x, filters, 3, 1, 1))
                .in("Scale", g.constant(Bits.normal(seed, filters)))
                .in("Bias", g.constant(Bits.normal(seed + 1, filters)))
                .in("Mean", g.constant(Bits.normal(seed + 2, filters)))
                .in("Variance", g.constant(positive(seed + 3, filters)))
                .attr("is_test", true).all("MeanOut", "VarianceOut", "SavedMean", "SavedVariance", "Y").get(4);
    }

    private static Tensor positive(long seed, int count) {
        float[] numbers = Bits.normal(seed, count).toFloatArray();
        for (int i = 0; i < count; i++) {
            numbers[i] = 0.5f + Math.abs(numbers[i]);
        }
        return Tensor.of(numbers, count);
    }

    /** Plans take short constants as operands without a value; longer ones are results of tasks. */
    @Test
    void statisticsMayBeConstantsOfAnyLength() {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 3, 12, 12);
            Value y = normalisedByConstants(g, x, 8, 1).relu();
            Value z = normalisedByConstants(g, normalisedByConstants(g, y, 64, 5).relu(), 72, 9);
            return Outputs.of("z", z.relu());
        });
        Program main = network.main().copyForTest();
        Tensor x = Bits.normal(1, 2, 3, 12, 12);
        assertEquals(0L, norms(network, main, x));
        assertEquals(3L, norms(network, main, x, Pass.FOLDING));
        ImagePasses.assertAlike(network, main, 7, x, Pass.FOLDING, "");
    }

    /** What is not folded is a product and a sum, which join a chain. */
    @Test
    void whatOthersReadTooIsScaled() {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 3, 12, 12);
            Value fetched = g.conv2d(x, 8, 3, 1, 1);
            Value read = g.conv2d(x, 8, 3, 1, 1);
            Value pooled = g.batchNorm(g.conv2d(x, 8, 3, 1, 1).maxPool2d(2, 2, 0));
            return Outputs.of("fetched", fetched, "first",
                    g.batchNorm(fetched).plus(g.batchNorm(read).plus(read.tanh())), "second",
                    pooled);
        });
        Program main = network.main().copyForTest();
        Tensor x = Bits.normal(1, 2, 3, 12, 12);
        assertEquals(List.of(0L, 3L), List.of(norms(network, main, x), factors(network, main, x)));
        ImagePasses.assertAlike(network, main, 7, x, Pass.FOLDING, "");
    }

    @Test
    void trainingsStayAsTheyAre() {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 3, 12, 12);
            Value loss = normalised(g, normalised(g, x, 8, 1).relu(), 8, 2).square().mean();
            g.minimize(loss, Sgd.of(0.1));
            return Outputs.of("loss", loss);
        });
        Tensor x = Bits.normal(1, 2, 3, 12, 12);
        assertEquals(List.of(2L, 0L), List.of(norms(network, network.main(), x), factors(network, network.main(), x)));
    }

    @Test
    void statisticsThatChangeBetweenRunsCount() {
        Network network = residual();
        Program main = network.main().copyForTest();
        String name = ImagePasses.names(network).getFirst();
        Tensor x = Bits.normal(2, 2, 3, 12, 12);
        try (Executor with = Executor.builder().threads(1).build();
                Executor without = Executor.builder().threads(1).without(Pass.FOLDING).without(Pass.CHANNELS_LAST)
                        .without(Pass.LAYOUTS)
                        .build()) {
            for (Executor executor : List.of(with, without)) {
                executor.run(network.startup());
            }
            for (int change = 0; change < 4; change++) {
                for (Executor executor : List.of(with, without)) {
                    if (change % 2 == 0) {
                        RandomImages.fill(executor.scope(), main, change);
                    } else {
                        // In place, by a plan that shares the scope: statistics in training.
                        executor.compile(network.main(), Executor.feeds("x"), Executor.fetches(name)).run(x);
                    }
                }
                for (int run = 0; run < 2; run++) {
                    Tensor expected = without.compile(main, Executor.feeds("x"), Executor.fetches(name)).run(x)
                            .get(name);
                    Tensor found = with.compile(main, Executor.feeds("x"), Executor.fetches(name)).run(x).get(name);
                    ImagePasses.assertAlike(expected, found, "change " + change + ", run " + run);
                }
            }
        }
    }

    @Test
    void whatIsNotANumberStaysSo() {
        Network network = residual();
        Program main = network.main().copyForTest();
        for (float odd : new float[]{Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY}) {
            float[] numbers = Bits.normal(3, 2, 3, 12, 12).toFloatArray();
            numbers[40] = odd;
            ImagePasses.assertAlike(network, main, 7, Tensor.of(numbers, 2, 3, 12, 12), Pass.FOLDING, "with " + odd,
                    Executor.Builder::strictNan);
        }
    }

    @Test
    void randomNetworksGiveTheSame() {
        for (long seed = 0; seed < 12; seed++) {
            Network network = RandomImages.of(seed, 12);
            ImagePasses.assertAlike(network, network.main().copyForTest(), seed,
                    Bits.normal(seed, 1 + seed % 3, 3, 9, 11), Pass.FOLDING,
                    "seed " + seed);
        }
    }
}
