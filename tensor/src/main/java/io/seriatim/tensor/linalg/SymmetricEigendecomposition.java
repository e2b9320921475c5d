package io.seriatim.tensor.linalg;

import java.util.Arrays;
import org.ejml.data.DMatrixRMaj;
import org.ejml.dense.row.factory.DecompositionFactory_DDRM;
import org.ejml.interfaces.decomposition.EigenDecomposition_F64;

/**
 * Eigenvalues of a symmetric matrix from the smallest on, and eigenvectors as columns. The signs of the vectors may
 * differ from those of other libraries.
 */
public final class SymmetricEigendecomposition {
    private final double[] values;
    private final Matrix vectors;

    private SymmetricEigendecomposition(double[] values, Matrix vectors) {
        this.values = values;
        this.vectors = vectors;
    }

    /**
     * Decomposes a matrix.
     *
     * @param matrix
     *            a square matrix of which one triangle is read; it is not changed
     * @param upper
     *            whether that is the upper one
     * @return its decomposition
     * @throws IllegalArgumentException
     *             if the matrix has elements that are not finite, or the iteration does not converge
     */
    public static SymmetricEigendecomposition of(Matrix matrix, boolean upper) {
        int n = matrix.rows();
        Matrix symmetric = matrix.mirrored(upper);
        requireFinite(symmetric);
        EigenDecomposition_F64<DMatrixRMaj> decomposition = DecompositionFactory_DDRM.eig(n, true, true);
        if (!decomposition.decompose(symmetric.ejml())) {
            throw new IllegalArgumentException("the iteration for the eigenvalues did not converge");
        }
        double[] found = new double[n];
        Arrays.setAll(found, i -> decomposition.getEigenvalue(i).real);
        int[] order = ascending(found);
        double[] values = new double[n];
        Matrix vectors = new Matrix(n, n);
        for (int j = 0; j < n; j++) {
            values[j] = found[order[j]];
            DMatrixRMaj vector = decomposition.getEigenVector(order[j]);
            for (int i = 0; i < n; i++) {
                vectors.set(i, j, vector.data[i]);
            }
        }
        return new SymmetricEigendecomposition(values, vectors);
    }

    static void requireFinite(Matrix matrix) {
        if (!matrix.isFinite()) {
            throw new IllegalArgumentException("the matrix has elements that are infinite or not a number");
        }
    }

    /** The indexes of values, from the smallest value on. The iteration leaves the values nearly in order. */
    static int[] ascending(double... values) {
        int[] order = new int[values.length];
        for (int i = 0; i < values.length; i++) {
            int at = i;
            for (; at > 0 && values[order[at - 1]] > values[i]; at--) {
                order[at] = order[at - 1];
            }
            order[at] = i;
        }
        return order;
    }

    /**
     * Returns the eigenvalues.
     *
     * @return from the smallest on
     */
    public double[] values() {
        return values.clone();
    }

    /**
     * Returns the eigenvectors.
     *
     * @return one in each column
     */
    public Matrix vectors() {
        return vectors;
    }
}
