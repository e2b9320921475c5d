package io.seriatim.executor.run;

import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Runs the operations that follow values whose types are known only at run time. */
@FunctionalInterface
public interface RestOfBlock {
    /**
     * Runs them.
     *
     * @param context
     *            the run that they continue, with their external values
     * @return the results
     */
    Results run(RunContext context);

    /**
     * What the operations have computed.
     *
     * @param values
     *            the results, in order
     * @param isOwn
     *            by result, whether it has memory that nothing else has
     */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    record Results(@Nullable Object[] values, boolean[] isOwn) {
        /** Returns the results of a frame, which go to the enclosing block. */
        public static Results shared(Frame frame, ValueNumbering accesses) {
            @Nullable
            Object[] values = share(frame, accesses);
            return new Results(values, isOwn(frame, accesses, values));
        }

        static @Nullable Object[] share(Frame frame, ValueNumbering accesses) {
            @Nullable
            Object[] values = new Object[accesses.wanted().size()];
            Arrays.setAll(values, i -> frame.share(accesses.wanted().get(i)));
            return values;
        }

        /** Returns by result that was shared, whether it has memory that nothing else has. */
        static boolean[] isOwn(Frame frame, ValueNumbering accesses, @Nullable Object[] values) {
            boolean[] isOwn = new boolean[values.length];
            for (int i = 0; i < isOwn.length; i++) {
                isOwn[i] = frame.isOwn(accesses.wanted().get(i)) && !isOther(values, i);
            }
            return isOwn;
        }

        private static boolean isOther(@Nullable Object[] values, int index) {
            for (int i = 0; i < values.length; i++) {
                if (i != index && values[i] instanceof Tensor other && values[index] instanceof Tensor tensor
                        && other.buffer().equals(tensor.buffer())) {
                    return true;
                }
            }
            return false;
        }

        /** Returns results that belong to the caller of the run. */
        public static Results taken(Frame frame, ValueNumbering accesses) {
            @Nullable
            Object[] values = accesses.wanted().stream().map(frame::take).toArray();
            return new Results(values, new boolean[values.length]);
        }
    }
}
