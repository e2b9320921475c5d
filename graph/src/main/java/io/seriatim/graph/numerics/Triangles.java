package io.seriatim.graph.numerics;

import java.util.Locale;

/**
 * Triangular matrices: systems of equations by substitution, and Cholesky's factor (Golub, Van Loan: Matrix
 * Computations, 3.1 and 4.2).
 */
public final class Triangles {
    private Triangles() {
    }

    /**
     * The solution of triangle · x = right.
     *
     * @param triangle
     *            of which the other half is not read
     * @param upper
     *            which half
     * @param unit
     *            whether the diagonal counts as ones
     * @param right
     *            as many rows
     * @return x
     * @throws IllegalArgumentException
     *             if there is a zero on the diagonal
     */
    public static Matrix solve(Matrix triangle, boolean upper, boolean unit, Matrix right) {
        int n = triangle.rows();
        Matrix x = right.copy();
        for (int step = 0; step < n; step++) {
            int i = upper ? n - 1 - step : step;
            double pivot = unit ? 1 : triangle.at(i, i);
            if (pivot == 0) {
                throw new IllegalArgumentException(
                        String.format(Locale.ROOT, "the triangular matrix is singular: element %d of its diagonal is 0",
                                i));
            }
            for (int j = 0; j < x.columns(); j++) {
                double sum = x.at(i, j);
                for (int k = upper ? i + 1 : 0; k < (upper ? n : i); k++) {
                    sum -= triangle.at(i, k) * x.at(k, j);
                }
                x.set(i, j, sum / pivot);
            }
        }
        return x;
    }

    /**
     * The lower triangle l with l · lᵀ = matrix.
     *
     * @param matrix
     *            symmetric; its lower triangle is read
     * @return l
     * @throws IllegalArgumentException
     *             if the matrix is not positive definite
     */
    public static Matrix cholesky(Matrix matrix) {
        int n = matrix.rows();
        Matrix l = new Matrix(n, n);
        for (int j = 0; j < n; j++) {
            for (int i = j; i < n; i++) {
                double sum = matrix.at(i, j);
                for (int k = 0; k < j; k++) {
                    sum -= l.at(i, k) * l.at(j, k);
                }
                if (i == j && !(sum > 0)) {
                    throw new IllegalArgumentException(
                            String.format(Locale.ROOT,
                                    "the matrix is not positive definite: its leading %d rows and columns are not",
                                    j + 1));
                }
                l.set(i, j, i == j ? Math.sqrt(sum) : sum / l.at(j, j));
            }
        }
        return l;
    }
}
