package io.seriatim.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.seriatim.engine.Completion;
import io.seriatim.engine.Var;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A mutation is pushed while its predecessor completes: it must either find the variable free, or be granted it by the
 * completion.
 */
@JCStressTest
@Outcome(id = "1, 2", expect = ACCEPTABLE, desc = "The push order: the second mutation ran once, after the first, "
        + "and saw what it had written.")
@Outcome(id = "1, 0", expect = FORBIDDEN, desc = "The second mutation was lost: it joined a queue that the "
        + "completion no longer looked at.")
@Outcome(expect = FORBIDDEN, desc = "The second mutation ran too early, twice, or did not see the first.")
@State
public class PushAgainstComplete {
    private final Var v = Shared.ENGINE.newVar("v");
    private volatile @Nullable Completion completion;
    private int value;
    private int first;
    private int second;

    /** Pushes the mutation that holds the variable until it is completed. */
    public PushAgainstComplete() {
        Shared.ENGINE.op("first").mutates(v).pushAsync(c -> completion = c);
    }

    /** Completes the first mutation. */
    @Actor
    public void complete() {
        Completion c = completion;
        while (c == null) {
            Thread.onSpinWait();
            c = completion;
        }
        value++;
        first = value;
        c.complete();
    }

    /** Pushes the second mutation. */
    @Actor
    public void push() {
        Shared.ENGINE.op("second").mutates(v).push(() -> {
            value++;
            second = value;
        });
    }

    /**
     * Observes the result after both threads.
     *
     * @param r
     *            the values that the two mutations have written
     */
    @Arbiter
    public void end(II_Result r) {
        if (!Shared.poisoned(v)) {
            r.r1 = first;
            r.r2 = second;
        }
    }
}
