package io.seriatim.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Must fail: the race of {@link PushAgainstPush} on a deliberately wrong chain. */
@JCStressTest
@Outcome(id = {"1, 2", "2, 1"}, expect = ACCEPTABLE, desc = "One push came first.")
@Outcome(expect = FORBIDDEN, desc = "Both took the variable at once, or one found it taken by a thread that had "
        + "stopped looking.")
@State
public class MutantRace {
    private final MutantChain chain = new MutantChain();
    private int value;
    private int left;
    private int right;

    /** Pushes one mutation. */
    @Actor
    public void left() {
        chain.push(() -> {
            value++;
            left = value;
        });
    }

    /** Pushes the other mutation. */
    @Actor
    public void right() {
        chain.push(() -> {
            value++;
            right = value;
        });
    }

    /**
     * Observes the result after both threads.
     *
     * @param r
     *            the positions of the two mutations
     */
    @Arbiter
    public void end(II_Result r) {
        r.r1 = left;
        r.r2 = right;
    }
}
