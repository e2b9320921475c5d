package io.seriatim.executor.lower;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a block where an operation needs a type that is known only when earlier operations have run. The operations from
 * there on become one task, {@link Task.Rest}.
 */
final class Cut {
    private final ValueNumbering accesses;
    private final ValueTable values;
    private final Predicate<OpDesc> isPure;
    /** By value, whether an interpreted operation of this plan computes it. */
    private final boolean[] isLate;

    /**
     * Creates the cut of a plan.
     *
     * @param isPure
     *            whether an operation has no effect but its results, which need not be computed if nothing uses them
     */
    Cut(ValueNumbering accesses, ValueTable values, Predicate<OpDesc> isPure) {
        this.accesses = accesses;
        this.values = values;
        this.isPure = isPure;
        this.isLate = new boolean[values.size()];
    }

    /** Records the results of an interpreted operation. */
    void interpreted(Access access) {
        for (int value : access.writes()) {
            isLate[value] = true;
        }
    }

    /**
     * Returns the task of all operations from a given one on, if it needs the type of a value that an earlier operation
     * of the plan will have computed; otherwise null.
     *
     * @param isUnknown
     *            whether the type of a value is unknown
     */
    Task.@Nullable Rest at(int position, IntPredicate isUnknown) {
        Access first = accesses.operations().get(position);
        Operation schema = first.schema();
        if (schema == null || !schema.isLowered() || !isAnyLate(first.reads(), isUnknown)) {
            return null;
        }
        List<Access> rest = accesses.operations().subList(position, accesses.operations().size());
        boolean reads = accesses.block().index() == 0
                && rest.stream().anyMatch(access -> ValueNumbering.isRead(access.op()));
        return reads ? null : rest(position, used(rest));
    }

    private boolean isAnyLate(int[] reads, IntPredicate isUnknown) {
        for (int value : reads) {
            if (isLate[value] && isUnknown.test(value)) {
                return true;
            }
        }
        return false;
    }

    /** Returns the operations without those whose results nothing uses. */
    private List<Access> used(List<Access> rest) {
        Set<Integer> needed = new HashSet<>(accesses.wanted());
        List<Access> used = new ArrayList<>();
        for (Access access : rest.reversed()) {
            boolean isUsed = !isPure.test(access.op())
                    || Arrays.stream(access.writes()).anyMatch(value -> needed.contains(value)
                            || values.isInScope(value));
            if (isUsed) {
                used.add(access);
                Arrays.stream(access.reads()).forEach(needed::add);
            }
        }
        return used.reversed();
    }

    private Task.Rest rest(int position, List<Access> rest) {
        Set<Integer> written = new LinkedHashSet<>();
        rest.forEach(access -> Arrays.stream(access.writes()).forEach(written::add));
        Map<String, Integer> outer = new LinkedHashMap<>();
        boolean[] isBefore = before(position);
        for (Access access : rest) {
            for (int value : access.reads()) {
                // A variable of the scope, or one that blocks overwrite, keeps its number when it is written.
                if (!written.contains(value) || isBefore[value]) {
                    outer.putIfAbsent(values.name(value), value);
                }
            }
        }
        List<String> given = new ArrayList<>();
        Map<String, Tensor> constants = new HashMap<>();
        outer.forEach((name, value) -> {
            if (values.origin(value) != ValueNumbering.Origin.OUTSIDE && !values.isPersistable(value)) {
                given.add(name);
            }
            Tensor constant = values.constant(value);
            if (constant != null) {
                constants.put(name, constant);
            }
        });
        List<Integer> results = accesses.wanted().stream().filter(written::contains).distinct().toList();
        ValueNumbering block = ValueNumbering.rest(accesses.block(), rest.stream().map(Access::index).toList(), given,
                results.stream().map(values::name).toList());
        int[] externals = Arrays.stream(block.externals()).map(value -> {
            String name = block.values().get(value).name();
            Integer there = outer.get(name);
            if (there == null) {
                throw new IllegalStateException(
                        "'" + name + "' is not known before operation " + accesses.operations().get(position).index());
            }
            return constants.containsKey(name) ? -1 : there;
        }).toArray();
        List<Integer> writes = new ArrayList<>(results);
        written.stream().filter(value -> values.isInScope(value) && !results.contains(value)).forEach(writes::add);
        return new Task.Rest(rest, block, constants,
                Arrays.stream(externals).filter(value -> value >= 0).distinct().toArray(),
                writes.stream().mapToInt(Integer::intValue).toArray(), externals);
    }

    /**
     * Returns for each value whether it has a content before an operation: it is external, or an earlier operation
     * writes it.
     */
    private boolean[] before(int position) {
        boolean[] isBefore = new boolean[values.size()];
        for (int value = 0; value < isBefore.length; value++) {
            isBefore[value] = values.origin(value) != ValueNumbering.Origin.COMPUTED;
        }
        for (Access access : accesses.operations().subList(0, position)) {
            for (int value : access.writes()) {
                isBefore[value] = true;
            }
        }
        return isBefore;
    }
}
