package io.seriatim.executor.lower;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.graph.interpret.BranchTypes;
import io.seriatim.graph.interpret.TakenBranches;
import io.seriatim.graph.op.ArgType;
import io.seriatim.tensor.Tensor;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The types of what branches and loops give. Where a selection chooses between results of one type, and where a branch
 * or loop does not change the type of a variable, the operations that follow are compiled with it.
 */
final class BranchResults {
    private final ValueNumbering accesses;
    private final ValueTable values;
    private final @Nullable ArgType[] types;
    private final OpenResults openResults;
    /** By value that only a branch computes, its type if the branch is taken. */
    private final Map<Integer, ArgType> given = new HashMap<>();

    /**
     * Creates the results of a block.
     *
     * @param types
     *            by value, its inferred type, to which {@link #record} adds types
     * @param openResults
     *            decides which values may have types before they are computed
     */
    BranchResults(ValueNumbering accesses, ValueTable values, @Nullable ArgType[] types, OpenResults openResults) {
        this.accesses = accesses;
        this.values = values;
        this.types = types;
        this.openResults = openResults;
    }

    /** Returns whether an operation is a branch whose condition is a constant. */
    boolean isDecided(Access access) {
        return access.runsBlocks() && TakenBranches.isDecided(access.op(), new Before(access));
    }

    /** Returns the types of variables that a branch or loop overwrites without changing their types, by value. */
    Map<Integer, ArgType> kept(Access access) {
        if (!access.runsBlocks()) {
            return Map.of();
        }
        Map<Integer, ArgType> kept = new HashMap<>();
        BranchTypes.kept(accesses.block().program(), access.op(), new Before(access)).forEach((name, type) -> {
            int value = access.written(name);
            if (value >= 0 && value == access.read(name) && openResults.isAlone(value)) {
                kept.put(value, type);
            }
        });
        return kept;
    }

    /** Records types that a branch or loop has kept. */
    void keep(Map<Integer, ArgType> kept) {
        kept.forEach((value, type) -> {
            types[value] = type;
            values.declared(value, type.spec());
        });
    }

    /** Records the types of what an interpreted operation computes, if it is a branch or a selection. */
    void record(Access access) {
        if (access.runsBlocks()) {
            BranchTypes.of(accesses.block().program(), access.op(), new Before(access)).forEach((name, type) -> {
                int value = access.written(name);
                if (value >= 0 && openResults.isOnlyOfRun(value)) {
                    given.put(value, type);
                }
            });
            return;
        }
        ArgType type = BranchTypes.ofSelection(access.op(), name -> {
            int value = access.read(name);
            return value < 0 ? null : given.getOrDefault(value, types[value]);
        });
        int value = type == null ? -1 : access.writes()[0];
        if (type != null && openResults.isOnlyOfRun(value)) {
            types[value] = type;
            values.declared(value, type.spec());
        }
    }

    /** What is known of the variables around a branch. */
    private final class Before implements BranchTypes.Outside {
        private final Access access;

        Before(Access access) {
            this.access = access;
        }

        @Override
        public @Nullable ArgType type(String name) {
            int value = access.read(name);
            return value < 0 ? null : types[value];
        }

        @Override
        public @Nullable Tensor constant(String name) {
            int value = access.read(name);
            return value < 0 ? null : values.constant(value);
        }

        @Override
        public boolean isSet(String name) {
            return access.read(name) >= 0;
        }
    }
}
