package io.seriatim.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.seriatim.engine.Var;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/** A variable is deleted while another thread pushes a mutation of it. */
@JCStressTest
@Outcome(id = "refused, freed unchanged", expect = ACCEPTABLE, desc = "The deletion came first: the push was told so.")
@Outcome(id = "ran, freed changed", expect = ACCEPTABLE, desc = "The push came first: the deletion waited for its "
        + "operation.")
@Outcome(id = "lost, .*", expect = FORBIDDEN, desc = "The push was taken and its operation never ran.")
@Outcome(id = "ran, freed unchanged", expect = FORBIDDEN, desc = "The operation ran on what had been freed.")
@Outcome(expect = FORBIDDEN, desc = "What the variable stood for was not freed, or not once.")
@State
public class DeleteAgainstPush {
    private final Var v = Shared.ENGINE.newVar("v");
    private boolean refused;
    private boolean changed;
    private int freed;
    private boolean freedChanged;

    /** Deletes the variable. */
    @Actor
    public void delete() {
        Shared.ENGINE.delete(v, () -> {
            freed++;
            freedChanged = changed;
        });
    }

    /** Pushes the mutation. */
    @Actor
    public void push() {
        try {
            Shared.ENGINE.op("mutation").mutates(v).push(() -> changed = true);
        } catch (IllegalStateException e) {
            refused = true;
        }
    }

    /**
     * Observes the result after both threads.
     *
     * @param r
     *            the outcomes of the operation and of the delete
     */
    @Arbiter
    public void end(LL_Result r) {
        Shared.waitForAll();
        r.r1 = refused ? "refused" : changed ? "ran" : "lost";
        r.r2 = freed == 1 ? freedChanged ? "freed changed" : "freed unchanged" : "freed " + freed + " times";
    }
}
