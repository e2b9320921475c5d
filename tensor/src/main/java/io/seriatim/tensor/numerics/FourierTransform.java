package io.seriatim.tensor.numerics;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The discrete Fourier transform of one length: yₖ = Σ xⱼ · exp(−2πi·jk/n), without a factor. Lengths whose prime
 * factors are small are transformed by Stockham's algorithm, one pass over the numbers a factor; others as a
 * convolution of a power of two (Bluestein: A linear filtering approach to the computation of discrete Fourier
 * transform, 1970). Immutable, so that any number of threads may use it.
 */
public final class FourierTransform {
    /** Butterflies take the square of a factor: beyond this one, a convolution takes fewer operations. */
    private static final int LARGEST_FACTOR = 31;

    private static final int MOST = 1 << 26;

    private final int n;
    private final List<Pass> passes;
    private final Bluestein bluestein;

    private FourierTransform(int n, List<Pass> passes, Bluestein bluestein) {
        this.n = n;
        this.passes = passes;
        this.bluestein = bluestein;
    }

    /**
     * Prepares the transform.
     *
     * @param n
     *            the length, from 1 to 2²⁶
     * @return with its tables of sines and cosines
     * @throws IllegalArgumentException
     *             if the length is out of range
     */
    public static FourierTransform of(int n) {
        if (n < 1 || n > MOST) {
            throw new IllegalArgumentException("A Fourier transform has a length from 1 to " + MOST + ", but not " + n);
        }
        List<Integer> factors = factors(n);
        if (!factors.isEmpty() && factors.getLast() > LARGEST_FACTOR) {
            return new FourierTransform(n, List.of(), Bluestein.of(n));
        }
        List<Pass> passes = new ArrayList<>();
        int done = 1;
        for (int factor : factors) {
            passes.add(Pass.of(factor, done, n));
            done *= factor;
        }
        return new FourierTransform(n, passes, Bluestein.NONE);
    }

    /** The factors, ascending but for fours, which come first. */
    private static List<Integer> factors(int n) {
        List<Integer> factors = new ArrayList<>();
        int left = n;
        for (; left % 4 == 0; left /= 4) {
            factors.add(4);
        }
        for (int factor = 2; (long) factor * factor <= left; factor++) {
            for (; left % factor == 0; left /= factor) {
                factors.add(factor);
            }
        }
        if (left > 1) {
            factors.add(left);
        }
        return factors;
    }

    /**
     * The length.
     *
     * @return how many complex numbers are transformed
     */
    public int length() {
        return n;
    }

    /**
     * The values that a transform needs besides its numbers.
     *
     * @return how many
     */
    public int workLength() {
        return bluestein.size() == 0 ? 2 * n : 4 * bluestein.size();
    }

    /**
     * Transforms numbers in place. With the places of real and imaginary parts exchanged, this is the transform in the
     * other direction, Σ xⱼ · exp(+2πi·jk/n).
     *
     * @param values
     *            holds the numbers, and space for the work; the three parts must not overlap
     * @param re
     *            where the real parts begin
     * @param im
     *            where the imaginary parts begin
     * @param work
     *            where {@link #workLength} values may be overwritten
     */
    public void transform(double[] values, int re, int im, int work) {
        if (bluestein.size() > 0) {
            bluestein.transform(values, re, im, work);
            return;
        }
        int fromRe = re;
        int fromIm = im;
        int toRe = work;
        int toIm = work + n;
        for (Pass pass : passes) {
            pass.run(values, fromRe, fromIm, toRe, toIm);
            int swapRe = fromRe;
            int swapIm = fromIm;
            fromRe = toRe;
            fromIm = toIm;
            toRe = swapRe;
            toIm = swapIm;
        }
        if (fromRe != re) {
            System.arraycopy(values, fromRe, values, re, n);
            System.arraycopy(values, fromIm, values, im, n);
        }
    }

    /**
     * One pass of Stockham's algorithm. Before it, the transforms of {@code done} numbers each are known, of those that
     * are n / done apart; after it, those of p · done numbers.
     *
     * @param p
     *            the factor
     * @param done
     *            the product of the factors before
     * @param rest
     *            the product of the factors after
     * @param cos
     *            of the angles −2πrk / (p · done), for r from 1 and each k below {@code done}
     * @param sin
     *            of the same angles
     * @param rootCos
     *            of the angles −2πr / p
     * @param rootSin
     *            of the same angles
     */
    @SuppressWarnings("ArrayRecordComponent")
    private record Pass(int p, int done, int rest, double[] cos, double[] sin, double[] rootCos, double[] rootSin) {
        static Pass of(int p, int done, int n) {
            double[] cos = new double[(p - 1) * done];
            double[] sin = new double[(p - 1) * done];
            for (int r = 1; r < p; r++) {
                for (int k = 0; k < done; k++) {
                    double angle = -2 * Math.PI * ((long) r * k) / ((double) p * done);
                    cos[(r - 1) * done + k] = Math.cos(angle);
                    sin[(r - 1) * done + k] = Math.sin(angle);
                }
            }
            double[] rootCos = new double[p];
            double[] rootSin = new double[p];
            for (int r = 0; r < p; r++) {
                rootCos[r] = Math.cos(-2 * Math.PI * r / p);
                rootSin[r] = Math.sin(-2 * Math.PI * r / p);
            }
            return new Pass(p, done, n / p / done, cos, sin, rootCos, rootSin);
        }

        void run(double[] v, int fromRe, int fromIm, int toRe, int toIm) {
            switch (p) {
                case 2 -> two(v, fromRe, fromIm, toRe, toIm);
                case 4 -> four(v, fromRe, fromIm, toRe, toIm);
                default -> any(v, fromRe, fromIm, toRe, toIm);
            }
        }

        private void two(double[] v, int fromRe, int fromIm, int toRe, int toIm) {
            int half = rest * done;
            for (int j = 0; j < rest; j++) {
                int in = j * done;
                int out = 2 * j * done;
                for (int k = 0; k < done; k++) {
                    double a = v[fromRe + in + k];
                    double b = v[fromIm + in + k];
                    double x = v[fromRe + half + in + k];
                    double y = v[fromIm + half + in + k];
                    double c = x * cos[k] - y * sin[k];
                    double d = x * sin[k] + y * cos[k];
                    v[toRe + out + k] = a + c;
                    v[toIm + out + k] = b + d;
                    v[toRe + out + done + k] = a - c;
                    v[toIm + out + done + k] = b - d;
                }
            }
        }

        private void four(double[] v, int fromRe, int fromIm, int toRe, int toIm) {
            int quarter = rest * done;
            for (int j = 0; j < rest; j++) {
                int re = fromRe + j * done;
                int im = fromIm + j * done;
                int outRe = toRe + 4 * j * done;
                int outIm = toIm + 4 * j * done;
                for (int k = 0; k < done; k++) {
                    double a = v[re + k];
                    double b = v[im + k];
                    double x1 = v[re + quarter + k];
                    double y1 = v[im + quarter + k];
                    double x2 = v[re + 2 * quarter + k];
                    double y2 = v[im + 2 * quarter + k];
                    double x3 = v[re + 3 * quarter + k];
                    double y3 = v[im + 3 * quarter + k];
                    double c1 = x1 * cos[k] - y1 * sin[k];
                    double d1 = x1 * sin[k] + y1 * cos[k];
                    double c2 = x2 * cos[done + k] - y2 * sin[done + k];
                    double d2 = x2 * sin[done + k] + y2 * cos[done + k];
                    double c3 = x3 * cos[2 * done + k] - y3 * sin[2 * done + k];
                    double d3 = x3 * sin[2 * done + k] + y3 * cos[2 * done + k];
                    double evenRe = a + c2;
                    double evenIm = b + d2;
                    double oddRe = a - c2;
                    double oddIm = b - d2;
                    double sumRe = c1 + c3;
                    double sumIm = d1 + d3;
                    // −i · (the second − the fourth)
                    double turnedRe = d1 - d3;
                    double turnedIm = c3 - c1;
                    v[outRe + k] = evenRe + sumRe;
                    v[outIm + k] = evenIm + sumIm;
                    v[outRe + done + k] = oddRe + turnedRe;
                    v[outIm + done + k] = oddIm + turnedIm;
                    v[outRe + 2 * done + k] = evenRe - sumRe;
                    v[outIm + 2 * done + k] = evenIm - sumIm;
                    v[outRe + 3 * done + k] = oddRe - turnedRe;
                    v[outIm + 3 * done + k] = oddIm - turnedIm;
                }
            }
        }

        private void any(double[] v, int fromRe, int fromIm, int toRe, int toIm) {
            int part = rest * done;
            double[] re = new double[p];
            double[] im = new double[p];
            for (int j = 0; j < rest; j++) {
                for (int k = 0; k < done; k++) {
                    int in = j * done + k;
                    re[0] = v[fromRe + in];
                    im[0] = v[fromIm + in];
                    for (int r = 1; r < p; r++) {
                        double x = v[fromRe + r * part + in];
                        double y = v[fromIm + r * part + in];
                        double c = cos[(r - 1) * done + k];
                        double s = sin[(r - 1) * done + k];
                        re[r] = x * c - y * s;
                        im[r] = x * s + y * c;
                    }
                    butterfly(v, re, im, toRe + p * j * done + k, toIm + p * j * done + k);
                }
            }
        }

        /** A transform of p numbers by the definition. */
        private void butterfly(double[] v, double[] re, double[] im, int toRe, int toIm) {
            for (int q = 0; q < p; q++) {
                double sumRe = re[0];
                double sumIm = im[0];
                int root = 0;
                for (int r = 1; r < p; r++) {
                    root += q;
                    root -= root >= p ? p : 0;
                    sumRe += re[r] * rootCos[root] - im[r] * rootSin[root];
                    sumIm += re[r] * rootSin[root] + im[r] * rootCos[root];
                }
                v[toRe + q * done] = sumRe;
                v[toIm + q * done] = sumIm;
            }
        }
    }

    /**
     * With jk = (j² + k² − (k − j)²) / 2, a transform is a convolution with exp(πi·j²/n), between two products with the
     * conjugate.
     *
     * @param n
     *            the length
     * @param size
     *            the length of the convolution, a power of two from 2n − 1; 0 for none
     * @param cos
     *            of the angles −πj²/n
     * @param sin
     *            of the same angles
     * @param chirp
     *            the transform of exp(πi·j²/n), real parts, then imaginary parts, divided by the size
     * @param inner
     *            the transform of the size
     */
    @SuppressWarnings("ArrayRecordComponent")
    private record Bluestein(int n, int size, double[] cos, double[] sin, double[] chirp,
            List<FourierTransform> inner) {
        static final Bluestein NONE = new Bluestein(0, 0, new double[0], new double[0], new double[0], List.of());

        static Bluestein of(int n) {
            int size = Integer.highestOneBit(2 * n - 1) * 2;
            double[] cos = new double[n];
            double[] sin = new double[n];
            double[] chirp = new double[4 * size];
            for (int j = 0; j < n; j++) {
                // j² is taken modulo 2n, which keeps the angle small and exact.
                double angle = -Math.PI * ((long) j * j % (2L * n)) / n;
                cos[j] = Math.cos(angle);
                sin[j] = Math.sin(angle);
                int mirrored = j == 0 ? 0 : size - j;
                chirp[j] = cos[j];
                chirp[size + j] = -sin[j];
                chirp[mirrored] = cos[j];
                chirp[size + mirrored] = -sin[j];
            }
            FourierTransform inner = FourierTransform.of(size);
            inner.transform(chirp, 0, size, 2 * size);
            for (int i = 0; i < 2 * size; i++) {
                chirp[i] /= size;
            }
            return new Bluestein(n, size, cos, sin, Arrays.copyOf(chirp, 2 * size), List.of(inner));
        }

        void transform(double[] v, int re, int im, int work) {
            int workIm = work + size;
            for (int j = 0; j < n; j++) {
                v[work + j] = v[re + j] * cos[j] - v[im + j] * sin[j];
                v[workIm + j] = v[re + j] * sin[j] + v[im + j] * cos[j];
            }
            Arrays.fill(v, work + n, workIm, 0);
            Arrays.fill(v, workIm + n, workIm + size, 0);
            FourierTransform convolution = inner.getFirst();
            convolution.transform(v, work, workIm, work + 2 * size);
            for (int j = 0; j < size; j++) {
                double x = v[work + j];
                double y = v[workIm + j];
                v[work + j] = x * chirp[j] - y * chirp[size + j];
                v[workIm + j] = x * chirp[size + j] + y * chirp[j];
            }
            convolution.transform(v, workIm, work, work + 2 * size);
            for (int k = 0; k < n; k++) {
                v[re + k] = v[work + k] * cos[k] - v[workIm + k] * sin[k];
                v[im + k] = v[work + k] * sin[k] + v[workIm + k] * cos[k];
            }
        }
    }
}
