package io.seriatim.tensor.linalg;

import java.util.Arrays;
import java.util.Locale;

/**
 * The LU decomposition of a square matrix with partial pivoting (Golub, Van Loan: Matrix Computations, 3.4). It
 * subtracts rows from rows, which the JIT compiles to vector instructions; decision 045 compares it with libraries.
 */
public final class LuDecomposition {
    /** The upper triangle, and below the diagonal the lower triangle, whose own diagonal is 1. */
    private final Matrix factors;
    private final int n;
    /** The row of the matrix from which each row of the factors comes. */
    private final int[] order;
    private boolean odd;
    /** The first column whose pivot is 0, or −1. */
    private int zeroPivot = -1;

    private LuDecomposition(Matrix matrix) {
        factors = matrix;
        n = matrix.rows();
        order = new int[n];
        Arrays.setAll(order, i -> i);
    }

    /**
     * Decomposes a matrix.
     *
     * @param matrix
     *            a square matrix; it is not changed
     * @return its decomposition
     */
    public static LuDecomposition of(Matrix matrix) {
        LuDecomposition result = new LuDecomposition(matrix.copy());
        for (int step = 0; step < result.n; step++) {
            result.eliminate(step);
        }
        return result;
    }

    private void eliminate(int step) {
        int pivot = pivot(step);
        if (factors.at(pivot, step) == 0) {
            zeroPivot = zeroPivot < 0 ? step : zeroPivot;
            return;
        }
        if (pivot != step) {
            exchange(step, pivot);
        }
        double[] a = factors.ejml().data;
        for (int i = step + 1; i < n; i++) {
            double factor = a[i * n + step] / a[step * n + step];
            a[i * n + step] = factor;
            for (int j = step + 1; j < n; j++) {
                a[i * n + j] -= factor * a[step * n + j];
            }
        }
    }

    /** The row with the largest element of a column, from the diagonal on; NaN is the largest, so that it spreads. */
    private int pivot(int column) {
        int best = column;
        for (int i = column + 1; i < n; i++) {
            best = Double.compare(Math.abs(factors.at(i, column)), Math.abs(factors.at(best, column))) > 0 ? i : best;
        }
        return best;
    }

    private void exchange(int a, int b) {
        odd = !odd;
        int row = order[a];
        order[a] = order[b];
        order[b] = row;
        for (int j = 0; j < n; j++) {
            double value = factors.at(a, j);
            factors.set(a, j, factors.at(b, j));
            factors.set(b, j, value);
        }
    }

    /**
     * Returns whether a pivot is exactly 0.
     *
     * @return false for an ill-conditioned matrix whose pivots are only small
     */
    public boolean isSingular() {
        return zeroPivot >= 0;
    }

    /**
     * Returns the determinant.
     *
     * @return 1 for a matrix without rows
     */
    public double determinant() {
        double product = odd ? -1 : 1;
        for (int i = 0; i < n; i++) {
            product *= factors.at(i, i);
        }
        return product;
    }

    /**
     * Returns the sign of the determinant, which is right even where the determinant underflows or overflows.
     *
     * @return −1, 0 or 1
     */
    public double sign() {
        double sign = odd ? -1 : 1;
        for (int i = 0; i < n; i++) {
            sign *= Math.signum(factors.at(i, i));
        }
        return sign;
    }

    /**
     * Returns the logarithm of the determinant's absolute value.
     *
     * @return −∞ for a singular matrix
     */
    public double logAbsDeterminant() {
        double sum = 0;
        for (int i = 0; i < n; i++) {
            sum += Math.log(Math.abs(factors.at(i, i)));
        }
        return sum;
    }

    /**
     * Solves matrix · x = right.
     *
     * @param right
     *            the right sides, one in each column
     * @return x
     * @throws IllegalArgumentException
     *             if the matrix is singular
     */
    public Matrix solve(Matrix right) {
        if (isSingular()) {
            throw new IllegalArgumentException(
                    String.format(Locale.ROOT, "the matrix is singular: column %d depends on those before it",
                            zeroPivot));
        }
        Matrix ordered = new Matrix(n, right.columns());
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < right.columns(); j++) {
                ordered.set(i, j, right.at(order[i], j));
            }
        }
        return TriangularSystem.solve(factors, true, false, TriangularSystem.solve(factors, false, true, ordered));
    }

    /**
     * Returns the inverse.
     *
     * @return a new matrix
     * @throws IllegalArgumentException
     *             if the matrix is singular
     */
    public Matrix inverse() {
        return solve(Matrix.identity(n));
    }
}
