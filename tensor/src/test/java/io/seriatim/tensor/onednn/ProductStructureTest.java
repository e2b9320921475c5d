package io.seriatim.tensor.onednn;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.kernel.Kernel;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Products that the library is asked for only when they run. */
class ProductStructureTest {
    private static final long SEED = 20261127;

    private static TensorSpec dense(long... dims) {
        return TensorSpec.of(DType.FLOAT32, Shape.of(dims));
    }

    private static TensorSpec strided(long[] dims, long... strides) {
        return new TensorSpec(DType.FLOAT32, Shape.of(dims), Layout.strided(strides));
    }

    private static Dnnl library() {
        assumeTrue(OneDnn.status().loaded(), "oneDNN is not loaded");
        return Dnnl.require();
    }

    @Test
    void sizesOfAStructureMayDiffer() {
        ProductStructure one = ProductStructure.of(MatMul.PLAIN, List.of(dense(2, 7, 5), dense(5, 9), dense(2, 7, 9)));
        ProductStructure other =
                ProductStructure.of(MatMul.PLAIN, List.of(dense(3, 70, 6), dense(6, 4), dense(3, 70, 4)));
        assertEquals(one, other);
    }

    @Test
    void sizesOfOneEqualSizesOrdersAndGapsAreParts() {
        List<TensorSpec> plain = List.of(dense(7, 5), dense(5, 9), dense(7, 9));
        ProductStructure structure = ProductStructure.of(MatMul.PLAIN, plain);
        assertNotEquals(structure,
                ProductStructure.of(MatMul.PLAIN, List.of(dense(1, 5), dense(5, 9), dense(1, 9))));
        assertNotEquals(structure,
                ProductStructure.of(MatMul.PLAIN, List.of(dense(7, 7), dense(7, 9), dense(7, 9))));
        assertNotEquals(structure, ProductStructure.of(MatMul.PLAIN,
                List.of(strided(new long[]{7, 5}, 1, 7), plain.get(1), plain.get(2))));
        assertNotEquals(structure, ProductStructure.of(MatMul.PLAIN,
                List.of(strided(new long[]{7, 5}, 6, 1), plain.get(1), plain.get(2))));
        assertEquals(ProductStructure.of(MatMul.PLAIN,
                List.of(strided(new long[]{7, 5}, 6, 1), plain.get(1), plain.get(2))),
                ProductStructure.of(MatMul.PLAIN,
                        List.of(strided(new long[]{7, 5}, 99, 1), plain.get(1), plain.get(2))));
    }

    @Test
    void onlyOrdinaryOperandsAreRepresented() {
        assertTrue(ProductStructure.represents(List.of(dense(7, 5))));
        assertFalse(ProductStructure.represents(List.of(dense(7, 0))));
        assertFalse(ProductStructure.represents(List.of(dense(1 << 21))));
        assertFalse(ProductStructure.represents(List.of(TensorSpec.of(DType.FLOAT16, Shape.of(7, 5)))));
    }

    /** What is decided for representative sizes is right for others: each kernel is the library's when it is made. */
    @Test
    void theLibraryHasTheProductsThatAreExpectedOfIt() {
        Dnnl dnnl = library();
        SplittableRandom sizes = new SplittableRandom(SEED);
        Set<ProductStructure> structures = new HashSet<>();
        int lazy = 0;
        for (int i = 0; i < 600; i++) {
            List<TensorSpec> operands = new ArrayList<>();
            // Three sets of sizes for each structure.
            MatMul product = random(new SplittableRandom(SEED + i / 3), sizes, operands);
            Kernel kernel = MatMulRecipe.kernel(dnnl, product, operands.toArray(TensorSpec[]::new));
            String text = "seed " + SEED + ", product " + i + ": " + product + " of " + operands;
            if (kernel instanceof LazyKernel promised) {
                lazy++;
                structures.add(ProductStructure.of(product, operands));
                assertInstanceOf(DnnlKernel.class, promised.made(), text);
            }
            if (kernel != null) {
                kernel.close();
            }
        }
        assertTrue(lazy > 400, lazy + " of 600 products were promised");
        assertTrue(structures.size() < lazy / 2, structures.size() + " structures of " + lazy + " products");
    }

    /** Draws a product with a bias, post-ops, transposed operands and views. */
    private static MatMul random(SplittableRandom random, SplittableRandom sizes, List<TensorSpec> operands) {
        int batches = random.nextInt(3);
        boolean shared = random.nextBoolean();
        long[] batch = new long[batches];
        for (int i = 0; i < batches; i++) {
            batch[i] = size(random, sizes, 5);
        }
        long m = size(random, sizes, 90);
        long k = size(random, sizes, 90);
        long n = size(random, sizes, 90);
        boolean tx = batches == 0 && random.nextInt(4) == 0;
        boolean ty = random.nextInt(3) == 0;
        operands.add(view(random, tx ? with(batch, k, m) : with(batch, m, k)));
        operands.add(view(random, with(shared ? new long[0] : batch, ty ? n : k, ty ? k : n)));
        boolean bias = random.nextBoolean();
        if (bias) {
            operands.add(dense(n));
        }
        List<PostOp> postOps = new ArrayList<>();
        for (int i = random.nextInt(3); i > 0; i--) {
            if (random.nextBoolean()) {
                Unary.Function[] functions = {Unary.Function.RELU, Unary.Function.GELU_ERF, Unary.Function.TANH,
                        Unary.Function.SIGMOID};
                postOps.add(new PostOp.Apply(functions[random.nextInt(functions.length)], 0, 0));
            } else {
                postOps.add(new PostOp.Combine(random.nextBoolean() ? Binary.Function.ADD : Binary.Function.MULTIPLY));
                operands.add(random.nextBoolean() ? dense(with(batch, m, n)) : dense(n));
            }
        }
        operands.add(dense(with(batch, m, n)));
        return new MatMul(tx, ty, bias, postOps);
    }

    private static long size(SplittableRandom random, SplittableRandom sizes, int most) {
        return random.nextInt(5) == 0 ? 1 : 2L + sizes.nextInt(most);
    }

    private static long[] with(long[] batch, long rows, long columns) {
        long[] dims = new long[batch.length + 2];
        System.arraycopy(batch, 0, dims, 0, batch.length);
        dims[batch.length] = rows;
        dims[batch.length + 1] = columns;
        return dims;
    }

    /** Returns a tensor that is dense, has gaps between rows, or has its rows between the batches. */
    private static TensorSpec view(SplittableRandom random, long[] dims) {
        long[] strides = Shape.of(dims).strides();
        int last = dims.length - 1;
        switch (random.nextInt(4)) {
            case 0 -> {
                for (int i = 0; i < last; i++) {
                    strides[i] *= 3;
                }
            }
            case 1 -> {
                if (last >= 2) {
                    strides[last - 1] = dims[last] * dims[last - 2];
                    strides[last - 2] = dims[last];
                }
            }
            default -> {
            }
        }
        return strided(dims, strides);
    }

    @Test
    void weightsArePackedAlikeForManyNumbersOfRows() {
        Dnnl dnnl = library();
        TensorSpec weights = dense(256, 512);
        Set<TensorSpec> layouts = new HashSet<>();
        for (long rows = 65; rows <= 128; rows++) {
            try (Kernel kernel = Objects.requireNonNull(MatMulRecipe.kernel(dnnl, MatMul.PLAIN,
                    new TensorSpec[]{dense(rows, 256), weights, dense(rows, 512)}))) {
                layouts.add(kernel.preferred(1, weights));
            }
        }
        assertEquals(1, layouts.size());
    }

    /** Caches count a product from the start, also where a post-op follows as a kernel of its own. */
    @Test
    void aKernelOfAPromisedProductCountsItsMemory() {
        Kernel kernel = Objects.requireNonNull(MatMulRecipe.kernel(library(),
                new MatMul(false, false, false, List.of(new PostOp.Apply(Unary.Function.SIN, 0, 0))),
                new TensorSpec[]{dense(7, 5), dense(5, 9), dense(7, 9)}));
        assertInstanceOf(UnfusedPostOps.class, kernel);
        assertEquals(0, kernel.bytes());
        assertTrue(kernel.loadedBytes() > 0);
        kernel.load();
        assertTrue(kernel.bytes() > 0);
        kernel.close();
    }

    @Test
    void aClosedKernelIsNotMadeAgain() {
        Dnnl dnnl = library();
        Kernel kernel = Objects.requireNonNull(MatMulRecipe.kernel(dnnl, MatMul.PLAIN,
                new TensorSpec[]{dense(7, 5), dense(5, 9), dense(7, 9)}));
        kernel.close();
        assertThrows(Handles.ClosedException.class, kernel::load);
    }
}
