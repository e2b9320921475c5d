package io.seriatim.graph.ops.recurrent;

/** Products of single rows with matrices in arrays. */
final class RowProducts {
    private RowProducts() {
    }

    /**
     * Adds row · matrix to a row.
     *
     * @param x
     *            has the row
     * @param at
     *            where the row begins
     * @param rows
     *            its length, and the number of rows of the matrix
     * @param matrix
     *            the matrix, from a place on
     * @param columns
     *            how many it has
     */
    static void add(double[] x, int at, int rows, double[] matrix, int from, int columns, double[] to, int toAt) {
        for (int i = 0; i < rows; i++) {
            double factor = x[at + i];
            int row = from + i * columns;
            for (int j = 0; j < columns; j++) {
                to[toAt + j] += factor * matrix[row + j];
            }
        }
    }

    /** Adds gradient · transposed matrix to a row: the gradient of what was multiplied. */
    static void addTransposed(double[] gradient, int at, int columns, double[] matrix, int from, int rows, double[] to,
            int toAt) {
        for (int i = 0; i < rows; i++) {
            double sum = 0;
            int row = from + i * columns;
            for (int j = 0; j < columns; j++) {
                sum += gradient[at + j] * matrix[row + j];
            }
            to[toAt + i] += sum;
        }
    }

    /** Adds transposed row · gradient to a matrix: its gradient. */
    static void addOuter(double[] x, int at, int rows, double[] gradient, int gradientAt, int columns, double[] to,
            int from) {
        for (int i = 0; i < rows; i++) {
            double factor = x[at + i];
            int row = from + i * columns;
            for (int j = 0; j < columns; j++) {
                to[row + j] += factor * gradient[gradientAt + j];
            }
        }
    }
}
