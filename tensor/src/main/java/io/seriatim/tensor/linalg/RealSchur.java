package io.seriatim.tensor.linalg;

/**
 * The real Schur form of a real matrix: Z · T · Zᵀ with an orthogonal Z, and T that is upper triangular but for blocks
 * of two rows, one for each pair of complex eigenvalues. Householder reflections make the matrix a Hessenberg matrix,
 * and steps of the QR algorithm with two shifts make it T (Golub, Van Loan: Matrix Computations, 7.5). Shifts, tests
 * for small elements and the form of blocks are those of LAPACK, so that the eigenvalues have its order.
 */
final class RealSchur {
    private static final int MOST_STEPS = 30;
    private static final double SMALL = 0x1p-969;
    private static final double PRECISION = Math.ulp(1.0);

    private final int n;
    private final double[][] t;
    private final double[][] z;
    private final double[] re;
    private final double[] im;

    private RealSchur(double[][] a) {
        n = a.length;
        t = a;
        z = new double[n][n];
        re = new double[n];
        im = new double[n];
        for (int i = 0; i < n; i++) {
            z[i][i] = 1;
        }
    }

    /** Decomposes a matrix, which becomes T. */
    static RealSchur of(double[][] a) {
        RealSchur schur = new RealSchur(a);
        schur.hessenberg();
        int bottom = schur.n - 1;
        while (bottom >= 0) {
            bottom = schur.deflate(bottom);
        }
        return schur;
    }

    double re(int j) {
        return re[j];
    }

    double im(int j) {
        return im[j];
    }

    private void hessenberg() {
        for (int k = 0; k < n - 2; k++) {
            double[] v = new double[n - k - 1];
            for (int i = 0; i < v.length; i++) {
                v[i] = t[k + 1 + i][k];
            }
            double tau = reflector(v, v.length);
            t[k + 1][k] = v[0];
            for (int i = 1; i < v.length; i++) {
                t[k + 1 + i][k] = 0;
            }
            v[0] = 1;
            reflect(k + 1, k + 1, n, n, v, v.length, tau);
        }
    }

    /**
     * Makes the vector of a reflection that takes it to a multiple of the first unit vector; that multiple becomes its
     * first element, in place of the 1 of the reflection. Returns the reflection's factor.
     */
    private static double reflector(double[] v, int count) {
        double rest = 0;
        for (int i = 1; i < count; i++) {
            rest = Math.hypot(rest, v[i]);
        }
        if (rest == 0) {
            return 0;
        }
        double beta = -Math.copySign(Math.hypot(v[0], rest), v[0]);
        double tau = (beta - v[0]) / beta;
        for (int i = 1; i < count; i++) {
            v[i] /= v[0] - beta;
        }
        v[0] = beta;
        return tau;
    }

    /** Applies a reflection to rows from the left, to columns from the right, and to Z. */
    private void reflect(int at, int fromColumn, int toColumn, int toRow, double[] v, int count, double tau) {
        if (tau == 0) {
            return;
        }
        for (int j = fromColumn; j < toColumn; j++) {
            double sum = 0;
            for (int i = 0; i < count; i++) {
                sum += v[i] * t[at + i][j];
            }
            for (int i = 0; i < count; i++) {
                t[at + i][j] -= tau * v[i] * sum;
            }
        }
        reflectColumns(t, toRow, at, v, count, tau);
        reflectColumns(z, n, at, v, count, tau);
    }

    private static void reflectColumns(double[][] matrix, int toRow, int at, double[] v, int count, double tau) {
        for (int i = 0; i < toRow; i++) {
            double sum = 0;
            for (int j = 0; j < count; j++) {
                sum += v[j] * matrix[i][at + j];
            }
            for (int j = 0; j < count; j++) {
                matrix[i][at + j] -= tau * v[j] * sum;
            }
        }
    }

    /** Finds one or two eigenvalues at the bottom; returns the row above them. */
    private int deflate(int bottom) {
        int limit = MOST_STEPS * Math.max(10, n);
        for (int step = 0; step <= limit; step++) {
            int top = top(bottom);
            if (top > 0) {
                t[top][top - 1] = 0;
            }
            if (top == bottom) {
                re[bottom] = t[bottom][bottom];
                return bottom - 1;
            } else if (top == bottom - 1) {
                standardize(top);
                return bottom - 2;
            }
            sweep(top, bottom, shifts(top, bottom, step));
        }
        throw new IllegalArgumentException("the iteration for the eigenvalues did not converge");
    }

    /** The row at which the unreduced part that ends at the bottom begins: above it, an element is negligible. */
    private int top(int bottom) {
        for (int k = bottom; k > 0; k--) {
            double below = Math.abs(t[k][k - 1]);
            if (below <= SMALL * n) {
                return k;
            }
            double near = Math.abs(t[k - 1][k - 1]) + Math.abs(t[k][k]);
            if (near == 0) {
                near += k >= 2 ? Math.abs(t[k - 1][k - 2]) : 0;
                near += k + 1 < n ? Math.abs(t[k + 1][k]) : 0;
            }
            if (below <= PRECISION * near) {
                double above = Math.abs(t[k - 1][k]);
                double large = Math.max(below, above);
                double small = Math.min(below, above);
                double difference = Math.abs(t[k - 1][k - 1] - t[k][k]);
                double a = Math.max(Math.abs(t[k][k]), difference);
                double b = Math.min(Math.abs(t[k][k]), difference);
                double sum = a + large;
                if (small * (large / sum) <= Math.max(SMALL * n, PRECISION * (b * (a / sum)))) {
                    return k;
                }
            }
        }
        return 0;
    }

    /** The two shifts: re, im, re, im. */
    private double[] shifts(int top, int bottom, int step) {
        double a = t[bottom - 1][bottom - 1];
        double b = t[bottom - 1][bottom];
        double c = t[bottom][bottom - 1];
        double d = t[bottom][bottom];
        // Now and then another shift ends a cycle.
        if (step % 20 == 10 || (step % 20 == 0 && step > 0)) {
            boolean first = step % 20 == 10;
            double s = first
                    ? Math.abs(t[top + 1][top]) + Math.abs(t[top + 2][top + 1])
                    : Math.abs(c) + Math.abs(t[bottom - 1][bottom - 2]);
            a = 0.75 * s + (first ? t[top][top] : d);
            b = -0.4375 * s;
            c = s;
            d = a;
        }
        double s = Math.abs(a) + Math.abs(b) + Math.abs(c) + Math.abs(d);
        if (s == 0) {
            return new double[4];
        }
        double mean = (a / s + d / s) / 2;
        double determinant = (a / s - mean) * (d / s - mean) - b / s * (c / s);
        double root = Math.sqrt(Math.abs(determinant));
        if (determinant >= 0) {
            return new double[]{mean * s, root * s, mean * s, -root * s};
        }
        double one = mean + root;
        double other = mean - root;
        double shift = (Math.abs(one - d / s) <= Math.abs(other - d / s) ? one : other) * s;
        return new double[]{shift, 0, shift, 0};
    }

    /** A step of the QR algorithm: a reflection that begins a bulge, and those that move it down. */
    private void sweep(int top, int bottom, double[] shifts) {
        double[] v = new double[3];
        int start = bottom - 2;
        for (; start >= top; start--) {
            begin(start, shifts, v);
            if (start == top) {
                break;
            }
            double near = Math.abs(t[start - 1][start - 1]) + Math.abs(t[start][start])
                    + Math.abs(t[start + 1][start + 1]);
            if (Math.abs(t[start][start - 1]) * (Math.abs(v[1]) + Math.abs(v[2])) <= PRECISION * Math.abs(v[0])
                    * near) {
                break;
            }
        }
        for (int k = start; k < bottom; k++) {
            int count = Math.min(3, bottom - k + 1);
            for (int i = 0; k > start && i < count; i++) {
                v[i] = t[k + i][k - 1];
            }
            double tau = reflector(v, count);
            if (k > start) {
                t[k][k - 1] = v[0];
                for (int i = 1; i < count; i++) {
                    t[k + i][k - 1] = 0;
                }
            } else if (start > top) {
                t[k][k - 1] *= 1 - tau;
            }
            v[0] = 1;
            reflect(k, k, n, Math.min(k + 3, bottom) + 1, v, count, tau);
        }
    }

    /** The first column of the product of the matrix without each of the shifts. */
    private void begin(int m, double[] shifts, double[] v) {
        double s = Math.abs(t[m][m] - shifts[2]) + Math.abs(shifts[3]) + Math.abs(t[m + 1][m]);
        double below = t[m + 1][m] / s;
        v[0] = below * t[m][m + 1] + (t[m][m] - shifts[0]) * ((t[m][m] - shifts[2]) / s) - shifts[1] * (shifts[3] / s);
        v[1] = below * (t[m][m] + t[m + 1][m + 1] - shifts[0] - shifts[2]);
        v[2] = below * t[m + 2][m + 1];
        double sum = Math.abs(v[0]) + Math.abs(v[1]) + Math.abs(v[2]);
        for (int i = 0; i < 3; i++) {
            v[i] /= sum;
        }
    }

    /** Makes a block of two rows triangular, or gives it equal elements in the diagonal if its values are complex. */
    private void standardize(int k) {
        Block block = Block.of(t[k][k], t[k][k + 1], t[k + 1][k], t[k + 1][k + 1]);
        for (int j = k + 2; j < n; j++) {
            double x = t[k][j];
            t[k][j] = block.cos() * x + block.sin() * t[k + 1][j];
            t[k + 1][j] = block.cos() * t[k + 1][j] - block.sin() * x;
        }
        for (int i = 0; i < k; i++) {
            rotate(t[i], k, block);
        }
        for (double[] row : z) {
            rotate(row, k, block);
        }
        t[k][k] = block.a();
        t[k][k + 1] = block.b();
        t[k + 1][k] = block.c();
        t[k + 1][k + 1] = block.d();
        re[k] = block.a();
        re[k + 1] = block.d();
        if (block.c() != 0) {
            im[k] = Math.sqrt(Math.abs(block.b())) * Math.sqrt(Math.abs(block.c()));
            im[k + 1] = -im[k];
        }
    }

    private static void rotate(double[] row, int k, Block block) {
        double x = row[k];
        row[k] = block.cos() * x + block.sin() * row[k + 1];
        row[k + 1] = block.cos() * row[k + 1] - block.sin() * x;
    }

    /** The Schur form of a matrix of two rows, and the rotation to it. */
    private record Block(double a, double b, double c, double d, double cos, double sin) {
        static Block of(double a, double b, double c, double d) {
            if (c == 0) {
                return new Block(a, b, c, d, 1, 0);
            } else if (b == 0) {
                return new Block(d, -c, 0, a, 0, 1);
            } else if (a == d && Math.signum(b) != Math.signum(c)) {
                return new Block(a, b, c, d, 1, 0);
            }
            double half = (a - d) / 2;
            double most = Math.max(Math.abs(b), Math.abs(c));
            double least = Math.min(Math.abs(b), Math.abs(c)) * Math.signum(b) * Math.signum(c);
            double scale = Math.max(Math.abs(half), most);
            double discriminant = half / scale * half + most / scale * least;
            if (discriminant >= 4 * PRECISION) {
                double root = half + Math.copySign(Math.sqrt(scale) * Math.sqrt(discriminant), half);
                double tau = Math.hypot(c, root);
                return new Block(d + root, b - c, 0, d - most / root * least, root / tau, c / tau);
            }
            return equalDiagonal(a, b, c, d);
        }

        private static Block equalDiagonal(double a, double b, double c, double d) {
            double sum = b + c;
            double tau = Math.hypot(sum, a - d);
            double cos = Math.sqrt((1 + Math.abs(sum) / tau) / 2);
            double sin = -((a - d) / 2 / (tau * cos)) * Math.copySign(1, sum);
            double aa = a * cos + b * sin;
            double bb = -a * sin + b * cos;
            double cc = c * cos + d * sin;
            double dd = -c * sin + d * cos;
            double mean = (aa * cos + cc * sin + (-bb * sin + dd * cos)) / 2;
            double above = bb * cos + dd * sin;
            double below = -aa * sin + cc * cos;
            if (below == 0) {
                return new Block(mean, above, below, mean, cos, sin);
            } else if (above == 0) {
                return new Block(mean, -below, 0, mean, -sin, cos);
            } else if (Math.signum(above) != Math.signum(below)) {
                return new Block(mean, above, below, mean, cos, sin);
            }
            // The values are real after all.
            double x = Math.sqrt(Math.abs(above));
            double y = Math.sqrt(Math.abs(below));
            double p = Math.copySign(x * y, below);
            double t = 1 / Math.sqrt(Math.abs(above + below));
            return new Block(mean + p, above - below, 0, mean - p, cos * x * t - sin * y * t,
                    cos * y * t + sin * x * t);
        }
    }

    /** An eigenvector of the decomposed matrix; of a pair, that of the value with a positive imaginary part. */
    void vector(int j, double[] toRe, double[] toIm) {
        int last = im[j] == 0 ? j : j + 1;
        double[] x = new double[n];
        double[] y = new double[n];
        if (im[j] == 0) {
            x[j] = 1;
        } else if (Math.abs(t[j][j + 1]) >= Math.abs(t[j + 1][j])) {
            x[j] = 1;
            y[j + 1] = im[j] / t[j][j + 1];
        } else {
            x[j] = -im[j] / t[j + 1][j];
            y[j + 1] = 1;
        }
        substitute(j, last, x, y);
        for (int i = 0; i < n; i++) {
            toRe[i] = 0;
            toIm[i] = 0;
            for (int k = 0; k <= last; k++) {
                toRe[i] += z[i][k] * x[k];
                toIm[i] += z[i][k] * y[k];
            }
        }
    }

    /** Solves for the elements above those that are known. */
    private void substitute(int j, int last, double[] x, double[] y) {
        double norm = 0;
        for (double[] row : t) {
            for (double value : row) {
                norm = Math.max(norm, Math.abs(value));
            }
        }
        double least = Math.max(PRECISION * norm, Double.MIN_NORMAL);
        for (int i = j - 1; i >= 0; i--) {
            boolean pair = i > 0 && t[i][i - 1] != 0;
            int first = pair ? i - 1 : i;
            double[] right = new double[4];
            for (int k = i + 1; k <= last; k++) {
                right[2] -= t[i][k] * x[k];
                right[3] -= t[i][k] * y[k];
                right[0] -= pair ? t[first][k] * x[k] : 0;
                right[1] -= pair ? t[first][k] * y[k] : 0;
            }
            if (pair) {
                two(first, re[j], im[j], right, x, y);
                i--;
            } else {
                double c = t[i][i] - re[j];
                double d = -im[j];
                // Of equal values, the matrix is changed by less than rounding does.
                boolean tiny = Math.abs(c) + Math.abs(d) < least;
                double[] value = ComplexMatrix.quotient(right[2], right[3], tiny ? least : c, tiny ? 0 : d);
                x[i] = value[0];
                y[i] = value[1];
            }
        }
    }

    /** Solves the equations of a block of two rows. */
    private void two(int i, double shiftRe, double shiftIm, double[] right, double[] x, double[] y) {
        ComplexMatrix block = new ComplexMatrix(2, 2);
        block.set(0, 0, t[i][i] - shiftRe, -shiftIm);
        block.set(0, 1, t[i][i + 1], 0);
        block.set(1, 0, t[i + 1][i], 0);
        block.set(1, 1, t[i + 1][i + 1] - shiftRe, -shiftIm);
        ComplexMatrix solution = block.solve(ComplexMatrix.of(2, 1, right, 0));
        for (int k = 0; k < 2; k++) {
            x[i + k] = solution.re(k, 0);
            y[i + k] = solution.im(k, 0);
        }
    }
}
