package io.seriatim.tensor.linalg;

import java.util.Arrays;
import org.ejml.data.DMatrixRMaj;
import org.ejml.dense.row.factory.DecompositionFactory_DDRM;
import org.ejml.interfaces.decomposition.SingularValueDecomposition_F64;

/**
 * Singular values from the largest on, and singular vectors as columns: left · diagonal · rightᵀ is the matrix. The
 * signs of the vectors may differ from those of other libraries.
 */
public final class SingularValueDecomposition {
    private final double[] values;
    private final Matrix left;
    private final Matrix right;

    private SingularValueDecomposition(double[] values, Matrix left, Matrix right) {
        this.values = values;
        this.left = left;
        this.right = right;
    }

    /**
     * Decomposes a matrix.
     *
     * @param matrix
     *            any matrix; it is not changed
     * @param full
     *            whether to complete the vectors of each side to an orthonormal basis
     * @return its decomposition
     * @throws IllegalArgumentException
     *             if the matrix has elements that are not finite, or the iteration does not converge
     */
    public static SingularValueDecomposition of(Matrix matrix, boolean full) {
        SymmetricEigendecomposition.requireFinite(matrix);
        SingularValueDecomposition_F64<DMatrixRMaj> decomposition = DecompositionFactory_DDRM.svd(matrix.rows(),
                matrix.columns(), true, true, !full);
        if (!decomposition.decompose(matrix.ejml())) {
            throw new IllegalArgumentException("the iteration for the singular values did not converge");
        }
        double[] found = Arrays.copyOf(decomposition.getSingularValues(), decomposition.numberOfSingularValues());
        int[] ascending = SymmetricEigendecomposition.ascending(found);
        int[] order = new int[found.length];
        double[] values = new double[found.length];
        for (int i = 0; i < found.length; i++) {
            order[i] = ascending[found.length - 1 - i];
            values[i] = found[order[i]];
        }
        return new SingularValueDecomposition(values, ordered(decomposition.getU(null, false), order),
                ordered(decomposition.getV(null, false), order));
    }

    /** The vectors of the singular values in their order, then the other vectors. */
    private static Matrix ordered(DMatrixRMaj vectors, int... order) {
        int[] all = new int[vectors.numCols];
        Arrays.setAll(all, i -> i < order.length ? order[i] : i);
        return new Matrix(vectors).columns(all);
    }

    /**
     * Returns the singular values.
     *
     * @return from the largest on
     */
    public double[] values() {
        return values.clone();
    }

    /**
     * Returns the left singular vectors.
     *
     * @return a matrix with as many rows as that which was decomposed
     */
    public Matrix left() {
        return left;
    }

    /**
     * Returns the right singular vectors.
     *
     * @return a matrix with as many rows as that which was decomposed has columns
     */
    public Matrix right() {
        return right;
    }
}
