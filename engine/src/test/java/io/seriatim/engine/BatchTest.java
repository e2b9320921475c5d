package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares the batch of a worker with a deque. */
class BatchTest {
    /**
     * Performs random claims, publications and withdrawals on a batch and a deque, starting near the values where an
     * index changes its sign or wraps around.
     */
    @ParameterizedTest
    @ValueSource(ints = {0, Integer.MAX_VALUE - 3, Integer.MAX_VALUE, Integer.MIN_VALUE, -3, -1})
    void aBatchIsADequeWhereverItsIndicesAre(int first) {
        EngineCore core = new EngineBuilder().buildCore();
        Batch batch = new Batch(first);
        Deque<Operation> model = new ArrayDeque<>();
        SplittableRandom random = new SplittableRandom(EngineUnderTest.SEED);
        int claimed = 0;
        for (int i = 0; i < 400; i++) {
            assertEquals(model.size(), batch.waiting());
            switch (random.nextInt(4)) {
                case 0 -> {
                    if (batch.room() > 0) {
                        Operation op = new Operation(core, "op" + i);
                        batch.put(0, op);
                        batch.publish(1);
                        model.addLast(op);
                    }
                }
                case 1 -> {
                    Operation op = batch.claim();
                    assertSame(model.pollFirst(), op);
                    if (op != null) {
                        op.flags |= Operation.ENDED;
                        batch.finish(null);
                        claimed++;
                    }
                }
                case 2 -> assertSame(model.pollLast(), batch.takeBack());
                default -> batch.harvest(core);
            }
        }
        assertEquals(true, claimed > 50, "claimed " + claimed);
        while (!model.isEmpty()) {
            assertSame(model.pollLast(), batch.takeBack());
        }
        assertNull(batch.takeBack());
        assertNull(batch.claim());
    }
}
