package io.seriatim.executor.pass;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.executor.Bits;
import io.seriatim.executor.Executor;
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
import io.seriatim.tensor.computation.network.Convolution;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Factors of channels are convolutions in which every channel is a group. */
class ChannelFactorsTest {
    /** A block that normalises before it convolves, so that no convolution takes up the normalisation. */
    private static Value before(Graph g, Value x, boolean activated) {
        Value normalised = g.batchNorm(x);
        return g.conv2d(activated ? normalised.relu() : normalised, x.dim(1), 3, 1, 1).plus(x);
    }

    private static Network blocks(int channels, int height, int width, boolean activated) {
        return Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 3, height, width);
            Value y = before(g, before(g, g.conv2d(x, channels, 3, 1, 1).relu(), activated), activated);
            return Outputs.of("y", g.linear(g.conv2d(y, 8, 1, 1, 0).globalAveragePool2d().flatten(1), 5));
        });
    }

    /** Whether each channel is a group of a convolution of one pixel. */
    static boolean isOfChannels(Stage stage) {
        return stage.computation() instanceof Convolution convolution && convolution.groups() > 1
                && Objects.requireNonNull(stage.inputs().get(1)).spec().shape().size() == convolution.groups();
    }

    @ParameterizedTest
    @CsvSource({"16,16,16,true,2", "16,16,16,false,2", "13,23,17,true,2", "64,8,8,true,2", "33,14,11,false,2",
            "7,32,32,true,0", "16,8,8,true,0"})
    void normalisationsBeforeConvolutions(int channels, int height, int width, boolean activated, int expected) {
        Network network = blocks(channels, height, width, activated);
        Program main = network.main().copyForTest();
        Tensor x = Bits.normal(channels, 1, 3, height, width);
        String where = channels + " channels of " + height + " x " + width;
        assertEquals(expected, ImagePasses.count(network, main, ChannelFactorsTest::isOfChannels, x), where);
        assertEquals(0, ImagePasses.count(network, main, ChannelFactorsTest::isOfChannels, x, Pass.CHANNELS_LAST));
        ImagePasses.assertAlike(network, main, 7, x, Pass.CHANNELS_LAST, where);
    }

    @Test
    void severalImagesOfRandomSizes() {
        long seed = 46;
        SplittableRandom sizes = new SplittableRandom(seed);
        for (int i = 0; i < 4; i++) {
            int channels = sizes.nextInt(8, 70);
            int height = sizes.nextInt(5, 30);
            int width = sizes.nextInt(5, 30);
            Network network = blocks(channels, height, width, sizes.nextBoolean());
            Tensor x = Bits.normal(i, sizes.nextInt(1, 4), 3, height, width);
            ImagePasses.assertAlike(network, network.main().copyForTest(), 7, x, Pass.CHANNELS_LAST,
                    "seed " + seed + ", network " + i);
        }
    }

    /** The gates of one image are factors of its channels; those of several images are not. */
    @Test
    void gates() {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 3, 20, 20);
            Value y = g.conv2d(x, 20, 3, 1, 1).relu();
            Value gate = g.conv2d(g.conv2d(y.globalAveragePool2d(), 4, 1, 1, 0).relu(), 20, 1, 1, 0).sigmoid();
            Value gated = g.conv2d(y.times(gate), 20, 3, 1, 1).relu();
            return Outputs.of("y", g.linear(gated.globalAveragePool2d().flatten(1), 5));
        });
        Program main = network.main().copyForTest();
        for (int images : new int[]{1, 2}) {
            Tensor x = Bits.normal(images, images, 3, 20, 20);
            assertEquals(2 - images, ImagePasses.count(network, main, ChannelFactorsTest::isOfChannels, x));
            ImagePasses.assertAlike(network, main, 7, x, Pass.CHANNELS_LAST, images + " images");
        }
    }

    /** The activation of a convolution would turn NaN into 0. */
    @Test
    void strictNanKeepsChains() {
        Network network = blocks(16, 16, 16, true);
        Program main = network.main().copyForTest();
        float[] values = Bits.normal(1, 1, 3, 16, 16).toFloatArray();
        values[100] = Float.NaN;
        ImagePasses.assertAlike(network, main, 7, Tensor.of(values, 1, 3, 16, 16), Pass.CHANNELS_LAST, "strict",
                Executor.Builder::strictNan);
    }
}
