package io.seriatim.graph.ops.detection;

import io.seriatim.tensor.DType;

/**
 * The precision in which the numbers of an operation are computed. Decisions such as whether a score is above a
 * threshold depend on the last bit, so results must be rounded as PaddlePaddle rounds them: a sum, product, quotient or
 * square root of two floats that is computed in double precision and then rounded to float is what float arithmetic
 * gives.
 *
 * @param single
 *            whether numbers have 32 bits; otherwise they have 64
 */
record Precision(boolean single) {
    private static final double HALF = 0.5;

    static Precision of(DType dtype) {
        return new Precision(dtype != DType.FLOAT64);
    }

    double round(double value) {
        return single ? (float) value : value;
    }

    double exp(double value) {
        return round(Math.exp(value));
    }

    double log(double value) {
        return round(Math.log(value));
    }

    /** The nearest whole number; of two, the one further from 0. */
    static double nearest(double value) {
        double whole = value < 0 ? Math.ceil(value) : Math.floor(value);
        return Math.abs(value - whole) < HALF ? whole : whole + Math.signum(value);
    }

    double sigmoid(double value) {
        return round(1 / (1 + exp(-value)));
    }
}
