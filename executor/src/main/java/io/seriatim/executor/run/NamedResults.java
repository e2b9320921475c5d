package io.seriatim.executor.run;

import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.graph.interpret.BlockSession;
import io.seriatim.graph.interpret.BlockVariables;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The external values and results of a block that is run with variables by name. They are found once for all steps of
 * one execution of a loop.
 */
public final class NamedResults {
    private final ValueNumbering accesses;
    private final BlockVariables given;
    private final BlockVariables wanted;

    /**
     * Creates those of a block.
     *
     * @param first
     *            the first of its runs
     */
    public NamedResults(ValueNumbering accesses, BlockSession first) {
        this.accesses = accesses;
        List<String> reads = new ArrayList<>(accesses.externals().length);
        for (int value : accesses.externals()) {
            reads.add(accesses.values().get(value).name());
        }
        List<String> writes = new ArrayList<>(accesses.wanted().size());
        for (int value : accesses.wanted()) {
            writes.add(accesses.values().get(value).name());
        }
        this.given = first.variables(reads);
        this.wanted = first.variables(writes);
    }

    /** Returns the external values of a run. */
    public @Nullable Object[] externals(BlockSession session) {
        @Nullable
        Object[] externals = new Object[accesses.externals().length];
        for (int i = 0; i < externals.length; i++) {
            externals[i] = given.find(session, i);
        }
        return externals;
    }

    /** Sets the results of a run, and tells which of them have memory that nothing else has. */
    public void set(Frame frame, BlockSession session) {
        @Nullable
        Object[] results = RestOfBlock.Results.values(frame, accesses, 0);
        for (int i = 0; i < results.length; i++) {
            Object result = results[i];
            if (result != null) {
                wanted.set(session, i, result);
            }
        }
        if (session.isFreed()) {
            boolean[] isOwn = RestOfBlock.Results.isOwn(frame, accesses, results);
            for (int i = 0; i < results.length; i++) {
                if (results[i] instanceof Tensor tensor) {
                    wanted.gave(session, i, tensor, isOwn[i]);
                }
            }
        }
    }
}
