package io.seriatim.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.seriatim.engine.Var;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;

/** A variable is poisoned while another thread waits for it; a dependent operation is pushed after the failing one. */
@JCStressTest
@Outcome(id = "value, poison, skipped", expect = ACCEPTABLE, desc = "The wait came before the push: there was "
        + "nothing to wait for yet.")
@Outcome(id = "poison, poison, skipped", expect = ACCEPTABLE, desc = "The wait came after the push: it was told of "
        + "the failure.")
@Outcome(id = ".*, value, .*", expect = FORBIDDEN, desc = "The poison was lost: a later wait saw a value that was "
        + "never made.")
@Outcome(id = ".*, .*, ran", expect = FORBIDDEN, desc = "The dependant ran on a value that was never made.")
@Outcome(expect = FORBIDDEN, desc = "A wait was told of a failure without seeing what the operation had done, or "
        + "the dependant was not skipped.")
@State
public class PoisonAgainstWait {
    /** A cheap exception without a stack trace. */
    private static final class Planned extends Exception {
        private static final long serialVersionUID = 1L;

        Planned() {
            super("planned", null, false, false);
        }
    }

    private final Var v = Shared.ENGINE.newVar("v");
    private final Var next = Shared.ENGINE.newVar("next");
    private boolean touched;
    private boolean dependantRan;
    private String waited = "never ended";

    /** Pushes the failing operation and its dependent. */
    @Actor
    public void poison() {
        Shared.ENGINE.op("failing").mutates(v).push(() -> {
            touched = true;
            throw new Planned();
        });
        Shared.ENGINE.op("dependant").reads(v).mutates(next).push(() -> dependantRan = true);
    }

    /** Waits for the variable. */
    @Actor
    public void await() {
        waited = Shared.poisoned(v) ? touched ? "poison" : "unseen" : "value";
    }

    /**
     * Observes the result after all threads.
     *
     * @param r
     *            the result of the wait, the result of a later wait, and the outcome of the dependent operation
     */
    @Arbiter
    public void end(LLL_Result r) {
        r.r1 = waited;
        r.r2 = Shared.poisoned(v) ? "poison" : "value";
        r.r3 = !Shared.poisoned(next) ? "not poisoned" : dependantRan ? "ran" : "skipped";
    }
}
