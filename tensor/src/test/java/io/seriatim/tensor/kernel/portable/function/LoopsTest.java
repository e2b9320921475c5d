package io.seriatim.tensor.kernel.portable.function;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Unary;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Loops without branches, compared with the functions of single numbers. */
class LoopsTest {
    private static final int COUNT = 1000;
    private static final float[] SPECIAL_FLOATS = {0f, -0f, Float.NaN, Float.POSITIVE_INFINITY,
            Float.NEGATIVE_INFINITY, Float.MIN_VALUE, -Float.MIN_VALUE, Float.MAX_VALUE, -Float.MAX_VALUE, 0.5f, -0.5f,
            1f,
            -1f, 1.5f, 8388609f, -2.5f, 1e10f};
    private static final long[] SPECIAL_LONGS = {0, 1, -1, 2, Long.MIN_VALUE, Long.MAX_VALUE, Long.MIN_VALUE + 1,
            1L << 32, -(1L << 32), 255};

    private final Random random = new Random(5);

    @Test
    void functionsOfOneFloat() {
        float[] x = new float[COUNT];
        for (int i = 0; i < COUNT; i++) {
            x[i] = i % 3 == 0
                    ? SPECIAL_FLOATS[random.nextInt(SPECIAL_FLOATS.length)]
                    : (float) random.nextGaussian() * 9;
        }
        float[] y = new float[COUNT];
        for (Unary.Function function : List.of(Unary.Function.FLOOR, Unary.Function.CEIL, Unary.Function.ROUND,
                Unary.Function.SIGN, Unary.Function.LOGICAL_NOT, Unary.Function.IS_NAN, Unary.Function.IS_INF,
                Unary.Function.IS_FINITE)) {
            FloatLoops.unary(function, 0, 0, x, y, COUNT);
            for (int i = 0; i < COUNT; i++) {
                assertEquals((float) UnaryFunctions.apply(function, x[i], 0, 0), y[i], function + " of " + x[i]);
            }
        }
    }

    @Test
    void functionsOfTwoLongs() {
        long[] x = new long[COUNT];
        long[] y = new long[COUNT];
        for (int i = 0; i < COUNT; i++) {
            x[i] = random.nextBoolean() ? SPECIAL_LONGS[random.nextInt(SPECIAL_LONGS.length)] : random.nextInt(5) - 2;
            y[i] = random.nextBoolean() ? SPECIAL_LONGS[random.nextInt(SPECIAL_LONGS.length)] : random.nextInt(5) - 2;
        }
        long[] out = new long[COUNT];
        for (Binary.Function function : List.of(Binary.Function.EQUAL, Binary.Function.NOT_EQUAL, Binary.Function.LESS,
                Binary.Function.LESS_EQUAL, Binary.Function.GREATER, Binary.Function.GREATER_EQUAL,
                Binary.Function.LOGICAL_AND, Binary.Function.LOGICAL_OR, Binary.Function.LOGICAL_XOR,
                Binary.Function.MAXIMUM, Binary.Function.MINIMUM)) {
            assertTrue(LongLoops.binary(function, false, x, y, out, COUNT), function::toString);
            for (int i = 0; i < COUNT; i++) {
                assertEquals(BinaryFunctions.apply(function, x[i], y[i]), out[i],
                        function + " of " + x[i] + " and " + y[i]);
            }
        }
    }

    @Test
    void aChoiceTakesTheFirstWhereTheConditionIsNotZero() {
        long[] condition = random.longs(COUNT, -2, 3).toArray();
        long[] x = random.longs(COUNT).toArray();
        long[] y = random.longs(COUNT).toArray();
        long[] out = new long[COUNT];
        LongLoops.select(condition, x, y, out, COUNT);
        for (int i = 0; i < COUNT; i++) {
            assertEquals(condition[i] != 0 ? x[i] : y[i], out[i]);
        }
    }
}
