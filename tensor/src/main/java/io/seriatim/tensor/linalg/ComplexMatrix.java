package io.seriatim.tensor.linalg;

import java.util.Arrays;

/** A matrix of complex numbers in double precision. */
public final class ComplexMatrix {
    private final int rows;
    private final int columns;
    private final double[] re;
    private final double[] im;

    /**
     * A matrix of zeros.
     *
     * @param rows
     *            the number of rows
     * @param columns
     *            the number of columns
     */
    public ComplexMatrix(int rows, int columns) {
        this.rows = rows;
        this.columns = columns;
        re = new double[Math.multiplyExact(rows, columns)];
        im = new double[re.length];
    }

    /**
     * A matrix of pairs of real and imaginary part, row after row.
     *
     * @param rows
     *            the number of rows
     * @param columns
     *            the number of columns
     * @param pairs
     *            an array that holds them
     * @param offset
     *            where the first one is
     * @return the matrix
     */
    public static ComplexMatrix of(int rows, int columns, double[] pairs, int offset) {
        ComplexMatrix matrix = new ComplexMatrix(rows, columns);
        for (int i = 0; i < matrix.re.length; i++) {
            matrix.re[i] = pairs[offset + 2 * i];
            matrix.im[i] = pairs[offset + 2 * i + 1];
        }
        return matrix;
    }

    /**
     * Copies all elements as pairs of real and imaginary part, row after row.
     *
     * @param pairs
     *            the array
     * @param offset
     *            where the first one goes
     */
    public void copyTo(double[] pairs, int offset) {
        for (int i = 0; i < re.length; i++) {
            pairs[offset + 2 * i] = re[i];
            pairs[offset + 2 * i + 1] = im[i];
        }
    }

    /**
     * The number of rows.
     *
     * @return from 0
     */
    public int rows() {
        return rows;
    }

    /**
     * The real part of an element.
     *
     * @param i
     *            its row
     * @param j
     *            its column
     * @return the part
     */
    public double re(int i, int j) {
        return re[i * columns + j];
    }

    /**
     * The imaginary part of an element.
     *
     * @param i
     *            its row
     * @param j
     *            its column
     * @return the part
     */
    public double im(int i, int j) {
        return im[i * columns + j];
    }

    /**
     * Sets an element.
     *
     * @param i
     *            its row
     * @param j
     *            its column
     * @param real
     *            its real part
     * @param imaginary
     *            its imaginary part
     */
    public void set(int i, int j, double real, double imaginary) {
        re[i * columns + j] = real;
        im[i * columns + j] = imaginary;
    }

    ComplexMatrix copy() {
        ComplexMatrix copy = new ComplexMatrix(rows, columns);
        System.arraycopy(re, 0, copy.re, 0, re.length);
        System.arraycopy(im, 0, copy.im, 0, im.length);
        return copy;
    }

    boolean isFinite() {
        return Arrays.stream(re).allMatch(Double::isFinite) && Arrays.stream(im).allMatch(Double::isFinite);
    }

    boolean isReal() {
        return Arrays.stream(im).allMatch(value -> value == 0);
    }

    /**
     * Returns the conjugate of the transpose.
     *
     * @return a new matrix
     */
    public ComplexMatrix adjoint() {
        ComplexMatrix result = new ComplexMatrix(/* rows= */ columns, /* columns= */ rows);
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < columns; j++) {
                result.set(j, i, re(i, j), -im(i, j));
            }
        }
        return result;
    }

    /**
     * Returns the product with another matrix.
     *
     * @param other
     *            the right factor, with as many rows as this has columns
     * @return a new matrix
     */
    public ComplexMatrix times(ComplexMatrix other) {
        ComplexMatrix result = new ComplexMatrix(rows, other.columns);
        for (int i = 0; i < rows; i++) {
            for (int k = 0; k < columns; k++) {
                result.add(i, re(i, k), im(i, k), other, k);
            }
        }
        return result;
    }

    /** Adds a multiple of a row of another matrix to a row. */
    private void add(int row, double a, double b, ComplexMatrix other, int from) {
        for (int j = 0; j < columns; j++) {
            double c = other.re(from, j);
            double d = other.im(from, j);
            re[row * columns + j] += a * c - b * d;
            im[row * columns + j] += a * d + b * c;
        }
    }

    /**
     * Solves this · x = right by elimination with exchanges of rows. A singular matrix gives elements that are infinite
     * or not a number.
     *
     * @param right
     *            the right sides, one in each column
     * @return x
     */
    public ComplexMatrix solve(ComplexMatrix right) {
        ComplexMatrix a = copy();
        ComplexMatrix x = right.copy();
        for (int step = 0; step < rows; step++) {
            int pivot = step;
            for (int i = step + 1; i < rows; i++) {
                pivot = a.size(i, step) > a.size(pivot, step) ? i : pivot;
            }
            a.exchange(step, pivot);
            x.exchange(step, pivot);
            for (int i = step + 1; i < rows; i++) {
                double[] factor = quotient(-a.re(i, step), -a.im(i, step), a.re(step, step), a.im(step, step));
                a.add(i, factor[0], factor[1], a, step);
                x.add(i, factor[0], factor[1], x, step);
            }
        }
        for (int i = rows - 1; i >= 0; i--) {
            for (int k = i + 1; k < rows; k++) {
                x.add(i, -a.re(i, k), -a.im(i, k), x, k);
            }
            for (int j = 0; j < x.columns; j++) {
                double[] value = quotient(x.re(i, j), x.im(i, j), a.re(i, i), a.im(i, i));
                x.set(i, j, value[0], value[1]);
            }
        }
        return x;
    }

    private double size(int i, int j) {
        return Math.abs(re(i, j)) + Math.abs(im(i, j));
    }

    private void exchange(int row, int other) {
        for (int j = 0; row != other && j < columns; j++) {
            double real = re(row, j);
            double imaginary = im(row, j);
            set(row, j, re(other, j), im(other, j));
            set(other, j, real, imaginary);
        }
    }

    /** (a + bi) / (c + di), scaled so that squares do not overflow. */
    static double[] quotient(double a, double b, double c, double d) {
        double scale = Math.max(Math.abs(c), Math.abs(d));
        double x = c / scale;
        double y = d / scale;
        double norm = (x * x + y * y) * scale;
        return new double[]{(a * x + b * y) / norm, (b * x - a * y) / norm};
    }
}
