package io.seriatim.graph.numerics;

import java.util.function.DoubleBinaryOperator;

/** A matrix in double precision, for what is computed matrix by matrix. */
public final class Matrix {
    private final int rows;
    private final int columns;
    private final double[] values;

    /** Of zeros. */
    public Matrix(int rows, int columns) {
        this(rows, columns, new double[rows * columns]);
    }

    /** Takes the array, which is row-major. */
    public Matrix(int rows, int columns, double[] values) {
        this.rows = rows;
        this.columns = columns;
        this.values = values;
    }

    public static Matrix identity(int n) {
        Matrix identity = new Matrix(n, n);
        for (int i = 0; i < n; i++) {
            identity.set(i, i, 1);
        }
        return identity;
    }

    public int rows() {
        return rows;
    }

    public int columns() {
        return columns;
    }

    public double at(int i, int j) {
        return values[i * columns + j];
    }

    public void set(int i, int j, double value) {
        values[i * columns + j] = value;
    }

    public void add(int i, int j, double value) {
        values[i * columns + j] += value;
    }

    public void copyTo(double[] target, int offset) {
        System.arraycopy(values, 0, target, offset, values.length);
    }

    Matrix copy() {
        return new Matrix(rows, columns, values.clone());
    }

    public Matrix transposed() {
        Matrix result = new Matrix(columns, rows);
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < columns; j++) {
                result.set(j, i, at(i, j));
            }
        }
        return result;
    }

    public Matrix times(Matrix other) {
        Matrix result = new Matrix(rows, other.columns);
        for (int i = 0; i < rows; i++) {
            for (int k = 0; k < columns; k++) {
                double factor = at(i, k);
                for (int j = 0; j < other.columns; j++) {
                    result.add(i, j, factor * other.at(k, j));
                }
            }
        }
        return result;
    }

    public Matrix plus(Matrix other) {
        return with(other, Double::sum);
    }

    public Matrix minus(Matrix other) {
        return with(other, (a, b) -> a - b);
    }

    public Matrix scaled(double factor) {
        return with(this, (a, _) -> factor * a);
    }

    /** Each element computed out of those of two matrices in its place. */
    Matrix with(Matrix other, DoubleBinaryOperator function) {
        Matrix result = new Matrix(rows, columns);
        for (int i = 0; i < values.length; i++) {
            result.values[i] = function.applyAsDouble(values[i], other.values[i]);
        }
        return result;
    }

    /** The upper or the lower triangle with the diagonal, and zeros elsewhere. */
    public Matrix triangle(boolean upper) {
        Matrix result = new Matrix(rows, columns);
        for (int i = 0; i < rows; i++) {
            for (int j = upper ? i : 0; j < (upper ? columns : Math.min(i + 1, columns)); j++) {
                result.set(i, j, at(i, j));
            }
        }
        return result;
    }

    /** Some columns from the first on. */
    public Matrix firstColumns(int count) {
        Matrix result = new Matrix(rows, count);
        for (int i = 0; i < rows; i++) {
            System.arraycopy(values, i * columns, result.values, i * count, count);
        }
        return result;
    }

    /** Each column times a number of its own. */
    public Matrix scaledColumns(double... factors) {
        Matrix result = copy();
        for (int i = 0; i < values.length; i++) {
            result.values[i] *= factors[i % columns];
        }
        return result;
    }
}
