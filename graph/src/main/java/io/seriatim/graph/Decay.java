package io.seriatim.graph;

/** A regularisation: a part of the gradient that pulls a parameter towards 0. */
public sealed interface Decay {
    /**
     * Adds the coefficient times the parameter to the gradient.
     *
     * @param coefficient
     *            from 0
     */
    record L2(double coefficient) implements Decay {
    }

    /**
     * Adds the coefficient times the parameter's sign to the gradient.
     *
     * @param coefficient
     *            from 0
     */
    record L1(double coefficient) implements Decay {
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
