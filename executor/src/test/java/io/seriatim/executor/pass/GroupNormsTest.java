package io.seriatim.executor.pass;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.executor.Bits;
import io.seriatim.executor.ImagePasses;
import io.seriatim.executor.Pass;
import io.seriatim.executor.ir.Stage;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.ParameterSpec;
import io.seriatim.graph.Value;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.network.GroupNorm;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Normalisations by groups take up what surrounds them in files, and keep images channels last. */
class GroupNormsTest {
    private static Value parameter(Graph g, long... dims) {
        return g.parameter(ParameterSpec.DEFAULT, DType.FLOAT32, dims);
    }

    /** As exporters write it: the groups as channels, then a factor and a shift of the channels of images. */
    private static Value exported(Graph g, Value x, int channels, int groups, int size, boolean affine) {
        Value rows = x.reshape(2, groups, -1);
        var op = g.op("instance_norm").in("X", rows).attr("epsilon", 1e-5f);
        if (affine) {
            op = op.in("Scale", parameter(g, groups)).in("Bias", parameter(g, groups));
        }
        Value images = op.all("Y").getLast().reshape(2, channels, size, size);
        return images.times(parameter(g, channels, 1, 1))
                .plus(parameter(g, channels, 1, 1));
    }

    private static Network network(int channels, int groups, int size, boolean affine) {
        return Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, 2, 3, size, size);
            Value y = g.conv2d(x, channels, 3, 1, 1);
            Value z = g.conv2d(exported(g, y, channels, groups, size, affine).relu(), channels, 3, 1, 1).plus(y);
            Value w = g.conv2d(exported(g, z, channels, groups, size, affine), 8, 1, 1, 0);
            return Outputs.of("y", w);
        });
    }

    private static boolean isNorm(Stage stage) {
        return stage.computation() instanceof GroupNorm;
    }

    private static boolean isOfImagesWithChannelsLast(Stage stage) {
        return isNorm(stage) && !Objects.requireNonNull(stage.inputs().getFirst()).spec().isRowMajor();
    }

    private static boolean hasFactorAndShift(Stage stage) {
        return stage.computation() instanceof GroupNorm norm && norm.scale() && norm.bias();
    }

    @ParameterizedTest
    @CsvSource({"16,4,9,true", "16,1,9,false", "24,24,7,true", "24,8,12,false", "40,10,5,true"})
    void factorsAndShiftsOfChannels(int channels, int groups, int size, boolean affine) {
        Network network = network(channels, groups, size, affine);
        Tensor x = Bits.normal(channels, 2, 3, size, size);
        assertEquals(2, ImagePasses.count(network, network.main(), GroupNormsTest::isOfImagesWithChannelsLast, x));
        assertEquals(2, ImagePasses.count(network, network.main(), GroupNormsTest::hasFactorAndShift, x));
        assertEquals(affine ? 2 : 0, ImagePasses.count(network, network.main(), GroupNormsTest::hasFactorAndShift, x,
                Pass.FOLDING));
        String where = channels + " channels, " + groups + " groups";
        ImagePasses.assertAlike(network, network.main(), 7, x, Pass.FOLDING, where);
        ImagePasses.assertAlike(network, network.main(), 7, x, Pass.CHANNELS_LAST, where);
    }

    @Test
    void layersOfRandomSizes() {
        long seed = 46;
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 6; i++) {
            int groups = random.nextInt(1, 6);
            int channels = groups * random.nextInt(1, 9);
            int size = random.nextInt(3, 14);
            boolean instances = random.nextBoolean();
            Network network = Network.define(3, g -> {
                Value x = g.data("x", DType.FLOAT32, -1, 3, size, size);
                Value y = g.conv2d(x, channels, 3, 1, 1);
                Value z = instances
                        ? g.layers().instanceNorm(channels).apply(y)
                        : g.layers().groupNorm(groups, channels).apply(y);
                return Outputs.of("y", g.conv2d(z.relu(), 5, 3, 1, 1));
            });
            Tensor x = Bits.normal(i, random.nextInt(1, 4), 3, size, size);
            String where = "seed " + seed + ", network " + i;
            ImagePasses.assertAlike(network, network.main().copyForTest(), 7, x, Pass.FOLDING, where);
            ImagePasses.assertAlike(network, network.main().copyForTest(), 7, x, Pass.CHANNELS_LAST, where);
        }
    }

    /** What is read in two shapes, or also before the factor, stays as it is. */
    @Test
    void severalReaders() {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, 1, 3, 8, 8);
            Value y = g.conv2d(x, 12, 3, 1, 1);
            Value rows = g.op("instance_norm").in("X", y.reshape(1, 3, 256)).attr("epsilon", 1e-5f).all("Y").getLast();
            Value images = rows.reshape(1, 12, 8, 8);
            Value scaled = images.times(parameter(g, 12, 1, 1));
            Value both = g.conv2d(scaled, 12, 1, 1, 0).plus(images).plus(rows.tanh().reshape(1, 12, 8, 8));
            return Outputs.of("y", g.conv2d(both, 4, 3, 1, 1));
        });
        ImagePasses.assertAlike(network, network.main(), 7, Bits.normal(1, 1, 3, 8, 8), Pass.FOLDING, "two shapes");
    }
}
