package io.seriatim.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** A worker reports the end of a body while the holder of the tracker lock looks for ended operations. */
@JCStressTest
@Outcome(id = {"0, 0", "0, 1"}, expect = ACCEPTABLE, desc = "The end was not seen yet.")
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "The end was seen, with what the body had written.")
@Outcome(expect = FORBIDDEN, desc = "The end was seen without what the body had written.")
@State
public class FinishAgainstHarvest {
    private final Batch batch = new Batch(-1);
    private int written;

    /** Hands over one operation, which the worker has claimed. */
    public FinishAgainstHarvest() {
        batch.put(0, Nodes.FIRST);
        batch.publish(1);
        batch.claim();
    }

    /** Runs the body and reports its end. */
    @Actor
    public void finish() {
        written = 1;
        batch.finish(null);
    }

    /**
     * Looks for the end.
     *
     * @param r
     *            whether the operation has ended, and what the body has written
     */
    @Actor
    public void harvest(II_Result r) {
        r.r1 = batch.running() == null ? 1 : 0;
        r.r2 = written;
    }
}
