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
    /** The names of the variables that have several values in the block; null before they are first needed. */
    private @Nullable Set<String> haveSeveralValues;
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
            return rest == null || isDecided ? null : rest(position, List.of(), null, -1);
        }
        if (isDecided) {
            Block form = replacement.of(accesses.block(), indexes(rest), outer(rest));
            return form == null ? null : rest(position, List.of(rest), form, -1);
        }
        LateParts parts = new LateParts(accesses, values, value -> this.isLate[value] && isUnknown.test(value),
                this::isMovable);
        return rest(position, parts.of(late(rest, lowered)), null, -1);
    }

    /** Returns the task of all operations from a branch on, if feeds decide the branch; otherwise null. */
    private Task.@Nullable Rest atCondition(int position, Access first) {
        int condition = refused < MOST_REFUSED ? conditions.of(first) : -1;
        List<Access> rest = condition < 0 ? null : after(position);
        // What is written later is not what the plans of the rest know.
        if (rest == null || rest.isEmpty() || rest.getFirst() != first || written(rest).contains(condition)) {
            return null;
        }
        if (!replacement.isPossible(accesses.block(), indexes(rest), outer(rest), condition)) {
            refused++;
            return null;
        }
        // The operations stay: each plan of the rest knows the condition and begins with a decided branch.
        return rest(position, List.of(rest), null, condition);
    }

    /**
     * Returns the operations that must come after a late value, and makes the others part of the plan. Otherwise what
     * follows from one late size, but comes after the next one in the program, would be compiled for each combination
     * of both.
     */
    private List<Access> late(List<Access> rest, Predicate<Access> lowered) {
        List<Access> late = new ArrayList<>();
        Set<Integer> touched = new HashSet<>();
        Set<Integer> written = new HashSet<>();
        for (Access access : rest) {
            boolean isReady = !late.isEmpty() && isMovable(access)
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
        Set<String> known = haveSeveralValues;
        if (known == null) {
            known = new HashSet<>();
            Set<String> all = new HashSet<>();
            for (ValueNumbering.Value value : accesses.values()) {
                if (!all.add(value.name())) {
                    known.add(value.name());
                }
            }
            haveSeveralValues = known;
        }
        return known;
    }

    /**
     * Returns whether an operation does nothing but compute values of variables that have no others: what is cut off is
     * numbered again by the names of variables.
     */
    private boolean isMovable(Access access) {
        Operation schema = access.schema();
        return schema != null && schema.isLowered() && !access.runsBlocks() && isPure.test(access.op())
                && Arrays.stream(access.writes()).noneMatch(value -> values.isPersistable(value)
                        || values.isInScope(value) || haveSeveralValues().contains(values.name(value))
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

    private Map<String, Integer> outer(List<Access> rest) {
        return outer(rest, Set.of());
    }

    /**
     * Returns the values that operations read from before, by name.
     *
     * @param earlier
     *            the values that earlier parts write
     */
    private Map<String, Integer> outer(List<Access> rest, Set<Integer> earlier) {
        Set<Integer> written = written(rest);
        Map<String, Integer> outer = new LinkedHashMap<>();
        for (Access access : rest) {
            for (int value : access.reads()) {
                // A variable of the scope, or one that blocks overwrite, keeps its number when it is written.
                if (!written.contains(value) || isBefore[value] || earlier.contains(value)) {
                    outer.putIfAbsent(values.name(value), value);
                }
            }
        }
        return outer;
    }

    /**
     * Returns the task of operations.
     *
     * @param parts
     *            the operations, divided into those that run as one plan
     * @param form
     *            the block with other operations in their place, which have the same results; null if they stay
     * @param condition
     *            the value that decides how they run; −1 if there is none
     */
    private Task.Rest rest(int position, List<List<Access>> parts, @Nullable Block form, int condition) {
        List<Access> rest = parts.stream().flatMap(List::stream).toList();
        Set<Integer> written = written(rest);
        List<Integer> results = accesses.wanted().stream().filter(written::contains).distinct().toList();
        List<Map<String, Integer>> outer = new ArrayList<>();
        // The last parts that read and write a value.
        Map<Integer, Integer> last = new HashMap<>();
        Map<Integer, Integer> writer = new HashMap<>();
        for (int i = 0; i < parts.size(); i++) {
            Map<String, Integer> read = outer(parts.get(i), writer.keySet());
            for (int value : read.values()) {
                last.put(value, i);
            }
            for (int value : written(parts.get(i))) {
                writer.put(value, i);
            }
            outer.add(read);
        }
        // By value, the slot of what the latest part gave that writes it: the last part may write what another has.
        Map<Integer, Integer> slots = new HashMap<>();
        int count = 0;
        List<Task.Rest.Part> made = new ArrayList<>();
        for (int i = 0; i < parts.size(); i++) {
            int index = i;
            Set<Integer> own = written(parts.get(i));
            List<Integer> given = new ArrayList<>(
                    results.stream().filter(value -> writer.getOrDefault(value, -1) == index).toList());
            int fetched = given.size();
            own.stream().filter(value -> last.getOrDefault(value, -1) > index && !given.contains(value))
                    .forEach(given::add);
            Inputs inputs = inputs(position, parts.get(i), outer.get(i), form, slots, given);
            int[] filled = IntStream.range(count, count + given.size()).toArray();
            for (int value : given) {
                slots.put(value, count++);
            }
            // Instructions may keep what they read, for example in a list.
            int[] freed = !parts.get(i).stream().allMatch(this::isMovable)
                    ? new int[0]
                    : slots.keySet().stream()
                            .filter(value -> last.getOrDefault(value, -1) == index && !results.contains(value))
                            .mapToInt(slots::get).toArray();
            made.add(new Task.Rest.Part(inputs.block, inputs.constants, inputs.externals, inputs.earlier, filled,
                    fetched, freed));
        }
        List<Integer> writes = new ArrayList<>(results);
        written.stream().filter(value -> values.isInScope(value) && !results.contains(value)).forEach(writes::add);
        TensorSpec spec = condition < 0 ? null : values.spec(condition);
        List<Tensor> outcomes = spec == null ? List.of() : BranchReplacement.outcomes(spec);
        return new Task.Rest(rest, made, count,
                made.stream().flatMapToInt(part -> Arrays.stream(part.externals())).filter(value -> value >= 0)
                        .distinct().toArray(),
                writes.stream().mapToInt(Integer::intValue).toArray(),
                results.stream().mapToInt(slots::get).toArray(), condition, outcomes);
    }

    /** The numbering of a part, and where its external values come from. */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Inputs(ValueNumbering block, Map<String, Tensor> constants, int[] externals, int[] earlier) {
    }

    /**
     * Numbers a part.
     *
     * @param outer
     *            the values that it reads from before, by name
     * @param slots
     *            by value that an earlier part gives, its slot
     * @param given
     *            the values that it gives
     */
    private Inputs inputs(int position, List<Access> operations, Map<String, Integer> outer,
            @Nullable Block form, Map<Integer, Integer> slots, List<Integer> given) {
        List<String> fed = new ArrayList<>();
        Map<String, Tensor> constants = new HashMap<>();
        outer.forEach((name, value) -> {
            if (values.origin(value) != ValueNumbering.Origin.OUTSIDE && !values.isPersistable(value)) {
                fed.add(name);
            }
            Tensor constant = values.constant(value);
            if (constant != null) {
                constants.put(name, constant);
            }
        });
        List<Integer> indexes = form == null
                ? indexes(operations)
                : IntStream.range(operations.getFirst().index(), form.ops().size()).boxed().toList();
        ValueNumbering block = ValueNumbering.rest(form == null ? accesses.block() : form, indexes, fed,
                given.stream().map(values::name).toList());
        int[] externals = new int[block.externals().length];
        int[] earlier = new int[externals.length];
        for (int i = 0; i < externals.length; i++) {
            String name = block.values().get(block.externals()[i]).name();
            Integer there = outer.get(name);
            if (there == null && form == null) {
                throw new IllegalStateException(
                        "'" + name + "' is not known before operation " + accesses.operations().get(position).index());
            }
            // What only a branch that is not taken writes has no value.
            boolean isGiven = there != null && !constants.containsKey(name);
            Integer slot = isGiven ? slots.get(there) : null;
            earlier[i] = slot == null ? -1 : slot;
            externals[i] = there != null && isGiven && slot == null ? there : -1;
        }
        return new Inputs(block, constants, externals, earlier);
    }
}
