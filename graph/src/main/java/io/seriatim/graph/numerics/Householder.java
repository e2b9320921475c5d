package io.seriatim.graph.numerics;

/**
 * A matrix as the product of an orthogonal one and an upper triangular one, by reflections (Golub, Van Loan: Matrix
 * Computations, 5.2.2). A reflection turns a column into a multiple of a unit vector whose sign is the opposite of the
 * column's first number; a column that is one already stays.
 */
public final class Householder {
    private final int rows;
    private final int columns;
    private final double[] r;
    /** The vectors of the reflections, and two over the square of their lengths; 0 where nothing is reflected. */
    private final double[][] vectors;
    private final double[] factors;

    private Householder(double[] matrix, int rows, int columns) {
        this.rows = rows;
        this.columns = columns;
        this.r = matrix;
        int steps = Math.min(rows, columns);
        this.vectors = new double[steps][rows];
        this.factors = new double[steps];
    }

    /** Overwrites the matrix, which is row-major. */
    public static Householder of(double[] matrix, int rows, int columns) {
        Householder result = new Householder(matrix, rows, columns);
        for (int step = 0; step < result.factors.length; step++) {
            result.eliminate(step);
        }
        return result;
    }

    private void eliminate(int step) {
        double[] vector = vectors[step];
        double tail = 0;
        for (int i = step; i < rows; i++) {
            vector[i] = r[i * columns + step];
            tail += i > step ? vector[i] * vector[i] : 0;
        }
        if (tail == 0) {
            return;
        }
        double length = Math.sqrt(vector[step] * vector[step] + tail);
        vector[step] += vector[step] >= 0 ? length : -length;
        factors[step] = 2 / (vector[step] * vector[step] + tail);
        reflect(step, r, columns);
        for (int i = step + 1; i < rows; i++) {
            r[i * columns + step] = 0;
        }
    }

    private void reflect(int step, double[] matrix, int width) {
        double[] vector = vectors[step];
        for (int j = 0; j < width; j++) {
            double product = 0;
            for (int i = step; i < rows; i++) {
                product += vector[i] * matrix[i * width + j];
            }
            product *= factors[step];
            for (int i = step; i < rows; i++) {
                matrix[i * width + j] -= product * vector[i];
            }
        }
    }

    /** The first rows of the triangular matrix. */
    public double[] upper(int count) {
        double[] upper = new double[count * columns];
        System.arraycopy(r, 0, upper, 0, upper.length);
        return upper;
    }

    /** The first columns of the orthogonal matrix. */
    public double[] orthogonal(int count) {
        double[] q = new double[rows * count];
        for (int i = 0; i < Math.min(rows, count); i++) {
            q[i * count + i] = 1;
        }
        for (int step = factors.length - 1; step >= 0; step--) {
            reflect(step, q, count);
        }
        return q;
    }

    /**
     * The gradient of the matrix, of which there are n columns and at least as many rows: (dQ + Q·S)·R⁻ᵀ, with S the
     * lower triangle of R·dRᵀ − dQᵀ·Q, mirrored.
     */
    public static double[] gradient(double[] q, double[] r, double[] ofQ, double[] ofR, int rows, int n) {
        double[] s = new double[n * n];
        for (int i = 0; i < n; i++) {
            for (int j = 0; j <= i; j++) {
                double sum = 0;
                for (int k = 0; k < n; k++) {
                    sum += r[i * n + k] * ofR[j * n + k];
                }
                for (int k = 0; k < rows; k++) {
                    sum -= ofQ[k * n + i] * q[k * n + j];
                }
                s[i * n + j] = sum;
                s[j * n + i] = sum;
            }
        }
        double[] result = ofQ.clone();
        for (int i = 0; i < rows; i++) {
            for (int j = n - 1; j >= 0; j--) {
                double sum = result[i * n + j];
                for (int k = 0; k < n; k++) {
                    sum += q[i * n + k] * s[k * n + j];
                }
                // From the last column on, so that what is solved already is to the right.
                for (int k = j + 1; k < n; k++) {
                    sum -= result[i * n + k] * r[j * n + k];
                }
                result[i * n + j] = sum / r[j * n + j];
            }
        }
        return result;
    }
}
