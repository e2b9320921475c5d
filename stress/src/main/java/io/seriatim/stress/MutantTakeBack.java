package io.seriatim.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Must fail: the race of a worker that claims an operation with a thread that takes it back, where the two ends of the
 * batch are two fields instead of one that is changed by compare-and-set.
 */
@JCStressTest
@Outcome(id = {"1, 0", "0, 1"}, expect = ACCEPTABLE, desc = "One of the two has the operation.")
@Outcome(expect = FORBIDDEN, desc = "Both have it.")
@State
public class MutantTakeBack {
    private volatile int next;
    private volatile int limit = 1;

    /**
     * Claims the operation.
     *
     * @param r
     *            whether there was one
     */
    @Actor
    public void claim(II_Result r) {
        int n = next;
        if (n < limit) {
            next = n + 1;
            r.r1 = 1;
        }
    }

    /**
     * Takes the operation back.
     *
     * @param r
     *            whether there was one
     */
    @Actor
    public void takeBack(II_Result r) {
        int last = limit;
        if (next < last) {
            limit = last - 1;
            r.r2 = 1;
        }
    }
}
