package io.seriatim.tensor.onednn;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Products whose rows are computed in blocks of a few sizes. */
class RowBlocksTest {
    private static final long SEED = 20261128;
    private static final int GAP = 16;

    @BeforeEach
    void needsTheLibrary() {
        assumeTrue(OneDnn.status().loaded(), "oneDNN is not loaded");
    }

    private static TensorSpec dense(long... dims) {
        return TensorSpec.of(DType.FLOAT32, Shape.of(dims));
    }

    private static Kernel kernel(MatMul product, TensorSpec... operands) {
        return Objects.requireNonNull(MatMulRecipe.kernel(Dnnl.require(), product, operands));
    }

    /** Returns the layout that the library prefers for the weights. */
    private static TensorSpec packed(TensorSpec weights) {
        long inputs = weights.shape().dim(0);
        long outputs = weights.shape().dim(1);
        try (Kernel plain = kernel(MatMul.PLAIN, dense(64, inputs), weights, dense(64, outputs))) {
            return plain.preferred(1, weights);
        }
    }

    /** A random product with all that belongs to it. */
    private static final class Case {
        final MatMul product;
        final long rows;
        final List<TensorSpec> operands = new ArrayList<>();
        final List<Tensor> arguments = new ArrayList<>();
        final Tensor weights;
        final Tensor result;
        final float[] before;

        Case(SplittableRandom random) {
            long inputs = 16L * (4 + random.nextInt(13));
            long outputs = 16L * (4 + random.nextInt(13));
            rows = (1L << 23) / (inputs * outputs) + 16 + random.nextInt(600);
            boolean batch = rows % 2 == 0 && random.nextBoolean();
            weights = dense(random, dense(inputs, outputs));
            operands.add(view(random, batch, rows, inputs));
            operands.add(packed(weights.spec()));
            boolean bias = random.nextBoolean();
            if (bias) {
                operands.add(dense(outputs));
            }
            List<PostOp> postOps = new ArrayList<>();
            if (random.nextInt(5) == 0) {
                postOps.add(new PostOp.Accumulate(1));
            }
            for (int i = random.nextInt(4); i > 0; i--) {
                postOps.add(postOp(random, batch, outputs));
            }
            product = new MatMul(false, false, bias, postOps);
            operands.add(view(random, batch, rows, outputs));
            for (int i = 0; i < operands.size(); i++) {
                arguments.add(i == 1 ? packed(weights, operands.get(1)) : filled(random, operands.get(i)));
            }
            result = arguments.getLast();
            before = result.toFloatArray();
        }

        private PostOp postOp(SplittableRandom random, boolean batch, long outputs) {
            Unary.Function[] functions = {Unary.Function.RELU, Unary.Function.TANH, Unary.Function.SIGMOID};
            if (random.nextBoolean()) {
                return new PostOp.Apply(functions[random.nextInt(functions.length)], 0, 0);
            }
            operands.add(switch (random.nextInt(3)) {
                case 0 -> dense(outputs);
                case 1 -> dense(1);
                default -> view(random, batch, rows, outputs);
            });
            return new PostOp.Combine(random.nextBoolean() ? Binary.Function.ADD : Binary.Function.MULTIPLY);
        }

        float[] run(Kernel kernel, boolean plainWeights, KernelContext context) {
            copy(Tensor.of(before, result.spec().shape().dims()), result);
            Tensor[] given = arguments.toArray(Tensor[]::new);
            given[1] = plainWeights ? weights : given[1];
            kernel.run(given, context);
            return result.toFloatArray();
        }

        TensorSpec[] specs(boolean plainWeights) {
            TensorSpec[] specs = operands.toArray(TensorSpec[]::new);
            specs[1] = plainWeights ? weights.spec() : specs[1];
            return specs;
        }
    }

    /** Returns a matrix, or two with as many rows in all, with or without gaps between rows. */
    private static TensorSpec view(SplittableRandom random, boolean batch, long rows, long columns) {
        long step = random.nextInt(3) == 0 ? columns + GAP : columns;
        return batch
                ? new TensorSpec(DType.FLOAT32, Shape.of(2, rows / 2, columns),
                        Layout.strided(rows / 2 * step, step, 1))
                : new TensorSpec(DType.FLOAT32, Shape.of(rows, columns), Layout.strided(step, 1));
    }

    private static Tensor dense(SplittableRandom random, TensorSpec spec) {
        float[] values = new float[(int) spec.shape().size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextDouble(-1, 1);
        }
        return Tensor.of(values, spec.shape().dims());
    }

    private static Tensor filled(SplittableRandom random, TensorSpec spec) {
        long elements = spec.shape().rank() == 1 ? spec.shape().size() : spec.shape().dim(0) * spec.strides()[0];
        Tensor tensor = new Tensor(Tensor.allocate(Devices.system().host(), dense(elements)).buffer(), 0, spec);
        copy(dense(random, spec), tensor);
        return tensor;
    }

    private static Tensor packed(Tensor weights, TensorSpec wanted) {
        Tensor packed = Tensor.allocate(Devices.system().host(), wanted);
        copy(weights, packed);
        return packed;
    }

    private static void copy(Tensor from, Tensor to) {
        try (Kernel copy = Kernels.system().prepare(Copy.PLAIN, Place.CPU, from.spec(), to.spec())) {
            copy.run(new Tensor[]{from, to}, KernelContext.current());
        }
    }

    @Test
    void blocksHaveFewSizes() {
        Set<Long> sizes = new HashSet<>();
        for (int rows = 1; rows <= 5000; rows++) {
            long[] blocks = RowBlocks.sizes(rows);
            assertEquals(rows, Arrays.stream(blocks).sum());
            assertTrue(blocks.length <= 5, rows + " rows: " + Arrays.toString(blocks));
            for (long block : blocks) {
                assertTrue(block >= Math.min(rows, 8), rows + " rows: " + Arrays.toString(blocks));
                sizes.add(block);
            }
        }
        assertTrue(sizes.size() <= 15 + 8 * 9, "sizes: " + sizes);
    }

    /** Some post-ops follow as kernels of their own. */
    @Test
    void resultsAreThoseOfTheWholeProduct() {
        int inBlocks = 0;
        for (int i = 0; i < 30; i++) {
            Case given = new Case(new SplittableRandom(SEED + i));
            String text = "seed " + (SEED + i) + ": " + given.product + " of " + given.operands;
            try (Kernel kernel = kernel(given.product, given.specs(false));
                    Kernel portable = Kernels.portable().prepare(given.product, Place.CPU, given.specs(true));
                    KernelContext two = new KernelContext(2)) {
                float[] expected = given.run(kernel, false, KernelContext.current());
                assertArrayEquals(given.run(portable, true, KernelContext.current()), expected, 1e-3f, text);
                assertArrayEquals(expected, given.run(kernel, false, two), 1e-3f, text);
                if (kernel instanceof RowBlocks) {
                    inBlocks++;
                    try (Kernel whole = Objects.requireNonNull(
                            MatMulRecipe.whole(Dnnl.require(), given.product, List.of(given.specs(false))), text)) {
                        assertArrayEquals(given.run(whole, false, KernelContext.current()), expected, text);
                    }
                }
            }
        }
        assertTrue(inBlocks > 20, inBlocks + " of 30 products were computed in blocks");
    }

    @Test
    void severalThreadsRunTheSameBlocks() {
        Case first = new Case(new SplittableRandom(SEED));
        try (Kernel blocks = kernel(first.product, first.specs(false))) {
            List<Boolean> right = IntStream.range(0, 8).parallel().mapToObj(i -> {
                Case own = new Case(new SplittableRandom(SEED));
                float[] expected = own.run(blocks, false, KernelContext.current());
                return IntStream.range(0, 20)
                        .allMatch(_ -> Arrays.equals(expected, own.run(blocks, false, KernelContext.current())));
            }).toList();
            assertFalse(right.contains(false));
        }
    }

    @Test
    void productsOfDifferentNumbersOfRowsShareBlocks() {
        TensorSpec weights = packed(dense(256, 512));
        Set<Kernel> all = new HashSet<>();
        List<Kernel> products = new ArrayList<>();
        for (long rows = 65; rows <= 256; rows++) {
            Kernel product = kernel(MatMul.PLAIN, dense(rows, 256), weights, dense(rows, 512));
            products.add(product);
            all.addAll(assertInstanceOf(RowBlocks.class, product).kernels());
        }
        assertTrue(all.size() <= 32, all.size() + " kernels");
        Kernel batches = kernel(MatMul.PLAIN, dense(2, 70, 256), weights, dense(2, 70, 512));
        assertTrue(all.containsAll(assertInstanceOf(RowBlocks.class, batches).kernels()));
        batches.close();
        products.forEach(Kernel::close);
    }

    @Test
    void smallProductsAndLargeWeightsAreNotDivided() {
        TensorSpec small = packed(dense(64, 128));
        assertFalse(kernel(MatMul.PLAIN, dense(37, 64), small, dense(37, 128)) instanceof RowBlocks);
        assertTrue(kernel(MatMul.PLAIN, dense(36, 64), small, dense(36, 128)) instanceof RowBlocks);
        TensorSpec large = packed(dense(1024, 2048));
        assertFalse(kernel(MatMul.PLAIN, dense(301, 1024), large, dense(301, 2048)) instanceof RowBlocks);
        TensorSpec plain = dense(256, 512);
        assertFalse(kernel(MatMul.PLAIN, dense(128, 256), plain, dense(128, 512)) instanceof RowBlocks);
    }

    @Test
    void aReleasedProductRunsAgainAndAClosedOneDoesNot() {
        Case given = new Case(new SplittableRandom(SEED));
        Kernel blocks = kernel(given.product, given.specs(false));
        assertTrue(blocks.loadedBytes() > 0);
        blocks.load();
        assertTrue(blocks.bytes() > 0);
        float[] expected = given.run(blocks, false, KernelContext.current());
        blocks.release();
        assertEquals(0, blocks.bytes());
        assertArrayEquals(expected, given.run(blocks, false, KernelContext.current()));
        blocks.close();
        assertThrows(Handles.ClosedException.class, () -> given.run(blocks, false, KernelContext.current()));
    }
}
