package io.seriatim.examples.parallel;

import io.seriatim.engine.Engine;
import io.seriatim.engine.Var;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * The Cholesky factorisation A = L·Lᵀ of a symmetric, positive definite matrix in square tiles, the standard example of
 * task-parallel linear algebra. {@link #serial} is the textbook's loop over tiles. {@link #parallel} is the same loop,
 * in which each tile has a variable. The engine derives from it that most updates of a step are independent, and that
 * the next step may start before this one has ended.
 *
 * <p>
 * {@code Cholesky [TILES [SIZE [WORKERS]]]} factorises a matrix of TILES × TILES tiles with SIZE × SIZE numbers each.
 */
public final class Cholesky {
    private Cholesky() {
    }

    /**
     * Factorises a random matrix with both forms, and compares the results.
     *
     * @param args
     *            the number of tiles in a row, the number of rows of a tile, and the number of workers
     * @throws Exception
     *             if an argument is wrong or the results differ
     */
    public static void main(String... args) throws Exception {
        Arguments in = new Arguments("Cholesky [TILES [SIZE [WORKERS]]]", args);
        int tiles = in.next("TILES", 10, 1, 100);
        int size = in.next("SIZE", 96, 1, 1000);
        int workers = in.workers();
        double[][][] a = matrix(tiles, size, 1);
        double[][][] l = Comparison.run("Cholesky of " + tiles + " × " + tiles + " tiles of " + size + " × " + size,
                workers, () -> serial(copy(a), size), engine -> parallel(engine, copy(a), size), Arrays::deepEquals);
        System.out.printf("residual %.1e%n", residual(a, l, size));
    }

    /** Replaces the lower triangle of A by L, one tile after the other. */
    static double[][][] serial(double[][][] a, int n) {
        for (int k = 0; k < a.length; k++) {
            potrf(a[k][k], n);
            for (int i = k + 1; i < a.length; i++) {
                trsm(a[k][k], a[i][k], n);
            }
            for (int i = k + 1; i < a.length; i++) {
                for (int j = k + 1; j < i; j++) {
                    gemm(a[i][k], a[j][k], a[i][j], n);
                }
                syrk(a[i][k], a[i][i], n);
            }
        }
        return a;
    }

    /** The same loop: each operation declares the tiles that it reads and the one that it changes. */
    static double[][][] parallel(Engine engine, double[][][] a, int n) throws InterruptedException {
        Tile[][] t = Arrays.stream(a).map(row -> Arrays.stream(row)
                .map(numbers -> new Tile(engine.newVar(), numbers)).toArray(Tile[]::new)).toArray(Tile[][]::new);
        for (int k = 0; k < a.length; k++) {
            Tile kk = t[k][k];
            engine.op("potrf").mutates(kk.var).push(() -> potrf(kk.numbers, n));
            for (int i = k + 1; i < a.length; i++) {
                Tile ik = t[i][k];
                engine.op("trsm").reads(kk.var).mutates(ik.var).push(() -> trsm(kk.numbers, ik.numbers, n));
            }
            for (int i = k + 1; i < a.length; i++) {
                Tile ik = t[i][k];
                Tile ii = t[i][i];
                for (int j = k + 1; j < i; j++) {
                    Tile jk = t[j][k];
                    Tile ij = t[i][j];
                    engine.op("gemm").reads(ik.var, jk.var).mutates(ij.var)
                            .push(() -> gemm(ik.numbers, jk.numbers, ij.numbers, n));
                }
                engine.op("syrk").reads(ik.var).mutates(ii.var).push(() -> syrk(ik.numbers, ii.numbers, n));
            }
        }
        engine.waitForAll(); // throws the ArithmeticException of a matrix that is not positive definite
        return a;
    }

    /** A tile and its variable. */
    private static final class Tile {
        final Var var;
        final double[] numbers;

        Tile(Var var, double[] numbers) {
            this.var = var;
            this.numbers = numbers;
        }
    }

    /** Factorises a tile of the diagonal; the numbers of a tile are stored column by column. */
    private static void potrf(double[] a, int n) {
        for (int k = 0; k < n; k++) {
            double pivot = a[k * n + k];
            if (!(pivot > 0)) {
                throw new ArithmeticException("the matrix is not positive definite: a pivot is " + pivot);
            }
            double root = Math.sqrt(pivot);
            for (int i = k; i < n; i++) {
                a[k * n + i] /= root;
            }
            for (int j = k + 1; j < n; j++) {
                subtract(a[k * n + j], a, k * n + j, a, j * n + j, n - j);
            }
        }
    }

    /** Solves X·Lᵀ = A for a tile A below the diagonal, and replaces A by X. */
    private static void trsm(double[] l, double[] a, int n) {
        for (int k = 0; k < n; k++) {
            for (int i = 0; i < n; i++) {
                a[k * n + i] /= l[k * n + k];
            }
            for (int j = k + 1; j < n; j++) {
                subtract(l[k * n + j], a, k * n, a, j * n, n);
            }
        }
    }

    /** Computes C −= A·Bᵀ. */
    private static void gemm(double[] a, double[] b, double[] c, int n) {
        for (int j = 0; j < n; j++) {
            for (int k = 0; k < n; k++) {
                subtract(b[k * n + j], a, k * n, c, j * n, n);
            }
        }
    }

    /** Computes the lower triangle of C −= A·Aᵀ. */
    private static void syrk(double[] a, double[] c, int n) {
        for (int j = 0; j < n; j++) {
            for (int k = 0; k < n; k++) {
                subtract(a[k * n + j], a, k * n + j, c, j * n + j, n - j);
            }
        }
    }

    /** Subtracts a multiple of one column from another. */
    private static void subtract(double factor, double[] from, int f, double[] to, int t, int count) {
        for (int i = 0; i < count; i++) {
            to[t + i] -= factor * from[f + i];
        }
    }

    /** Returns the tiles [i][j], j ≤ i, of a random matrix; large numbers on the diagonal make it positive definite. */
    static double[][][] matrix(int tiles, int n, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        double[][][] a = new double[tiles][][];
        for (int i = 0; i < tiles; i++) {
            a[i] = new double[i + 1][];
            for (int j = 0; j <= i; j++) {
                a[i][j] = random.doubles((long) n * n).toArray();
            }
            for (int k = 0; k < n; k++) {
                a[i][i][k * n + k] += (double) tiles * n;
            }
        }
        return a;
    }

    private static double[][][] copy(double[][][] a) {
        return Arrays.stream(a).map(row -> Arrays.stream(row).map(double[]::clone).toArray(double[][]::new))
                .toArray(double[][][]::new);
    }

    /** Returns the largest element of A·x − L·(Lᵀ·x) for a random x, relative to that of A·x. */
    static double residual(double[][][] a, double[][][] l, int n) {
        int order = a.length * n;
        double[] x = new SplittableRandom(2).doubles(order).toArray();
        double[] expected = new double[order];
        double[] transposed = new double[order];
        double[] actual = new double[order];
        for (int column = 0; column < order; column++) {
            for (int row = column; row < order; row++) {
                double entry = at(a, row, column, n);
                expected[row] += entry * x[column];
                expected[column] += row == column ? 0 : entry * x[row];
                transposed[column] += at(l, row, column, n) * x[row];
            }
        }
        double largest = 0;
        double error = 0;
        for (int row = 0; row < order; row++) {
            for (int column = 0; column <= row; column++) {
                actual[row] += at(l, row, column, n) * transposed[column];
            }
            largest = Math.max(largest, Math.abs(expected[row]));
            error = Math.max(error, Math.abs(expected[row] - actual[row]));
        }
        return error / largest;
    }

    private static double at(double[][][] a, int row, int column, int n) {
        return a[row / n][column / n][column % n * n + row % n];
    }
}
