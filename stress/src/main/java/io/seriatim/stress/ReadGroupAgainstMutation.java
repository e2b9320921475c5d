package io.seriatim.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.seriatim.engine.Engine;
import io.seriatim.engine.Var;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** Two reads, pushed one after the other by one thread, against a mutation of two fields, pushed by another. */
@JCStressTest
@Outcome(id = "0, 0, 11", expect = ACCEPTABLE, desc = "Both reads came before the mutation, which waited for them.")
@Outcome(id = "0, 11, 11", expect = ACCEPTABLE, desc = "The mutation came between the reads: it waited for one, "
        + "and the other for it.")
@Outcome(id = "11, 11, 11", expect = ACCEPTABLE, desc = "The mutation came first, and both reads waited for it.")
@Outcome(id = "11, 0, .*", expect = FORBIDDEN, desc = "The second read overtook the mutation that the first had seen.")
@Outcome(expect = FORBIDDEN, desc = "A read saw half a mutation or did not run, or the mutation was lost.")
@State
public class ReadGroupAgainstMutation {
    private static final int NOT_RUN = -1;

    private final Var v = Shared.ENGINE.newVar("v");
    private final Var one = Shared.ENGINE.newVar("one");
    private final Var two = Shared.ENGINE.newVar("two");
    private int tens;
    private int units;
    private int seenByOne = NOT_RUN;
    private int seenByTwo = NOT_RUN;

    /** Pushes two reads of the variable. */
    @Actor
    public void read() {
        Engine engine = Shared.ENGINE;
        engine.op("one").reads(v).mutates(one).push(() -> seenByOne = value());
        engine.op("two").reads(v).mutates(two).push(() -> seenByTwo = value());
    }

    /** Pushes the mutation. */
    @Actor
    public void mutate() {
        Shared.ENGINE.op("mutation").mutates(v).push(() -> {
            tens++;
            units++;
        });
    }

    private int value() {
        return tens * 10 + units;
    }

    /**
     * Observes the result after all threads.
     *
     * @param r
     *            the values that the reads saw, and the last value
     */
    @Arbiter
    public void end(III_Result r) {
        if (!Shared.poisoned(one) && !Shared.poisoned(two) && !Shared.poisoned(v)) {
            r.r1 = seenByOne;
            r.r2 = seenByTwo;
            r.r3 = value();
        }
    }
}
