package io.seriatim.executor;

import java.util.Arrays;

/**
 * From which operation to which a value lives, in the order of the program.
 *
 * @param first
 *            for each value the operation that computes it; −1 for what is there before
 * @param last
 *            for each value the last operation that touches it; the number of operations for what is wanted after the run
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record Lifetimes(int[] first, int[] last) {
    static Lifetimes of(Accesses accesses) {
        int n = accesses.values().size();
        int[] first = new int[n];
        int[] last = new int[n];
        Arrays.fill(first, -1);
        Arrays.fill(last, -1);
        for (int i = 0; i < accesses.operations().size(); i++) {
            Accesses.Access access = accesses.operations().get(i);
            for (int value : access.reads().values()) {
                last[value] = i;
            }
            for (int value : access.writes().values()) {
                if (first[value] < 0 && accesses.values().get(value).origin() == Accesses.Origin.COMPUTED) {
                    first[value] = i;
                }
                last[value] = i;
            }
        }
        accesses.fetched().forEach(value -> last[value] = accesses.operations().size());
        return new Lifetimes(first, last);
    }
}
