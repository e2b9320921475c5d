package io.seriatim.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** The flag of a waiting thread is set while that thread checks it. */
@JCStressTest
@Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "The thread has not seen the flag yet: it would wait on.")
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "The thread has seen the flag, and the failure set before it.")
@Outcome(expect = FORBIDDEN, desc = "The wait ended without the failure of its variable.")
@State
public class SignalAgainstWait {
    private static final Failure FAILURE = new Failure("failing", new IllegalStateException("planned"));

    private final Waiter inner = new Waiter();
    /** Passes its signal on. */
    private final Waiter outer = new Waiter(inner);

    /** Ends the wait. */
    @Actor
    public void signal() {
        inner.failure = FAILURE;
        outer.signal();
    }

    /**
     * Checks the flag.
     *
     * @param r
     *            whether the wait is over, and whether its failure is known
     */
    @Actor
    public void await(II_Result r) {
        boolean done = inner.done;
        r.r1 = done ? 1 : 0;
        r.r2 = done && inner.failure != null ? 1 : 0;
    }
}
