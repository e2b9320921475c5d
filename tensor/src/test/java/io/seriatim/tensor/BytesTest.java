package io.seriatim.tensor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Conversions between floats and bytes against those of {@link Whole}, one by one. */
class BytesTest {
    private static final long SEED = 20261127;
    private static final float[] SPECIAL = {0f, -0f, 0.5f, -0.5f, 255.5f, 256f, -129f, Float.NaN, 0x1p31f, -0x1p31f,
            0x1.fffffep30f, 0x1p63f, Float.MAX_VALUE, -Float.MAX_VALUE, Float.POSITIVE_INFINITY,
            Float.NEGATIVE_INFINITY};
    private static final int[] LENGTHS = {1, 3, 16, 31, 64, 257, 1024};

    private static float[] numbers(SplittableRandom random, int count, boolean special) {
        float[] numbers = new float[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = special && random.nextInt(6) == 0
                    ? SPECIAL[random.nextInt(SPECIAL.length)]
                    : (float) (random.nextDouble(-1, 1) * (1 << random.nextInt(30)));
        }
        return numbers;
    }

    @Test
    void keepsTheLastBitsOfWholeNumbers() {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int length : LENGTHS) {
            for (boolean special : new boolean[]{false, true}) {
                for (DType dtype : new DType[]{DType.INT8, DType.UINT8}) {
                    float[] values = numbers(random, length + 2, special);
                    MemorySegment memory = MemorySegment.ofArray(new byte[length + 1]);
                    Floats.store(memory, dtype, 1, 1, values, 2, length);
                    float[] again = new float[length + 2];
                    Floats.load(memory, dtype, 1, 1, again, 2, length);
                    float[] cast = new float[length + 2];
                    Bytes.cast(dtype == DType.INT8, values, cast, length + 2);
                    for (int i = 0; i < length; i++) {
                        String what = "seed " + SEED + ", " + dtype + " of " + values[i + 2] + ", element " + i + " of "
                                + length;
                        byte expected = (byte) Whole.toInt(values[i + 2]);
                        float read = dtype == DType.INT8 ? expected : expected & 0xff;
                        assertEquals(expected, memory.get(ValueLayout.JAVA_BYTE, i + 1), what);
                        assertEquals(read, again[i + 2], what);
                        assertEquals(read, cast[i + 2], what);
                    }
                }
            }
        }
    }
}
