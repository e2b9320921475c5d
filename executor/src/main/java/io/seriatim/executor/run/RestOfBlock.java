package io.seriatim.executor.run;

import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Runs the operations that follow values whose types are known only at run time. */
@FunctionalInterface
public interface RestOfBlock {
    /**
     * Runs one part of them.
     *
     * @param part
     *            the index of the part
     * @param fetched
     *            how many of its results, the first ones, are results of the whole block
     * @param context
     *            the run that it continues, with its external values
     * @return the results of the part
     */
    Results run(int part, int fetched, RunContext context);

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
        /**
         * Returns the results of a frame.
         *
         * @param taken
         *            how many of them, the first ones, belong to the caller of the run; the others go to the enclosing
         *            block
         */
        public static Results of(Frame frame, ValueNumbering accesses, int taken) {
            @Nullable
            Object[] values = values(frame, accesses, taken);
            boolean[] isOwn = isOwn(frame, accesses, values);
            Arrays.fill(isOwn, 0, taken, false);
            return new Results(values, isOwn);
        }

        /** Returns the results of a frame, of which the first ones belong to the caller of the run. */
        static @Nullable Object[] values(Frame frame, ValueNumbering accesses, int taken) {
            @Nullable
            Object[] values = new Object[accesses.wanted().size()];
            for (int i = 0; i < values.length; i++) {
                int wanted = accesses.wanted().get(i);
                values[i] = i < taken ? frame.take(wanted) : frame.share(wanted);
            }
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
    }
}
