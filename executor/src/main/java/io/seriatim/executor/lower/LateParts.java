package io.seriatim.executor.lower;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.graph.op.Operation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Divides the operations that follow late sizes: those that follow from the first one are a part, then those that
 * follow from the second one too, and so on. So each part is compiled for few sizes and for no operations of other
 * parts, however many late sizes a block has.
 *
 * <p>
 * Which operations have results of late sizes is estimated. What this misses is cut off when a part is compiled.
 */
final class LateParts {
    private final ValueNumbering accesses;
    private final ValueTable values;
    private final IntPredicate isLate;
    private final Predicate<Access> isMovable;
    /** By value of the operations, the part that computes it. */
    private final Map<Integer, Integer> computed = new HashMap<>();
    /** By value of a late size, the operation that gives it. */
    private final Map<Integer, Access> late = new HashMap<>();
    /** By operation that gives late sizes, the part that first uses them. */
    private final Map<Access, Integer> firstUse = new HashMap<>();
    /** The values of the operations whose elements follow from shapes and constants. */
    private final Set<Integer> ofShapes = new HashSet<>();
    private @Nullable Map<Integer, Access> before;

    /**
     * Creates the division of a block.
     *
     * @param isLate
     *            whether a value of an earlier operation has a size that is not known
     * @param isMovable
     *            whether an operation only computes values of variables that have no others, so that it may run before
     *            operations that it does not depend on
     */
    LateParts(ValueNumbering accesses, ValueTable values, IntPredicate isLate, Predicate<Access> isMovable) {
        this.accesses = accesses;
        this.values = values;
        this.isLate = isLate;
        this.isMovable = isMovable;
    }

    /** Returns the parts of operations, in their order; none is empty. */
    List<List<Access>> of(List<Access> operations) {
        List<List<Access>> parts = new ArrayList<>();
        int ordered = 0;
        while (ordered < operations.size() && isMovable.test(operations.get(ordered))) {
            Access access = operations.get(ordered);
            int part = part(access);
            while (parts.size() <= part) {
                parts.add(new ArrayList<>());
            }
            parts.get(part).add(access);
            record(access, part);
            ordered++;
        }
        if (ordered < operations.size()) {
            // These have effects, so that their order stays.
            List<Access> last = parts.isEmpty() ? new ArrayList<>() : parts.removeLast();
            last.addAll(operations.subList(ordered, operations.size()));
            parts.add(last);
        }
        parts.removeIf(List::isEmpty);
        return parts;
    }

    private int part(Access access) {
        int part = 0;
        for (int value : access.reads()) {
            Access source = source(value);
            part = Math.max(part, source == null
                    ? computed.getOrDefault(value, 0)
                    : firstUse.computeIfAbsent(source, _ -> firstUse.size()));
        }
        return part;
    }

    /** Returns the operation that gives a value of late size; null if the value follows from other values. */
    private @Nullable Access source(int value) {
        Access known = late.get(value);
        return known != null || !isLate.test(value) ? known : before().get(value);
    }

    private Map<Integer, Access> before() {
        Map<Integer, Access> known = before;
        if (known == null) {
            known = new HashMap<>();
            for (Access access : accesses.operations()) {
                for (int value : access.writes()) {
                    known.put(value, access);
                }
            }
            before = known;
        }
        return known;
    }

    private void record(Access access, int part) {
        boolean isOfShapes = true;
        for (int value : access.reads()) {
            isOfShapes &= isOfShapes(value);
        }
        Operation schema = access.schema();
        isOfShapes |= schema != null && schema.isOfShape();
        boolean isSource = !isOfShapes && schema != null && dependsOnElements(access, schema);
        for (int value : access.writes()) {
            computed.put(value, part);
            if (isSource) {
                late.put(value, access);
            }
            if (isOfShapes) {
                ofShapes.add(value);
            }
        }
    }

    private boolean isOfShapes(int value) {
        return ofShapes.contains(value) || values.constant(value) != null;
    }

    private boolean dependsOnElements(Access access, Operation schema) {
        for (String slot : schema.values()) {
            for (String name : access.op().input(slot)) {
                if (!isOfShapes(access.read(name))) {
                    return true;
                }
            }
        }
        return false;
    }
}
