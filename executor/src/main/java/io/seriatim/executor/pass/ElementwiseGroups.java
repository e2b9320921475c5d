package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.Region;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.tensor.computation.Chain;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Fuses elementwise tasks of the same shape that share a value into one kernel with several outputs. A value that one
 * task passes to another, or that both read, is loaded once. Results that other tasks read too, such as those that a
 * gradient needs later, are also written; all others stay in the cache.
 *
 * <p>
 * Two tasks may be fused at the position of the later one if no task between them accesses the results or writes the
 * operands of the earlier one, or at the position of the earlier one if the same holds for the later one. Program order
 * remains a valid order of the tasks, so no cycle can result. Each result has the same bits as before; see
 * {@link ElementwiseChain}.
 */
final class ElementwiseGroups {
    /** This pass, as {@link PassPipeline} runs it. */
    static final RewritePass PASS = RewritePass.onHost(PassName.CHAINS, (tasks, _) -> rewrite(tasks));

    /** The maximum distance of tasks that are fused. */
    private static final int WINDOW = 64;
    /**
     * The maximum number of elements of tasks that are fused although neither reads the other. Larger ones benefit more
     * from running in parallel.
     */
    private static final long SMALL = 1 << 15;

    private final TaskGraph tasks;
    private final ValueTable values;
    /** For each task, its stages as one chain; null if that is impossible. */
    private final @Nullable ElementwiseChain[] links;

    private ElementwiseGroups(TaskGraph tasks) {
        this.tasks = tasks;
        this.values = tasks.values();
        this.links = new ElementwiseChain[tasks.size()];
        for (int i = 0; i < links.length; i++) {
            links[i] = tasks.get(i) instanceof Task.Compute compute ? links(compute) : null;
        }
    }

    private static void rewrite(TaskGraph tasks) {
        ElementwiseGroups groups = new ElementwiseGroups(tasks);
        for (int i = 0; i < tasks.size(); i++) {
            groups.grow(i);
        }
    }

    private Set<Integer> memories(int[] numbers) {
        Set<Integer> memories = new LinkedHashSet<>();
        for (int value : numbers) {
            memories.add(values.memory(value));
        }
        return memories;
    }

    /** Returns all stages of a task as one chain; null if that is impossible. */
    private @Nullable ElementwiseChain links(Task.Compute task) {
        if (!task.isPure() || task.stages().isEmpty() || task.stages().size() > Chain.MOST_VALUES) {
            return null;
        }
        ElementwiseChain all = null;
        for (Stage stage : task.stages()) {
            ElementwiseChain next = ElementwiseChain.of(stage);
            if (next == null || touches(next.inputs(), next.outputs())) {
                return null;
            }
            all = all == null ? next : joined(all, next);
            if (all == null) {
                return null;
            }
        }
        ElementwiseChain whole = Objects.requireNonNull(all);
        for (Arg out : List.copyOf(whole.outputs())) {
            if (out.source() instanceof Arg.Temporary) {
                whole = whole.without(out);
            }
        }
        boolean hasTemporaries = whole.inputs().stream().anyMatch(arg -> arg.source() instanceof Arg.Temporary);
        Set<Integer> written = new HashSet<>();
        whole.outputs().forEach(arg -> written.add(arg.value()));
        return hasTemporaries || whole.outputs().isEmpty() || written.size() != task.writes().length ? null : whole;
    }

    /** Returns the composition of two chains; null if it is impossible. */
    private @Nullable ElementwiseChain joined(ElementwiseChain first, ElementwiseChain second) {
        return first.shape().equals(second.shape()) && !conflict(first, second) ? first.then(second) : null;
    }

    /**
     * Returns whether overlapping operands prevent the second chain from being executed tile by tile with the first.
     */
    private boolean conflict(ElementwiseChain first, ElementwiseChain second) {
        for (Arg in : second.inputs()) {
            for (Arg out : first.outputs()) {
                if (!in.equals(out) && overlaps(in, out)) {
                    return true;
                }
            }
        }
        return touches(first.inputs(), second.outputs()) || touches(first.outputs(), second.outputs());
    }

    private boolean touches(List<Arg> some, List<Arg> others) {
        return some.stream().anyMatch(one -> others.stream().anyMatch(other -> overlaps(one, other)));
    }

    private boolean overlaps(Arg one, Arg other) {
        boolean same = (one.value() >= 0 && other.value() >= 0)
                ? values.memory(one.value()) == values.memory(other.value())
                : one.source().equals(other.source());
        return same && !(one.value() == other.value() && Region.areApart(one, other));
    }

    /** Fuses a task with earlier tasks repeatedly, until no candidate is left. */
    private void grow(int index) {
        int at = index;
        boolean more = links[at] != null;
        boolean isJoined = false;
        while (more) {
            more = false;
            int last = isJoined ? index : index - 1;
            for (int other : neighbours(Objects.requireNonNull(links[at]), index, last)) {
                int joined = other == at ? -1 : joined(Math.min(at, other), Math.max(at, other));
                if (joined >= 0) {
                    at = joined;
                    more = true;
                    isJoined = true;
                    break;
                }
            }
        }
    }

    /**
     * Returns the candidates for fusion: for each input, the last task up to {@code last} that writes it; then, if the
     * chain is small and does more than copy, the last such task that reads the same input.
     */
    private Collection<Integer> neighbours(ElementwiseChain own, int index, int last) {
        Set<Integer> found = new LinkedHashSet<>();
        for (Arg arg : own.inputs()) {
            if (arg.value() >= 0) {
                add(found, tasks.writers(arg.value()).atOrBefore(last), index);
            }
        }
        if (own.shape().size() <= SMALL && own.computes()) {
            for (Arg arg : own.inputs()) {
                if (arg.value() >= 0 && arg.spec().shape().equals(own.shape())) {
                    int other = tasks.readers(arg.value()).atOrBefore(last);
                    ElementwiseChain near = other < 0 ? null : links[other];
                    if (near != null && near.computes() && near.inputs().contains(arg)) {
                        add(found, other, index);
                    }
                }
            }
        }
        return found;
    }

    private void add(Set<Integer> found, int place, int index) {
        if (place >= 0 && place >= index - WINDOW && links[place] != null) {
            found.add(place);
        }
    }

    /** Fuses two tasks. Returns the position of the fused task, or −1 if they cannot be fused. */
    private int joined(int early, int late) {
        Task.Compute first = tasks.compute(early);
        Task.Compute second = tasks.compute(late);
        ElementwiseChain before = Objects.requireNonNull(links[early]);
        ElementwiseChain after = Objects.requireNonNull(links[late]);
        if (!first.placeRequest().equals(second.placeRequest()) || writeOneVariable(first, second)) {
            return -1;
        }
        int place = isFree(first, early, late) ? late : isFree(second, early, late) ? early : -1;
        ElementwiseChain both = place < 0 ? null : joined(before, after);
        if (both == null) {
            return -1;
        }
        for (Arg out : before.outputs()) {
            if (after.inputs().contains(out) && !isNeeded(out, early, late)) {
                both = both.without(out);
            }
        }
        List<Access> operations = new ArrayList<>(first.operations());
        operations.addAll(second.operations());
        Stage last = second.stages().getLast();
        tasks.remove(place == late ? early : late);
        tasks.put(place, Task.Compute.of(operations, List.of(both.stage(last.access())), List.of(), second.place()));
        links[early] = null;
        links[late] = null;
        links[place] = both;
        return place;
    }

    /** Returns whether both tasks write the same variable. Their fused task could not express which content remains. */
    private boolean writeOneVariable(Task.Compute first, Task.Compute second) {
        Set<String> written = new HashSet<>();
        for (Access access : first.operations()) {
            if (!second.operations().contains(access)) {
                Arrays.stream(access.writes()).forEach(value -> written.add(values.name(value)));
            }
        }
        for (Access access : second.operations()) {
            boolean other = !first.operations().contains(access);
            if (other && Arrays.stream(access.writes()).anyMatch(value -> written.contains(values.name(value)))) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether a result must be written although the two tasks that access it are fused. */
    private boolean isNeeded(Arg out, int early, int late) {
        return !out.isWhole(values) || !values.isTemporary(out.value())
                || tasks.isReadElsewhere(out.value(), late)
                || tasks.writers(out.value()).stream().anyMatch(writer -> writer != early && writer != late);
    }

    /**
     * Returns whether a task may move to any position between two tasks: no task between them accesses its results or
     * writes its operands.
     */
    private boolean isFree(Task.Compute moved, int early, int late) {
        Set<Integer> reads = memories(moved.reads());
        Set<Integer> writes = memories(moved.writes());
        for (int i = early + 1; i < late; i++) {
            Task between = tasks.get(i);
            if (between != null && (touches(between.reads(), writes) || touches(between.writes(), writes)
                    || touches(between.writes(), reads))) {
                return false;
            }
        }
        return true;
    }

    private boolean touches(int[] numbers, Set<Integer> memories) {
        for (int value : numbers) {
            if (memories.contains(values.memory(value))) {
                return true;
            }
        }
        return false;
    }
}
