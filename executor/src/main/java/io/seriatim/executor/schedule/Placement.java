package io.seriatim.executor.schedule;

import io.seriatim.device.Place;
import io.seriatim.executor.ir.Failures;
import io.seriatim.executor.ir.Options;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.graph.op.Step;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.NoKernelException;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Selects the place and the kernels of each task, and inserts transfers between places.
 *
 * <p>
 * A task runs at the place that its operation names ({@code op_device}), by default at the place of the executor, and
 * on the host if that place has no kernel for it. A value is copied to another place once, however many tasks read it
 * there. The transfer directly follows the task that writes the value, so that copies are queued in the order in which
 * values become ready and none waits behind a later one. Writing a value invalidates its copies at other places; later
 * readers get a new transfer. Values that outlive the run are copied back to their original place at the end.
 */
public final class Placement {
    /** Stands for the value itself instead of a copy. */
    private static final int SELF = -1;

    private final ValueTable values;
    private final Options options;
    private final PreparedKernels kernels;
    private final List<Task> placed = new ArrayList<>();
    /** For each memory and place, the copy that holds its current content. */
    private final Map<Integer, Map<Place, Integer>> copies = new HashMap<>();

    /** A value and a place at which it will be read. */
    private record Reader(int value, Place place) {
    }

    private Placement(ValueTable values, Options options, PreparedKernels kernels) {
        this.values = values;
        this.options = options;
        this.kernels = kernels;
    }

    /**
     * Selects the place and kernels of each task of a graph, and inserts transfers. {@code inner} states whether the
     * block is nested in another one.
     */
    public static void of(TaskGraph graph, Options options, PreparedKernels kernels, boolean inner) {
        ValueTable values = graph.values();
        Placement placement = new Placement(values, options, kernels);
        boolean onHost = placement.choose(graph);
        for (int i = 0; i < values.size(); i++) {
            if (onHost || values.origin(i) == ValueNumbering.Origin.FED
                    || (inner && values.origin(i) == ValueNumbering.Origin.OUTSIDE)) {
                values.place(i, Place.CPU);
            }
        }
        if (onHost) {
            return;
        }
        List<Task> chosen = graph.tasks();
        placement.homes(chosen);
        List<List<Reader>> readers = placement.readers(chosen);
        placement.given(chosen).forEach(reader -> placement.read(reader.value(), reader.place()));
        for (int i = 0; i < chosen.size(); i++) {
            placement.place(chosen.get(i));
            readers.get(i).forEach(reader -> placement.read(reader.value(), reader.place()));
        }
        placement.bringHome();
        graph.replaceAll(placement.placed);
    }

    /**
     * Sets place and kernels of all tasks that have stages. The kernels are requested together, so that those that are
     * missing are created on several threads. Returns whether all these tasks run on the host.
     */
    private boolean choose(TaskGraph graph) {
        List<PreparedKernels.Request> requests = new ArrayList<>();
        Place[] places = new Place[graph.size()];
        for (int i = 0; i < places.length; i++) {
            if (graph.get(i) instanceof Task.Compute task) {
                places[i] = place(task);
                for (Stage stage : task.stages()) {
                    Computation computation = stage.computation();
                    if (computation != null) {
                        requests.add(new PreparedKernels.Request(computation, places[i],
                                Arrays.asList(stage.specs())));
                    }
                }
            }
        }
        Iterator<@Nullable Kernel> found = kernels.findAll(requests).iterator();
        boolean onHost = true;
        for (int i = 0; i < places.length; i++) {
            if (graph.get(i) instanceof Task.Compute task) {
                Task.Compute chosen = chosen(task, places[i], found);
                onHost &= chosen.place().isHost();
                graph.put(i, chosen);
            }
        }
        return onHost;
    }

    private Place place(Task.Compute task) {
        Place place = task.placeRequest().resolve(options.place());
        // A transfer copies a whole value. Memory that several variables share stays on the host, where all of them use
        // it.
        if (values.hasParts()
                && IntStream.concat(Arrays.stream(task.reads()), Arrays.stream(task.writes()))
                        .anyMatch(value -> values.hasParts(values.memory(value)))) {
            return Place.CPU;
        }
        return !place.isHost() && task.stages().stream().anyMatch(stage -> stage.work() instanceof Step.Work.Call)
                ? Place.CPU
                : place;
    }

    /**
     * Returns a task with its kernels, at the host if there are none at its place.
     *
     * @param found
     *            the kernels of its computations, null for those that could not be created, and those of later tasks
     */
    private Task.Compute chosen(Task.Compute task, Place place, Iterator<@Nullable Kernel> found) {
        List<@Nullable Kernel> own = new ArrayList<>(task.stages().size());
        for (Stage stage : task.stages()) {
            own.add(stage.computation() == null ? null : found.next());
        }
        Place actual = place;
        List<Stage> stages;
        try {
            stages = prepared(task, place, own);
        } catch (NoKernelException e) {
            if (place.isHost()) {
                throw Failures.of(List.of(task.operations().getFirst()),
                        value -> values.spec(value) == null
                                ? null
                                : Failures.shape(Objects.requireNonNull(values.spec(value))),
                        e);
            }
            actual = Place.CPU;
            stages = prepared(task, actual, Collections.nCopies(own.size(), null));
        }
        return new Task.Compute(task.operations(), stages, task.temporaries(), actual, task.reads(), task.writes());
    }

    private List<Stage> prepared(Task.Compute task, Place place, List<@Nullable Kernel> found) {
        List<Stage> stages = new ArrayList<>(found.size());
        for (int i = 0; i < found.size(); i++) {
            Stage stage = task.stages().get(i);
            Computation computation = stage.computation();
            Kernel kernel = found.get(i);
            stages.add(computation == null
                    ? stage
                    : stage.with(kernel == null ? kernels.get(computation, place, stage.specs()) : kernel));
        }
        return stages;
    }

    /** Sets the home of each memory: the place of the first task that writes it, or else of the first that reads it. */
    private void homes(List<Task> tasks) {
        for (Task task : tasks) {
            for (int value : task.writes()) {
                settle(value, task.place());
            }
        }
        for (Task task : tasks) {
            for (int value : task.reads()) {
                settle(value, task.place());
            }
        }
        for (int i = 0; i < values.size(); i++) {
            settle(i, Place.CPU);
            values.place(i, home(values.memory(i)));
        }
    }

    private void settle(int value, Place place) {
        if (values.place(values.memory(value)) == null) {
            values.place(values.memory(value), place);
        }
    }

    private Place home(int value) {
        Place place = values.place(value);
        return place == null ? Place.CPU : place;
    }

    /** Returns for each task the other places at which its results are read before they are overwritten. */
    private List<List<Reader>> readers(List<Task> tasks) {
        List<List<Reader>> readers = new ArrayList<>(Collections.nCopies(tasks.size(), List.of()));
        Map<Integer, LinkedHashSet<Place>> later = new HashMap<>();
        for (int i = tasks.size() - 1; i >= 0; i--) {
            Task task = tasks.get(i);
            List<Reader> own = new ArrayList<>();
            for (int value : task.writes()) {
                LinkedHashSet<Place> places = later.remove(values.memory(value));
                if (places != null && values.spec(value) != null) {
                    // The loop runs backwards, so the first reader was added last.
                    places.reversed().stream().filter(place -> !place.equals(task.place()))
                            .forEach(place -> own.add(new Reader(value, place)));
                }
            }
            readers.set(i, own);
            for (int value : task.reads()) {
                later.computeIfAbsent(values.memory(value), _ -> new LinkedHashSet<>()).addLast(task.place());
            }
            for (int value : task.writes()) {
                if (isChanged(task, value)) {
                    later.computeIfAbsent(values.memory(value), _ -> new LinkedHashSet<>()).addLast(task.place());
                }
            }
        }
        return readers;
    }

    /**
     * Returns the places, other than its home, at which a value that exists before the first task is read before it is
     * written, in the order of the readers.
     */
    private Set<Reader> given(List<Task> tasks) {
        Set<Reader> given = new LinkedHashSet<>();
        Set<Integer> written = new HashSet<>();
        for (Task task : tasks) {
            IntStream
                    .concat(Arrays.stream(task.reads()),
                            Arrays.stream(task.writes()).filter(value -> isChanged(task, value)))
                    .filter(value -> !written.contains(values.memory(value)) && values.spec(value) != null
                            && !values.isAbsent(values.memory(value))
                            && !task.place().equals(home(values.memory(value))))
                    .forEach(value -> given.add(new Reader(value, task.place())));
            Arrays.stream(task.writes()).map(values::memory).forEach(written::add);
        }
        return given;
    }

    private void place(Task task) {
        Place place = task.place();
        // A value that may keep its content must be present, even if no kernel reads it.
        for (int value : task.writes()) {
            if (isChanged(task, value)) {
                read(value, place);
            }
        }
        Map<Integer, Integer> names = new HashMap<>();
        for (int value : task.reads()) {
            names.put(value, read(value, place));
        }
        for (int value : task.writes()) {
            names.put(value, isChanged(task, value) ? read(value, place) : target(value, place));
        }
        IntUnaryOperator renaming = value -> names.getOrDefault(value, value);
        placed.add(switch (task) {
            case Task.Interpreted interpreted ->
                new Task.Interpreted(interpreted.access(), interpreted.because(), renamed(task.reads(), renaming),
                        renamed(task.writes(), renaming));
            case Task.Compute compute -> renamed(compute, renaming);
            case Task.Transfer transfer -> transfer;
            // Placement does not copy values of a plan with a rest, since all its tasks run on the host.
            case Task.Rest rest -> rest;
        });
        for (int value : task.writes()) {
            Map<Place, Integer> only = new LinkedHashMap<>();
            only.put(place, names.getOrDefault(value, value) == value ? SELF : names.getOrDefault(value, value));
            copies.put(values.memory(value), only);
        }
    }

    /**
     * Returns whether a value that a task writes may hold earlier content afterwards: the task updates it in place,
     * writes a part of it, or may not write it at all, like an operation whose blocks do not run. The value must then
     * be present at the place of the task.
     */
    private boolean isChanged(Task task, int value) {
        return values.memory(value) != value
                || task.operations().stream()
                        .anyMatch(access -> Arrays.stream(access.reads()).anyMatch(read -> read == value));
    }

    /**
     * Returns the value to which a task at a place writes: the value itself, or a new copy if its home is elsewhere.
     */
    private int target(int value, Place place) {
        return home(value).equals(place) ? value : values.addCopy(value, home(value), place);
    }

    /**
     * Returns the value or copy that holds a value's current content at a place; inserts a transfer if there is none.
     * All values of the same memory have the same copies. A variable without a value before the run has none to
     * transfer until a task writes it.
     */
    private int read(int value, Place place) {
        if (values.isAbsent(values.memory(value)) && !copies.containsKey(values.memory(value))) {
            return value;
        }
        Map<Place, Integer> there = copies.computeIfAbsent(values.memory(value),
                _ -> new LinkedHashMap<>(Map.of(home(value), SELF)));
        Integer copy = there.get(place);
        if (copy != null) {
            return copy == SELF ? value : copy;
        }
        Place source = source(there, place);
        if (!source.isHost() && !place.isHost() && !source.kind().equals(place.kind())) {
            read(value, Place.CPU);
            source = Place.CPU;
        }
        int from = Objects.requireNonNull(there.get(source));
        boolean isHome = home(value).equals(place);
        int to = isHome ? value : values.addCopy(value, source, place);
        placed.add(new Task.Transfer(from == SELF ? value : from, to, source, place));
        there.put(place, isHome ? SELF : to);
        return to;
    }

    /**
     * Selects the source of a transfer: a device of the target's kind, or else the host, or else any place. The first
     * of several is the original; the others may be copies whose transfers are still in progress.
     */
    private static Place source(Map<Place, Integer> there, Place target) {
        return there.keySet().stream().filter(place -> place.kind().equals(target.kind())).findFirst()
                .orElseGet(() -> there.containsKey(Place.CPU) ? Place.CPU : there.keySet().iterator().next());
    }

    /** Transfers results to the host, and values that outlive the run to their homes. */
    private void bringHome() {
        int count = values.size();
        for (int value = 0; value < count; value++) {
            Map<Place, Integer> there = copies.get(values.memory(value));
            if (there != null && values.spec(value) == null && values.isWanted(value)
                    && there.getOrDefault(Place.CPU, SELF) != SELF) {
                // If the interpreter updated a copy on the host, that copy is the result.
                values.result(value, Objects.requireNonNull(there.get(Place.CPU)));
            }
            if (there == null || values.spec(value) == null) {
                continue;
            }
            if (values.isPersistable(value) || values.origin(value) == ValueNumbering.Origin.OUTSIDE) {
                read(value, home(value));
            }
            if (values.isWanted(value)) {
                values.result(value, read(value, Place.CPU));
            }
        }
    }

    private static Task.Compute renamed(Task.Compute task, IntUnaryOperator names) {
        return new Task.Compute(task.operations(),
                task.stages().stream().map(stage -> stage.withValues(names)).toList(),
                task.temporaries(), task.place(), renamed(task.reads(), names), renamed(task.writes(), names));
    }

    private static int[] renamed(int[] numbers, IntUnaryOperator names) {
        return Arrays.stream(numbers).map(names).toArray();
    }
}
