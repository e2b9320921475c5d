package io.seriatim.graph.parallel;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Assigns gradients to the places that add them up. The largest is assigned first, each to the place with the fewest
 * bytes, so that sums and transfers are spread evenly.
 */
final class GradientOwners {
    private GradientOwners() {
    }

    /**
     * Chooses.
     *
     * @param bytes
     *            of each gradient
     * @param leaders
     *            one replica of each place
     * @return the leader at the place that owns each
     */
    static Map<String, Integer> of(Map<String, Long> bytes, List<Integer> leaders) {
        List<String> largestFirst = new ArrayList<>(bytes.keySet());
        largestFirst.sort(Comparator.comparingLong((String name) -> -bytes.getOrDefault(name, 0L)));
        long[] loads = new long[leaders.size()];
        Map<String, Integer> owners = new HashMap<>();
        for (String name : largestFirst) {
            long least = Arrays.stream(loads).min().orElseThrow();
            int at = 0;
            while (loads[at] != least) {
                at++;
            }
            // A small gradient also has a fixed cost.
            loads[at] += Math.max(1, bytes.getOrDefault(name, 0L));
            owners.put(name, leaders.get(at));
        }
        return owners;
    }
}
