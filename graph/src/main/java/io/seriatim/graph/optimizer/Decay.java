package io.seriatim.graph.optimizer;

import io.seriatim.graph.util.Ranges;

/** A regularisation: a part of the gradient that pulls a parameter towards 0. */
public sealed interface Decay {
    /**
     * Adds the coefficient times the parameter to the gradient.
     *
     * @param coefficient
     *            from 0
     */
    record L2(double coefficient) implements Decay {
        /**
         * Checks the coefficient.
         *
         * @throws IllegalArgumentException
         *             if it is not a finite number from 0 on
         */
        public L2 {
            Ranges.notNegative("The coefficient of a regularisation", coefficient);
        }
    }

    /**
     * Adds the coefficient times the parameter's sign to the gradient.
     *
     * @param coefficient
     *            from 0
     */
    record L1(double coefficient) implements Decay {
        /**
         * Checks the coefficient.
         *
         * @throws IllegalArgumentException
         *             if it is not a finite number from 0 on
         */
        public L1 {
            Ranges.notNegative("The coefficient of a regularisation", coefficient);
        }
    }

    /**
     * Towards small values.
     *
     * @param coefficient
     *            from 0
     * @return the regularisation
     */
    static Decay l2(double coefficient) {
        return new L2(coefficient);
    }

    /**
     * Towards few values.
     *
     * @param coefficient
     *            from 0
     * @return the regularisation
     */
    static Decay l1(double coefficient) {
        return new L1(coefficient);
    }
}
