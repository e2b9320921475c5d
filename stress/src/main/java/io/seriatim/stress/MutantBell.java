package io.seriatim.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * Must fail: the race of {@code PublishAgainstWait} with accesses that are not in one total order, so that each side
 * may look before what it has said can be seen.
 */
@JCStressTest
@Outcome(id = {"true, true", "false, false", "true, false"}, expect = ACCEPTABLE, desc = "Nobody sleeps forever.")
@Outcome(expect = FORBIDDEN, desc = "The reader waits and nobody wakes it.")
@State
public class MutantBell {
    private final AtomicInteger written = new AtomicInteger();
    private final AtomicInteger waits = new AtomicInteger();

    /**
     * Writes.
     *
     * @param r
     *            whether the reader must be woken
     */
    @Actor
    public void publish(ZZ_Result r) {
        written.setRelease(1);
        r.r1 = waits.getAcquire() != 0;
    }

    /**
     * Is going to wait.
     *
     * @param r
     *            whether it waits
     */
    @Actor
    public void await(ZZ_Result r) {
        waits.setRelease(1);
        r.r2 = written.getAcquire() == 0;
    }
}
