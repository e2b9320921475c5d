package io.seriatim.executor;

import io.seriatim.graph.Block;
import io.seriatim.graph.OpDesc;
import io.seriatim.graph.Program;
import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Which tasks wait for which: a reader for the last writer of a value (read after write), a writer for the last writer and all readers since (write after write, write after read), but those who write parts of
 * a value that have nothing in common only for the first of them, with which its memory begins; one after the other all that share an effect; every task for the reader before it, so that at the end of the data nothing has been changed. An edge that follows from others is left out.
 *
 * @param before
 *            for each task those that it waits for, ascending
 * @param found
 *            how many edges there were before those that follow from others were left out
 * @param examined
 *            how much was looked at to leave them out
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record Dependencies(int[][] before, long found, long examined) {
    private static final int[] NONE = {};
    private static final int MOST_COMPARED = 64;
    private static final int MOST_PARTS = 256;

    static Dependencies of(List<Task> tasks, ValueTable values, Block block, Options options) {
        return new Search(tasks, values, block.program(), options.paddleRandom() != null).search(options.sequential());
    }

    /** For tasks that run one after the other, once. */
    static Dependencies none(int tasks) {
        int[][] before = new int[tasks][];
        Arrays.fill(before, NONE);
        return new Dependencies(before, 0, 0);
    }

    /** How many edges are left. */
    long kept() {
        return Arrays.stream(before).mapToLong(each -> each.length).sum();
    }

    /** For each task those that wait for it, ascending. */
    static int[][] after(int[][] before) {
        int[] counts = new int[before.length];
        for (int[] waits : before) {
            for (int other : waits) {
                counts[other]++;
            }
        }
        int[][] after = new int[before.length][];
        Arrays.setAll(after, i -> counts[i] == 0 ? NONE : new int[counts[i]]);
        int[] filled = new int[before.length];
        for (int i = 0; i < before.length; i++) {
            for (int other : before[i]) {
                after[other][filled[other]++] = i;
            }
        }
        return after;
    }

    private static final class Search {
        private final List<Task> tasks;
        private final ValueTable values;
        private final Program program;
        private final boolean statefulRandom;
        /** Of those who have written parts of a value that have nothing in common, the first. */
        private final int[] writer;
        private final int[][] besides;
        private final int[][] readers;
        private final int[] readerCounts;
        private final Map<Effect, Integer> last = new EnumMap<>(Effect.class);

        Search(List<Task> tasks, ValueTable values, Program program, boolean statefulRandom) {
            this.tasks = tasks;
            this.values = values;
            this.program = program;
            this.statefulRandom = statefulRandom;
            this.writer = new int[values.size()];
            this.besides = new int[values.size()][];
            this.readers = new int[values.size()][];
            this.readerCounts = new int[values.size()];
            Arrays.fill(writer, -1);
            Arrays.fill(besides, NONE);
        }

        Dependencies search(boolean sequential) {
            int[][] before = new int[tasks.size()][];
            Ancestors ancestors = new Ancestors(tasks.size());
            long found = 0;
            for (int i = 0; i < before.length; i++) {
                TreeSet<Integer> waits = new TreeSet<>();
                data(i, tasks.get(i), waits);
                for (Effect effect : effects(tasks.get(i))) {
                    add(waits, last.getOrDefault(effect, -1), i);
                    last.put(effect, i);
                }
                add(waits, last.getOrDefault(Effect.READER, -1), i);
                if (sequential && i > 0) {
                    waits.add(i - 1);
                }
                found += waits.size();
                before[i] = reduced(waits, ancestors);
                ancestors.set(i, before[i]);
            }
            return new Dependencies(before, found, ancestors.examined());
        }

        private void data(int index, Task task, SortedSet<Integer> waits) {
            for (int read : task.reads()) {
                addWriters(waits, values.memory(read), index);
            }
            boolean[] parts = new boolean[task.writes().length];
            for (int k = 0; k < parts.length; k++) {
                int value = values.memory(task.writes()[k]);
                parts[k] = isPart(task, value);
                if (parts[k]) {
                    add(waits, writer[value], index);
                } else {
                    addWriters(waits, value, index);
                    for (int i = 0; i < readerCounts[value]; i++) {
                        add(waits, readers[value][i], index);
                    }
                }
            }
            for (int read : task.reads()) {
                addReader(values.memory(read), index);
            }
            for (int k = 0; k < parts.length; k++) {
                int value = values.memory(task.writes()[k]);
                if (parts[k]) {
                    besides[value] = Arrays.copyOf(besides[value], besides[value].length + 1);
                    besides[value][besides[value].length - 1] = index;
                } else {
                    writer[value] = index;
                    besides[value] = NONE;
                    readerCounts[value] = 0;
                }
            }
        }

        private void addWriters(SortedSet<Integer> waits, int value, int index) {
            add(waits, writer[value], index);
            for (int other : besides[value]) {
                add(waits, other, index);
            }
        }

        /** Whether a task writes a part of a value that has nothing in common with those that others have written since someone read it. */
        private boolean isPart(Task task, int value) {
            if (writer[value] < 0 || readerCounts[value] > 0 || besides[value].length == MOST_PARTS) {
                return false;
            }
            List<Arg> own = parts(task, value);
            boolean apart = !own.isEmpty() && areApart(own, parts(tasks.get(writer[value]), value));
            for (int i = 0; i < besides[value].length && apart; i++) {
                apart = areApart(own, parts(tasks.get(besides[value][i]), value));
            }
            return apart;
        }

        private static boolean areApart(List<Arg> some, List<Arg> others) {
            return !others.isEmpty() && some.stream().allMatch(one -> others.stream().allMatch(other -> Region.areApart(one, other)));
        }

        /** Where a task writes a value, if it does nothing else with it and nothing is known to be all of it; else none. */
        private List<Arg> parts(Task task, int value) {
            if (!(task instanceof Task.Compute compute) || compute.stages().size() > Fusion.MOST_STAGES
                    || Arrays.stream(task.reads()).anyMatch(read -> values.memory(read) == value)) {
                return List.of();
            }
            List<Arg> parts = new ArrayList<>();
            for (Stage stage : compute.stages()) {
                for (Arg out : stage.outputs()) {
                    if (out != null && out.value() >= 0 && values.memory(out.value()) == value) {
                        if (out.isWhole(values)) {
                            return List.of();
                        }
                        parts.add(out);
                    }
                }
            }
            return parts;
        }

        private void addReader(int value, int index) {
            int count = readerCounts[value];
            if (readers[value] == null) {
                readers[value] = new int[2];
            } else if (count == readers[value].length) {
                readers[value] = Arrays.copyOf(readers[value], 2 * count);
            }
            readers[value][count] = index;
            readerCounts[value]++;
        }

        private static void add(SortedSet<Integer> waits, int other, int self) {
            if (other >= 0 && other != self) {
                waits.add(other);
            }
        }

        private Set<Effect> effects(Task task) {
            EnumSet<Effect> effects = EnumSet.noneOf(Effect.class);
            for (Access access : task.operations()) {
                collect(access.op(), effects);
            }
            effects.remove(Effect.CONTROL);
            if (!statefulRandom) {
                effects.remove(Effect.RANDOM);
            }
            return effects;
        }

        private void collect(OpDesc op, Set<Effect> effects) {
            Operation schema = Operations.system().find(op.type());
            if (schema == null) {
                effects.add(Effect.HOST);
                return;
            }
            effects.addAll(schema.effects());
            op.attributes().forEach(
                    each -> each.value().blocks().forEach(block -> program.block(block).ops().forEach(inner -> collect(inner, effects))));
        }

        private static int[] reduced(SortedSet<Integer> waits, Ancestors ancestors) {
            if (waits.isEmpty()) {
                return NONE;
            }
            int[] all = waits.stream().mapToInt(Integer::intValue).toArray();
            int kept = 0;
            for (int i = 0; i < all.length; i++) {
                boolean implied = false;
                // The latest ones are the most likely to follow it.
                for (int j = all.length - 1; j > Math.max(i, all.length - 1 - MOST_COMPARED) && !implied; j--) {
                    implied = ancestors.precedes(all[i], all[j]);
                }
                if (!implied) {
                    all[kept++] = all[i];
                }
            }
            return kept == all.length ? all : Arrays.copyOf(all, kept);
        }
    }
}
