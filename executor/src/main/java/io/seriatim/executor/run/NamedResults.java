package io.seriatim.executor.run;

import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.graph.interpret.BlockSession;
import io.seriatim.tensor.Tensor;
import org.jspecify.annotations.Nullable;

/** The external values and results of a block that is run with variables by name. */
public final class NamedResults {
    private NamedResults() {
    }

    /** Returns the external values of a run. */
    public static @Nullable Object[] externals(ValueNumbering accesses, BlockSession session) {
        int[] given = accesses.externals();
        @Nullable
        Object[] externals = new Object[given.length];
        for (int i = 0; i < given.length; i++) {
            externals[i] = session.find(accesses.values().get(given[i]).name());
        }
        return externals;
    }

    /** Sets the results of a run, and tells which of them have memory that nothing else has. */
    public static void set(Frame frame, ValueNumbering accesses, BlockSession session) {
        @Nullable
        Object[] results = RestOfBlock.Results.share(frame, accesses);
        for (int i = 0; i < results.length; i++) {
            Object result = results[i];
            if (result != null) {
                session.set(name(accesses, i), result);
            }
        }
        if (session.isFreed()) {
            boolean[] isOwn = RestOfBlock.Results.isOwn(frame, accesses, results);
            for (int i = 0; i < results.length; i++) {
                if (results[i] instanceof Tensor tensor) {
                    session.gave(name(accesses, i), tensor, isOwn[i]);
                }
            }
        }
    }

    private static String name(ValueNumbering accesses, int result) {
        return accesses.values().get(accesses.wanted().get(result)).name();
    }
}
