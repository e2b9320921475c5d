package io.seriatim.executor.pass;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.Bits;
import io.seriatim.executor.ImagePasses;
import io.seriatim.executor.Pass;
import io.seriatim.executor.ir.Stage;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Initializer;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.ParameterSpec;
import io.seriatim.graph.Value;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Copy;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Convolutions of lines, which are computed as convolutions of images of one row, have channels last as well. */
class LinesOfPixelsTest {
    /** The form of a convolution of lines. */
    private record Form(int filters, int kernel, int stride, int dilation, int groups, int before, int after) {
        static Form same(int filters, int kernel, int dilation, int groups) {
            int padding = (kernel - 1) * dilation;
            return new Form(filters, kernel, 1, dilation, groups, padding / 2, padding - padding / 2);
        }

        static Form causal(int filters, int kernel, int dilation) {
            int padding = (kernel - 1) * dilation;
            return new Form(filters, kernel, 1, dilation, 1, padding, padding);
        }
    }

    private static Value parameter(Graph g, long... dims) {
        return g.parameter(ParameterSpec.of(Initializer.uniform(-1, 1)), DType.FLOAT32, dims);
    }

    /** As readers of other formats append it: the line becomes an image of one row, and a line again. */
    private static Value convolution(Graph g, Value x, Form form) {
        long channels = x.dim(1);
        Value w = parameter(g, form.filters(), channels / form.groups(), form.kernel()).unsqueeze(2);
        Value y = g.op("conv2d").in("Input", x.unsqueeze(2)).in("Filter", w)
                .attr("strides", new int[]{1, form.stride()})
                .attr("paddings", new int[]{0, 0, form.before(), form.after()})
                .attr("dilations", new int[]{1, form.dilation()}).attr("groups", form.groups())
                .attr("data_format", "NCHW").attr("padding_algorithm", "EXPLICIT").one("Output");
        return y.squeeze(2).plus(parameter(g, form.filters(), 1));
    }

    private static long last(Network network, Program main, Tensor x, Pass... without) {
        return ImagePasses.count(network, main, LinesOfPixelsTest::isLast, x, without);
    }

    private static boolean isLast(Stage stage) {
        return Epilogue.isConvolution(stage.computation())
                && !Objects.requireNonNull(stage.outputs().getFirst()).spec().isRowMajor();
    }

    private static void assertLast(Network network, long convolutions, Tensor x, String where) {
        Program main = network.main().copyForTest();
        assertEquals(convolutions, last(network, main, x), where);
        assertEquals(0, last(network, main, x, Pass.CHANNELS_LAST), where);
        ImagePasses.assertAlike(network, main, 7, x, Pass.CHANNELS_LAST, where);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void poolingsAndFunctions(int batch) {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 3, 61);
            Value y = convolution(g, x, new Form(8, 5, 2, 1, 1, 0, 0)).relu();
            Value pooled = y.unsqueeze(2);
            pooled = g.op("pool2d").in("X", pooled).attr("pooling_type", "max").attr("ksize", new int[]{1, 3})
                    .attr("strides", new int[]{1, 2}).attr("paddings", new int[]{0, 1}).attr("data_format", "NCHW")
                    .attr("padding_algorithm", "EXPLICIT").one("Out");
            Value z = convolution(g, g.layers().prelu().apply(pooled.squeeze(2)), Form.same(8, 3, 2, 8));
            return Outputs.of("y", convolution(g, z.times(parameter(g, 1, 8, 1)), Form.same(4, 1, 1, 1)).mean(2));
        });
        assertLast(network, 3, Bits.normal(1, batch, 3, 61), batch + " lines");
    }

    /**
     * One half of the channels is the gate of the other, and each is added to other lines. The library computes
     * functions of halves that are contiguous, those of a single line with channels first.
     */
    @ParameterizedTest
    @CsvSource({"1,4", "2,7"})
    void gates(int batch, int turned) {
        Network network = Network.define(3, g -> {
            Value x = convolution(g, g.data("x", DType.FLOAT32, -1, 3, 37), Form.same(8, 1, 1, 1));
            Value sum = x;
            for (int i = 0; i < 3; i++) {
                Value both = convolution(g, x, Form.same(16, 3, 1 << i, 1));
                Value gated = both.slice(1, 0, 8).tanh().times(both.slice(1, 8, 16).sigmoid());
                List<Value> parts = convolution(g, gated, Form.same(16, 1, 1, 1)).split(2, 1);
                x = x.plus(parts.getFirst());
                sum = sum.plus(parts.getLast());
            }
            return Outputs.of("y", convolution(g, sum.relu(), Form.same(5, 1, 1, 1)));
        });
        assertLast(network, turned, Bits.normal(2, batch, 3, 37), batch + " lines");
    }

    /** Causal convolutions have padding at both ends, of which the pixels after the line are cut off. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void causal(int batch) {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 3, 33);
            for (int i = 0; i < 3; i++) {
                Value y = convolution(g, x, Form.causal(8, 3, 1 << i)).slice(2, 0, 33).relu();
                Value z = convolution(g, y, Form.causal(8, 3, 1 << i)).slice(2, 0, 33).relu();
                x = z.plus(i == 0 ? convolution(g, x, Form.same(8, 1, 1, 1)) : x).relu();
            }
            return Outputs.of("y", convolution(g, x.slice(2, 5, 29).tanh(), Form.same(4, 1, 1, 1)));
        });
        assertLast(network, 7, Bits.normal(3, batch, 3, 33), batch + " lines");
    }

    /** Each pixel's channels are normalised between two transpositions, of which nothing is left. */
    @ParameterizedTest
    @CsvSource({"1,false", "3,false", "1,true", "3,true"})
    void layerNormsOfPixels(int batch, boolean functions) {
        Network network = Network.define(3, g -> {
            Value x = convolution(g, g.data("x", DType.FLOAT32, -1, 3, 41), Form.same(8, 3, 1, 1));
            for (int i = 0; i < 3; i++) {
                Value y = g.layers().layerNorm(8).apply((functions ? x.relu() : x).transpose(0, 2, 1));
                x = convolution(g, y.transpose(0, 2, 1), Form.same(8, 3, 1 + i, 1));
            }
            return Outputs.of("y", x);
        });
        Tensor x = Bits.normal(5, batch, 3, 41);
        String where = batch + " lines";
        assertLast(network, 3, x, where);
        Program main = network.main().copyForTest();
        assertEquals(0, ImagePasses.count(network, main, LinesOfPixelsTest::isCopyOfLines, x), where);
        assertTrue(ImagePasses.count(network, main, LinesOfPixelsTest::isCopyOfLines, x, Pass.CHANNELS_LAST) > 0,
                where);
    }

    private static boolean isCopyOfLines(Stage stage) {
        return stage.computation() instanceof Copy
                && Objects.requireNonNull(stage.outputs().getFirst()).spec().shape().size() > 8 * 8 * 5;
    }

    /** Branches with windows of several lengths are concatenated. */
    @Test
    void concatenations() {
        Network network = Network.define(3, g -> {
            Value x = convolution(g, g.data("x", DType.FLOAT32, 2, 3, 40), Form.same(6, 1, 1, 1));
            for (int i = 0; i < 2; i++) {
                Value y = x;
                x = g.concat(1, convolution(g, y, Form.same(6, 9, 1, 1)), convolution(g, y, Form.same(6, 5, 1, 1)),
                        convolution(g, y, Form.same(6, 1, 1, 1))).relu();
            }
            return Outputs.of("y", convolution(g, x, Form.same(4, 1, 1, 1)));
        });
        assertLast(network, 7, Bits.normal(4, 2, 3, 40), "");
    }

    @Test
    void randomLayers() {
        long seed = 104;
        SplittableRandom random = new SplittableRandom(seed);
        long turned = 0;
        for (int i = 0; i < 12; i++) {
            int batch = random.nextInt(1, 5);
            int channels = random.nextInt(1, 6);
            int length = random.nextInt(20, 70);
            SplittableRandom layers = random.split();
            Network network = Network.define(3, g -> {
                Value x = g.data("x", DType.FLOAT32, -1, channels, length);
                for (int k = 0; k < 5; k++) {
                    x = layer(g, x, layers);
                }
                return Outputs.of("y", x);
            });
            Tensor x = Bits.normal(i, batch, channels, length);
            Program main = network.main().copyForTest();
            ImagePasses.assertAlike(network, main, 7, x, Pass.CHANNELS_LAST, "seed " + seed + ", network " + i);
            turned += last(network, main, x);
        }
        assertTrue(turned > 20, turned + " convolutions");
    }

    private static Value layer(Graph g, Value x, SplittableRandom random) {
        int channels = Math.toIntExact(x.dim(1));
        int length = Math.toIntExact(x.dim(2));
        int groups = random.nextInt(3) == 0 ? channels : 1;
        int filters = groups * random.nextInt(1, groups == 1 ? 21 : 3);
        int kernel = random.nextInt(1, 6);
        int dilation = random.nextInt(1, 5);
        int reach = (kernel - 1) * dilation;
        int before = random.nextInt(0, reach + 1);
        int after = Math.max(reach - before, random.nextInt(0, reach + 1));
        Form form = new Form(filters, kernel, random.nextInt(1, 3), dilation, groups, before, after);
        Value y = convolution(g, x, form);
        return switch (random.nextInt(6)) {
            case 0 -> y.relu();
            case 1 -> g.layers().prelu().apply(y);
            case 2 -> y.dim(2) > 9 ? y.slice(2, 1, Math.toIntExact(y.dim(2)) - 2).tanh() : y;
            case 3 -> filters > 2 ? y.slice(1, 1, filters).times(y.slice(1, 0, filters - 1).sigmoid()) : y.square();
            case 4 -> form.stride() == 1 && y.dim(2) == length && filters == channels ? y.plus(x) : y.sigmoid();
            default -> y;
        };
    }
}
