package io.seriatim.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** An idle worker claims operations while the holder of the tracker lock hands two of them over in one step. */
@JCStressTest
@Outcome(id = {"0, 0", "0, 1", "1, 2"}, expect = ACCEPTABLE, desc = "None before the step, both in order after it.")
@Outcome(expect = FORBIDDEN, desc = "An operation was lost or overtaken, or the step was seen half done.")
@State
public class PublishAgainstClaim {
    private final Batch batch = new Batch(Integer.MAX_VALUE);

    /** Hands over two operations. */
    @Actor
    public void publish() {
        batch.put(0, Nodes.FIRST);
        batch.put(1, Nodes.SECOND);
        batch.publish(2);
    }

    /**
     * Claims up to two operations.
     *
     * @param r
     *            the numbers of the operations, or 0
     */
    @Actor
    public void claim(II_Result r) {
        Operation first = batch.claim();
        Operation second = batch.claim();
        r.r1 = first == null ? 0 : first.priority;
        r.r2 = second == null ? 0 : second.priority;
    }
}
