package io.seriatim.executor.trace;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The time that one operation, or all operations of one type, took in all runs. The time of an operation that runs
 * blocks does not include the operations in these blocks; they are counted themselves.
 *
 * @param type
 *            the operation's type
 * @param name
 *            the variable that the operation computes; empty for all operations of a type
 * @param provider
 *            the provider of its kernels
 * @param count
 *            the number of executions
 * @param nanos
 *            the total time, in nanoseconds
 * @param longest
 *            the time of the longest execution, in nanoseconds
 */
record Cost(String type, String name, String provider, long count, long nanos, long longest) {
    private static final Comparator<Cost> DEAREST = Comparator.comparingLong(Cost::nanos).reversed()
            .thenComparing(Cost::type)
            .thenComparing(Cost::name);

    private record Kind(String type, String provider) {
    }

    /** The accumulated times of one row of the table. */
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

    /** Returns the costs of each operation, in descending order of time. */
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

    /** Returns the costs of each pair of operation type and provider, in descending order of time. */
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
