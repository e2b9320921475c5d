package io.seriatim.executor;

import io.seriatim.executor.ir.PassName;

/**
 * The optimisation passes that rewrite a plan so that it takes less time or memory. All are enabled by default;
 * {@link Executor.Builder#without} disables some. No pass applies to a program that runs once, or whose values are
 * checked one by one. A pass preserves results bit for bit unless its description says otherwise.
 */
public enum Pass {
    /** Eliminates redundant copies and dead code, and splits operations into independent parts. */
    SIMPLIFICATION,
    /**
     * Fuses casts between float32 and 16-bit types, which mixed precision inserts, into the kernels before or after
     * them. A matrix product whose result is read as float32 is not rounded to 16 bits: results differ by that
     * rounding.
     */
    CASTS,
    /**
     * Fuses bias, activation, residual and scale into matrix products and convolutions as epilogues. A scale of an
     * operand becomes a scale of the product: unless it is a power of two, results differ by rounding.
     */
    EPILOGUES,
    /** Folds normalisations with given statistics into the preceding convolution. Results differ by rounding. */
    FOLDING,
    /** Fuses consecutive elementwise operations into one kernel. */
    CHAINS,
    /**
     * Replaces transposes, splits, slices, stacks and concatenations by views of the same memory. Gradients of slices
     * are written directly into the corresponding part of their sum; an element −0 then stays −0, whereas adding zeros
     * would turn it into 0.
     */
    VIEWS,
    /**
     * Splits matrix products of a few rows by columns, if a program applies a function to each group of columns, as
     * recurrent cells do that compute all gates by one product. If the library selects a kernel with another order of
     * summation for fewer columns, results differ by rounding: a sum of n products differs by at most n · 2⁻²³ times
     * the sum of their magnitudes.
     */
    GATES,
    /**
     * Batches the matrix products of the time steps of recurrent networks into one product, and adds the bias of all
     * steps at once. The order of summation changes: results differ by rounding.
     */
    STACKING,
    /**
     * Reuses sums that another kernel computes as an additional output, such as the gradient of a convolution's bias.
     * Results differ by rounding.
     */
    BY_PRODUCTS,
    /**
     * Updates each large parameter as soon as its gradient is computed, and joins updates of small parameters of the
     * same kind into one task.
     */
    UPDATES,
    /**
     * Packs weights that are only read once for all runs, and weights that a run reads many times once for each run.
     * What depends only on variables that the plan does not write is computed once too, until one of them changes.
     * Convolutions compute the same bits, except those with channels last whose output has few pixels. These
     * convolutions and matrix products may sum in another order: a sum of k products differs by at most about 2·k·2⁻²⁴
     * times the sum of their magnitudes. A variable whose memory has been handed out to the caller is no longer packed,
     * so results may differ in the same way between runs before and after that.
     */
    LAYOUTS,
    /**
     * Stores images channels last, as the library's convolutions prefer, if only convolutions, poolings and elementwise
     * operations use them. Convolutions may sum in another order: results differ by rounding. A factor of each channel
     * is multiplied, with the shift and the activation that follow, by a convolution of one pixel.
     */
    CHANNELS_LAST,
    /**
     * Tiles large tasks, so that several threads execute the tiles in parallel. No sum is divided between tiles. On
     * processors with AVX-512, the library sums in the same order in a tile as in the whole task, and results are the
     * same bit for bit. If it selects a kernel with another order of summation for fewer rows, results differ by
     * rounding: a sum of n products differs by at most n · 2⁻²³ times the sum of their magnitudes.
     */
    PARTITION,
    /**
     * Computes products and convolutions of dequantized int8 levels with the levels themselves, in integers, and scales
     * the sums. These are exact, whereas the original rounds each number and each sum: results differ by that rounding.
     */
    INTEGERS;

    /** Returns the corresponding name in {@code executor.ir}, which the internal packages use. */
    PassName key() {
        return PassName.valueOf(name());
    }
}
