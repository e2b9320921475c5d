package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The order of ready operations. */
class ReadyQueueTest {
    /** Equal priorities start in the order in which they became ready, even when the sequence number wraps around. */
    @ParameterizedTest
    @ValueSource(ints = {0, Integer.MAX_VALUE - 5, -5})
    void aReadyQueueKeepsItsOrderWhereverItsNumbersAre(int first) {
        EngineCore core = new EngineBuilder().buildCore();
        ReadyQueue queue = new ReadyQueue(first);
        List<Operation> added = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Operation op = new Operation(core, "op" + i);
            op.priority = 1;
            added.add(op);
            queue.add(op);
        }
        for (Operation op : added) {
            assertSame(op, queue.poll());
        }
        assertNull(queue.poll());
    }
}
