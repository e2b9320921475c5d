package io.seriatim.tensor.numerics;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class FourierTransformTest {
    private static final int SEED = 20260;

    static IntStream lengths() {
        return IntStream.concat(IntStream.rangeClosed(1, 200),
                IntStream.of(211, 251, 256, 331, 500, 509, 512, 720, 961, 1009, 1024, 1331, 2 * 503));
    }

    /** By the definition, with angles that are reduced exactly. */
    private static double[] slow(double[] x, int n, int sign) {
        double[] y = new double[2 * n];
        for (int k = 0; k < n; k++) {
            for (int j = 0; j < n; j++) {
                double angle = sign * 2 * Math.PI * ((long) j * k % n) / n;
                y[k] += x[j] * Math.cos(angle) - x[n + j] * Math.sin(angle);
                y[n + k] += x[j] * Math.sin(angle) + x[n + j] * Math.cos(angle);
            }
        }
        return y;
    }

    private static double[] numbers(int n, int space) {
        return Arrays.copyOf(new SplittableRandom(SEED + n).doubles(2L * n, -1, 1).toArray(), 2 * n + space);
    }

    @ParameterizedTest
    @MethodSource("lengths")
    void agreesWithTheDefinitionInBothDirections(int n) {
        FourierTransform transform = FourierTransform.of(n);
        assertEquals(n, transform.length());
        double[] x = numbers(n, transform.workLength());
        double[] forward = x.clone();
        transform.transform(forward, 0, n, 2 * n);
        double tolerance = 1e-15 * n + 4e-15;
        assertArrayEquals(slow(x, n, -1), Arrays.copyOf(forward, 2 * n), 4 * tolerance);
        double[] backward = x.clone();
        transform.transform(backward, n, 0, 2 * n);
        assertArrayEquals(slow(x, n, 1), Arrays.copyOf(backward, 2 * n), 4 * tolerance);
    }

    @ParameterizedTest
    @ValueSource(ints = {1 << 16, 3 * 5 * 7 * 11 * 13, 65537, 99991})
    void longOnesComeBack(int n) {
        FourierTransform transform = FourierTransform.of(n);
        double[] x = numbers(n, transform.workLength());
        double[] y = x.clone();
        transform.transform(y, 0, n, 2 * n);
        transform.transform(y, n, 0, 2 * n);
        double[] scaled = Arrays.stream(y).limit(2L * n).map(value -> value / n).toArray();
        assertArrayEquals(Arrays.copyOf(x, 2 * n), scaled, 1e-12);
    }

    @Test
    void lengthsOutOfRangeAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> FourierTransform.of(0));
        assertThrows(IllegalArgumentException.class, () -> FourierTransform.of(-4));
        assertThrows(IllegalArgumentException.class, () -> FourierTransform.of(Integer.MAX_VALUE));
    }
}
