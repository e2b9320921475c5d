package io.seriatim.graph.numerics;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * Eigenvalues of symmetric matrices, from the smallest, and singular values of any, from the largest, with their
 * vectors as columns: both by Jacobi's rotations, which are simple and exact to the last digits (Golub, Van Loan:
 * Matrix Computations, 8.5 and 8.6.3).
 */
public final class Spectrum {
    private static final int MOST_SWEEPS = 60;
    private static final double PRECISION = Math.ulp(1.0);

    private final double[] values;
    private final Matrix left;
    private final Matrix right;

    private Spectrum(double[] values, Matrix left, Matrix right) {
        this.values = values;
        this.left = left;
        this.right = right;
    }

    public double[] values() {
        return values.clone();
    }

    /** The eigenvectors, or those singular vectors that have as many elements as the matrix has rows. */
    public Matrix left() {
        return left;
    }

    /** The singular vectors that have as many elements as the matrix has columns. */
    public Matrix right() {
        return right;
    }

    /**
     * Eigenvalues and eigenvectors.
     *
     * @param matrix
     *            of which one triangle is read
     * @param upper
     *            which
     * @return from the smallest eigenvalue
     * @throws IllegalArgumentException
     *             if the matrix has elements that are not finite
     */
    public static Spectrum symmetric(Matrix matrix, boolean upper) {
        int n = matrix.rows();
        Matrix half = matrix.triangle(upper);
        Matrix a = half.plus(half.transposed());
        for (int i = 0; i < n; i++) {
            a.set(i, i, matrix.at(i, i));
        }
        double small = PRECISION * largest(a) / Math.max(n, 1);
        Matrix vectors = Matrix.identity(n);
        boolean rotated = true;
        for (int sweep = 0; rotated && sweep < MOST_SWEEPS; sweep++) {
            rotated = false;
            for (int p = 0; p < n; p++) {
                for (int q = p + 1; q < n; q++) {
                    if (Math.abs(a.at(p, q)) > small) {
                        annihilate(a, vectors, p, q);
                        rotated = true;
                    }
                }
            }
        }
        double[] values = IntStream.range(0, n).mapToDouble(i -> a.at(i, i)).toArray();
        int[] order = order(values, Comparator.naturalOrder());
        Matrix sorted = columns(vectors, order);
        return new Spectrum(sorted(values, order), sorted, sorted);
    }

    /** The largest absolute element, of a matrix that must be finite. */
    private static double largest(Matrix matrix) {
        double[] elements = new double[matrix.rows() * matrix.columns()];
        matrix.copyTo(elements, 0);
        if (!Arrays.stream(elements).allMatch(Double::isFinite)) {
            throw new IllegalArgumentException("the matrix has elements that are infinite or not a number");
        }
        return Arrays.stream(elements).map(Math::abs).max().orElse(0);
    }

    /** Rotates two rows and two columns so that a(p, q) becomes 0. */
    private static void annihilate(Matrix a, Matrix vectors, int p, int q) {
        double tangent = tangent((a.at(q, q) - a.at(p, p)) / (2 * a.at(p, q)));
        rotateColumns(a, p, q, tangent);
        double cosine = 1 / Math.sqrt(1 + tangent * tangent);
        double sine = tangent * cosine;
        for (int j = 0; j < a.columns(); j++) {
            double first = a.at(p, j);
            double second = a.at(q, j);
            a.set(p, j, cosine * first - sine * second);
            a.set(q, j, sine * first + cosine * second);
        }
        a.set(p, q, 0);
        a.set(q, p, 0);
        rotateColumns(vectors, p, q, tangent);
    }

    /** The smaller root of t² + 2 · cotangent · t = 1. */
    private static double tangent(double cotangent) {
        return Math.copySign(1 / (Math.abs(cotangent) + Math.hypot(1, cotangent)), cotangent);
    }

    private static void rotateColumns(Matrix matrix, int p, int q, double tangent) {
        double cosine = 1 / Math.sqrt(1 + tangent * tangent);
        double sine = tangent * cosine;
        for (int i = 0; i < matrix.rows(); i++) {
            double first = matrix.at(i, p);
            double second = matrix.at(i, q);
            matrix.set(i, p, cosine * first - sine * second);
            matrix.set(i, q, sine * first + cosine * second);
        }
    }

    private static int[] order(double[] values, Comparator<Double> comparator) {
        return IntStream.range(0, values.length).boxed().sorted(Comparator.comparing(i -> values[i], comparator))
                .mapToInt(Integer::intValue).toArray();
    }

    private static double[] sorted(double[] values, int[] order) {
        return Arrays.stream(order).mapToDouble(i -> values[i]).toArray();
    }

    private static Matrix columns(Matrix matrix, int[] order) {
        Matrix result = new Matrix(matrix.rows(), order.length);
        for (int i = 0; i < matrix.rows(); i++) {
            for (int j = 0; j < order.length; j++) {
                result.set(i, j, matrix.at(i, order[j]));
            }
        }
        return result;
    }

    /**
     * Singular values and vectors: left · diagonal · rightᵀ is the matrix.
     *
     * @param matrix
     *            any
     * @param full
     *            whether vectors are added until there are as many as each has elements
     * @return from the largest singular value
     * @throws IllegalArgumentException
     *             if the matrix has elements that are not finite
     */
    public static Spectrum singular(Matrix matrix, boolean full) {
        if (matrix.rows() < matrix.columns()) {
            Spectrum transposed = singular(matrix.transposed(), full);
            return new Spectrum(transposed.values, /* left= */ transposed.right, /* right= */ transposed.left);
        }
        double scale = largest(matrix);
        Matrix turned = scale == 0 ? matrix.copy() : matrix.scaled(1 / scale);
        Matrix right = Matrix.identity(matrix.columns());
        boolean rotated = true;
        for (int sweep = 0; rotated && sweep < MOST_SWEEPS; sweep++) {
            rotated = false;
            for (int p = 0; p < matrix.columns(); p++) {
                for (int q = p + 1; q < matrix.columns(); q++) {
                    rotated |= separate(turned, right, p, q);
                }
            }
        }
        double[] lengths = IntStream.range(0, matrix.columns()).mapToDouble(j -> Math.sqrt(product(turned, j, j)))
                .toArray();
        int[] order = order(lengths, Comparator.reverseOrder());
        double[] values = sorted(lengths, order);
        Matrix left = completed(columns(turned, order), values, full ? matrix.rows() : matrix.columns());
        return new Spectrum(Arrays.stream(values).map(value -> value * scale).toArray(), left, columns(right, order));
    }

    private static double product(Matrix matrix, int p, int q) {
        double sum = 0;
        for (int i = 0; i < matrix.rows(); i++) {
            sum += matrix.at(i, p) * matrix.at(i, q);
        }
        return sum;
    }

    /** Rotates two columns so that they become orthogonal; returns whether they were not. */
    private static boolean separate(Matrix turned, Matrix right, int p, int q) {
        double product = product(turned, p, q);
        double first = product(turned, p, p);
        double second = product(turned, q, q);
        if (Math.abs(product) <= PRECISION * Math.sqrt(first) * Math.sqrt(second)) {
            return false;
        }
        double tangent = tangent((second - first) / (2 * product));
        rotateColumns(turned, p, q, tangent);
        rotateColumns(right, p, q, tangent);
        return true;
    }

    /**
     * The columns with length 1; in place of those that are only rounding errors, and after the last, others that are
     * orthogonal to all.
     */
    private static Matrix completed(Matrix columns, double[] lengths, int count) {
        int rows = columns.rows();
        double small = lengths.length == 0 ? 0 : rows * PRECISION * lengths[0];
        int sound = (int) Arrays.stream(lengths).filter(length -> length > small).count();
        Matrix kept = columns.firstColumns(sound)
                .scaledColumns(Arrays.stream(lengths).limit(sound).map(length -> 1 / length).toArray());
        if (sound == count) {
            return kept;
        }
        double[] elements = new double[rows * sound];
        kept.copyTo(elements, 0);
        Matrix result = new Matrix(rows, count, Householder.of(elements, rows, sound).orthogonal(count));
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < sound; j++) {
                result.set(i, j, kept.at(i, j));
            }
        }
        return result;
    }
}
