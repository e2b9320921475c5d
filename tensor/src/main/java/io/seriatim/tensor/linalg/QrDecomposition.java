package io.seriatim.tensor.linalg;

import org.ejml.data.DMatrixRMaj;
import org.ejml.dense.row.decomposition.qr.QRDecompositionHouseholderColumn_DDRM;

/**
 * The QR decomposition of a matrix by Householder reflections, with LAPACK's signs.
 *
 * <p>
 * LAPACK and EJML both reflect a column to a multiple of a unit vector whose sign is the opposite of the column's first
 * element. They differ where all elements below the diagonal are 0 already: LAPACK leaves the column, EJML negates it.
 * The negation is undone here; it affects one row of R and one column of Q.
 */
public final class QrDecomposition {
    private final QRDecompositionHouseholderColumn_DDRM decomposition = new QRDecompositionHouseholderColumn_DDRM();
    private final int rows;
    private final int columns;
    /** Whether EJML negated a column that LAPACK leaves. */
    private final boolean[] negated;

    private QrDecomposition(Matrix matrix) {
        rows = matrix.rows();
        columns = matrix.columns();
        decomposition.decompose(matrix.ejml());
        negated = new boolean[Math.min(rows, columns)];
        for (int step = 0; step < negated.length; step++) {
            negated[step] = decomposition.getGammas()[step] != 0 && isZeroBelow(step);
        }
    }

    /** Whether the Householder vector of a step, which is stored below the diagonal, has no further element. */
    private boolean isZeroBelow(int step) {
        double[] column = decomposition.getQR()[step];
        for (int i = step + 1; i < rows; i++) {
            if (column[i] != 0) {
                return false;
            }
        }
        return true;
    }

    /**
     * Decomposes a matrix.
     *
     * @param matrix
     *            any matrix; it is not changed
     * @return its decomposition
     */
    public static QrDecomposition of(Matrix matrix) {
        return new QrDecomposition(matrix);
    }

    /**
     * Returns the leading rows of the upper triangular matrix.
     *
     * @param count
     *            the number of rows: all, or as many as the matrix has rows or columns, whichever is less
     * @return R
     */
    public Matrix r(int count) {
        DMatrixRMaj r = decomposition.getR(null, count != rows);
        for (int i = 0; i < negated.length; i++) {
            for (int j = i; negated[i] && j < columns; j++) {
                r.unsafe_set(i, j, 0.0 - r.unsafe_get(i, j));
            }
        }
        return new Matrix(r);
    }

    /**
     * Returns the leading columns of the orthogonal matrix.
     *
     * @param count
     *            the number of columns: as many as the matrix has rows, or as it has rows or columns, whichever is less
     * @return Q
     */
    public Matrix q(int count) {
        DMatrixRMaj q = decomposition.getQ(null, count != rows);
        for (int j = 0; j < negated.length; j++) {
            for (int i = 0; negated[j] && i < rows; i++) {
                q.unsafe_set(i, j, 0.0 - q.unsafe_get(i, j));
            }
        }
        return new Matrix(q);
    }

    /**
     * Returns the gradient of a matrix that has at least as many rows as columns: (dQ + Q·S)·R⁻ᵀ, where S is the lower
     * triangle of R·dRᵀ − dQᵀ·Q, mirrored. The gradient of a matrix of lower rank is infinite or not a number.
     *
     * @param q
     *            the leading columns of Q, as many as the matrix has
     * @param r
     *            the square R
     * @param ofQ
     *            the gradient of q
     * @param ofR
     *            the gradient of r
     * @return of the matrix's size
     */
    public static Matrix gradient(Matrix q, Matrix r, Matrix ofQ, Matrix ofR) {
        Matrix s = r.times(ofR.transposed()).minus(ofQ.transposed().times(q)).mirrored(false);
        Matrix product = ofQ.plus(q.times(s));
        return TriangularSystem.substitute(r, true, false, product.transposed()).transposed();
    }
}
