package io.seriatim.executor;

import io.seriatim.executor.ir.PassName;

/**
 * What a plan does to a program's operations before they are scheduled, to take less time or memory. All are on unless
 * {@link Executor.Builder#without} says otherwise; none is taken of a program that runs once or whose results are
 * checked one by one. Results stay the same to the bit unless a pass says what changes.
 */
public enum Pass {
    /**
     * Copies that change nothing and what no one reads are left out, and operations are taken apart into parts that
     * have nothing to do with one another.
     */
    SIMPLIFICATION,
    /**
     * Casts between float32 and types of 16 bits are left to the kernels before or behind them, as mixed precision has
     * many. Products are not rounded to 16 bits where float32 is read: results differ by that rounding.
     */
    CASTS,
    /**
     * Bias, activation, residual and scale become part of matrix products and convolutions. A factor of a product's
     * operand becomes one of the product: unless it is a power of two, results differ by rounding.
     */
    EPILOGUES,
    /** Normalisations with given statistics become part of the convolution before them. Results differ by rounding. */
    FOLDING,
    /** Elementwise operations one after the other become one kernel. */
    CHAINS,
    /**
     * Transposes, splits, slices, stacks and concatenations become other views of the same memory, and gradients of
     * slices parts of their sum, in which only −0 stays −0.
     */
    VIEWS,
    /**
     * Products of a few rows whose results are split by columns, with a function of each part, become products of these
     * columns, as in recurrent cells that have one product for all gates. Where the library chooses kernels of another
     * order for fewer columns, results differ by rounding: for a sum of n products by n · 2⁻²³ of the sum of their
     * magnitudes at most.
     */
    GATES,
    /**
     * Products of small steps, as recurrent networks have them, become one product of all steps, to which the bias of
     * all steps is added. Sums are added in another order: results differ by rounding.
     */
    STACKING,
    /**
     * Sums that are by-products of another kernel, such as the gradient of a convolution's bias, are taken from it.
     * Results differ by rounding.
     */
    BY_PRODUCTS,
    /** Large parameters are updated as soon as their gradients are there, small ones of a kind all together. */
    UPDATES,
    /**
     * Weights that are only read are packed once for all runs, those that a run reads many times once in it.
     * Convolutions give the same bits, but for those to a few pixels with channels last; these and products may add in
     * another order, so that sums of k products differ by at most about 2·k·2⁻²⁴ times the sum of their magnitudes. So
     * they do between runs before and after a variable's memory is handed out, which is then not packed any more.
     */
    LAYOUTS,
    /**
     * Images that only convolutions, poolings and elementwise operations know have their channels innermost, as the
     * library's convolutions want them. Convolutions may add in another order: results differ by rounding.
     */
    CHANNELS_LAST,
    /**
     * What is large is split into parts that threads do side by side, if there are several. Sums are not divided, and
     * the library adds those of a part as those of the whole on processors with AVX-512: there results are the same to
     * the bit. Where it chooses kernels of another order for fewer rows, they differ by rounding: for a sum of n
     * products by n · 2⁻²³ of the sum of their magnitudes at most.
     */
    PARTITION;

    /** The name by which the packages behind the API know it. */
    PassName key() {
        return PassName.valueOf(name());
    }
}
