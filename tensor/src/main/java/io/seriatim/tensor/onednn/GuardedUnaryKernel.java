package io.seriatim.tensor.onednn;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.function.FloatExp;
import io.seriatim.tensor.kernel.portable.function.FloatLoops;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A function that the library computes correctly only for ordinary numbers. The input is checked block by block, which
 * also brings it into the cache, and a block with any other value is computed in Java. The sum of a block shows NaN and
 * infinities; the library computes it at full speed from the first call.
 */
final class GuardedUnaryKernel implements Kernel {
    private static final int BLOCK = 1 << 15;
    private static final int MAGNITUDE = 0x7fffffff;
    private static final int INFINITY = Float.floatToRawIntBits(Float.POSITIVE_INFINITY);
    private static final float MOST_TRUSTED = 64;
    private static final float LEAST_UNTRUSTED = (float) Math.exp(MOST_TRUSTED);
    private static final int LARGEST_TRUSTED = Float.floatToRawIntBits(MOST_TRUSTED);
    /** Up to this length plain Java checks a block faster than a reduction starts. */
    private static final int MOST_SCANNED = 4096;

    private final Unary unary;
    private final long size;
    private final boolean isFloatExp;
    private final List<BlockKernels> blocks;

    /**
     * The kernels for one length: the function and the sum of its input; also the input's maximum and the sum of the
     * results, if these are faster than a check in Java.
     */
    private record BlockKernels(int length, DnnlKernel function, DnnlKernel sum, @Nullable DnnlKernel most,
            @Nullable DnnlKernel sumOfResults) {
        List<DnnlKernel> all() {
            List<DnnlKernel> all = new ArrayList<>(List.of(function, sum));
            if (most != null) {
                all.add(most);
            }
            if (sumOfResults != null) {
                all.add(sumOfResults);
            }
            return all;
        }
    }

    /** Prepares reductions of an argument. */
    @FunctionalInterface
    interface Reductions {
        /** Null if the library has none. */
        @Nullable
        DnnlKernel of(long length, int argument, Reduction.Function function);
    }

    private GuardedUnaryKernel(Unary unary, TensorSpec x, List<BlockKernels> blocks) {
        this.unary = unary;
        this.size = x.shape().size();
        this.isFloatExp = isFloatExp(unary, x);
        this.blocks = blocks;
    }

    /** Null where the library does not have the function or the sum. */
    static @Nullable Kernel of(Unary unary, TensorSpec x, LongFunction<@Nullable DnnlKernel> function,
            Reductions reductions) {
        long size = x.shape().size();
        List<BlockKernels> blocks = new ArrayList<>();
        for (long length : new long[]{size >= BLOCK ? BLOCK : 0, size % BLOCK}) {
            if (length > 0) {
                DnnlKernel applied = function.apply(length);
                DnnlKernel added = reductions.of(length, 0, Reduction.Function.SUM);
                if (applied == null || added == null) {
                    return null;
                }
                boolean byReductions = isFloatExp(unary, x) && length > MOST_SCANNED;
                DnnlKernel most = byReductions ? reductions.of(length, 0, Reduction.Function.MAX) : null;
                DnnlKernel sumOfResults = byReductions ? reductions.of(length, 1, Reduction.Function.SUM) : null;
                blocks.add(new BlockKernels((int) length, applied, added, most, sumOfResults));
            }
        }
        return new GuardedUnaryKernel(unary, x, List.copyOf(blocks));
    }

    private static boolean isFloatExp(Unary unary, TensorSpec x) {
        return unary.function() == Unary.Function.EXP && x.dtype() == DType.FLOAT32;
    }

    @Override
    public void run(@Nullable Tensor[] arguments, KernelContext context) {
        try {
            compute(arguments, context);
        } finally {
            Reference.reachabilityFence(arguments);
        }
    }

    private void compute(@Nullable Tensor[] arguments, KernelContext context) {
        Tensor x = Objects.requireNonNull(arguments[0]);
        Tensor y = Objects.requireNonNull(arguments[1]);
        for (long at = 0; at < size; at += BLOCK) {
            BlockKernels block = size - at >= BLOCK ? blocks.getFirst() : blocks.getLast();
            long shift = at * x.dtype().bytes();
            DnnlKernel sumOfResults = block.sumOfResults();
            if (sumOfResults != null && x.address() != y.address()) {
                block.function().run(arguments, shift, context);
                // The library's exponential of NaN is infinite.
                if (!(NanGuardedKernel.first(sumOfResults, arguments, shift, context) < LEAST_UNTRUSTED)) {
                    plain(x, y, shift, block.length(), context);
                }
            } else if (isOrdinary(block, arguments, shift, context)) {
                block.function().run(arguments, shift, context);
            } else {
                plain(x, y, shift, block.length(), context);
            }
        }
    }

    private boolean isOrdinary(BlockKernels block, @Nullable Tensor[] arguments, long shift, KernelContext context) {
        Tensor x = Objects.requireNonNull(arguments[0]);
        DnnlKernel most = block.most();
        // On one thread plain Java checks a block faster than two reductions do: 0.1 ns an element.
        if (isFloatExp && (most == null || context.threads() == 1)) {
            return !hasLarge(x.memory(), x.offset() + shift, block.length(), context.ints(0));
        }
        return NanGuardedKernel.isFinite(block.sum(), arguments, shift, context)
                && (most == null || NanGuardedKernel.first(most, arguments, shift, context) <= MOST_TRUSTED);
    }

    /**
     * Whether there is an argument above 64, for which the error of the library's exponential exceeds 4 units in the
     * last place, or a NaN.
     */
    private static boolean hasLarge(MemorySegment memory, long at, int count, int[] tile) {
        for (int i = 0; i < count; i += tile.length) {
            int length = Math.min(tile.length, count - i);
            MemorySegment.copy(memory, ValueLayout.JAVA_INT_UNALIGNED, at + (long) i * Float.BYTES, tile, 0, length);
            int signs = 0;
            for (int j = 0; j < length; j++) {
                signs |= ((LARGEST_TRUSTED - tile[j]) & ~tile[j]) | (INFINITY - (tile[j] & MAGNITUDE));
            }
            if (signs < 0) {
                return true;
            }
        }
        return false;
    }

    private void plain(Tensor x, Tensor y, long shift, int count, KernelContext context) {
        if (isFloatExp) {
            FloatExp.run(x.memory(), x.offset() + shift, y.memory(), y.offset() + shift, count, context);
            return;
        }
        float[] from = context.floats(0);
        float[] to = context.floats(1);
        for (int i = 0; i < count; i += from.length) {
            int length = Math.min(from.length, count - i);
            long at = shift + (long) i * x.dtype().bytes();
            Floats.load(x.memory(), x.dtype(), x.offset() + at, 1, from, 0, length);
            FloatLoops.unary(unary.function(), unary.alpha(), unary.beta(), from, to, length);
            Floats.store(y.memory(), y.dtype(), y.offset() + at, 1, to, 0, length);
        }
    }

    @Override
    public String provider() {
        return OneDnnKernels.PROVIDER;
    }

    @Override
    public void load() {
        for (BlockKernels block : blocks) {
            block.all().forEach(DnnlKernel::load);
        }
    }

    @Override
    public long bytes() {
        return blocks.stream().flatMap(block -> block.all().stream()).mapToLong(DnnlKernel::bytes).sum();
    }

    @Override
    public void release() {
        for (BlockKernels block : blocks) {
            block.all().forEach(DnnlKernel::release);
        }
    }

    @Override
    public void close() {
        for (BlockKernels block : blocks) {
            block.all().forEach(DnnlKernel::close);
        }
    }
}
