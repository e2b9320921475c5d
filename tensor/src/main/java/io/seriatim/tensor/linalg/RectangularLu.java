package io.seriatim.tensor.linalg;

/**
 * The LU decomposition of any matrix with partial pivoting, in LAPACK's form: both factors in one matrix, and for each
 * step the row that was exchanged with the row of the step.
 */
public final class RectangularLu {
    private final Matrix factors;
    private final int[] pivots;
    private final int zeroPivot;

    private RectangularLu(Matrix factors, int[] pivots, int zeroPivot) {
        this.factors = factors;
        this.pivots = pivots;
        this.zeroPivot = zeroPivot;
    }

    /**
     * Decomposes a matrix.
     *
     * @param matrix
     *            any matrix; it is not changed
     * @return its decomposition
     */
    public static RectangularLu of(Matrix matrix) {
        Matrix a = matrix.copy();
        int steps = Math.min(a.rows(), a.columns());
        int[] pivots = new int[steps];
        int zeroPivot = 0;
        for (int step = 0; step < steps; step++) {
            int pivot = largest(a, step);
            pivots[step] = pivot + 1;
            if (a.at(pivot, step) == 0) {
                zeroPivot = zeroPivot == 0 ? step + 1 : zeroPivot;
            } else {
                exchange(a, step, pivot);
                eliminate(a, step);
            }
        }
        return new RectangularLu(a, pivots, zeroPivot);
    }

    private static int largest(Matrix a, int column) {
        int best = column;
        for (int i = column + 1; i < a.rows(); i++) {
            best = Math.abs(a.at(i, column)) > Math.abs(a.at(best, column)) ? i : best;
        }
        return best;
    }

    private static void exchange(Matrix a, int row, int other) {
        for (int j = 0; row != other && j < a.columns(); j++) {
            double value = a.at(row, j);
            a.set(row, j, a.at(other, j));
            a.set(other, j, value);
        }
    }

    private static void eliminate(Matrix a, int step) {
        for (int i = step + 1; i < a.rows(); i++) {
            double factor = a.at(i, step) / a.at(step, step);
            a.set(i, step, factor);
            for (int j = step + 1; j < a.columns(); j++) {
                a.add(i, j, -factor * a.at(step, j));
            }
        }
    }

    /**
     * Returns both factors.
     *
     * @return the upper triangle, and below the diagonal the lower triangle, whose own diagonal is 1
     */
    public Matrix factors() {
        return factors;
    }

    /**
     * Returns the exchanges of rows, in order.
     *
     * @return for each step the other row, counted from 1
     */
    public int[] pivots() {
        return pivots.clone();
    }

    /**
     * Returns the first step whose pivot is exactly 0.
     *
     * @return counted from 1, or 0 if there is none
     */
    public int zeroPivot() {
        return zeroPivot;
    }

    /**
     * Returns the permutation P of exchanges, for which P · L · U is the matrix that was decomposed.
     *
     * @param rows
     *            of the matrix
     * @param pivots
     *            the exchanges, from 1 to the number of rows
     * @return ones and zeros
     * @throws IllegalArgumentException
     *             if an exchange is out of range
     */
    public static Matrix permutation(int rows, double... pivots) {
        int[] order = new int[rows];
        for (int i = 0; i < rows; i++) {
            order[i] = i;
        }
        for (int step = 0; step < Math.min(rows, pivots.length); step++) {
            int other = (int) pivots[step] - 1;
            if (other < 0 || other >= rows) {
                throw new IllegalArgumentException(
                        "pivot " + step + " must be from 1 to " + rows + ", but is " + (long) pivots[step]);
            }
            int row = order[step];
            order[step] = order[other];
            order[other] = row;
        }
        Matrix permutation = new Matrix(rows, rows);
        for (int i = 0; i < rows; i++) {
            permutation.set(order[i], i, 1);
        }
        return permutation;
    }

    /**
     * Returns the gradient of the decomposed matrix.
     *
     * @param factors
     *            both factors
     * @param permutation
     *            of the rows
     * @param gradient
     *            of the factors
     * @return of the matrix's size; infinite or not a number where a factor is singular
     */
    public static Matrix gradient(Matrix factors, Matrix permutation, Matrix gradient) {
        int m = factors.rows();
        int n = factors.columns();
        int k = Math.min(m, n);
        Matrix l = part(factors, m, k, true);
        Matrix u = part(factors, k, n, false);
        Matrix dl = strictly(part(gradient, m, k, true));
        Matrix du = part(gradient, k, n, false);
        // With a square lower factor, what it does not hold comes to the upper one's side, and the other way round.
        Matrix inner = l.transposed().times(dl).minus(du.times(u.transposed()));
        Matrix square = part(factors, k, k, false);
        Matrix unit = part(factors, k, k, true);
        Matrix result;
        if (m <= n) {
            Matrix right =
                    TriangularSystem.substitute(square, true, false, strictly(inner.triangle(false)).transposed())
                            .transposed();
            result = TriangularSystem.substitute(unit.transposed(), true, true, widened(right, k, n).plus(du));
        } else {
            Matrix left = TriangularSystem.substitute(unit.transposed(), true, true, inner.triangle(true).scaled(-1));
            result = TriangularSystem.substitute(square, true, false, widened(left, m, k).plus(dl).transposed())
                    .transposed();
        }
        return permutation.times(result);
    }

    /** A factor within both: the lower one has ones in its diagonal. */
    private static Matrix part(Matrix both, int rows, int columns, boolean lower) {
        Matrix part = new Matrix(rows, columns);
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < columns; j++) {
                if (lower ? j < i : j >= i) {
                    part.set(i, j, both.at(i, j));
                } else if (lower && i == j) {
                    part.set(i, j, 1);
                }
            }
        }
        return part;
    }

    private static Matrix strictly(Matrix lower) {
        Matrix result = lower.copy();
        for (int i = 0; i < Math.min(result.rows(), result.columns()); i++) {
            result.set(i, i, 0);
        }
        return result;
    }

    /** With zeros to the right and below. */
    private static Matrix widened(Matrix matrix, int rows, int columns) {
        Matrix wide = new Matrix(rows, columns);
        for (int i = 0; i < matrix.rows(); i++) {
            for (int j = 0; j < matrix.columns(); j++) {
                wide.set(i, j, matrix.at(i, j));
            }
        }
        return wide;
    }
}
