package io.seriatim.graph.ops.assignment;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Some of a list: the first ones, or at random. The random choice depends on the inputs of the operation alone: it is
 * the same when shapes are inferred and when the operation runs, and when a training is repeated.
 */
final class Sampling {
    private final SplittableRandom random;
    private final boolean atRandom;

    Sampling(boolean atRandom, double[]... inputs) {
        this.atRandom = atRandom;
        long seed = 0;
        for (double[] each : inputs) {
            seed = 31 * seed + Arrays.hashCode(each);
        }
        random = new SplittableRandom(seed);
    }

    /** Keeps at most so many. */
    <T> void keep(List<T> all, int most) {
        int count = Math.max(0, most);
        for (int i = count; atRandom && i < all.size(); i++) {
            int place = random.nextInt(i + 1);
            if (place < count) {
                T other = all.get(place);
                all.set(place, all.get(i));
                all.set(i, other);
            }
        }
        if (all.size() > count) {
            all.subList(count, all.size()).clear();
        }
    }
}
