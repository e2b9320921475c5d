package io.seriatim.tensor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Many 16-bit numbers at once are converted as each by itself, and what lies around them stays. */
class FloatsTest {
    private static final long SEED = 20261231;
    private static final int GUARD = 5;

    private static float widened(DType dtype, short bits) {
        return dtype == DType.BFLOAT16 ? BFloat16.toFloat(bits) : Float.float16ToFloat(bits);
    }

    private static short narrowed(DType dtype, float value) {
        return dtype == DType.BFLOAT16 ? BFloat16.fromFloat(value) : Float.floatToFloat16(value);
    }

    /** Among all there are: numbers, denormals, infinities and NaN. */
    @ParameterizedTest
    @EnumSource(value = DType.class, names = {"FLOAT16", "BFLOAT16"})
    void loadsAllThereAre(DType dtype) {
        try (Arena arena = Arena.ofConfined()) {
            int all = 1 << Short.SIZE;
            MemorySegment memory = arena.allocate((long) all * Short.BYTES);
            float[] expected = new float[all];
            for (int i = 0; i < all; i++) {
                memory.setAtIndex(ValueLayout.JAVA_SHORT, i, (short) i);
                expected[i] = widened(dtype, (short) i);
            }
            float[] found = new float[all];
            Floats.load(memory, dtype, 0, 1, found, 0, all);
            assertArrayEquals(expected, found);
        }
    }

    @ParameterizedTest
    @EnumSource(value = DType.class, names = {"FLOAT16", "BFLOAT16"})
    void storesAsOneByOne(DType dtype) {
        Random random = new Random(SEED);
        try (Arena arena = Arena.ofConfined()) {
            for (int count : new int[]{0, 1, 2, 31, 32, 33, 1023, 1024, 1025, 5001}) {
                float[] values = new float[count + 2 * GUARD];
                short[] expected = new short[count + 2 * GUARD];
                Arrays.fill(expected, (short) 77);
                for (int i = 0; i < values.length; i++) {
                    // Of random bits some are NaN; of some the halves that go are ties.
                    int bits = random.nextInt();
                    values[i] = Float.intBitsToFloat(random.nextInt(3) == 0 ? (bits & 0xffff0000) | 0x8000 : bits);
                    values[i] = random.nextInt(4) == 0 ? (float) random.nextGaussian() : values[i];
                }
                MemorySegment memory = arena.allocate((long) expected.length * Short.BYTES);
                memory.copyFrom(MemorySegment.ofArray(expected));
                for (int i = 0; i < count; i++) {
                    expected[GUARD + i] = narrowed(dtype, values[GUARD + i]);
                }
                Floats.store(memory, dtype, (long) GUARD * Short.BYTES, 1, values, GUARD, count);
                assertArrayEquals(expected, memory.toArray(ValueLayout.JAVA_SHORT), dtype + ", seed " + SEED);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = DType.class, names = {"FLOAT16", "BFLOAT16"})
    void loadsPartsOnly(DType dtype) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(6000 * Short.BYTES);
            for (int i = 0; i < 6000; i++) {
                memory.setAtIndex(ValueLayout.JAVA_SHORT, i, narrowed(dtype, i % 97));
            }
            for (int count : new int[]{0, 1, 31, 32, 33, 1024, 1025, 3333}) {
                float[] into = new float[count + 2 * GUARD];
                Arrays.fill(into, -1);
                Floats.load(memory, dtype, 3 * Short.BYTES, 1, into, GUARD, count);
                for (int i = 0; i < into.length; i++) {
                    boolean loaded = i >= GUARD && i < GUARD + count;
                    assertEquals(loaded ? (i - GUARD + 3) % 97 : -1, into[i], count + " of " + dtype + ", at " + i);
                }
            }
        }
    }
}
