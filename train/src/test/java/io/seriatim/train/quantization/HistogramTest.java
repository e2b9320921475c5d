package io.seriatim.train.quantization;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class HistogramTest {
    private static float threshold(float... values) {
        float most = 0;
        for (float value : values) {
            most = Math.max(most, Math.abs(value));
        }
        Histogram histogram = new Histogram(most);
        histogram.add(values);
        return histogram.threshold();
    }

    private static float[] normal(int count) {
        Random random = new Random(20261123);
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return values;
    }

    @Test
    void anOutlierIsClipped() {
        float[] values = normal(20000);
        values[7] = -100;
        float found = threshold(values);
        assertTrue(found > 2 && found < 20, () -> "threshold " + found);
    }

    @Test
    void evenNumbersAreNotClipped() {
        float[] values = new float[4096];
        for (int i = 0; i < values.length; i++) {
            values[i] = (i + 0.5f) / values.length;
        }
        assertTrue(threshold(values) > 0.97, () -> "threshold " + threshold(values));
    }

    @Test
    void zerosDoNotCount() {
        float[] values = normal(20000);
        float[] withZeros = Arrays.copyOf(values, 200000);
        assertEquals(threshold(values), threshold(withZeros));
    }

    @Test
    void oneMagnitudeIsItsOwnThreshold() {
        assertEquals(3, threshold(3, -3, 0));
        assertEquals(0, threshold(0, 0));
    }
}
