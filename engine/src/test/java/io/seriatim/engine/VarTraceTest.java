package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tracing one variable. */
@EveryEngine
class VarTraceTest extends EngineContract {
    private final List<VarEvent> events = Collections.synchronizedList(new ArrayList<>());

    private List<String> told(int count) {
        TestSupport.eventually(() -> events.size() >= count, () -> events.size() + " of " + count + ": " + events);
        return List.copyOf(events).stream().map(event -> event.kind() + " " + event.operation() + " " + event.version())
                .toList();
    }

    @Test
    void theEventsOfOneVariableInItsOrder() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        Var other = engine.newVar("other");
        engine.trace(v, events::add);
        engine.op("w").mutates(v, other).push(TestSupport.nothing());
        engine.op("unrelated").mutates(other).push(TestSupport.nothing());
        engine.op("r").reads(v).push(TestSupport.nothing());
        engine.op("o").overwrites(v).push(TestSupport.nothing());
        engine.waitToWrite(v);
        assertEquals(
                List.of("MUTATE_READY w 0", "MUTATED w 1", "READ_READY r 1", "READ_ENDED r 1", "MUTATE_READY o 1",
                        "MUTATED o 2"),
                told(6));
        long before = Long.MIN_VALUE;
        for (VarEvent event : events) {
            assertSame(v, event.var());
            assertTrue(before == Long.MIN_VALUE || event.nanos() - before >= 0, () -> "times go on: " + events);
            before = event.nanos();
        }
    }

    @Test
    void poisonClearingAndDelete() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        engine.trace(v, events::add);
        engine.op("fails").mutates(v).push(TestSupport.failing(new Planted("planted")));
        engine.clearFailure(v);
        engine.op("well").mutates(v).push(TestSupport.nothing());
        engine.waitToRead(v);
        engine.delete(v);
        TestSupport.eventually(() -> engine.stats().pending() == 0 || kind == EngineUnderTest.SHUFFLED,
                () -> "pending " + engine.stats());
        engine.close();
        List<String> kinds = told(6).stream().map(line -> line.substring(0, line.indexOf(' ')))
                .filter(kind -> !kind.endsWith("READY"))
                .toList();
        assertEquals(List.of("POISONED", "CLEARED", "MUTATED", "DELETED"), kinds);
    }

    @Test
    void waitsAreNoEvents() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        engine.trace(v, events::add);
        engine.waitToRead(v);
        engine.waitToWrite(v);
        engine.op("r").reads(v).push(TestSupport.nothing());
        engine.waitToWrite(v);
        assertEquals(List.of("READ_READY r 0", "READ_ENDED r 0"), told(2));
    }

    @Test
    void aListenerReplacesAnEarlierOneAndMayThrow() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        engine.trace(v, event -> {
            throw new Planted("listener");
        });
        engine.op("one").mutates(v).push(TestSupport.nothing());
        engine.waitToRead(v);
        TestSupport.eventually(() -> unhandled(engine).size() == 2, () -> "told " + unhandled(engine));
        engine.trace(v, events::add);
        engine.op("two").mutates(v).push(TestSupport.nothing());
        engine.waitToRead(v);
        assertEquals(List.of("MUTATE_READY two 1", "MUTATED two 2"), told(2));
        assertFalse(unhandled(engine).isEmpty());
    }

    @Test
    void manyEventsAreToldOneByOneInOrder() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        engine.trace(v, events::add);
        for (int i = 0; i < 500; i++) {
            engine.op("w").mutates(v).push(TestSupport.nothing());
            engine.op("r").reads(v).push(TestSupport.nothing());
            engine.op("r").reads(v).push(TestSupport.nothing());
        }
        engine.waitToWrite(v);
        told(3_000);
        List<Long> mutated = events.stream().filter(event -> event.kind() == VarEvent.Kind.MUTATED)
                .map(VarEvent::version).toList();
        assertEquals(mutated.stream().sorted().toList(), mutated);
        assertEquals(500, mutated.size());
        assertEquals(500L, mutated.get(499));
    }
}
