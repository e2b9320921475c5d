package io.seriatim.graph.numerics;

import java.util.Locale;

/**
 * A square matrix as the product of a lower and an upper triangle, with rows exchanged so that pivots are large (Golub,
 * Van Loan: Matrix Computations, 3.4).
 */
public final class LuFactors {
    private final Matrix factors;
    private final int[] order;
    private boolean odd;
    /** The first column without a pivot; −1 if each has one. */
    private int missing = -1;

    private LuFactors(Matrix matrix) {
        factors = matrix;
        order = new int[matrix.rows()];
        for (int i = 0; i < order.length; i++) {
            order[i] = i;
        }
    }

    public static LuFactors of(Matrix matrix) {
        LuFactors result = new LuFactors(matrix.copy());
        for (int step = 0; step < result.order.length; step++) {
            result.eliminate(step);
        }
        return result;
    }

    private void eliminate(int step) {
        int n = order.length;
        int best = step;
        for (int i = step + 1; i < n; i++) {
            best = Math.abs(factors.at(i, step)) > Math.abs(factors.at(best, step)) ? i : best;
        }
        if (factors.at(best, step) == 0) {
            missing = missing < 0 ? step : missing;
            return;
        }
        if (best != step) {
            exchange(step, best);
        }
        for (int i = step + 1; i < n; i++) {
            double factor = factors.at(i, step) / factors.at(step, step);
            factors.set(i, step, factor);
            for (int j = step + 1; j < n; j++) {
                factors.add(i, j, -factor * factors.at(step, j));
            }
        }
    }

    private void exchange(int a, int b) {
        odd = !odd;
        int row = order[a];
        order[a] = order[b];
        order[b] = row;
        for (int j = 0; j < order.length; j++) {
            double value = factors.at(a, j);
            factors.set(a, j, factors.at(b, j));
            factors.set(b, j, value);
        }
    }

    public boolean isSingular() {
        return missing >= 0;
    }

    public double determinant() {
        double product = odd ? -1 : 1;
        for (int i = 0; i < order.length; i++) {
            product *= factors.at(i, i);
        }
        return product;
    }

    /** Of the determinant: −1, 0 or 1. */
    public double sign() {
        double sign = odd ? -1 : 1;
        for (int i = 0; i < order.length; i++) {
            sign *= Math.signum(factors.at(i, i));
        }
        return sign;
    }

    /** Of the absolute determinant. */
    public double logarithm() {
        double sum = 0;
        for (int i = 0; i < order.length; i++) {
            sum += Math.log(Math.abs(factors.at(i, i)));
        }
        return sum;
    }

    /**
     * The solution of matrix · x = right.
     *
     * @param right
     *            as many rows
     * @return x
     * @throws IllegalArgumentException
     *             if the matrix is singular
     */
    public Matrix solve(Matrix right) {
        if (isSingular()) {
            throw new IllegalArgumentException(
                    String.format(Locale.ROOT, "the matrix is singular: column %d depends on those before it",
                            missing));
        }
        Matrix exchanged = new Matrix(right.rows(), right.columns());
        for (int i = 0; i < order.length; i++) {
            for (int j = 0; j < right.columns(); j++) {
                exchanged.set(i, j, right.at(order[i], j));
            }
        }
        return Triangles.solve(factors, true, false, Triangles.solve(factors, false, true, exchanged));
    }

    public Matrix inverse() {
        return solve(Matrix.identity(order.length));
    }
}
