package io.seriatim.tensor.linalg;

import java.util.Locale;

/**
 * The Cholesky decomposition of symmetric positive definite matrices (Golub, Van Loan: Matrix Computations, 4.2). It
 * names the leading part of the matrix that is not positive definite, which decision 045 finds in no library.
 */
public final class CholeskyDecomposition {
    private CholeskyDecomposition() {
    }

    /**
     * Returns the lower triangular matrix l with l · lᵀ = matrix.
     *
     * @param matrix
     *            a symmetric matrix of which the lower triangle is read
     * @return l
     * @throws IllegalArgumentException
     *             if the matrix is not positive definite
     */
    public static Matrix lower(Matrix matrix) {
        int n = matrix.rows();
        Matrix result = new Matrix(n, n);
        double[] l = result.ejml().data;
        for (int j = 0; j < n; j++) {
            for (int i = j; i < n; i++) {
                double sum = matrix.at(i, j);
                for (int k = 0; k < j; k++) {
                    sum -= l[i * n + k] * l[j * n + k];
                }
                if (i == j && !(sum > 0)) {
                    throw new IllegalArgumentException(String.format(Locale.ROOT,
                            "the matrix is not positive definite: its leading %d rows and columns are not", j + 1));
                }
                l[i * n + j] = i == j ? Math.sqrt(sum) : sum / l[j * n + j];
            }
        }
        return result;
    }
}
