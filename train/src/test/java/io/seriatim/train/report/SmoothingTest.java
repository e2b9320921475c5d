package io.seriatim.train.report;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

class SmoothingTest {
    @Test
    void aConstantStaysAndNoiseGoes() {
        double[] constant = new double[500];
        Arrays.fill(constant, 3);
        assertArrayEquals(constant, Smoothing.smoothed(constant), 1e-12);
        Random random = new Random(1);
        double[] noisy = random.doubles(2000, -1, 1).toArray();
        double[] smoothed = Smoothing.smoothed(noisy);
        assertTrue(Arrays.stream(smoothed).skip(100).allMatch(value -> Math.abs(value) < 0.35),
                "far less than the noise");
        assertEquals(noisy[0], smoothed[0], 1e-12, "the first value is not drawn to zero");
    }

    @Test
    void whatIsNotFiniteIsLeftOut() {
        double[] smoothed = Smoothing.smoothed(new double[]{2, Double.NaN, 2, Double.POSITIVE_INFINITY, 2});
        assertArrayEquals(new double[]{2, Double.NaN, 2, Double.POSITIVE_INFINITY, 2}, smoothed);
        assertEquals(0, Smoothing.smoothed(new double[0]).length);
    }

    @Test
    void ticksAreEvenNumbers() {
        assertEquals(List.of("0.0", "0.5", "1.0", "1.5", "2.0"), labels(new Scale(0, 2), Chart.Unit.NUMBER, false));
        assertEquals(List.of("0", "50,000", "100,000"), labels(new Scale(0, 120_000), Chart.Unit.NUMBER, true));
        assertEquals(List.of("1", "2"), labels(new Scale(0.5, 2.5), Chart.Unit.NUMBER, true), "there is no half step");
        assertEquals(List.of("90 %", "92 %", "94 %", "96 %", "98 %"),
                labels(new Scale(0.9, 0.99), Chart.Unit.SHARE, false));
        assertEquals(List.of("0 MiB", "100 MiB", "200 MiB", "300 MiB"),
                labels(new Scale(0, 390L << 20), Chart.Unit.BYTES, false));
        assertEquals(List.of("0.0e+00", "2.0e-09", "4.0e-09", "6.0e-09", "8.0e-09"),
                labels(new Scale(0, 8e-9), Chart.Unit.NUMBER, false));
    }

    private static List<String> labels(Scale scale, Chart.Unit unit, boolean whole) {
        return scale.ticks(unit, 5, whole).stream().map(Scale.Tick::label).toList();
    }

    @Test
    void numbersHaveFewDigits() {
        assertEquals(List.of("1.234", "12.35", "0.123", "0.000", "12,346", "1.23e-04", "NaN", "−∞"),
                DoubleStream
                        .of(1.2344, 12.3456, 0.12346, 0, 12345.6, 1.234e-4, Double.NaN, Double.NEGATIVE_INFINITY)
                        .mapToObj(value -> Numbers.value(Chart.Unit.NUMBER, value)).toList());
        assertEquals("98.76 %", Numbers.value(Chart.Unit.SHARE, 0.98764));
        assertEquals(List.of("250 ms", "59.9 s", "2 min 3 s", "1 h 1 min"),
                DoubleStream.of(0.25, 59.9, 123, 3699).mapToObj(Numbers::duration).toList());
    }
}
