package io.seriatim.executor.lower;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Variables that an operation makes share memory although their size is known only at run time. */
final class UnchangedVariables {
    private UnchangedVariables() {
    }

    /**
     * Checks that variables of unknown shape are not written after they were made to share memory. Such variables are
     * copied instead, which is equivalent only without later writes.
     */
    static void require(ValueNumbering accesses, ValueTable values, Access access, List<String> aliases) {
        Set<String> names = new HashSet<>(aliases);
        names.addAll(access.op().inputNames());
        boolean outlives = Arrays.stream(access.writes()).anyMatch(values::isPersistable);
        for (Access later : accesses.operations()) {
            boolean writes = later.index() > access.index()
                    && Arrays.stream(later.writes()).anyMatch(value -> names.contains(values.name(value)));
            if (writes || outlives) {
                throw new IllegalArgumentException("it makes " + names.stream().sorted().toList()
                        + " share memory, but their size is known only at run time" + (writes
                                ? ", and operation " + later.index() + " (" + later.op().type() + ") writes one of them"
                                : "")
                        + ": copy with 'assign' instead, or give the variables fixed shapes");
            }
        }
    }
}
