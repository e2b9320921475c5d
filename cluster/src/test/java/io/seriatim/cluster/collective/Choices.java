package io.seriatim.cluster.collective;

import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.List;

/** Shows tests of other packages which way sums take. */
public final class Choices {
    private Choices() {
    }

    private static Algorithm of(DType type, int count, int ranks) {
        long bytes = (long) count * type.bytes();
        return type.isHalf() ? Algorithm.chooseForHalves(bytes, ranks) : Algorithm.choose(bytes, ranks);
    }

    /** Returns whether a sum goes around the ring. */
    public static boolean isRing(DType type, int count, int ranks) {
        return of(type, count, ranks) == Algorithm.RING;
    }

    /** Returns the numbers of elements from which on sums take another way, up to a largest number. */
    public static List<Integer> limits(DType type, int most, int ranks) {
        List<Integer> limits = new ArrayList<>();
        int end = 1;
        while (of(type, end, ranks) != of(type, most, ranks)) {
            int low = end;
            int high = most;
            while (high - low > 1) {
                int middle = low + (high - low) / 2;
                if (of(type, middle, ranks) == of(type, end, ranks)) {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            limits.add(high);
            end = high;
        }
        return limits;
    }
}
