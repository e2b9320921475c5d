package io.seriatim.executor.trace;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What an operation, or all of a type, have cost in all runs. The time of blocks inside of an operation counts for what
 * is in them.
 *
 * @param type
 *            the operation's type
 * @param name
 *            what tells it from others of its type; empty for all of a type
 * @param provider
 *            of its kernels
 * @param count
 *            how many times it ran
 * @param nanos
 *            how long in all
 * @param longest
 *            how long the longest time
 */
record Cost(String type, String name, String provider, long count, long nanos, long longest) {
    private static final Comparator<Cost> DEAREST = Comparator.comparingLong(Cost::nanos).reversed()
            .thenComparing(Cost::type)
            .thenComparing(Cost::name);

    private record Kind(String type, String provider) {
    }

    /** Adds up the times of one row. */
    private static final class Sum {
        private long count;
        private long nanos;
        private long longest;

        void add(long time) {
            count++;
            nanos += time;
            longest = Math.max(longest, time);
        }
    }

    /** By operation, the dearest first. */
    static List<Cost> byOperation(List<Slice> slices) {
        IdentityHashMap<TracedPlan, Sum[]> sums = new IdentityHashMap<>();
        for (Slice slice : slices) {
            Sum[] ofPlan = sums.computeIfAbsent(slice.plan(), plan -> new Sum[plan.instructions().size()]);
            int index = slice.span().instruction();
            if (ofPlan[index] == null) {
                ofPlan[index] = new Sum();
            }
            ofPlan[index].add(slice.own());
        }
        List<Cost> costs = new ArrayList<>();
        sums.forEach((plan, ofPlan) -> {
            for (int i = 0; i < ofPlan.length; i++) {
                if (ofPlan[i] != null) {
                    TracedPlan.Instruction instruction = plan.instructions().get(i);
                    costs.add(cost(instruction.type(), instruction.name(), instruction.provider(), ofPlan[i]));
                }
            }
        });
        costs.sort(DEAREST);
        return costs;
    }

    /** By type of operation and provider, the dearest first. */
    static List<Cost> byType(List<Slice> slices) {
        Map<Kind, Sum> sums = new LinkedHashMap<>();
        for (Slice slice : slices) {
            TracedPlan.Instruction instruction = slice.instruction();
            sums.computeIfAbsent(new Kind(instruction.type(), instruction.provider()), _ -> new Sum()).add(slice.own());
        }
        List<Cost> costs = new ArrayList<>();
        sums.forEach((kind, sum) -> costs.add(cost(kind.type(), "", kind.provider(), sum)));
        costs.sort(DEAREST);
        return costs;
    }

    private static Cost cost(String type, String name, String provider, Sum sum) {
        return new Cost(type, name, provider, sum.count, sum.nanos, sum.longest);
    }
}
