package io.seriatim.tensor.linalg;

/**
 * Eigenvalues of any square matrix, and eigenvectors of length 1 as columns, whose largest element is real. Values have
 * the order in which LAPACK gives them, that of the diagonal of the Schur form; the signs of the vectors are free.
 */
public final class Eigendecomposition {
    private final ComplexMatrix values;
    private final ComplexMatrix vectors;

    private Eigendecomposition(ComplexMatrix values, ComplexMatrix vectors) {
        this.values = values;
        this.vectors = vectors;
    }

    /**
     * Decomposes a matrix.
     *
     * @param matrix
     *            a square matrix; it is not changed. If no element has an imaginary part, complex values come in pairs
     *            of conjugates
     * @return its decomposition
     * @throws IllegalArgumentException
     *             if the matrix has elements that are not finite, or the iteration does not converge
     */
    public static Eigendecomposition of(ComplexMatrix matrix) {
        if (!matrix.isFinite()) {
            throw new IllegalArgumentException("the matrix has elements that are infinite or not a number");
        }
        return matrix.isReal() ? ofReal(matrix) : ofComplex(matrix);
    }

    private static Eigendecomposition ofReal(ComplexMatrix matrix) {
        int n = matrix.rows();
        double[][] a = new double[n][n];
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                a[i][j] = matrix.re(i, j);
            }
        }
        Balancing balancing = Balancing.of(a);
        RealSchur schur = RealSchur.of(a);
        ComplexMatrix values = new ComplexMatrix(1, n);
        ComplexMatrix vectors = new ComplexMatrix(n, n);
        double[] re = new double[n];
        double[] im = new double[n];
        for (int j = 0; j < n; j++) {
            values.set(0, j, schur.re(j), schur.im(j));
            if (schur.im(j) < 0) {
                for (int i = 0; i < n; i++) {
                    vectors.set(i, j, vectors.re(i, j - 1), -vectors.im(i, j - 1));
                }
            } else {
                schur.vector(j, re, im);
                balancing.undo(re);
                balancing.undo(im);
                put(vectors, j, re, im, true);
            }
        }
        return new Eigendecomposition(values, vectors);
    }

    private static Eigendecomposition ofComplex(ComplexMatrix matrix) {
        int n = matrix.rows();
        ComplexSchur schur = ComplexSchur.of(matrix);
        ComplexMatrix values = new ComplexMatrix(1, n);
        ComplexMatrix vectors = new ComplexMatrix(n, n);
        ComplexMatrix unscaled = schur.vectors();
        double[] re = new double[n];
        double[] im = new double[n];
        for (int j = 0; j < n; j++) {
            values.set(0, j, schur.triangle().re(j, j), schur.triangle().im(j, j));
            for (int i = 0; i < n; i++) {
                re[i] = unscaled.re(i, j);
                im[i] = unscaled.im(i, j);
            }
            put(vectors, j, re, im, false);
        }
        return new Eigendecomposition(values, vectors);
    }

    /** Stores a vector with length 1, turned so that its largest element is real. */
    private static void put(ComplexMatrix vectors, int column, double[] re, double[] im, boolean keepsSign) {
        double norm = 0;
        int largest = 0;
        boolean real = keepsSign;
        for (int i = 0; i < re.length; i++) {
            norm = Math.hypot(norm, Math.hypot(re[i], im[i]));
            largest = Math.hypot(re[i], im[i]) > Math.hypot(re[largest], im[largest]) ? i : largest;
            real &= im[i] == 0;
        }
        double size = Math.hypot(re[largest], im[largest]);
        double sign = keepsSign && re[largest] < 0 ? -1 : 1;
        double cos = real || size == 0 ? 1 : sign * re[largest] / size;
        double sin = real || size == 0 ? 0 : sign * im[largest] / size;
        for (int i = 0; i < re.length; i++) {
            double x = (re[i] * cos + im[i] * sin) / norm;
            double y = (im[i] * cos - re[i] * sin) / norm;
            vectors.set(i, column, x, i == largest ? 0 : y);
        }
    }

    /**
     * Returns the eigenvalues.
     *
     * @return a row
     */
    public ComplexMatrix values() {
        return values;
    }

    /**
     * Returns the eigenvectors.
     *
     * @return one in each column
     */
    public ComplexMatrix vectors() {
        return vectors;
    }

    /**
     * Returns the gradient of the decomposed matrix: V⁻ᴴ · (Vᴴ·dV / conjugate differences of values, with dΛ as
     * diagonal) · Vᴴ. The vectors' lengths are taken for fixed: the part of dV along a vector does not change it
     * (Boeddeker et al.: On the computation of complex-valued gradients, 2017).
     *
     * @param values
     *            a row
     * @param vectors
     *            one in each column
     * @param ofValues
     *            the gradient of the values
     * @param ofVectors
     *            the gradient of the vectors
     * @return of the matrix's size
     */
    public static ComplexMatrix gradient(ComplexMatrix values, ComplexMatrix vectors, ComplexMatrix ofValues,
            ComplexMatrix ofVectors) {
        int n = vectors.rows();
        ComplexMatrix adjoint = vectors.adjoint();
        ComplexMatrix products = adjoint.times(ofVectors);
        ComplexMatrix overlaps = adjoint.times(vectors);
        ComplexMatrix inner = new ComplexMatrix(n, n);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                if (i == j) {
                    inner.set(i, j, ofValues.re(0, i), ofValues.im(0, i));
                    continue;
                }
                // The lengths are kept: what a vector changes along itself does not count.
                double along = products.re(j, j);
                double re = products.re(i, j) - overlaps.re(i, j) * along;
                double im = products.im(i, j) - overlaps.im(i, j) * along;
                double[] quotient = ComplexMatrix.quotient(re, im, values.re(0, j) - values.re(0, i),
                        values.im(0, i) - values.im(0, j));
                inner.set(i, j, re == 0 && im == 0 ? 0 : quotient[0], re == 0 && im == 0 ? 0 : quotient[1]);
            }
        }
        return adjoint.solve(inner.times(adjoint));
    }
}
