package io.seriatim.train.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.util.List;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;

class FingerprintTest {
    /** Each example holds one number, repeated; counts the examples that were read. */
    private static final class Numbers implements Dataset {
        private final int size;
        private final int width;
        private final IntToDoubleFunction value;
        private int read;

        Numbers(int size, int width, IntToDoubleFunction value) {
            this.size = size;
            this.width = width;
            this.value = value;
        }

        @Override
        public List<Field> fields() {
            return List.of(new Field("x", DType.FLOAT32, Shape.of(width)));
        }

        @Override
        public int size() {
            return size;
        }

        @Override
        public List<Tensor> batch(int[] examples) {
            float[] values = new float[examples.length * width];
            for (int i = 0; i < values.length; i++) {
                values[i] = (float) value.applyAsDouble(examples[i / width]);
            }
            read += examples.length;
            return List.of(Tensor.of(values, examples.length, width));
        }
    }

    private static String of(Dataset training, Dataset validation) throws IOException {
        return Fingerprint.of(new Split(training, validation));
    }

    @Test
    void everyExampleOfASmallSetCounts() throws IOException {
        Numbers numbers = new Numbers(1000, 3, i -> i);
        String fingerprint = of(numbers, new Numbers(1, 3, i -> 5));
        assertTrue(fingerprint.matches("[0-9a-f]{32}"), fingerprint);
        assertEquals(1000, numbers.read);
        assertEquals(fingerprint, of(new Numbers(1000, 3, i -> i), new Numbers(1, 3, i -> 5)));
        for (int changed : new int[]{0, 1, 255, 256, 500, 999}) {
            assertNotEquals(fingerprint,
                    of(new Numbers(1000, 3, i -> i == changed ? -1 : i), new Numbers(1, 3, i -> 5)),
                    "example " + changed);
        }
        assertNotEquals(fingerprint, of(new Numbers(1000, 3, i -> i), new Numbers(1, 3, i -> 6)), "validation");
        assertNotEquals(fingerprint, of(new Numbers(999, 3, i -> i), new Numbers(1, 3, i -> 5)), "size");
    }

    @Test
    void aLargeSetIsSampled() throws IOException {
        int size = 1_000_000;
        Numbers numbers = new Numbers(size, 256, i -> i);
        String fingerprint = of(numbers, new Numbers(2, 256, i -> 5));
        assertEquals(8192, numbers.read, "8 MiB of examples of 1 KiB");
        assertNotEquals(fingerprint, of(new Numbers(size, 256, i -> i == 0 ? -1 : i), new Numbers(2, 256, i -> 5)));
        assertNotEquals(fingerprint,
                of(new Numbers(size, 256, i -> i == size - 1 ? -1 : i), new Numbers(2, 256, i -> 5)));
        assertNotEquals(fingerprint,
                of(new Numbers(size, 256, i -> i / 1000 == 500 ? -1 : i), new Numbers(2, 256, i -> 5)));
    }
}
