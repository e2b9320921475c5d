package io.seriatim.executor.schedule;

import io.seriatim.device.Place;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Computation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The offset of each value in the arena of its place. Values with disjoint lifetimes may share memory.
 *
 * @param offsets
 *            for each value, its offset; −1 if it is not in an arena
 * @param temporaries
 *            for each task, the offsets of its stages' temporary memory
 * @param arenas
 *            the size of each place's arena in bytes
 * @param before
 *            for each task, the tasks that it waits for, including dependencies added to limit the size of arenas
 * @param inPlace
 *            the number of values that reuse the memory of an input
 * @param sum
 *            the size of all values in bytes if none shared memory
 * @param live
 *            the maximum size in bytes of values that are live at the same time in program order, a lower bound for the
 *            size of the arenas
 */
@SuppressWarnings("ArrayRecordComponent")
public // Never compared.
record MemoryPlan(long[] offsets, long[][] temporaries, Map<Place, Long> arenas, int[][] before, int inPlace, long sum,
        long live) {
    private static final long[] NONE = {};
    /** The maximum growth of an arena for parallel execution, relative to execution in program order. */
    private static final double MOST_GROWTH = 1.25;
    private static final long ALLOWANCE = 1 << 20;

    /** Returns a plan in which the allocator provides separate memory for each value. */
    public static MemoryPlan none(TaskGraph graph, Lifetimes lifetimes, int[][] before, boolean inOrder) {
        List<Task> tasks = graph.tasks();
        long[] offsets = new long[graph.values().size()];
        Arrays.fill(offsets, -1);
        Search search = new Search(graph, lifetimes, before, null, false, Map.of());
        search.plan();
        Map<Place, Long> scratch = new LinkedHashMap<>();
        long[][] temporaries = new long[tasks.size()][];
        for (int i = 0; i < temporaries.length; i++) {
            temporaries[i] = NONE;
            if (tasks.get(i) instanceof Task.Compute compute && !compute.temporaries().isEmpty()) {
                temporaries[i] = new long[compute.temporaries().size()];
                long at = inOrder ? 0 : scratch.getOrDefault(compute.place(), 0L);
                for (int j = 0; j < temporaries[i].length; j++) {
                    temporaries[i][j] = at;
                    at += Arena.aligned(compute.temporaries().get(j).bytes());
                }
                scratch.merge(compute.place(), at, Math::max);
            }
        }
        return new MemoryPlan(offsets, temporaries, scratch, before, 0, search.sum, search.live);
    }

    public static MemoryPlan of(TaskGraph graph, Lifetimes lifetimes, int[][] before, boolean inOrder,
            boolean inPlace) {
        MemoryPlan serial = new Search(graph, lifetimes, before, null, inPlace, Map.of()).plan();
        if (inOrder) {
            return serial;
        }
        Map<Place, Long> limits = new HashMap<>();
        serial.arenas().forEach((place, bytes) -> limits.put(place, (long) (bytes * MOST_GROWTH) + ALLOWANCE));
        return new Search(graph, lifetimes, before.clone(), Ancestors.of(before), inPlace, limits).plan();
    }

    public long arenaBytes() {
        return arenas.values().stream().mapToLong(Long::longValue).sum();
    }

    private static final class Search {
        private final TaskGraph graph;
        private final List<Task> tasks;
        private final ValueTable values;
        private final Lifetimes lifetimes;
        private final int[][] before;
        private final @Nullable Ancestors ancestors;
        private final boolean inPlace;
        private final Map<Place, Long> limits;
        private final Footprints footprints;
        /** The first stage that writes each memory of one task, which may have very many outputs. */
        private final Map<Integer, Integer> firstWriting = new HashMap<>();
        private Task.@Nullable Compute writingTask;
        private final Map<Place, Arena> arenas = new LinkedHashMap<>();
        /** The parts of arenas behind the others, for memory that collectives hold while other tasks could run. */
        private final Map<Place, Arena> exchanged = new LinkedHashMap<>();
        private final boolean[] planned;
        private final @Nullable ExchangedMemory exchanges;
        /** For each memory, whether it is in the part for collectives. */
        private final boolean[] apart;
        private final long[] offsets;
        private final long[][] temporaries;
        private final List<@Nullable List<Integer>> ending;
        private int taken;
        private long sum;
        private long now;
        private long live;

        Search(TaskGraph graph, Lifetimes lifetimes, int[][] before, @Nullable Ancestors ancestors,
                boolean inPlace,
                Map<Place, Long> limits) {
            this.graph = graph;
            this.tasks = graph.tasks();
            this.values = graph.values();
            this.lifetimes = lifetimes;
            this.before = before;
            this.ancestors = ancestors;
            this.inPlace = inPlace;
            this.limits = limits;
            this.footprints = new Footprints(tasks, values);
            this.offsets = new long[values.size()];
            this.temporaries = new long[tasks.size()][];
            this.ending = new ArrayList<>(Collections.nCopies(tasks.size() + 1, null));
            Arrays.fill(offsets, -1);
            this.apart = new boolean[values.size()];
            this.planned = isPlanned();
            this.exchanges = ancestors == null ? null : ExchangedMemory.of(tasks, lifetimes, before, planned);
        }

        MemoryPlan plan() {
            for (int i = 0; i < tasks.size(); i++) {
                if (ancestors != null) {
                    ancestors.set(i, before[i]);
                }
                List<Integer> ended = ending.get(i);
                if (ended != null) {
                    ended.forEach(this::free);
                }
                Task task = tasks.get(i);
                for (int value : task.writes()) {
                    int memory = values.memory(value);
                    if (planned[memory] && offsets[memory] < 0 && lifetimes.first()[memory] == i) {
                        begin(i, task, memory);
                    }
                }
                temporaries[i] = temporaries(i, task);
            }
            moveBehindOthers();
            Map<Place, Long> sizes = new LinkedHashMap<>();
            arenas.forEach((place, arena) -> sizes.put(place, arena.bytes()));
            exchanged.forEach((place, arena) -> sizes.merge(place, arena.bytes(), Long::sum));
            long[] all = new long[offsets.length];
            Arrays.setAll(all, i -> offsets[values.memory(i)] < 0 ? -1 : offsets[values.memory(i)] + values.from(i));
            return new MemoryPlan(all, temporaries, sizes, before, taken, sum, live);
        }

        /** Moves what is apart behind the other memory of its place, whose size is known now. */
        private void moveBehindOthers() {
            if (exchanged.isEmpty()) {
                return;
            }
            for (int i = 0; i < offsets.length; i++) {
                if (apart[i]) {
                    offsets[i] += bytesOfOthers(place(i));
                }
            }
            for (int i = 0; i < temporaries.length; i++) {
                if (temporaries[i].length > 0 && isHeldBy(i)) {
                    long others = bytesOfOthers(((Task.Compute) tasks.get(i)).place());
                    temporaries[i] = Arrays.stream(temporaries[i]).map(offset -> offset + others).toArray();
                }
            }
        }

        private long bytesOfOthers(Place place) {
            Arena others = arenas.get(place);
            return others == null ? 0 : others.bytes();
        }

        private boolean isHeld(int memory) {
            return exchanges != null && exchanges.isHeld(memory);
        }

        private boolean isHeldBy(int task) {
            return exchanges != null && exchanges.isHeldBy(task);
        }

        /**
         * Returns for each memory whether it is in an arena: that of values that a kernel computes and that do not
         * outlive the run.
         */
        private boolean[] isPlanned() {
            boolean[] inArena = new boolean[offsets.length];
            for (int i = 0; i < inArena.length; i++) {
                inArena[i] = values.memory(i) == i && values.origin(i) == ValueNumbering.Origin.COMPUTED
                        && !values.isPersistable(i)
                        && values.spec(i) != null && values.constant(i) == null && lifetimes.first()[i] >= 0
                        && !tasks.get(lifetimes.first()[i]).isUnplanned();
            }
            for (int i = 0; i < inArena.length; i++) {
                if (values.isWanted(i) || (values.isPart(i) && values.isPersistable(i))) {
                    inArena[values.memory(i)] = false;
                }
            }
            return inArena;
        }

        private Arena arena(Place place, boolean isApart) {
            return isApart
                    ? exchanged.computeIfAbsent(place, where -> new Arena(ancestors, operandBytes(where)))
                    : arenas.computeIfAbsent(place,
                            where -> new Arena(ancestors, limits.getOrDefault(where, Long.MAX_VALUE)));
        }

        /** Returns the size of all that collectives read or write: an arena may be larger by that than without them. */
        private long operandBytes(Place place) {
            ExchangedMemory all = Objects.requireNonNull(exchanges);
            return IntStream.range(0, offsets.length)
                    .filter(memory -> all.isOperand(memory) && place(memory).equals(place))
                    .mapToLong(memory -> Arena.aligned(bytes(memory))).sum();
        }

        private Place place(int memory) {
            Place place = values.place(memory);
            return place == null ? Place.CPU : place;
        }

        private long bytes(int memory) {
            TensorSpec spec = values.spec(memory);
            return spec == null ? 0 : spec.bytes();
        }

        private void begin(int index, Task task, int memory) {
            sum += bytes(memory);
            int[] writers = beginning(index, memory);
            int given = inPlace && task instanceof Task.Compute compute
                    ? replaced(index, compute, memory, writers)
                    : -1;
            if (given >= 0 && (apart[given] || !isHeld(memory))) {
                offsets[memory] = offsets[given];
                apart[memory] = apart[given];
                Objects.requireNonNull(ending.get(lifetimes.last(given) + 1))
                        .removeIf(memoryAt -> memoryAt == given);
                taken++;
            } else {
                apart[memory] = isHeld(memory);
                offsets[memory] = arena(place(memory), apart[memory]).take(bytes(memory), writers, users -> {
                    for (int writer : writers) {
                        waitFor(writer, users);
                    }
                });
                now += bytes(memory);
            }
            live = Math.max(live, now);
            end(memory, lifetimes.last(memory) + 1);
        }

        /**
         * Returns the tasks that may be the first to write some memory: the first writer in program order, and all
         * later writers that do not depend on it.
         */
        private int[] beginning(int index, int memory) {
            Ancestors order = ancestors;
            return IntStream.concat(IntStream.of(index),
                    Arrays.stream(lifetimes.users()[memory])
                            .filter(user -> user > index && order != null && !order.precedes(index, user)
                                    && graph.writers(memory).contains(user)))
                    .toArray();
        }

        private void end(int memory, int task) {
            List<Integer> list = ending.get(task);
            if (list == null) {
                list = new ArrayList<>();
                ending.set(task, list);
            }
            list.add(memory);
        }

        private void free(int memory) {
            now -= bytes(memory);
            Ancestors order = ancestors;
            arena(place(memory), apart[memory]).give(offsets[memory], bytes(memory),
                    order == null ? lifetimes.users()[memory] : lifetimes.lastUsers(memory, order));
        }

        private void waitFor(int index, int[] users) {
            TreeSet<Integer> more = new TreeSet<>();
            Arrays.stream(before[index]).forEach(more::add);
            Arrays.stream(users).filter(user -> user != index).forEach(more::add);
            before[index] = more.stream().mapToInt(Integer::intValue).toArray();
            if (ancestors != null) {
                ancestors.set(index, before[index]);
            }
        }

        /**
         * Returns the input whose memory an output may reuse, or −1. The input must have the same type and shape, this
         * must be its last read, and the kernel must support in-place computation. If several tasks write parts of the
         * output, each must be the last reader of the same part of the input.
         */
        private int replaced(int index, Task.Compute task, int memory, int[] writers) {
            int writing = writing(task, memory);
            Stage stage = writing < 0 ? null : task.stages().get(writing);
            Computation computation = stage == null ? null : stage.computation();
            Arg out = stage == null ? null : stage.outputs().getFirst();
            if (stage == null || computation == null || out == null || stage.outputs().size() != 1 || out.value() < 0
                    || values.memory(out.value()) != memory) {
                return -1;
            }
            for (int k = 0; k < stage.inputs().size(); k++) {
                Arg in = stage.inputs().get(k);
                if (in == null || in.value() < 0 || !in.spec().equals(out.spec()) || in.offset() != out.offset()
                        || !isReadOnce(stage, in)
                        || !computation.inPlace(k, stage.specs())) {
                    continue;
                }
                boolean whole = out.isWhole(values);
                if (whole
                        ? in.isWhole(values) && isLastRead(index, task, writing, in.value())
                        : isReadInParts(writers, k, values.memory(in.value()), memory)) {
                    return values.memory(in.value());
                }
            }
            return -1;
        }

        /** Returns the first stage that writes some memory, or −1. */
        @SuppressWarnings("ReferenceEquality") // Tasks are compared by identity, because a record compares all stages.
        private int writing(Task.Compute task, int memory) {
            if (task != writingTask) {
                firstWriting.clear();
                for (int i = 0; i < task.stages().size(); i++) {
                    for (Arg arg : task.stages().get(i).outputs()) {
                        if (arg != null && arg.value() >= 0) {
                            firstWriting.putIfAbsent(values.memory(arg.value()), i);
                        }
                    }
                }
                writingTask = task;
            }
            return firstWriting.getOrDefault(memory, -1);
        }

        /**
         * Returns whether each task that writes a part of some memory reads the same part of other memory as the same
         * input, and no other task accesses that part at the same time or later.
         */
        private boolean isReadInParts(int[] writers, int input, int read, int written) {
            if (offsets[read] < 0 || bytes(read) != bytes(written) || lifetimes.first()[read] >= writers[0]) {
                return false;
            }
            for (int writer : graph.writers(written).toArray()) {
                if (Arrays.stream(writers).noneMatch(each -> each == writer)
                        || !isPart(tasks.get(writer), input, read, written)) {
                    return false;
                }
                for (int user : lifetimes.users()[read]) {
                    if (user != writer && !isBefore(user, writer)
                            && !footprints.areApart(user, read, writer, written)) {
                        return false;
                    }
                }
            }
            return lifetimes.last(read) <= writers[writers.length - 1];
        }

        private boolean isBefore(int first, int second) {
            return ancestors == null ? first < second : ancestors.precedes(first, second);
        }

        private boolean isPart(Task task, int input, int read, int written) {
            if (!(task instanceof Task.Compute compute) || compute.stages().size() != 1) {
                return false;
            }
            Stage stage = compute.stages().getFirst();
            Computation computation = stage.computation();
            Arg in = input < stage.inputs().size() ? stage.inputs().get(input) : null;
            Arg out = stage.onlyOutput();
            return computation != null && in != null && out != null && in.value() >= 0 && out.value() >= 0
                    && values.memory(in.value()) == read && values.memory(out.value()) == written
                    && in.offset() == out.offset()
                    && in.spec().equals(out.spec()) && isReadOnce(stage, in)
                    && computation.inPlace(input, stage.specs());
        }

        private boolean isReadOnce(Stage stage, Arg in) {
            int memory = values.memory(in.value());
            return stage.inputs().stream()
                    .filter(arg -> arg != null && arg.value() >= 0 && values.memory(arg.value()) == memory)
                    .allMatch(in::equals);
        }

        private boolean isLastRead(int index, Task.Compute task, int stage, int value) {
            int memory = values.memory(value);
            if (offsets[memory] < 0 || lifetimes.last(memory) != index || lifetimes.first()[memory] == index) {
                return false;
            }
            for (int i = stage + 1; i < task.stages().size(); i++) {
                for (Arg arg : task.stages().get(i).inputs()) {
                    if (arg != null && arg.value() >= 0 && values.memory(arg.value()) == memory) {
                        return false;
                    }
                }
            }
            Ancestors order = ancestors;
            if (order != null) {
                for (int user : lifetimes.users()[memory]) {
                    if (user != index && !order.precedes(user, index)) {
                        return false;
                    }
                }
            }
            return true;
        }

        private long[] temporaries(int index, Task task) {
            if (!(task instanceof Task.Compute compute) || compute.temporaries().isEmpty()) {
                return NONE;
            }
            long[] places = new long[compute.temporaries().size()];
            long bytes = 0;
            Arena arena = arena(compute.place(), isHeldBy(index));
            for (int i = 0; i < places.length; i++) {
                long size = compute.temporaries().get(i).bytes();
                places[i] = arena.take(size, index, users -> waitFor(index, users));
                bytes += size;
            }
            sum += bytes;
            live = Math.max(live, now + bytes);
            for (int i = 0; i < places.length; i++) {
                arena.give(places[i], compute.temporaries().get(i).bytes(), new int[]{index});
            }
            return places;
        }
    }
}
