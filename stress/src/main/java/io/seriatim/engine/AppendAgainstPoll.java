package io.seriatim.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A thread appends two operations to the log while another one reads it. The second operation is the first of a new
 * segment of the log.
 */
@JCStressTest
@Outcome(id = {"0, 0", "0, 1", "1, 0", "1, 2"}, expect = ACCEPTABLE, desc = "A beginning of the log was read.")
@Outcome(expect = FORBIDDEN, desc = "An operation was lost, overtaken or seen before it was complete.")
@State
public class AppendAgainstPoll {
    /** One less than the length of a segment. */
    private static final int BEFORE = 127;

    private final OpQueue log = new OpQueue();

    /** Fills the first segment but for one slot. */
    public AppendAgainstPoll() {
        for (int i = 0; i < BEFORE; i++) {
            log.append(Nodes.FIRST);
            log.poll();
        }
    }

    /** Appends two operations. */
    @Actor
    public void append() {
        log.append(Nodes.create(1));
        log.append(Nodes.create(2));
    }

    /**
     * Reads two operations.
     *
     * @param r
     *            the numbers of the operations, or 0
     */
    @Actor
    public void poll(II_Result r) {
        Operation first = log.poll();
        Operation second = log.poll();
        r.r1 = first == null ? 0 : first.priority;
        r.r2 = second == null ? 0 : second.priority;
    }
}
