package io.seriatim.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** A worker claims the only operation of its batch while the holder of the tracker lock takes it back. */
@JCStressTest
@Outcome(id = {"1, 0", "0, 1"}, expect = ACCEPTABLE, desc = "One of the two has the operation.")
@Outcome(expect = FORBIDDEN, desc = "The operation runs twice, or is lost.")
@State
public class ClaimAgainstTakeBack {
    private final Batch batch = new Batch(0);

    /** Hands over one operation. */
    public ClaimAgainstTakeBack() {
        batch.put(0, Nodes.FIRST);
        batch.publish(1);
    }

    /**
     * Claims the operation.
     *
     * @param r
     *            the number of the operation, or 0
     */
    @Actor
    public void claim(II_Result r) {
        Operation op = batch.claim();
        r.r1 = op == null ? 0 : op.priority;
    }

    /**
     * Takes the operation back.
     *
     * @param r
     *            the number of the operation, or 0
     */
    @Actor
    public void takeBack(II_Result r) {
        Operation op = batch.takeBack();
        r.r2 = op == null ? 0 : op.priority;
    }
}
