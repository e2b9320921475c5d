package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The records that a recorder receives. */
@EveryEngine
class RecorderTest extends EngineContract {
    private final Queue<Recorder.OpRecord> records = new ConcurrentLinkedQueue<>();

    /**
     * Returns all records by name. A recorder is called just after the end of an operation, so this method may have to
     * wait.
     */
    private Map<String, Recorder.OpRecord> byName(int count) {
        TestSupport.eventually(() -> records.size() >= count, () -> records.size() + " of " + count + " records");
        assertEquals(count, records.size());
        return records.stream().collect(Collectors.toMap(Recorder.OpRecord::name, Function.identity()));
    }

    @Test
    void everyOperationIsRecordedOnceWithItsTimesInOrder() throws Exception {
        Engine engine = open(builder -> builder.recorder(records::add));
        Var v = engine.newVar("v");
        for (int i = 0; i < 100; i++) {
            engine.op("op" + i).mutates(v).push(() -> TestSupport.spin(10_000));
        }
        engine.waitForAll();
        Recorder.OpRecord last = null;
        for (Recorder.OpRecord op : byName(100).values()) {
            assertTrue(op.pushed() <= op.ready() && op.ready() <= op.started() && op.started() <= op.ended(),
                    op::toString);
            assertTrue(op.ended() - op.started() >= 10_000, op::toString);
            assertEquals(Recorder.Outcome.COMPLETED, op.outcome());
            assertEquals(OpKind.NORMAL, op.kind());
            assertEquals(Lane.CPU, op.lane());
            assertFalse(op.thread().isEmpty());
        }
        for (int i = 0; i < 100; i++) {
            Recorder.OpRecord op = byName(100).get("op" + i);
            Recorder.OpRecord before = last;
            assertTrue(op != null && (before == null || before.ended() <= op.started()), "mutations do not overlap");
            last = op;
        }
    }

    @Test
    void dependencyWaitAndQueueWaitAreSeenApart() throws Exception {
        Engine engine = open(builder -> builder.recorder(records::add));
        Var v = engine.newVar("v");
        engine.op("long").mutates(v).push(() -> {
            engine.op("depends").reads(v).push(TestSupport.nothing());
            engine.op("depends not").push(TestSupport.nothing());
            TestSupport.spin(3_000_000);
        });
        engine.waitForAll();
        engine.waitForAll();
        Map<String, Recorder.OpRecord> told = byName(3);
        Recorder.OpRecord holder = told.get("long");
        Recorder.OpRecord depends = told.get("depends");
        Recorder.OpRecord independent = told.get("depends not");
        assertTrue(holder != null && depends != null && depends.ready() >= holder.ended(), told::toString);
        assertTrue(depends != null && depends.ready() - depends.pushed() >= 2_000_000, told::toString);
        assertTrue(holder != null && independent != null && independent.ready() <= independent.started(),
                told::toString);
    }

    @Test
    void outcomesAreTold() throws Exception {
        Engine engine = open(builder -> builder.recorder(records::add));
        Var v = engine.newVar("v");
        engine.op("fails").mutates(v).push(TestSupport.failing(new Planted("planted")));
        engine.op("skipped").reads(v).kind(OpKind.COPY_IN).push(TestSupport.nothing());
        engine.op("heals").overwrites(v).on(Lane.of("sim:0")).pushAsync(Completion::complete);
        assertThrows(OperationFailedException.class, engine::waitForAll);
        Map<String, Recorder.Outcome> outcomes = byName(3).values().stream()
                .collect(Collectors.toMap(Recorder.OpRecord::name, Recorder.OpRecord::outcome));
        assertEquals(
                Map.of("fails", Recorder.Outcome.FAILED, "skipped", Recorder.Outcome.SKIPPED, "heals",
                        Recorder.Outcome.COMPLETED),
                outcomes);
        Recorder.OpRecord healing = byName(3).get("heals");
        assertTrue(healing != null && healing.lane().equals(Lane.of("sim:0")));
        Recorder.OpRecord skipped = byName(3).get("skipped");
        assertTrue(skipped != null && skipped.kind() == OpKind.COPY_IN && skipped.started() == skipped.ended(),
                () -> "" + skipped);
    }

    @Test
    void recordingStartsAndStopsOnARunningEngine() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        engine.op("before").mutates(v).push(TestSupport.nothing());
        engine.waitForAll();
        engine.record(records::add);
        engine.op("during").mutates(v).push(TestSupport.nothing());
        engine.op("left out").mutates(v).recorded(false).push(TestSupport.nothing());
        engine.op("left in").mutates(v).recorded(false).recorded(true).push(TestSupport.nothing());
        engine.waitForAll();
        engine.record(null);
        engine.op("after").mutates(v).push(TestSupport.nothing());
        engine.waitForAll();
        assertEquals(List.of("during", "left in"), byName(2).keySet().stream().sorted().toList());
    }

    @Test
    void whatARecorderThrowsGoesToTheHandler() throws Exception {
        Engine engine = open();
        Planted planted = new Planted("recorder");
        engine.record(op -> {
            throw planted;
        });
        Var v = engine.newVar("v");
        for (int i = 0; i < 10; i++) {
            engine.op("op").mutates(v).push(TestSupport.nothing());
        }
        engine.waitForAll();
        assertEquals(10, v.version());
        engine.close();
        TestSupport.eventually(() -> unhandled(engine).size() == 10, () -> "handler was told " + unhandled(engine));
        assertTrue(unhandled(engine).stream().allMatch(planted::equals));
    }

    @Test
    void aRecorderMayUseTheEngine() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        engine.record(op -> {
            records.add(op);
            engine.stats();
            engine.snapshot();
            if (records.size() < 5) {
                engine.op("again" + records.size()).mutates(v).push(TestSupport.nothing());
            }
        });
        engine.op("first").mutates(v).push(TestSupport.nothing());
        TestSupport.eventually(() -> {
            try {
                engine.waitForAll();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            return records.size() == 5;
        }, () -> "records " + records.size());
    }
}
