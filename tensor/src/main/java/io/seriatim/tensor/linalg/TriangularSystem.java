package io.seriatim.tensor.linalg;

import java.util.Locale;

/** Systems of linear equations with triangular matrices, solved by substitution. */
public final class TriangularSystem {
    private TriangularSystem() {
    }

    /**
     * Solves triangle · x = right.
     *
     * @param triangle
     *            a square matrix of which one triangle is read
     * @param upper
     *            whether that is the upper one
     * @param unit
     *            whether to take the diagonal for ones instead of reading it
     * @param right
     *            the right sides, one in each column
     * @return x
     * @throws IllegalArgumentException
     *             if an element of the diagonal is 0
     */
    public static Matrix solve(Matrix triangle, boolean upper, boolean unit, Matrix right) {
        int n = triangle.rows();
        for (int step = 0; !unit && step < n; step++) {
            int i = upper ? n - 1 - step : step;
            if (triangle.at(i, i) == 0) {
                throw new IllegalArgumentException(
                        String.format(Locale.ROOT, "the triangular matrix is singular: element %d of its diagonal is 0",
                                i));
            }
        }
        return substitute(triangle, upper, unit, right);
    }

    /** As {@link #solve}, but a zero on the diagonal gives elements that are infinite or not a number. */
    static Matrix substitute(Matrix triangle, boolean upper, boolean unit, Matrix right) {
        int n = triangle.rows();
        int width = right.columns();
        Matrix result = right.copy();
        double[] x = result.ejml().data;
        for (int step = 0; step < n; step++) {
            int i = upper ? n - 1 - step : step;
            for (int k = upper ? i + 1 : 0; k < (upper ? n : i); k++) {
                double factor = triangle.at(i, k);
                for (int j = 0; j < width; j++) {
                    x[i * width + j] -= factor * x[k * width + j];
                }
            }
            double pivot = unit ? 1 : triangle.at(i, i);
            for (int j = 0; j < width; j++) {
                x[i * width + j] /= pivot;
            }
        }
        return result;
    }
}
