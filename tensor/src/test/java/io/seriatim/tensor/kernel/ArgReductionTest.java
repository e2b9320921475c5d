package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.ArgReduction;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The first place of an extreme, along any axis, of rows of any length, with numbers that are no numbers. */
class ArgReductionTest {
    private static final int CASES = Boolean.getBoolean("seriatim.full") ? 20_000 : 1000;
    private static final DType[] TYPES = {DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16, DType.FLOAT64};
    private static final double[] SPECIAL = {Double.NaN, Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY, 0.0, -0.0};

    @Test
    void theFirstExtremeIsFound() {
        for (long seed = 1; seed <= CASES; seed++) {
            check(new SplittableRandom(seed), "seed " + seed);
        }
    }

    private static void check(SplittableRandom random, String where) {
        int length = random.nextInt(20) == 0
                ? KernelContext.TILE + random.nextInt(-1, KernelContext.TILE + 2)
                : 1 + random.nextInt(40);
        int outer = 1 + random.nextInt(3);
        int inner = 1 + random.nextInt(3);
        double[] numbers = new double[outer * length * inner];
        // Few distinct numbers, so that many are equal.
        int distinct = random.nextBoolean() ? 3 : 200;
        boolean special = random.nextInt(4) == 0;
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = special && random.nextInt(6) == 0
                    ? SPECIAL[random.nextInt(SPECIAL.length)]
                    : random.nextInt(distinct) - 1;
        }
        if (random.nextInt(10) == 0) {
            Arrays.fill(numbers, SPECIAL[random.nextInt(SPECIAL.length)]);
        }
        Tensor x = Tensor.of(TYPES[random.nextInt(TYPES.length)], numbers, outer, length, inner);
        boolean moved = random.nextBoolean();
        boolean largest = random.nextBoolean();
        long[] found = KernelRun.run(Kernels.system(),
                new ArgReduction(largest, moved ? 0 : 1, random.nextBoolean()),
                moved ? x.transpose(1, 0, 2) : x)[0].toLongArray();
        for (int o = 0; o < outer; o++) {
            for (int i = 0; i < inner; i++) {
                int place = 0;
                for (int j = 1; j < length; j++) {
                    double best = numbers[(o * length + place) * inner + i];
                    double value = numbers[(o * length + j) * inner + i];
                    boolean better = largest ? value > best : value < best;
                    if (!Double.isNaN(best) && (Double.isNaN(value) || better)) {
                        place = j;
                    }
                }
                assertEquals(place, found[o * inner + i], where);
            }
        }
    }
}
