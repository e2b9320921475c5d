package io.seriatim.executor.pass;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.Bits;
import io.seriatim.executor.ImagePasses;
import io.seriatim.executor.Pass;
import io.seriatim.executor.ir.Stage;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;

/** Images are stored channels last although some of their readers need them channels first. */
class ImageCopiesTest {
    private static long turned(Network network, Program main, Tensor x) {
        return ImagePasses.count(network, main, stage -> Epilogue.isConvolution(stage.computation())
                && !ChannelFactorsTest.isOfChannels(stage)
                && !Objects.requireNonNull(stage.outputs().getFirst()).spec().isRowMajor(), x);
    }

    private static long copies(Network network, Program main, Tensor x) {
        return ImagePasses.count(network, main, stage -> stage.computation() instanceof Copy, x);
    }

    private static void check(BiFunction<Graph, Value, Value> block, int channels, long turned, long copies) {
        long wide = 2L * channels;
        Network network = Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 3, 12, 12);
            Value y = g.conv2d(x, channels, 3, 1, 1).relu();
            for (int i = 0; i < 3; i++) {
                y = y.plus(g.conv2d(g.conv2d(y, wide, 3, 1, 1).relu(), channels, 3, 1, 1));
            }
            y = block.apply(g, y);
            y = y.plus(g.conv2d(g.conv2d(y, wide, 3, 1, 1).relu(), channels, 3, 1, 1));
            return Outputs.of("y", g.linear(y.globalAveragePool2d().flatten(1), 5));
        });
        Program main = network.main().copyForTest();
        for (int images : new int[]{1, 3}) {
            Tensor x = Bits.normal(images, images, 3, 12, 12);
            ImagePasses.assertAlike(network, main, 7, x, Pass.CHANNELS_LAST, images + " images");
            assertEquals(turned, turned(network, main, x), images + " images");
            assertEquals(copies, copies(network, main, x), images + " images");
        }
    }

    /** Adds attention of pixels to others, whose channels are divided into heads. */
    private static Value attended(Value x, int heads) {
        int channels = (int) x.dim(1);
        int height = (int) x.dim(2);
        int width = (int) x.dim(3);
        Value tokens = x.reshape(-1, heads, channels / heads, height * width);
        Value weights = tokens.transpose(0, 1, 3, 2).matmul(tokens).times(0.1).softmax(-1);
        return x.plus(tokens.matmul(weights).reshape(-1, channels, height, width));
    }

    /** Attention reads a copy, and what it adds is copied back: all convolutions have their images channels last. */
    @Test
    void readersOfHeads() {
        check((_, x) -> attended(x, 2), 32, 9, 2);
    }

    /** Rows are reversed channels first. */
    @Test
    void valuesThatAreReversed() {
        check((_, x) -> x.plus(x.flip(3)), 32, 9, 2);
    }

    /** The place of a pooling's result in a concatenation lies apart in memory if the latter is channels last. */
    @Test
    void poolingsThatAreJoined() {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 3, 12, 12);
            Value y = g.conv2d(x, 32, 3, 1, 1).relu();
            for (int i = 0; i < 2; i++) {
                Value pooled = y.maxPool2d(3, 1, 1);
                y = g.conv2d(g.concat(1, pooled, g.conv2d(y, 32, 3, 1, 1).relu()), 32, 3, 1, 1);
            }
            return Outputs.of("y", g.linear(y.globalAveragePool2d().flatten(1), 5));
        });
        Program main = network.main().copyForTest();
        for (int images : new int[]{1, 3}) {
            Tensor x = Bits.normal(images, images, 3, 12, 12);
            ImagePasses.assertAlike(network, main, 7, x, Pass.CHANNELS_LAST, images + " images");
            assertEquals(5, turned(network, main, x), images + " images");
        }
    }

    /** Convolutions of some channels of an image, whose results are joined, as in a Res2Net. */
    @Test
    void convolutionsOfParts() {
        check((g, x) -> {
            List<Value> parts = x.split(4, 1);
            List<Value> results = new ArrayList<>(List.of(parts.getFirst()));
            for (Value part : parts.subList(1, 4)) {
                results.add(g.conv2d(results.size() == 1 ? part : part.plus(results.getLast()), 8, 3, 1, 1));
            }
            return g.concat(1, results.toArray(Value[]::new));
        }, 32, 12, 5);
    }

    /** A convolution of what attention gives copies it, since its weights are packed only then. */
    @Test
    void convolutionsOfFewPixelsHavePackedWeights() {
        Network network = Network.define(3, g -> {
            Value y = g.conv2d(g.data("x", DType.FLOAT32, -1, 3, 8, 8), 128, 3, 1, 1).relu();
            for (int i = 0; i < 2; i++) {
                Value wide = g.conv2d(y.plus(g.conv2d(attended(y, 4), 128, 1, 1, 0)), 256, 3, 1, 1).relu();
                y = y.plus(g.conv2d(wide, 128, 3, 1, 1));
            }
            return Outputs.of("y", g.linear(y.globalAveragePool2d().flatten(1), 5));
        });
        Program main = network.main().copyForTest();
        for (int images : new int[]{1, 3}) {
            Tensor x = Bits.normal(images, images, 3, 8, 8);
            ImagePasses.assertAlike(network, main, 7, x, Pass.CHANNELS_LAST, images + " images");
        }
        assertEquals(0, ImagePasses.count(network, main, ImageCopiesTest::readsFirst, Bits.normal(1, 1, 3, 8, 8)));
    }

    private static boolean readsFirst(Stage stage) {
        TensorSpec x = stage.specs()[0];
        return Epilogue.isConvolution(stage.computation()) && x.shape().dim(1) > 3 && x.isRowMajor();
    }

    private static Value next(Graph g, Random random, List<Value> values, Value x) {
        int channels = (int) x.dim(1);
        return switch (random.nextInt(12)) {
            case 0, 1, 2, 3 ->
                g.conv2d(x, random.nextBoolean() ? channels : 16 + 16 * random.nextInt(2), 3, 1, 1).relu();
            case 4 -> g.batchNorm(g.conv2d(x, channels, 1, 1, 0));
            case 5 -> attended(x, 1 << random.nextInt(2));
            case 6 -> {
                List<Value> alike = values.stream().filter(each -> each.dim(1) == channels && each.dim(2) == x.dim(2))
                        .toList();
                yield x.plus(alike.get(random.nextInt(alike.size())));
            }
            case 7 -> x.dim(2) < 6 ? x.tanh() : x.maxPool2d(3, 2, 1);
            case 8 -> channels > 32 ? x.split(2, 1).getLast() : g.concat(1, x.maxPool2d(3, 1, 1), x);
            case 9 -> x.flip(2 + random.nextInt(2));
            case 10 -> x.times(x.meanKeeping(random.nextBoolean() ? 3 : 1));
            default -> {
                List<Value> parts = x.split(2, 1);
                Value first = g.conv2d(parts.getFirst(), channels / 2, 3, 1, 1);
                yield random.nextBoolean() ? g.concat(1, first, parts.getLast()) : g.concat(1, first, first.relu());
            }
        };
    }

    @Test
    void randomNetworksGiveTheSame() {
        long turned = 0;
        for (long seed = 500; seed < 516; seed++) {
            Random random = new Random(seed);
            Network network = Network.define(seed, g -> {
                List<Value> values = new ArrayList<>();
                values.add(g.conv2d(g.data("x", DType.FLOAT32, -1, 3, 9, 11), 16, 3, 1, 1));
                for (int i = 0; i < 14; i++) {
                    values.add(next(g, random, values, random.nextInt(4) == 0
                            ? values.get(random.nextInt(values.size()))
                            : values.getLast()));
                }
                Value last = values.getLast();
                return Outputs.of("last", last.relu(), "pooled", last.mean(2, 3), "any",
                        values.get(random.nextInt(values.size())).relu());
            });
            Program main = network.main().copyForTest();
            Tensor x = Bits.normal(seed, 1 + seed % 3, 3, 9, 11);
            ImagePasses.assertAlike(network, main, seed, x, Pass.CHANNELS_LAST, "seed " + seed);
            turned += turned(network, main, x);
        }
        assertTrue(turned > 8, turned + " convolutions");
    }
}
