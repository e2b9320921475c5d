package io.seriatim.tensor.linalg;

/**
 * The Schur form of a complex matrix: Z · T · Zᴴ with a unitary Z and an upper triangular T. Rotations make the matrix
 * a Hessenberg matrix, and steps of the QR algorithm with one shift make it T (Golub, Van Loan: Matrix Computations,
 * 7.5).
 */
final class ComplexSchur {
    private static final int MOST_STEPS = 30;
    private static final double PRECISION = Math.ulp(1.0);

    private final int n;
    private final ComplexMatrix t;
    private final ComplexMatrix z;

    private ComplexSchur(ComplexMatrix matrix) {
        n = matrix.rows();
        t = matrix.copy();
        z = new ComplexMatrix(n, n);
        for (int i = 0; i < n; i++) {
            z.set(i, i, 1, 0);
        }
    }

    static ComplexSchur of(ComplexMatrix matrix) {
        ComplexSchur schur = new ComplexSchur(matrix);
        for (int k = 0; k < schur.n - 2; k++) {
            for (int i = schur.n - 1; i > k + 1; i--) {
                Rotation rotation = schur.rotation(i - 1, k, i, k);
                schur.rows(i - 1, i, k, rotation);
                schur.columns(i - 1, i, schur.n, rotation);
                schur.t.set(i, k, 0, 0);
            }
        }
        for (int bottom = schur.n - 1; bottom > 0; bottom--) {
            schur.deflate(bottom);
        }
        return schur;
    }

    ComplexMatrix triangle() {
        return t;
    }

    /** Rows p and q become cos · p + s · q, and cos · q − s̄ · p. */
    private record Rotation(double cos, double re, double im) {
    }

    /** The rotation that clears the second element with the help of the first. */
    private Rotation rotation(int i, int j, int other, int column) {
        double a = t.re(i, j);
        double b = t.im(i, j);
        double c = t.re(other, column);
        double d = t.im(other, column);
        double first = Math.hypot(a, b);
        double second = Math.hypot(c, d);
        if (second == 0) {
            return new Rotation(1, 0, 0);
        } else if (first == 0) {
            return new Rotation(0, c / second, -d / second);
        }
        double norm = Math.hypot(first, second);
        // The phase of the first times the conjugate of the second.
        double re = (a * c + b * d) / first;
        double im = (b * c - a * d) / first;
        return new Rotation(first / norm, re / norm, im / norm);
    }

    private void rows(int p, int q, int from, Rotation r) {
        for (int j = from; j < n; j++) {
            double a = t.re(p, j);
            double b = t.im(p, j);
            double c = t.re(q, j);
            double d = t.im(q, j);
            t.set(p, j, r.cos() * a + r.re() * c - r.im() * d, r.cos() * b + r.re() * d + r.im() * c);
            t.set(q, j, r.cos() * c - r.re() * a - r.im() * b, r.cos() * d - r.re() * b + r.im() * a);
        }
    }

    /** The adjoint of the rotation from the right, also of Z. */
    private void columns(int p, int q, int rows, Rotation r) {
        columns(t, p, q, rows, r);
        columns(z, p, q, n, r);
    }

    private static void columns(ComplexMatrix matrix, int p, int q, int rows, Rotation r) {
        for (int i = 0; i < rows; i++) {
            double a = matrix.re(i, p);
            double b = matrix.im(i, p);
            double c = matrix.re(i, q);
            double d = matrix.im(i, q);
            matrix.set(i, p, r.cos() * a + r.re() * c + r.im() * d, r.cos() * b + r.re() * d - r.im() * c);
            matrix.set(i, q, r.cos() * c - r.re() * a + r.im() * b, r.cos() * d - r.re() * b - r.im() * a);
        }
    }

    /** Makes the element left of the diagonal in the bottom row negligible. */
    private void deflate(int bottom) {
        int limit = MOST_STEPS * Math.max(10, n);
        for (int step = 0; step <= limit; step++) {
            int top = bottom;
            while (top > 0 && !isNegligible(top)) {
                top--;
            }
            if (top > 0) {
                t.set(top, top - 1, 0, 0);
            }
            if (top == bottom) {
                return;
            }
            sweep(top, bottom, shift(bottom, step));
        }
        throw new IllegalArgumentException("the iteration for the eigenvalues did not converge");
    }

    private boolean isNegligible(int k) {
        double below = size(k, k - 1);
        return below <= PRECISION * (size(k, k) + size(k - 1, k - 1)) || below < Double.MIN_NORMAL;
    }

    private double size(int i, int j) {
        return Math.abs(t.re(i, j)) + Math.abs(t.im(i, j));
    }

    /** The eigenvalue of the last two rows that is closer to the last element. */
    private double[] shift(int bottom, int step) {
        double d = t.re(bottom, bottom);
        double e = t.im(bottom, bottom);
        if (step % 10 == 9) {
            return new double[]{d + 0.75 * size(bottom, bottom - 1), e};
        }
        double halfRe = (t.re(bottom - 1, bottom - 1) - d) / 2;
        double halfIm = (t.im(bottom - 1, bottom - 1) - e) / 2;
        double productRe = t.re(bottom - 1, bottom) * t.re(bottom, bottom - 1)
                - t.im(bottom - 1, bottom) * t.im(bottom, bottom - 1);
        double productIm = t.re(bottom - 1, bottom) * t.im(bottom, bottom - 1)
                + t.im(bottom - 1, bottom) * t.re(bottom, bottom - 1);
        double[] root = root(halfRe * halfRe - halfIm * halfIm + productRe, 2 * halfRe * halfIm + productIm);
        double sign = halfRe * root[0] + halfIm * root[1] < 0 ? -1 : 1;
        double sumRe = halfRe + sign * root[0];
        double sumIm = halfIm + sign * root[1];
        if (sumRe == 0 && sumIm == 0) {
            return new double[]{d, e};
        }
        double[] quotient = ComplexMatrix.quotient(productRe, productIm, sumRe, sumIm);
        return new double[]{d - quotient[0], e - quotient[1]};
    }

    private static double[] root(double re, double im) {
        double size = Math.sqrt((Math.hypot(re, im) + Math.abs(re)) / 2);
        if (size == 0) {
            return new double[2];
        }
        double other = im / (2 * size);
        return re >= 0 ? new double[]{size, other} : new double[]{Math.abs(other), Math.copySign(size, im)};
    }

    private void sweep(int top, int bottom, double[] shift) {
        Rotation[] rotations = new Rotation[bottom - top];
        for (int i = top; i <= bottom; i++) {
            t.set(i, i, t.re(i, i) - shift[0], t.im(i, i) - shift[1]);
        }
        for (int i = top; i < bottom; i++) {
            rotations[i - top] = rotation(i, i, i + 1, i);
            rows(i, i + 1, i, rotations[i - top]);
        }
        for (int i = top; i < bottom; i++) {
            columns(i, i + 1, Math.min(i + 2, bottom + 1), rotations[i - top]);
        }
        for (int i = top; i <= bottom; i++) {
            t.set(i, i, t.re(i, i) + shift[0], t.im(i, i) + shift[1]);
        }
    }

    /** The eigenvectors of the decomposed matrix, of any length. */
    ComplexMatrix vectors() {
        double norm = 0;
        for (int i = 0; i < n; i++) {
            for (int j = i; j < n; j++) {
                norm = Math.max(norm, size(i, j));
            }
        }
        double least = Math.max(PRECISION * norm, Double.MIN_NORMAL);
        ComplexMatrix x = new ComplexMatrix(n, n);
        for (int j = 0; j < n; j++) {
            x.set(j, j, 1, 0);
            for (int i = j - 1; i >= 0; i--) {
                double re = 0;
                double im = 0;
                for (int k = i + 1; k <= j; k++) {
                    re -= t.re(i, k) * x.re(k, j) - t.im(i, k) * x.im(k, j);
                    im -= t.re(i, k) * x.im(k, j) + t.im(i, k) * x.re(k, j);
                }
                double c = t.re(i, i) - t.re(j, j);
                double d = t.im(i, i) - t.im(j, j);
                boolean tiny = Math.abs(c) + Math.abs(d) < least;
                double[] value = ComplexMatrix.quotient(re, im, tiny ? least : c, tiny ? 0 : d);
                x.set(i, j, value[0], value[1]);
            }
        }
        return z.times(x);
    }
}
