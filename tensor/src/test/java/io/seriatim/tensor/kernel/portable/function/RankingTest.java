package io.seriatim.tensor.kernel.portable.function;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.seriatim.tensor.DType;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RankingTest {
    private static final double[] AWKWARD = {0.0, -0.0, Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY,
            Double.MIN_VALUE,
            -Double.MIN_VALUE, 1, -1, 1, 0.5f, Float.MIN_VALUE};

    private static int[] sorted(int length, int k, Comparator<Integer> ascending, boolean largest) {
        return IntStream.range(0, length).boxed().sorted(largest ? ascending.reversed() : ascending).limit(k)
                .mapToInt(i -> i).toArray();
    }

    /** Few and many are found in different ways, with the results of a stable sort. */
    @ParameterizedTest
    @CsvSource({"1,1", "2,2", "13,1", "13,8", "13,9", "66,1", "66,5", "66,66", "66,12", "200,3", "200,13", "200,150",
            "3000,20", "3000,3000"})
    void isAStableSort(int length, int k) {
        for (boolean largest : new boolean[]{true, false}) {
            for (long seed = 0; seed < 20; seed++) {
                Random random = new Random(seed);
                Ranking ranking = new Ranking(DType.INT64, length, k, largest);
                Arrays.setAll(ranking.reals(), _ -> AWKWARD[random.nextInt(AWKWARD.length)]);
                Arrays.setAll(ranking.wholes(), _ -> switch (random.nextInt(4)) {
                    case 0 -> Long.MIN_VALUE;
                    case 1 -> Long.MAX_VALUE;
                    default -> random.nextInt(5) - 2;
                });
                double[] reals = ranking.reals().clone();
                long[] wholes = ranking.wholes().clone();
                String what = "seed " + seed + ", largest " + largest;
                assertArrayEquals(sorted(length, k, Comparator.comparingDouble(i -> reals[i] + 0.0), largest),
                        ranking.ofReals(), what);
                assertArrayEquals(sorted(length, k, Comparator.comparingLong(i -> wholes[i]), largest),
                        ranking.ofWholes(), what);
            }
        }
    }

    /** Types of up to 32 bits have keys of their own. */
    @ParameterizedTest
    @CsvSource({"13,12", "13,13", "100,12", "100,13", "200,70", "200,200", "3000,13", "3000,20", "3000,2900"})
    void isAStableSortOfShortTypes(int length, int k) {
        for (boolean largest : new boolean[]{true, false}) {
            for (long seed = 0; seed < 30; seed++) {
                Random random = new Random(seed);
                boolean ties = seed % 3 == 0;
                boolean normal = seed % 3 == 1;
                int step = seed % 2 == 0 ? 1 : -1;
                Ranking floats = new Ranking(DType.FLOAT32, length, k, largest);
                Arrays.setAll(floats.reals(), i -> ties
                        ? (float) AWKWARD[random.nextInt(AWKWARD.length)]
                        : normal ? (float) random.nextGaussian() : (float) (step * i));
                double[] reals = floats.reals().clone();
                assertArrayEquals(sorted(length, k, Comparator.comparingDouble(i -> reals[i] + 0.0), largest),
                        floats.ofReals(), "seed " + seed);
                for (DType dtype : new DType[]{DType.INT32, DType.UINT32, DType.UINT8, DType.UINT64, DType.INT64}) {
                    Ranking ranking = new Ranking(dtype, length, k, largest);
                    Arrays.setAll(ranking.wholes(), _ -> switch (dtype) {
                        case INT32 -> ties ? random.nextInt(3) - 1 : random.nextInt();
                        case UINT32 -> ties ? random.nextInt(3) : random.nextInt() & 0xffffffffL;
                        case UINT8 -> random.nextInt(256);
                        default -> ties ? random.nextInt(3) - 1 : random.nextLong();
                    });
                    long[] wholes = ranking.wholes().clone();
                    Comparator<Integer> order = dtype == DType.UINT64
                            ? (one, other) -> Long.compareUnsigned(wholes[one], wholes[other])
                            : Comparator.comparingLong(i -> wholes[i]);
                    assertArrayEquals(sorted(length, k, order, largest), ranking.ofWholes(), dtype + ", seed " + seed);
                }
            }
        }
    }
}
