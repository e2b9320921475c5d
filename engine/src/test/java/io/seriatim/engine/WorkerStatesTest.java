package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import javax.management.JMException;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;

/** E4: a worker that ends where there is no memory still closes its states, so to close them takes none. */
class WorkerStatesTest {
    private static final int CLOSED = 20_000;

    private int closes;

    @Test
    void toCloseStatesAllocatesNothing() throws JMException {
        EngineCore core = ((EngineBuilder) Engine.builder().naive()).buildCore();
        AutoCloseable state = () -> closes++;
        List<WorkerStates> all = new ArrayList<>(IntStream.range(0, CLOSED)
                .mapToObj(i -> new WorkerStates(i % 2 == 0 ? List.of() : List.of(() -> state))).toList());
        Operation op = new Operation(core, "asks");
        for (int i = 1; i < CLOSED; i += 2) {
            all.get(i).get(AutoCloseable.class, op);
        }
        allocated();
        long before = allocated();
        for (int i = 0; i < CLOSED; i++) {
            all.get(i).close(core);
        }
        long taken = allocated() - before;
        assertEquals(CLOSED / 2, closes);
        assertTrue(taken < CLOSED, () -> "to close " + CLOSED + " workers' states took " + taken + " bytes");
    }

    /** What this thread has allocated so far; to ask takes some memory too. */
    private static long allocated() throws JMException {
        return (long) ManagementFactory.getPlatformMBeanServer().invoke(new ObjectName("java.lang:type=Threading"),
                "getThreadAllocatedBytes", new Object[]{Thread.currentThread().getId()}, new String[]{"long"});
    }
}
