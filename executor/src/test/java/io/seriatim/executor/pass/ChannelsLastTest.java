package io.seriatim.executor.pass;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.Bits;
import io.seriatim.executor.Executor;
import io.seriatim.executor.ImagePasses;
import io.seriatim.executor.Internals;
import io.seriatim.executor.Pass;
import io.seriatim.executor.Plan;
import io.seriatim.executor.RandomImages;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Initializer;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.ParameterSpec;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Images lie with their channels innermost where no one needs a copy of them for it. */
class ChannelsLastTest {
    private static Value normalised(Graph g, Value x, int filters, int stride) {
        return g.batchNorm(g.layers().conv2d(x.dim(1), filters, 3).stride(stride).padding(1).noBias().apply(x));
    }

    private static Network residual(int filters, int size) {
        return Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 3, size, size);
            Value y = normalised(g, x, filters, 2).relu().maxPool2d(3, 2, 1);
            Value z = normalised(g, normalised(g, y, filters, 1).relu(), filters, 1).plus(y).relu();
            return Outputs.of("y", g.linear(z.globalAveragePool2d().flatten(1), 5));
        });
    }

    /** How many convolutions write such images. */
    private static long turned(Network network, Program main, Tensor x, Pass... without) {
        return ImagePasses.count(network, main, stage -> Epilogue.isConvolution(stage.computation())
                && !ChannelFactorsTest.isOfChannels(stage)
                && !Objects.requireNonNull(stage.outputs().getFirst()).spec().isRowMajor(), x, without);
    }

    /** Asserts how many convolutions write such images, and that results are alike, of one image and of three. */
    private static void assertTurned(long expected, Network network, int height, int width) {
        Program main = network.main().copyForTest();
        for (int images : new int[]{1, 3}) {
            Tensor x = Bits.normal(images, images, 3, height, width);
            assertEquals(expected, turned(network, main, x), images + " images");
            ImagePasses.assertAlike(network, main, 7, x, Pass.CHANNELS_LAST, images + " images");
        }
    }

    @Test
    void allOfAResidualNetwork() {
        Network network = residual(16, 16);
        Program main = network.main().copyForTest();
        for (int images : new int[]{1, 3}) {
            Tensor x = Bits.normal(images, images, 3, 16, 16);
            assertEquals(3, turned(network, main, x));
            assertEquals(3, turned(network, main, x, Pass.FOLDING));
            assertEquals(3, turned(network, main, x, Pass.EPILOGUES, Pass.CHAINS));
            assertEquals(0, turned(network, main, x, Pass.CHANNELS_LAST));
            ImagePasses.assertAlike(network, main, 7, x, Pass.CHANNELS_LAST, images + " images");
        }
    }

    /** Gates of channels, of each image or of all, multiply and are added to images of either order. */
    @Test
    void imagesWithGates() {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 3, 12, 12);
            Value y = g.conv2d(x, 8, 3, 1, 1).relu();
            Value gate = g.conv2d(g.conv2d(y.globalAveragePool2d(), 4, 1, 1, 0).relu(), 8, 1, 1, 0).sigmoid();
            Value gated = g.conv2d(y.times(gate), 8, 3, 1, 1).relu();
            Value ofAll = g.parameter(ParameterSpec.of(Initializer.uniform(-1, 1)), DType.FLOAT32, 8, 1, 1);
            Value one = gated.times(ofAll).plus(ofAll.reshape(1, 8, 1, 1)).tanh();
            return Outputs.of("y", g.linear(g.conv2d(one, 8, 3, 1, 1).globalAveragePool2d().flatten(1), 5));
        });
        assertTurned(3, network, 12, 12);
    }

    /** How many copies there are. */
    private static long copies(Network network, Program main, Tensor x) {
        return ImagePasses.count(network, main, stage -> stage.computation() instanceof Copy, x);
    }

    /** Transpositions to pixels of channels and back, as around normalisations and products, are no copies. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void imagesThatAreTransposed(int images) {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 3, 12, 10);
            Value y = g.conv2d(x, 8, 3, 1, 1);
            for (int i = 0; i < 2; i++) {
                Value pixels = g.layerNorm(g.conv2d(y, 8, 3, 1, 1).transpose(0, 2, 3, 1));
                y = y.plus(g.conv2d(pixels.transpose(0, 3, 1, 2), 8, 1, 1, 0).tanh());
            }
            Value flat = g.layerNorm(y.flatten(2).transpose(0, 2, 1));
            Value back = flat.transpose(0, 2, 1).reshape(-1, 8, 12, 10);
            return Outputs.of("y", g.linear(g.conv2d(back, 4, 3, 1, 1).globalAveragePool2d().flatten(1), 5));
        });
        Program main = network.main().copyForTest();
        Tensor x = Bits.normal(images, images, 3, 12, 10);
        ImagePasses.assertAlike(network, main, 7, x, Pass.CHANNELS_LAST, images + " images");
        assertEquals(0, copies(network, main, x));
        assertEquals(6, turned(network, main, x));
    }

    /** A transposition from one order of images to the other is a copy, whichever of them lies channels last. */
    @Test
    void imagesOnBothSides() {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 3, 8, 8);
            Value y = g.conv2d(g.conv2d(x, 8, 3, 1, 1), 8, 3, 1, 1);
            Value z = g.conv2d(y.transpose(0, 2, 3, 1), 8, 3, 1, 1);
            Value other = g.conv2d(z.transpose(0, 3, 1, 2).relu(), 8, 3, 1, 1);
            Value same = g.conv2d(other.transpose(0, 1, 3, 2), 8, 3, 1, 1).transpose(0, 2, 1, 3);
            return Outputs.of("y", g.linear(g.conv2d(same, 4, 3, 1, 1).flatten(1), 5), "z", z.transpose(0, 3, 1, 2));
        });
        Program main = network.main().copyForTest();
        for (int images : new int[]{1, 2}) {
            Tensor x = Bits.normal(images, images, 3, 8, 8);
            ImagePasses.assertAlike(network, main, 7, x, Pass.CHANNELS_LAST, images + " images");
        }
    }

    /** Means and maxima of whole channels, and of all channels of a pixel, have the same order for both. */
    @Test
    void imagesThatAreReduced() {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 3, 12, 10);
            Value y = g.conv2d(x, 8, 3, 1, 1).relu();
            Value gated = y.times(g.conv2d(y.meanKeeping(2, 3), 8, 1, 1, 0).sigmoid());
            Value z = g.conv2d(gated, 8, 3, 1, 1).tanh();
            Value attention = g.conv2d(g.concat(1, z.meanKeeping(1), z.maxKeeping(1)), 1, 3, 1, 1).sigmoid();
            Value end = g.conv2d(z.times(attention), 8, 3, 1, 1);
            return Outputs.of("y", g.linear(end.mean(2, 3), 5), "largest", g.linear(end.max(-1, -2), 3));
        });
        assertTurned(3, network, 12, 10);
    }

    /** Means of lines have the order of their images: these stay as they are. */
    @Test
    void notImagesWhoseLinesAreReduced() {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 3, 12, 10);
            Value y = g.conv2d(x, 8, 3, 1, 1).relu();
            Value lines = g.linear(y.mean(3).flatten(1), 4);
            return Outputs.of("y", lines, "z", g.conv2d(y, 4, 3, 1, 1));
        });
        Program main = network.main().copyForTest();
        Tensor x = Bits.normal(1, 2, 3, 12, 10);
        assertEquals(0, turned(network, main, x));
        ImagePasses.assertAlike(network, main, 7, x, Pass.CHANNELS_LAST, "");
    }

    /** What has an element for each line is no gate of channels, though there are as many of these. */
    @Test
    void imagesWithFactorsOfLines() {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 3, 12, 12);
            Value lines = g.parameter(ParameterSpec.of(Initializer.uniform(-1, 1)), DType.FLOAT32, 12, 1);
            Value y = g.conv2d(x, 12, 3, 1, 1).tanh().times(lines);
            return Outputs.of("y", g.conv2d(y, 4, 3, 1, 1));
        });
        Program main = network.main().copyForTest();
        Tensor x = Bits.normal(1, 2, 3, 12, 12);
        ImagePasses.assertAlike(network, main, 7, x, Pass.CHANNELS_LAST, "");
    }

    @Test
    void notWhatIsFetchedOrReshaped() {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 3, 12, 12);
            Value fetched = g.conv2d(x, 8, 3, 1, 1);
            Value reshaped = g.conv2d(fetched, 8, 3, 1, 1);
            Value alone = g.conv2d(x, 8, 3, 1, 1).relu();
            Value turned = g.conv2d(x, 8, 3, 1, 1).relu();
            Value flat = g.linear(reshaped.flatten(1), 3).plus(g.linear(alone.flatten(1), 3));
            return Outputs.of("fetched", fetched, "flat", flat, "end", g.conv2d(turned, 4, 3, 1, 1));
        });
        Program main = network.main().copyForTest();
        Tensor x = Bits.normal(1, 2, 3, 12, 12);
        assertEquals(1, turned(network, main, x));
        ImagePasses.assertAlike(network, main, 7, x, Pass.CHANNELS_LAST, "");
    }

    /** What is fed lies as it is given, and so does what it is added to. */
    @Test
    void notWhatMeetsImagesOfOtherTypes() {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 3, 12, 12);
            Value mask = x.cast(DType.FLOAT64).slice(1, 0, 2).cast(DType.FLOAT64);
            Value met = g.conv2d(x, 2, 3, 1, 1).plus(mask.cast(DType.FLOAT32)).relu();
            Value compared = g.conv2d(x, 2, 3, 1, 1);
            Value chosen = compared.times(compared.greaterThan(met).cast(DType.FLOAT32)).relu();
            return Outputs.of("y", g.conv2d(met, 4, 3, 1, 1), "z", g.conv2d(chosen, 4, 3, 1, 1), "mask", mask);
        });
        Program main = network.main().copyForTest();
        ImagePasses.assertAlike(network, main, 7, Bits.normal(1, 2, 3, 12, 12), Pass.CHANNELS_LAST, "");
    }

    @Test
    void trainingsStayAsTheyAre() {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 3, 12, 12);
            Value loss = normalised(g, normalised(g, x, 8, 1).relu(), 8, 2).square().mean();
            g.minimize(loss, Sgd.of(0.1));
            return Outputs.of("loss", loss);
        });
        assertEquals(0, turned(network, network.main(), Bits.normal(1, 2, 3, 12, 12)));
    }

    /**
     * Weights of many outputs to few pixels are packed as a matrix; where they cannot be, the convolution works on them
     * as they are.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void fewPixels(int images) {
        Network network = residual(128, 8);
        Program main = network.main().copyForTest();
        String name = ImagePasses.names(network).getFirst();
        Tensor x = Bits.normal(images, images, 3, 8, 8);
        ImagePasses.assertAlike(network, main, 7, x, Pass.CHANNELS_LAST, images + " images");
        try (Executor with = Executor.builder().threads(1).build();
                Executor without = Executor.builder().threads(1).without(Pass.FOLDING).without(Pass.CHANNELS_LAST)
                        .without(Pass.LAYOUTS)
                        .build()) {
            List<Executor> both = List.of(with, without);
            both.forEach(executor -> executor.run(network.startup()));
            Plan plan = with.compile(main, Executor.feeds("x"), Executor.fetches(name));
            Plan plain = without.compile(main, Executor.feeds("x"), Executor.fetches(name));
            long packed = Internals.compiled(plan, with.scope(), x).layouts().stream()
                    .filter(each -> each.wanted().layout() instanceof Layout.Opaque layout
                            && layout.library().contains("matrix"))
                    .count();
            assertEquals(2, packed);
            for (int change = 0; change < 3; change++) {
                int seed = change;
                both.forEach(executor -> RandomImages.fill(executor.scope(), main, seed));
                ImagePasses.assertAlike(plain.run(x).get(name), plan.run(x).get(name), "change " + change);
            }
            String weights = main.parameters().stream().filter(each -> each.tensor().shape().length == 4).toList()
                    .getLast().name();
            both.forEach(executor -> executor.scope().get(weights).memory().setAtIndex(ValueLayout.JAVA_FLOAT, 4, 3f));
            ImagePasses.assertAlike(plain.run(x).get(name), plan.run(x).get(name),
                    "with weights that anyone may write");
        }
    }

    @Test
    void whatIsNotANumberStaysSo() {
        Network network = residual(16, 16);
        Program main = network.main().copyForTest();
        for (float odd : new float[]{Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY}) {
            float[] numbers = Bits.normal(3, 1, 3, 16, 16).toFloatArray();
            numbers[40] = odd;
            ImagePasses.assertAlike(network, main, 7, Tensor.of(numbers, 1, 3, 16, 16), Pass.CHANNELS_LAST,
                    "with " + odd, Executor.Builder::strictNan);
        }
    }

    /** The image between two transposed convolutions, whatever the number of its channels. */
    @Test
    void transposedConvolutionsToo() {
        for (int filters : new int[]{2, 5, 16, 20}) {
            for (int stride : new int[]{1, 2}) {
                Network network = Network.define(3, g -> {
                    Value x = g.data("x", DType.FLOAT32, -1, 3, 16, 16);
                    Value y = g.layers().conv2dTranspose(3, filters, 3, stride, 1).apply(x).relu();
                    return Outputs.of("y", g.layers().conv2dTranspose(filters, 8, 4, 2, 1).apply(y).tanh());
                });
                Program main = network.main().copyForTest();
                for (int images : new int[]{1, 3}) {
                    Tensor x = Bits.normal(images, images, 3, 16, 16);
                    assertEquals(1, turned(network, main, x), filters + " filters, stride " + stride);
                    ImagePasses.assertAlike(network, main, 3, x, Pass.CHANNELS_LAST, filters + " filters");
                }
            }
        }
    }

    /** Each layer of a dense block reads the channels of all layers before it. */
    @Test
    void joinedImages() {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 3, 12, 12);
            Value y = g.conv2d(x, 8, 3, 1, 1).relu();
            for (int i = 0; i < 3; i++) {
                Value inner = g.conv2d(g.batchNorm(y).relu(), 16, 1, 1, 0).relu();
                y = g.concat(1, y, g.conv2d(inner, 8, 3, 1, 1));
            }
            return Outputs.of("y", g.linear(g.conv2d(y, 8, 1, 1, 0).globalAveragePool2d().flatten(1), 5));
        });
        Program main = network.main().copyForTest();
        for (int images : new int[]{1, 3}) {
            Tensor x = Bits.normal(images, images, 3, 12, 12);
            assertEquals(8, turned(network, main, x));
            assertEquals(6, joins(network, main, x, true));
            assertEquals(0, joins(network, main, x, false));
            ImagePasses.assertAlike(network, main, 7, x, Pass.CHANNELS_LAST, images + " images");
        }
    }

    /** How many copies of channels have one layout on both sides. */
    private static long joins(Network network, Program main, Tensor x, boolean last) {
        return ImagePasses.count(network, main, stage -> Copy.PLAIN.equals(stage.computation())
                && stage.args().stream().allMatch(arg -> isLast(Objects.requireNonNull(arg).spec()) == last), x);
    }

    private static boolean isLast(TensorSpec spec) {
        return spec.strides()[1] == 1;
    }

    @Test
    void randomNetworksGiveTheSame() {
        long turned = 0;
        for (long seed = 100; seed < 112; seed++) {
            Network network = RandomImages.of(seed, 12);
            Program main = network.main().copyForTest();
            Tensor x = Bits.normal(seed, 1 + seed % 3, 3, 9, 11);
            ImagePasses.assertAlike(network, main, seed, x, Pass.CHANNELS_LAST, "seed " + seed);
            turned += turned(network, main, x);
        }
        assertTrue(turned > 4, turned + " convolutions");
    }
}
