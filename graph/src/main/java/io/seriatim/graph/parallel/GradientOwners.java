package io.seriatim.graph.parallel;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Which place adds up which gradient. The largest goes first, to where least is: so the sums, and what is sent for
 * them, are spread evenly.
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
            // A small one costs something, too.
            loads[at] += Math.max(1, bytes.getOrDefault(name, 0L));
            owners.put(name, leaders.get(at));
        }
        return owners;
    }
}
