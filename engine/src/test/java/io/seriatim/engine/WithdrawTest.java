package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Waits begin and are abandoned at random in a variable's queue: the queue stays consistent, and each remaining wait
 * ends.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WithdrawTest {
    private static final int STEPS = 60;

    private final OpenEngines engines = new OpenEngines();
    private final SplittableRandom random = new SplittableRandom(EngineUnderTest.SEED);

    @AfterEach
    void closeAndCheck() throws Exception {
        engines.closeAndCheck();
    }

    private static void inRole(EngineCore core, Runnable action) {
        core.lock.enter();
        try {
            core.logReader.admitAll();
            action.run();
        } finally {
            core.lock.leave();
        }
    }

    private static Operation probe(EngineCore core, Variable v, Waiter waiter) {
        Operation probe = new Operation(core, "probe");
        probe.flags = Operation.PROBE | Operation.IMMEDIATE | Operation.SILENT | Operation.EVEN_IF_FAILED;
        probe.reads(v);
        probe.attachment = waiter;
        probe.next = new Operation[1];
        return probe;
    }

    @Test
    void whatStaysInTheQueueIsWhole() throws Exception {
        for (int round = 0; round < TestSupport.scaled(20_000, 300); round++) {
            program("round " + round + " of seed " + EngineUnderTest.SEED);
        }
    }

    private void program(String name) throws Exception {
        Engine engine = engines.open(Engine.builder().pooled(1));
        Variable v = (Variable) engine.newVar("v");
        EngineCore core = TestSupport.coreOf(engine);
        Held held = Held.push(engine.op("held").mutates(v)).untilStarted();
        List<Integer> expected = new ArrayList<>();
        List<Integer> ran = new ArrayList<>();
        List<Operation> probes = new ArrayList<>();
        List<Drain> drains = new ArrayList<>();
        List<Waiter> stay = new ArrayList<>();
        long mutations = 1;
        for (int step = 0; step < STEPS; step++) {
            int at = step;
            switch (random.nextInt(6)) {
                case 0 -> {
                    expected.add(step);
                    engine.op("reads").reads(v).push(() -> ran.add(at));
                }
                case 1 -> {
                    expected.add(step);
                    mutations++;
                    engine.op("mutates").mutates(v).push(() -> ran.add(at));
                }
                case 2 -> {
                    Waiter waiter = new Waiter();
                    Operation probe = probe(core, v, waiter);
                    inRole(core, () -> core.admit(probe));
                    probes.add(probe);
                }
                case 3 -> {
                    Drain drain = new Drain(v, new Waiter());
                    inRole(core, () -> core.drain(drain));
                    assertEquals(1 + expected.size(), drain.remaining, name);
                    drains.add(drain);
                }
                case 4 -> {
                    if (!probes.isEmpty()) {
                        Operation probe = probes.remove(random.nextInt(probes.size()));
                        inRole(core, () -> core.withdraw(probe));
                    }
                }
                default -> {
                    if (!drains.isEmpty()) {
                        Drain drain = drains.remove(random.nextInt(drains.size()));
                        inRole(core, () -> core.withdraw(drain));
                    }
                }
            }
        }
        probes.forEach(probe -> stay.add((Waiter) probe.attachment));
        drains.forEach(drain -> stay.add(drain.waiter));
        held.release();
        engine.close();
        assertEquals(expected, ran, name);
        assertEquals(mutations, v.version(), name);
        assertTrue(stay.stream().allMatch(waiter -> waiter.done), name);
        VarState s = v.state();
        assertNull(s.head, name);
        assertNull(s.tail, name);
        assertNull(s.drains, name);
        assertEquals(List.of(0, 0), List.of(s.queued, s.readers), name);
    }
}
