package io.seriatim.executor.lower;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.OpenSizes;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
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
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a block where an operation needs a type that is known only when earlier operations have run, or where the
 * condition of a branch is known or follows from small feeds. The operations from there on become one task,
 * {@link Task.Rest}.
 */
final class Cut {
    /** The most walks for branches that stay: programs with many of them are compiled in linear time. */
    private static final int MOST_REFUSED = 8;

    private final ValueNumbering accesses;
    private final ValueTable values;
    private final Predicate<OpDesc> isPure;
    private final BranchResults branches;
    private final BranchReplacement replacement;
    private final FeedConditions conditions;
    /** By value, whether it has a content behind the operations of the plan so far. */
    private final boolean[] isBefore;
    /** By value, whether an interpreted operation of this plan computes it. */
    private final boolean[] isLate;
    /** The number of branches that feeds decide and that stay, each of which took a walk over what follows. */
    private int refused;

    /**
     * Creates the cut of a plan.
     *
     * @param isPure
     *            whether an operation has no effect but its results, which need not be computed if nothing uses them
     * @param branches
     *            knows whether the condition of a branch is a constant
     * @param replacement
     *            replaces such branches
     * @param conditions
     *            finds branches that feeds decide
     */
    Cut(ValueNumbering accesses, ValueTable values, Predicate<OpDesc> isPure, BranchResults branches,
            BranchReplacement replacement, FeedConditions conditions) {
        this.conditions = conditions;
        this.branches = branches;
        this.replacement = replacement;
        this.accesses = accesses;
        this.values = values;
        this.isPure = isPure;
        this.isLate = new boolean[values.size()];
        this.isBefore = new boolean[values.size()];
        for (int value = 0; value < isBefore.length; value++) {
            isBefore[value] = values.origin(value) != ValueNumbering.Origin.COMPUTED;
        }
    }

    /** Records the results of an operation that is part of the plan. */
    void added(Access access) {
        for (int value : access.writes()) {
            isBefore[value] = true;
        }
    }

    /** Records the results of an interpreted operation. */
    void interpreted(Access access) {
        for (int value : access.writes()) {
            isLate[value] = true;
        }
    }

    /**
     * Returns the task of all operations from a given one on, if it needs the type of a value that an earlier operation
     * of the plan will have computed, or is a branch whose condition is a constant or follows from feeds; otherwise
     * null.
     *
     * @param isUnknown
     *            whether the type of a value is unknown
     * @param open
     *            the sizes that are not those of all runs
     * @param cuts
     *            where the plan may be cut
     * @param lowered
     *            makes an operation from there on part of the plan, if the types of all that it computes follow from
     *            what is known; otherwise returns false
     */
    Task.@Nullable Rest at(int position, IntPredicate isUnknown, OpenSizes open, Cuts cuts,
            Predicate<Access> lowered) {
        if (cuts == Cuts.NONE) {
            return null;
        }
        Access first = accesses.operations().get(position);
        Operation schema = first.schema();
        boolean isLate = schema != null && schema.isLowered() && isAnyLate(first.reads(), isUnknown);
        boolean isDecided = open.isNone() && branches.isDecided(first);
        if (!isLate && !isDecided) {
            return cuts == Cuts.ELEMENTS && open.isNone() ? atCondition(position, first) : null;
        }
        List<Access> rest = after(position);
        if (rest == null || rest.isEmpty()) {
            return rest == null || isDecided ? null : rest(position, rest, Map.of(), null, -1);
        }
        if (!isDecided) {
            rest = late(rest, lowered);
        }
        Map<String, Integer> outer = outer(rest);
        Block form = isDecided ? replacement.of(accesses.block(), indexes(rest), outer) : null;
        return isDecided && form == null ? null : rest(position, rest, outer, form, -1);
    }

    /** Returns the task of all operations from a branch on, if feeds decide the branch; otherwise null. */
    private Task.@Nullable Rest atCondition(int position, Access first) {
        int condition = refused < MOST_REFUSED ? conditions.of(first) : -1;
        List<Access> rest = condition < 0 ? null : after(position);
        // What is written later is not what the plans of the rest know.
        if (rest == null || rest.isEmpty() || rest.getFirst() != first || written(rest).contains(condition)) {
            return null;
        }
        Map<String, Integer> outer = outer(rest);
        if (!replacement.isPossible(accesses.block(), indexes(rest), outer, condition)) {
            refused++;
            return null;
        }
        // The operations stay: each plan of the rest knows the condition and begins with a decided branch.
        return rest(position, rest, outer, null, condition);
    }

    /**
     * Returns the operations that must come after a late value, and makes the others part of the plan. Otherwise what
     * follows from one late size, but comes after the next one in the program, would be compiled for each combination
     * of both.
     */
    private List<Access> late(List<Access> rest, Predicate<Access> lowered) {
        Set<String> haveSeveralValues = haveSeveralValues();
        List<Access> late = new ArrayList<>();
        Set<Integer> touched = new HashSet<>();
        Set<Integer> written = new HashSet<>();
        for (Access access : rest) {
            boolean isReady = !late.isEmpty() && isMovable(access, haveSeveralValues)
                    && Arrays.stream(access.reads()).noneMatch(written::contains)
                    && Arrays.stream(access.writes()).noneMatch(touched::contains) && lowered.test(access);
            if (!isReady) {
                late.add(access);
                Arrays.stream(access.reads()).forEach(touched::add);
                Arrays.stream(access.writes()).forEach(value -> {
                    touched.add(value);
                    written.add(value);
                });
            }
        }
        return late;
    }

    /** Returns the names of the variables that have several values in the block. */
    private Set<String> haveSeveralValues() {
        Set<String> all = new HashSet<>();
        Set<String> several = new HashSet<>();
        for (ValueNumbering.Value value : accesses.values()) {
            if (!all.add(value.name())) {
                several.add(value.name());
            }
        }
        return several;
    }

    /**
     * Returns whether an operation does nothing but compute values of variables that have no others: what is cut off is
     * numbered again by the names of variables.
     */
    private boolean isMovable(Access access, Set<String> haveSeveralValues) {
        Operation schema = access.schema();
        return schema != null && schema.isLowered() && !access.runsBlocks() && isPure.test(access.op())
                && Arrays.stream(access.writes()).noneMatch(value -> values.isPersistable(value)
                        || values.isInScope(value) || haveSeveralValues.contains(values.name(value))
                        || Arrays.stream(access.reads()).anyMatch(read -> read == value));
    }

    private static List<Integer> indexes(List<Access> operations) {
        return operations.stream().map(Access::index).toList();
    }

    /** Returns the operations from a given one on that are used; null if they must stay in the plan. */
    private @Nullable List<Access> after(int position) {
        List<Access> rest = accesses.operations().subList(position, accesses.operations().size());
        boolean reads = accesses.block().index() == 0
                && rest.stream().anyMatch(access -> ValueNumbering.isRead(access.op()));
        return reads ? null : used(rest);
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

    private static Set<Integer> written(List<Access> rest) {
        Set<Integer> written = new LinkedHashSet<>();
        rest.forEach(access -> Arrays.stream(access.writes()).forEach(written::add));
        return written;
    }

    /** Returns the values that operations read from before, by name. */
    private Map<String, Integer> outer(List<Access> rest) {
        Set<Integer> written = written(rest);
        Map<String, Integer> outer = new LinkedHashMap<>();
        for (Access access : rest) {
            for (int value : access.reads()) {
                // A variable of the scope, or one that blocks overwrite, keeps its number when it is written.
                if (!written.contains(value) || isBefore[value]) {
                    outer.putIfAbsent(values.name(value), value);
                }
            }
        }
        return outer;
    }

    /**
     * Returns the task of operations.
     *
     * @param form
     *            the block with other operations in their place, which have the same results; null if they stay
     * @param condition
     *            the value that decides how they run; −1 if there is none
     */
    private Task.Rest rest(int position, List<Access> rest, Map<String, Integer> outer, @Nullable Block form,
            int condition) {
        Set<Integer> written = written(rest);
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
        List<Integer> indexes = form == null
                ? indexes(rest)
                : IntStream.range(rest.getFirst().index(), form.ops().size()).boxed().toList();
        ValueNumbering block = ValueNumbering.rest(form == null ? accesses.block() : form, indexes, given,
                results.stream().map(values::name).toList());
        int[] externals = Arrays.stream(block.externals()).map(value -> {
            String name = block.values().get(value).name();
            Integer there = outer.get(name);
            if (there == null && form == null) {
                throw new IllegalStateException(
                        "'" + name + "' is not known before operation " + accesses.operations().get(position).index());
            }
            // What only a branch that is not taken writes has no value.
            return there == null || constants.containsKey(name) ? -1 : there;
        }).toArray();
        List<Integer> writes = new ArrayList<>(results);
        written.stream().filter(value -> values.isInScope(value) && !results.contains(value)).forEach(writes::add);
        TensorSpec spec = condition < 0 ? null : values.spec(condition);
        List<Tensor> outcomes = spec == null ? List.of() : BranchReplacement.outcomes(spec);
        return new Task.Rest(rest, block, constants,
                Arrays.stream(externals).filter(value -> value >= 0).distinct().toArray(),
                writes.stream().mapToInt(Integer::intValue).toArray(), externals, condition, outcomes);
    }
}
