package io.seriatim.tensor.onednn;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.Kernels;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A product with packed weights whose rows are computed in blocks. Primitives of the library are for a fixed number of
 * rows, and creating one takes longer than many products. Blocks have numbers of rows of four significant bits, of
 * which there are eight between a power of two and the next: products of all numbers of rows, in all plans, share
 * their primitives. A row of a result does not depend on the others, and the library adds up its products in the same
 * order in blocks of any number of rows. So results are the same to the bit.
 *
 * <p>
 * Another block costs a call of the library and another pass over the weights. Products are computed in blocks only
 * where that is little, and only on one thread: several threads divide a whole product better.
 */
final class RowBlocks implements Kernel {
    /** The factor between the largest power of two in a number of rows and the steps in which blocks are sized. */
    private static final long STEPS = 8;
    /** Blocks of fewer rows take as long as those of so many: they wait for the weights. */
    private static final long FEWEST = 8;
    /** Multiplications that take the library about 50 times as long as a call. */
    private static final long FOR_EACH_BLOCK = 1L << 21;
    /** More weights do not stay in the second-level cache from one block to the next. */
    private static final long CACHED_WEIGHTS = 1L << 17;
    /** With so many rows for each block, reading the weights from the third-level cache again takes little time. */
    private static final long ROWS_FOR_EACH_PASS = 256;
    /** More weights do not stay in any cache. */
    private static final long MOST_WEIGHTS = 1L << 20;
    /** The number of plans of different sizes that use a block, about: each counts a part of its memory. */
    private static final long SHARED_BY = 8;
    /** Blocks of the same operands are the same kernel for all products. */
    private static final PreparedKernels BLOCKS = new PreparedKernels(
            new Kernels().register(OneDnnKernels.PROVIDER, Place.CPU.kind(), MatMul.PLAIN.operation(), MatMul.class,
                    List.of(DType.FLOAT32), (product, operands) -> MatMulRecipe.whole(Dnnl.require(), product,
                            Arrays.stream(operands).map(Objects::requireNonNull).toList())),
            4096);

    private final List<Block> blocks;
    /** The product as a whole, for several threads. */
    private final LazyKernel whole;
    private volatile PreparedKernels.@Nullable Hold hold;
    @GuardedBy("this")
    private boolean closed;

    /**
     * Some rows.
     *
     * @param kernel
     *            computes them
     * @param shifts
     *            the distance of its data from that of the whole product, for each argument in bytes
     */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Block(DnnlKernel kernel, long[] shifts) {
    }

    private RowBlocks(List<Block> blocks, Supplier<@Nullable DnnlKernel> whole) {
        this.blocks = List.copyOf(blocks);
        this.whole = new LazyKernel(() -> {
            Kernel made = whole.get();
            return made == null ? new InTurn(this) : made;
        }, -1, given -> given);
    }

    /** Runs the blocks if the library has no whole product. */
    private record InTurn(RowBlocks product) implements Kernel {
        @Override
        public void run(@Nullable Tensor[] arguments, KernelContext context) {
            product.runBlocks(arguments, context);
        }

        @Override
        public String provider() {
            return OneDnnKernels.PROVIDER;
        }
    }

    /**
     * Null if the rows are not to be computed in blocks, or the library has no such blocks.
     *
     * @param product
     *            of matrices that are not transposed
     * @param matrices
     *            x, the operands of the bias and of post-ops, and the result
     * @param weights
     *            y, packed
     * @param whole
     *            makes the kernel of all rows at once
     */
    static @Nullable Kernel of(MatMul product, List<MatrixView> matrices, TensorSpec weights,
            Supplier<@Nullable DnnlKernel> whole) {
        long rows = matrices.getFirst().dims()[0];
        long[] sizes = sizes(rows);
        if (rows <= 2 * FEWEST || !areBlocksFast(sizes.length - 1, rows, weights.shape().size())
                || !areOfRows(rows, matrices)) {
            return null;
        }
        List<Block> blocks = new ArrayList<>();
        long from = 0;
        for (long size : sizes) {
            Kernel kernel = BLOCKS.find(product, Place.CPU, operands(matrices, weights, rows, size));
            if (!(kernel instanceof DnnlKernel block)) {
                return null;
            }
            blocks.add(new Block(block, shifts(matrices, rows, from)));
            from += size;
        }
        return new RowBlocks(blocks, whole);
    }

    /** Returns the numbers of rows of the blocks. They depend on the number of rows alone. */
    static long[] sizes(long rows) {
        List<Long> sizes = new ArrayList<>();
        long rest = rows;
        while (rest > 0) {
            long step = Math.max(1, Long.highestOneBit(rest) / STEPS);
            long more = rest % step;
            // The last block has not too few rows.
            long size = more == 0 || more >= FEWEST ? rest - more : (rest - FEWEST) / step * step;
            sizes.add(size);
            rest -= size;
        }
        return sizes.stream().mapToLong(Long::longValue).toArray();
    }

    /** Returns the kernels of the blocks, which products share. */
    List<Kernel> kernels() {
        return blocks.stream().<Kernel>map(Block::kernel).toList();
    }

    private static boolean areBlocksFast(long more, long rows, long weights) {
        boolean areRead = weights <= CACHED_WEIGHTS || (weights <= MOST_WEIGHTS && rows >= more * ROWS_FOR_EACH_PASS);
        return more == 0 || (areRead && rows * weights >= more * FOR_EACH_BLOCK);
    }

    private static boolean areOfRows(long rows, List<MatrixView> matrices) {
        return matrices.stream().allMatch(matrix -> matrix.dtype() == DType.FLOAT32
                && (matrix.dims()[0] == rows || matrix.dims()[0] == 1) && matrix.strides()[1] == 1);
    }

    private static TensorSpec[] operands(List<MatrixView> matrices, TensorSpec weights, long rows, long size) {
        List<TensorSpec> operands = new ArrayList<>();
        for (MatrixView matrix : matrices) {
            operands.add(new TensorSpec(matrix.dtype(),
                    Shape.of(matrix.dims()[0] == rows ? size : 1, matrix.dims()[1]),
                    Layout.strided(matrix.strides())));
        }
        operands.add(1, weights);
        return operands.toArray(TensorSpec[]::new);
    }

    private static long[] shifts(List<MatrixView> matrices, long rows, long from) {
        long[] shifts = new long[matrices.size() + 1];
        for (int i = 0; i < matrices.size(); i++) {
            MatrixView matrix = matrices.get(i);
            shifts[i == 0 ? 0 : i + 1] =
                    matrix.dims()[0] == rows ? from * matrix.strides()[0] * matrix.dtype().bytes() : 0;
        }
        return shifts;
    }

    @Override
    public void run(@Nullable Tensor[] arguments, KernelContext context) {
        if (context.threads() > 1 && blocks.size() > 1) {
            whole.run(arguments, context);
        } else {
            runBlocks(arguments, context);
        }
    }

    private void runBlocks(@Nullable Tensor[] arguments, KernelContext context) {
        holdBlocks();
        for (Block block : blocks) {
            block.kernel().run(arguments, block.shifts(), context);
        }
    }

    /** Keeps the blocks from being evicted while this kernel is in use. */
    private void holdBlocks() {
        if (hold == null) {
            holdOnce();
        }
    }

    private synchronized void holdOnce() {
        if (closed) {
            throw new Handles.ClosedException();
        }
        if (hold == null) {
            hold = BLOCKS.hold(kernels());
        }
    }

    @Override
    public void load() {
        holdBlocks();
        blocks.forEach(block -> block.kernel().load());
    }

    @Override
    public String provider() {
        return OneDnnKernels.PROVIDER;
    }

    @Override
    public long bytes() {
        return whole.bytes()
                + (hold == null ? 0 : blocks.stream().mapToLong(block -> block.kernel().bytes()).sum() / SHARED_BY);
    }

    @Override
    public long loadedBytes() {
        return Math.max(bytes(), whole.loadedBytes() * blocks.size() / SHARED_BY);
    }

    @Override
    public void release() {
        whole.release();
        letBlocksGo();
    }

    private synchronized void letBlocksGo() {
        PreparedKernels.Hold held = hold;
        hold = null;
        if (held != null) {
            held.close();
        }
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
        }
        whole.close();
        letBlocksGo();
    }
}
