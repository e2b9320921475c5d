package io.seriatim.executor.pass;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.Bits;
import io.seriatim.executor.Executor;
import io.seriatim.executor.ImagePasses;
import io.seriatim.executor.Pass;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.ParameterSpec;
import io.seriatim.graph.Value;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Elementwise operations compute in the shape of the product before them, whatever reshape is between both. */
class SharedShapesTest {
    private static final long SEED = 20261126;
    private static final boolean FULL = Boolean.getBoolean("seriatim.full");

    @Test
    void operandsAreReshapedByGroups() {
        assertArrayEquals(dims(1, 5, 1, 7), SharedShapes.reshaped(dims(5, 7), dims(2, 5, 7), dims(2, 5, 1, 7)));
        assertArrayEquals(dims(1, 5, 1, 1), SharedShapes.reshaped(dims(5, 1), dims(2, 5, 7), dims(2, 5, 1, 7)));
        assertArrayEquals(dims(1, 7), SharedShapes.reshaped(dims(7), dims(2, 5, 7), dims(10, 7)));
        assertArrayEquals(new long[0], SharedShapes.reshaped(dims(), dims(2, 5), dims(10)));
        // One of two dimensions that have become one.
        assertNull(SharedShapes.reshaped(dims(5, 1), dims(2, 5, 7), dims(10, 7)));
        assertNull(SharedShapes.reshaped(dims(6), dims(4, 6), dims(6, 4)));
    }

    /** Broadcasting the reshaped operand gives the elements of the broadcast operand, in order. */
    @Test
    void reshapedOperandsBroadcastToTheSameElements() {
        SplittableRandom random = new SplittableRandom(SEED);
        int found = 0;
        for (int trial = 0; trial < 4000; trial++) {
            long[] whole = new long[1 + random.nextInt(4)];
            for (int i = 0; i < whole.length; i++) {
                whole[i] = 1L + random.nextInt(4);
            }
            long[] operand = new long[random.nextInt(whole.length + 1)];
            for (int i = 0; i < operand.length; i++) {
                operand[i] = random.nextBoolean() ? 1 : whole[whole.length - operand.length + i];
            }
            long[] to = random.nextBoolean() ? merged(random, whole) : split(random, whole);
            long[] changed = SharedShapes.reshaped(operand, whole, to);
            String where = "seed " + SEED + ", trial " + trial + ": " + Shape.of(operand) + " of " + Shape.of(whole)
                    + " in " + Shape.of(to);
            if (changed != null) {
                found++;
                assertEquals(places(operand, whole), places(changed, to), where);
            }
        }
        assertTrue(found > 1000, "only " + found + " were reshaped");
    }

    private static long[] dims(long... dims) {
        return dims;
    }

    private static long[] merged(SplittableRandom random, long[] whole) {
        List<Long> dims = new ArrayList<>();
        for (long dim : whole) {
            if (!dims.isEmpty() && random.nextBoolean()) {
                dims.set(dims.size() - 1, dims.getLast() * dim);
            } else {
                dims.add(dim);
            }
        }
        return dims.stream().mapToLong(Long::longValue).toArray();
    }

    private static long[] split(SplittableRandom random, long[] whole) {
        List<Long> dims = new ArrayList<>();
        for (long dim : whole) {
            if (random.nextInt(3) == 0) {
                dims.add(1L);
            }
            if (dim == 4 && random.nextBoolean()) {
                dims.add(2L);
                dims.add(2L);
            } else {
                dims.add(dim);
            }
        }
        return dims.stream().mapToLong(Long::longValue).toArray();
    }

    /** For each element of the whole, the index of the operand's element that broadcasting puts there. */
    private static List<Long> places(long[] operand, long[] whole) {
        List<Long> all = new ArrayList<>();
        long size = Shape.of(whole).size();
        for (long element = 0; element < size; element++) {
            long left = element;
            long place = 0;
            long step = 1;
            for (int i = 1; i <= whole.length; i++) {
                long index = left % whole[whole.length - i];
                left /= whole[whole.length - i];
                if (i <= operand.length) {
                    long dim = operand[operand.length - i];
                    place += (dim == 1 ? 0 : index) * step;
                    step *= dim;
                }
            }
            all.add(place);
        }
        return all;
    }

    /** The convolution of a line with its normalisation and its function is one stage, as that of an image. */
    @Test
    void whatFollowsTheConvolutionOfALineIsFused() {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 8, 1, 40);
            Value y = line(g, x, 16);
            Value z = g.layers().batchNorm(16).apply(y).relu();
            return Outputs.of("z", line(g, z.reshape(-1, 16, 1, 40), 8).gelu());
        });
        Program main = network.main().copyForTest();
        Tensor x = Bits.normal(1, 2, 8, 1, 40);
        assertEquals(2, ImagePasses.count(network, main, stage -> stage.computation() != null, x),
                "two convolutions");
        ImagePasses.assertAlike(network, main, 7, x, Pass.EPILOGUES, "");
    }

    private static Value line(Graph g, Value x, int filters) {
        Value weights = g.parameter(ParameterSpec.DEFAULT, DType.FLOAT32, filters, x.dim(1), 1, 3);
        return g.op("conv2d").in("Input", x).in("Filter", weights).attr("paddings", new int[]{0, 1}).one("Output")
                .reshape(-1, filters, 40);
    }

    /** Images have up to five dimensions; the blocks of which these consist have six. */
    @Test
    void imagesOfBlocksAreNormalisedAsImages() {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, 2, 4, 2, 3, 2, 3);
            Value blocks = x.transpose(0, 1, 4, 3, 2, 5).tanh();
            Value images = blocks.reshape(2, 4, 6, 6);
            return Outputs.of("z", g.batchNorm(images).relu(), "y", images.plus(1));
        });
        Program main = network.main().copyForTest();
        ImagePasses.assertAlike(network, main, 7, Bits.normal(1, 2, 4, 2, 3, 2, 3), Pass.FOLDING, "");
    }

    /** A product of flattened rows takes the bias, the function and the residual that follow a reshape. */
    @Test
    void whatFollowsAProductOfFlattenedRowsIsFused() {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 6, 16);
            Value w = g.parameter(ParameterSpec.DEFAULT, DType.FLOAT32, 16, 16);
            Value b = g.parameter(ParameterSpec.DEFAULT, DType.FLOAT32, 16);
            return Outputs.of("z", x.reshape(-1, 16).matmul(w).reshape(-1, 6, 16).plus(b).relu().plus(x));
        });
        Tensor x = Bits.normal(1, 2, 6, 16);
        assertEquals(1, ImagePasses.count(network, network.main(), stage -> stage.computation() != null, x));
        ImagePasses.assertAlike(network, network.main(), 7, x, Pass.EPILOGUES, "");
    }

    /** Random reshapes between products and functions; the result is that of a plan without passes. */
    @Test
    void randomReshapesGiveTheSame() {
        for (int trial = 0; trial < (FULL ? 600 : 60); trial++) {
            long seed = SEED + trial;
            Network network = random(new SplittableRandom(seed));
            Tensor x = Bits.normal(seed, 2, 6, 16);
            Tensor expected = run(network, x, Pass.values());
            ImagePasses.assertAlike(expected, run(network, x), "seed " + seed);
        }
    }

    private static Tensor run(Network network, Tensor x, Pass... without) {
        Executor.Builder builder = Executor.builder().threads(1);
        for (Pass pass : without) {
            builder = builder.without(pass);
        }
        try (Executor executor = builder.build()) {
            executor.run(network.startup());
            String name = ImagePasses.names(network).getFirst();
            return Bits.copy(executor.run(network.main(), Map.of("x", x), Executor.fetches(name)).get(name));
        }
    }

    private static int[] ints(long[] dims) {
        return Arrays.stream(dims).mapToInt(Math::toIntExact).toArray();
    }

    private static Network random(SplittableRandom random) {
        return Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, 2, 6, 16);
            List<long[]> shapes = List.of(dims(2, 6, 16), dims(12, 16), dims(2, 6, 1, 16), dims(2, 2, 3, 16),
                    dims(2, 96), dims(1, 12, 16), dims(2, 6, 4, 4));
            Value y = x;
            for (int step = 0; step < 8; step++) {
                long[] shape = shapes.get(random.nextInt(shapes.size()));
                y = y.reshape(ints(shape));
                switch (random.nextInt(6)) {
                    case 0 -> {
                        Value w = g.parameter(ParameterSpec.DEFAULT, DType.FLOAT32, 16, 16);
                        y = y.reshape(12, 16).matmul(w);
                    }
                    case 1 -> y = y.tanh();
                    case 2 -> y = y.plus(x.reshape(ints(shape)));
                    case 3 -> y = y.times(g.parameter(ParameterSpec.DEFAULT, DType.FLOAT32, shape[shape.length - 1]));
                    case 4 -> y = y.plus(g.parameter(ParameterSpec.DEFAULT, DType.FLOAT32, shape[shape.length - 2], 1));
                    default -> y = y.relu();
                }
            }
            return Outputs.of("y", y);
        });
    }
}
