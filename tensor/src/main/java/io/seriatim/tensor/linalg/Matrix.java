package io.seriatim.tensor.linalg;

import java.util.Arrays;
import org.ejml.data.DMatrixRMaj;
import org.ejml.dense.row.CommonOps_DDRM;

/** A dense matrix in double precision whose elements lie row by row. */
public final class Matrix {
    private final DMatrixRMaj elements;

    /**
     * Creates a matrix of zeros.
     *
     * @param rows
     *            the number of rows
     * @param columns
     *            the number of columns
     */
    public Matrix(int rows, int columns) {
        this(new DMatrixRMaj(rows, columns));
    }

    /**
     * Creates a matrix over an array, which is not copied.
     *
     * @param rows
     *            the number of rows
     * @param columns
     *            the number of columns
     * @param values
     *            the elements, row by row
     */
    public Matrix(int rows, int columns, double[] values) {
        this(DMatrixRMaj.wrap(rows, columns, values));
    }

    Matrix(DMatrixRMaj elements) {
        this.elements = elements;
    }

    /**
     * Creates an identity matrix.
     *
     * @param n
     *            the number of rows and columns
     * @return a new matrix
     */
    public static Matrix identity(int n) {
        return new Matrix(CommonOps_DDRM.identity(n));
    }

    /**
     * Returns the number of rows.
     *
     * @return from 0
     */
    public int rows() {
        return elements.numRows;
    }

    /**
     * Returns the number of columns.
     *
     * @return from 0
     */
    public int columns() {
        return elements.numCols;
    }

    /** EJML's matrix over the same array. */
    DMatrixRMaj ejml() {
        return elements;
    }

    /**
     * Returns an element.
     *
     * @param i
     *            its row
     * @param j
     *            its column
     * @return its value
     */
    public double at(int i, int j) {
        return elements.data[i * elements.numCols + j];
    }

    /**
     * Replaces an element.
     *
     * @param i
     *            its row
     * @param j
     *            its column
     * @param value
     *            its new value
     */
    public void set(int i, int j, double value) {
        elements.data[i * elements.numCols + j] = value;
    }

    /**
     * Adds a number to an element.
     *
     * @param i
     *            the element's row
     * @param j
     *            the element's column
     * @param value
     *            the summand
     */
    public void add(int i, int j, double value) {
        elements.data[i * elements.numCols + j] += value;
    }

    /**
     * Copies the elements to an array, row by row.
     *
     * @param target
     *            the array
     * @param offset
     *            where the first element goes
     */
    public void copyTo(double[] target, int offset) {
        System.arraycopy(elements.data, 0, target, offset, rows() * columns());
    }

    /** Replaces all elements by those of an array from an offset on. */
    void copyFrom(double[] source, int offset) {
        System.arraycopy(source, offset, elements.data, 0, rows() * columns());
    }

    Matrix copy() {
        return new Matrix(elements.copy());
    }

    boolean isFinite() {
        return Arrays.stream(elements.data, 0, rows() * columns()).allMatch(Double::isFinite);
    }

    /**
     * Returns the transpose.
     *
     * @return a new matrix
     */
    public Matrix transposed() {
        return new Matrix(CommonOps_DDRM.transpose(elements, null));
    }

    /**
     * Returns the product with another matrix.
     *
     * @param other
     *            the right factor, with as many rows as this has columns
     * @return a new matrix
     */
    public Matrix times(Matrix other) {
        return new Matrix(CommonOps_DDRM.mult(elements, other.elements, null));
    }

    /**
     * Returns the sum with another matrix.
     *
     * @param other
     *            a matrix of the same size
     * @return a new matrix
     */
    public Matrix plus(Matrix other) {
        return new Matrix(CommonOps_DDRM.add(elements, other.elements, null));
    }

    /**
     * Returns the difference from another matrix.
     *
     * @param other
     *            a matrix of the same size, which is subtracted
     * @return a new matrix
     */
    public Matrix minus(Matrix other) {
        return new Matrix(CommonOps_DDRM.subtract(elements, other.elements, null));
    }

    /**
     * Returns the product with a number.
     *
     * @param factor
     *            the number
     * @return a new matrix
     */
    public Matrix scaled(double factor) {
        Matrix result = copy();
        CommonOps_DDRM.scale(factor, result.elements);
        return result;
    }

    /**
     * Returns one triangle with the diagonal, and zeros elsewhere.
     *
     * @param upper
     *            whether to keep the upper triangle
     * @return a new matrix
     */
    public Matrix triangle(boolean upper) {
        Matrix result = new Matrix(rows(), columns());
        for (int i = 0; i < rows(); i++) {
            int from = upper ? Math.min(i, columns()) : 0;
            int to = upper ? columns() : Math.min(i + 1, columns());
            System.arraycopy(elements.data, i * columns() + from, result.elements.data, i * columns() + from,
                    to - from);
        }
        return result;
    }

    /** The symmetric matrix that has one triangle and the diagonal of this square one. */
    Matrix mirrored(boolean upper) {
        Matrix result = copy();
        for (int i = 0; i < rows(); i++) {
            for (int j = 0; j < i; j++) {
                if (upper) {
                    result.set(i, j, at(j, i));
                } else {
                    result.set(j, i, at(i, j));
                }
            }
        }
        return result;
    }

    /**
     * Returns the leading columns.
     *
     * @param count
     *            how many
     * @return a new matrix
     */
    public Matrix firstColumns(int count) {
        Matrix result = new Matrix(rows(), count);
        for (int i = 0; i < rows(); i++) {
            System.arraycopy(elements.data, i * columns(), result.elements.data, i * count, count);
        }
        return result;
    }

    /** The matrix of some columns in a given order. */
    Matrix columns(int... order) {
        Matrix result = new Matrix(rows(), order.length);
        for (int i = 0; i < rows(); i++) {
            for (int j = 0; j < order.length; j++) {
                result.set(i, j, at(i, order[j]));
            }
        }
        return result;
    }

    /**
     * Returns the product with a diagonal matrix: each column is multiplied by a number.
     *
     * @param factors
     *            one for each column
     * @return a new matrix
     */
    public Matrix scaledColumns(double... factors) {
        Matrix result = copy();
        CommonOps_DDRM.multCols(result.elements, factors);
        return result;
    }
}
