package io.seriatim.executor.schedule;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Options;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.IntPredicate;

/**
 * The dependencies between tasks.
 *
 * <ul>
 * <li>A task that reads a value waits for the last writer (read after write).
 * <li>A task that writes a value waits for the last writer (write after write) and for all readers since (write after
 * read).
 * <li>Tasks with the same effect run in program order.
 * <li>Every task waits for the last task before it that reads a batch, so that a run that reaches the end of the data
 * has changed nothing.
 * </ul>
 *
 * <p>
 * Tasks that are known to access disjoint parts of a value do not depend on each other. If there is no memory plan,
 * they depend on the first writer, which allocates the memory. Tiles that change parts of a value that outlives the run
 * share their dependencies, so that all of them may start at the same time. An edge that is implied by others is
 * removed (transitive reduction).
 *
 * @param before
 *            for each task, the tasks that it waits for, in ascending order
 * @param found
 *            the number of edges before the reduction
 * @param examined
 *            the amount of work done for the reduction
 */
@SuppressWarnings("ArrayRecordComponent")
public // Never compared.
record Dependencies(int[][] before, long found, long examined) {
    private static final int[] NONE = {};
    private static final int MOST_COMPARED = 256;

    public static Dependencies of(TaskGraph graph, Block block, Options options) {
        return new Search(graph, block.program(), options).search(options.sequential());
    }

    /** Returns no dependencies, for tasks that run once, in program order. */
    public static Dependencies none(int tasks) {
        int[][] before = new int[tasks][];
        Arrays.fill(before, NONE);
        return new Dependencies(before, 0, 0);
    }

    /** Returns the number of edges after the reduction. */
    public long kept() {
        return Arrays.stream(before).mapToLong(each -> each.length).sum();
    }

    /** Returns for each task the tasks that wait for it, in ascending order. */
    public static int[][] after(int[][] before) {
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
        /** Whether the first task that writes a value allocates its memory. */
        private final boolean isAllocated;
        private final Footprints footprints;
        private final int[] together;
        private final Live writers;
        private final Live readers;
        private final Map<Effect, Integer> last = new EnumMap<>(Effect.class);

        Search(TaskGraph graph, Program program, Options options) {
            this.tasks = graph.tasks();
            this.values = graph.values();
            this.program = program;
            this.statefulRandom = options.paddleRandom() != null;
            this.isAllocated = !options.memoryPlan();
            this.footprints = new Footprints(tasks, values);
            this.together = Tiling.together(tasks, values);
            this.writers = new Live(values.size());
            this.readers = new Live(values.size());
        }

        Dependencies search(boolean sequential) {
            int[][] before = new int[tasks.size()][];
            Ancestors ancestors = new Ancestors(tasks.size());
            long found = 0;
            TreeSet<Integer> waits = new TreeSet<>();
            for (int i = 0; i < before.length; i++) {
                if (together[i] == i) {
                    waits.clear();
                    for (int j = i; j < before.length && together[j] == i; j++) {
                        data(j, i, tasks.get(j), waits);
                    }
                }
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

        /**
         * Adds the data dependencies of a task. {@code first} is the first task of its group of tiles; tiles of a group
         * do not wait for each other.
         */
        private void data(int index, int first, Task task, SortedSet<Integer> waits) {
            for (int read : task.reads()) {
                conflicts(writers, values.memory(read), index, first, waits);
            }
            for (int written : task.writes()) {
                conflicts(writers, values.memory(written), index, first, waits);
                if (isAllocated && writers.count(values.memory(written)) > 0
                        && writers.get(values.memory(written), 0) < first) {
                    // The first writer, or a task that waits for it.
                    waits.add(writers.get(values.memory(written), 0));
                }
                conflicts(readers, values.memory(written), index, first, waits);
            }
            for (int read : task.reads()) {
                readers.add(values.memory(read), index);
            }
            for (int written : task.writes()) {
                int memory = values.memory(written);
                writers.removeIf(memory, earlier -> footprints.isWithin(earlier, index, memory));
                readers.removeIf(memory, earlier -> footprints.isWithin(earlier, index, memory));
                writers.add(memory, index);
            }
        }

        private void conflicts(Live live, int memory, int index, int first, SortedSet<Integer> waits) {
            for (int i = 0; i < live.count(memory); i++) {
                int other = live.get(memory, i);
                if (other < first && !footprints.areApart(other, index, memory)) {
                    waits.add(other);
                }
            }
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
                    each -> each.value().blocks()
                            .forEach(block -> program.block(block).ops().forEach(inner -> collect(inner, effects))));
        }

        private static int[] reduced(SortedSet<Integer> waits, Ancestors ancestors) {
            if (waits.isEmpty()) {
                return NONE;
            }
            int[] all = waits.stream().mapToInt(Integer::intValue).toArray();
            int kept = 0;
            for (int i = 0; i < all.length; i++) {
                boolean implied = false;
                // Later dependencies are most likely to imply this one.
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

    /**
     * For each memory, the tasks that accessed it and that later tasks may have to wait for, because no task has
     * overwritten all that they accessed. This is the state of one sweep in program order, not a use-def index; it
     * grows and shrinks with the parts of memory that are written.
     */
    private static final class Live {
        private final int[][] tasks;
        private final int[] counts;

        Live(int values) {
            this.tasks = new int[values][];
            this.counts = new int[values];
        }

        int count(int memory) {
            return counts[memory];
        }

        int get(int memory, int index) {
            return tasks[memory][index];
        }

        void add(int memory, int task) {
            int count = counts[memory];
            if (tasks[memory] == null) {
                tasks[memory] = new int[2];
            } else if (count == tasks[memory].length) {
                tasks[memory] = Arrays.copyOf(tasks[memory], 2 * count);
            }
            if (count == 0 || tasks[memory][count - 1] != task) {
                tasks[memory][counts[memory]++] = task;
            }
        }

        void removeIf(int memory, IntPredicate gone) {
            int kept = 0;
            for (int i = 0; i < counts[memory]; i++) {
                if (!gone.test(tasks[memory][i])) {
                    tasks[memory][kept++] = tasks[memory][i];
                }
            }
            counts[memory] = kept;
        }
    }
}
