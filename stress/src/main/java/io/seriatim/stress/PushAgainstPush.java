package io.seriatim.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.seriatim.engine.Var;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** Two threads push a mutation of the same two variables, named in opposite orders. */
@JCStressTest
@Outcome(id = "1, 2, 2", expect = ACCEPTABLE, desc = "The first actor's push came first, on both variables.")
@Outcome(id = "2, 1, 2", expect = ACCEPTABLE, desc = "The second actor's push came first, on both variables.")
@Outcome(id = "1, 1, 2", expect = FORBIDDEN, desc = "Both ran at once, each as if it had the variables for itself.")
@Outcome(expect = FORBIDDEN, desc = "A mutation was lost, ran twice, or its version was not counted.")
@State
public class PushAgainstPush {
    private final Var a = Shared.ENGINE.newVar("a");
    private final Var b = Shared.ENGINE.newVar("b");
    private int value;
    private int left;
    private int right;

    /** Pushes one mutation. */
    @Actor
    public void left() {
        Shared.ENGINE.op("left").mutates(a, b).push(() -> {
            value++;
            left = value;
        });
    }

    /** Pushes the other mutation. */
    @Actor
    public void right() {
        Shared.ENGINE.op("right").mutates(b, a).push(() -> {
            value++;
            right = value;
        });
    }

    /**
     * Observes the result after both threads.
     *
     * @param r
     *            the positions of the two mutations, and the version
     */
    @Arbiter
    public void end(III_Result r) {
        if (!Shared.poisoned(a) && !Shared.poisoned(b)) {
            r.r1 = left;
            r.r2 = right;
            r.r3 = a.version() == b.version() ? (int) a.version() : -1;
        }
    }
}
