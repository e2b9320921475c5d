package io.seriatim.executor;

import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * Which operations wait for which: a reader for the last writer of a value, a writer for the last writer and all readers since; and one after the other all that share an effect. An edge that follows from
 * others is left out.
 *
 * @param before
 *            for each operation those that it waits for, ascending
 * @param after
 *            for each operation those that wait for it, ascending
 * @param found
 *            how many edges there were before those that follow from others were left out
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record Dependencies(int[][] before, int[][] after, int found) {
    /** How far back an edge that follows from others is looked for: work stays linear in the number of operations. */
    private static final int REACH = 64;

    static Dependencies of(Accesses accesses, boolean sequential, boolean statefulRandom) {
        int n = accesses.operations().size();
        List<TreeSet<Integer>> before = new ArrayList<>(n);
        Map<Integer, Integer> writer = new HashMap<>();
        Map<Integer, List<Integer>> readers = new HashMap<>();
        EnumMap<Effect, Integer> last = new EnumMap<>(Effect.class);
        int found = 0;
        for (int i = 0; i < n; i++) {
            Accesses.Access access = accesses.operations().get(i);
            TreeSet<Integer> waits = new TreeSet<>();
            for (int value : access.reads().values()) {
                add(waits, writer.get(value), i);
            }
            for (int value : access.writes().values()) {
                add(waits, writer.get(value), i);
                for (int reader : readers.getOrDefault(value, List.of())) {
                    add(waits, reader, i);
                }
            }
            for (Effect effect : effects(access, statefulRandom)) {
                add(waits, last.put(effect, i), i);
            }
            if (sequential && i > 0) {
                waits.add(i - 1);
            }
            for (int value : access.reads().values()) {
                readers.computeIfAbsent(value, _ -> new ArrayList<>()).add(i);
            }
            for (int value : access.writes().values()) {
                writer.put(value, i);
                readers.remove(value);
            }
            found += waits.size();
            reduce(waits, before);
            before.add(waits);
        }
        int[][] ahead = before.stream().map(Dependencies::array).toArray(int[][]::new);
        return new Dependencies(ahead, reversed(ahead), found);
    }

    private static void add(TreeSet<Integer> waits, @org.jspecify.annotations.Nullable Integer other, int self) {
        if (other != null && other != self) {
            waits.add(other);
        }
    }

    private static List<Effect> effects(Accesses.Access access, boolean statefulRandom) {
        Operation schema = Operations.system().find(access.op().type());
        return schema == null
                ? List.of(Effect.HOST)
                : schema.effects().stream().filter(effect -> effect != Effect.CONTROL && (effect != Effect.RANDOM || statefulRandom))
                        .toList();
    }

    /** Leaves out what one of the others waits for, directly or through a few. */
    private static void reduce(TreeSet<Integer> waits, List<TreeSet<Integer>> before) {
        if (waits.size() < 2) {
            return;
        }
        int least = waits.first();
        TreeSet<Integer> reached = new TreeSet<>();
        int steps = 0;
        for (int latest : waits.descendingSet().toArray(Integer[]::new)) {
            if (reached.contains(latest)) {
                waits.remove(latest);
            }
            TreeSet<Integer> open = new TreeSet<>(before.get(latest));
            while (!open.isEmpty() && steps++ < REACH) {
                int next = open.pollLast();
                if (next >= least && reached.add(next)) {
                    open.addAll(before.get(next));
                }
            }
        }
        waits.removeAll(reached);
    }

    private static int[] array(TreeSet<Integer> set) {
        return set.stream().mapToInt(Integer::intValue).toArray();
    }

    private static int[][] reversed(int[][] before) {
        int[] counts = new int[before.length];
        for (int[] waits : before) {
            for (int other : waits) {
                counts[other]++;
            }
        }
        int[][] after = new int[before.length][];
        Arrays.setAll(after, i -> new int[counts[i]]);
        int[] filled = new int[before.length];
        for (int i = 0; i < before.length; i++) {
            for (int other : before[i]) {
                after[other][filled[other]++] = i;
            }
        }
        return after;
    }
}
