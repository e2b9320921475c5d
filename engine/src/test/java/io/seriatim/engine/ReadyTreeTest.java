package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Compares the ready operations of the shuffled engine with a list. */
class ReadyTreeTest {
    @Test
    void isAListWhoseLastElementTakesTheNumberOfTheOneRemoved() {
        Random random = new Random(EngineUnderTest.SEED);
        EngineCore core = new EngineBuilder().buildCore();
        ReadyTree tree = new ReadyTree();
        List<Operation> list = new ArrayList<>();
        for (int i = 0; i < 5_000; i++) {
            if (list.isEmpty() || random.nextInt(i % 1_000 < 500 ? 3 : 5) < 2) {
                Operation op = new Operation(core, "op" + i);
                tree.add(op);
                list.add(op);
            } else {
                int number = random.nextInt(list.size());
                Operation last = list.remove(list.size() - 1);
                Operation expected = number == list.size() ? last : list.set(number, last);
                Operation removed = tree.remove(number);
                assertSame(expected, removed);
                assertNull(removed.link);
                assertNull(removed.following);
            }
            assertEquals(list.size(), tree.size());
            if (i % 100 == 0) {
                List<Operation> seen = new ArrayList<>();
                tree.forEach(seen::add);
                assertEquals(list, seen);
            }
        }
    }
}
