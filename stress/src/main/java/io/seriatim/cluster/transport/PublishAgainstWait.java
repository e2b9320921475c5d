package io.seriatim.cluster.transport;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** A side of shared memory is going to wait while the other side publishes what it would wait for. */
@JCStressTest
@Outcome(id = "true, true", expect = ACCEPTABLE, desc = "The reader waits and is woken.")
@Outcome(id = "false, false", expect = ACCEPTABLE, desc = "The reader sees the byte and does not wait.")
@Outcome(id = "true, false", expect = ACCEPTABLE, desc = "The reader sees the byte, and is woken for nothing.")
@Outcome(expect = FORBIDDEN, desc = "The reader waits and nobody wakes it.")
@State
public class PublishAgainstWait {
    private static final ByteBuffer BYTE = ByteBuffer.allocateDirect(1);

    private final MemorySegment memory = Arena.ofAuto().allocate(SharedRing.BYTES, Long.BYTES);
    private final SharedRing writer = new SharedRing(memory, 1);
    private final SharedRing reader = new SharedRing(memory, 0);

    /**
     * Writes a byte.
     *
     * @param r
     *            whether the reader must be woken
     */
    @Actor
    public void publish(ZZ_Result r) {
        try {
            writer.put(BYTE.duplicate());
        } catch (ProtocolException e) {
            throw new IllegalStateException(e);
        }
        r.r1 = writer.publishWritten();
    }

    /**
     * Is going to wait.
     *
     * @param r
     *            whether it waits
     */
    @Actor
    public void await(ZZ_Result r) {
        try {
            r.r2 = reader.mayWaitForBytes();
        } catch (ProtocolException e) {
            throw new IllegalStateException(e);
        }
    }
}
