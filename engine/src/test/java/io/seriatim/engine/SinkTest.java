package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The three implementations of a recorder. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class SinkTest {
    private static final int OPERATIONS = 200;
    private static final Lane COPY = new Lane("sim:0", Lane.Queue.COPY);

    private final OpenEngines engines = new OpenEngines();

    @AfterEach
    void closeAndCheck() throws Exception {
        engines.closeAndCheck();
    }

    /** Runs operations with three names and outcomes; when it returns, the recorder has received all of them. */
    private void work(Recorder recorder) throws Exception {
        Engine engine = engines.open(Engine.builder().pooled(2).recorder(recorder));
        Var v = engine.newVar("v");
        Var bad = engine.newVar("bad");
        for (int i = 0; i < OPERATIONS; i++) {
            engine.op("step \"quoted\" \\ \n ü").mutates(v).push(() -> TestSupport.spin(1_000));
            engine.op("copy").reads(v).on(COPY).push(TestSupport.nothing());
        }
        engine.op("fails").mutates(bad).push(TestSupport.failing(new Planted("planted")));
        engine.op("skipped").reads(bad).push(TestSupport.nothing());
        engine.close();
    }

    @Test
    void flightRecorderEvents(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("events.jfr");
        try (Recording recording = new Recording()) {
            recording.enable("io.seriatim.Operation").withoutThreshold();
            recording.start();
            work(Recorder.jfr());
            recording.stop();
            recording.dump(file);
        }
        List<RecordedEvent> events = RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().equals("io.seriatim.Operation")).toList();
        assertEquals(2 * OPERATIONS + 2, events.size());
        Map<String, Long> outcomes = events.stream()
                .collect(Collectors.groupingBy(event -> event.getString("outcome"), Collectors.counting()));
        assertEquals(Map.of("COMPLETED", 2L * OPERATIONS, "FAILED", 1L, "SKIPPED", 1L), outcomes);
        RecordedEvent step = events.stream().filter(event -> event.getString("name").startsWith("step")).findFirst()
                .orElseThrow();
        assertTrue(step.getDuration("runTime").toNanos() >= 1_000, step::toString);
        assertFalse(step.getDuration("dependencyWait").isNegative());
        assertFalse(step.getDuration("queueWait").isNegative());
        RecordedEvent copy = events.stream().filter(event -> event.getString("name").equals("copy")).findFirst()
                .orElseThrow();
        assertTrue(copy.getString("lane").contains("sim:0"), copy::toString);
    }

    @Test
    void aTraceThatPerfettoOpens(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("trace.json");
        TraceFile trace = Recorder.trace(file);
        work(trace);
        assertFalse(Files.exists(file), "it comes into place when it is complete");
        trace.close();
        trace.close();
        Map<?, ?> root = (Map<?, ?>) Json.parse(Files.readString(file, StandardCharsets.UTF_8));
        List<?> events = (List<?>) Json.member(root, "traceEvents");
        List<Map<?, ?>> slices = phase(events, "X");
        assertEquals(2 * OPERATIONS + 2, slices.size());
        for (Map<?, ?> slice : slices) {
            assertTrue((Double) Json.member(slice, "dur") >= 0, slice::toString);
            assertTrue((Double) Json.member(slice, "ts") >= 0, slice::toString);
            assertTrue(Json.member(slice, "pid") instanceof Double && Json.member(slice, "tid") instanceof Double,
                    slice::toString);
            Map<?, ?> args = (Map<?, ?>) Json.member(slice, "args");
            assertTrue(args.containsKey("dependency_wait_us") && args.containsKey("queue_wait_us"), slice::toString);
        }
        assertEquals(OPERATIONS,
                slices.stream().filter(slice -> "step \"quoted\" \\ \n ü".equals(slice.get("name"))).count());
        List<Object> named = phase(events, "M").stream()
                .map(event -> Json.member((Map<?, ?>) Json.member(event, "args"), "name")).toList();
        assertTrue(named.contains("cpu") && named.contains("sim:0/copy"), named::toString);
        try (var left = Files.list(folder)) {
            assertEquals(List.of(file), left.toList());
        }
    }

    private static List<Map<?, ?>> phase(List<?> events, String phase) {
        return events.stream().<Map<?, ?>>map(event -> (Map<?, ?>) event).filter(event -> phase.equals(event.get("ph")))
                .toList();
    }

    @Test
    void aTraceOfNothingIsStillAFile(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("empty.json");
        Recorder.trace(file).close();
        assertEquals(Map.of("traceEvents", List.of()), Json.parse(Files.readString(file, StandardCharsets.UTF_8)));
    }

    @Test
    void aTraceThatCannotBeWrittenHurtsNoOperation(@TempDir Path folder) throws Exception {
        TraceFile trace = Recorder.trace(folder.resolve("missing folder").resolve("trace.json"));
        Engine engine = engines.open(Engine.builder().recorder(op -> {
            try {
                trace.ended(op);
            } catch (UncheckedIOException e) {
                throw new Planted("cannot record: " + e.getMessage());
            }
        }));
        Var v = engine.newVar("v");
        engine.op("op").mutates(v).push(TestSupport.nothing());
        engine.waitToRead(v);
        engine.close();
        TestSupport.eventually(() -> !engines.unhandled(engine).isEmpty(), () -> "the handler should be told");
        TestSupport.assertMentions(engines.unhandled(engine).element(), "missing folder");
        assertThrows(IOException.class, trace::close);
    }

    @Test
    void theAggregateTable() throws Exception {
        AggregateTable table = Recorder.aggregate();
        work(table);
        Map<String, AggregateTable.Row> rows = table.rows().stream()
                .collect(Collectors.toMap(AggregateTable.Row::name, row -> row));
        assertEquals(4, rows.size());
        AggregateTable.Row copies = rows.get("copy");
        AggregateTable.Row steps = rows.get("step");
        assertTrue(copies != null && copies.count() == OPERATIONS, () -> "" + copies);
        assertTrue(steps != null && steps.count() == OPERATIONS && steps.totalNanos() >= OPERATIONS * 1_000L,
                () -> "" + steps);
        assertTrue(steps != null && steps.p50Nanos() >= 1_000 && steps.p50Nanos() <= steps.p99Nanos(),
                () -> "" + steps);
        List<Long> totals = table.rows().stream().map(AggregateTable.Row::totalNanos).toList();
        assertEquals(totals.stream().sorted((a, b) -> Long.compare(b, a)).toList(), totals, "the greatest total first");
        assertEquals(1 + 4, table.toString().lines().count(), "a head line, and one a kind");
    }

    /** Operations are counted by kind: the given one, or the first word of the name. */
    @Test
    void theAggregateTableGroupsByKind() throws Exception {
        AggregateTable table = Recorder.aggregate();
        Engine engine = engines.open(Engine.builder().pooled(2).recorder(table));
        for (String name : List.of("read a.txt", "read b.txt", "read\tc.txt", "read", "reader", "", " ", " read")) {
            engine.op(name).push(TestSupport.nothing());
        }
        engine.op("read d.txt").kind("parse").push(TestSupport.nothing());
        engine.op("read e.txt").kind("read ").push(TestSupport.nothing());
        PreparedOp prepared = engine.op("b 1").kind("two words").kind(OpKind.COPY_IN).prepare(TestSupport.nothing());
        prepared.push();
        prepared.push(1);
        engine.op("c 1").pushAsync(Completion::complete);
        engine.op("c 2").submit(TestSupport.nothing()).get();
        engine.close();
        Map<String, Long> counts = table.rows().stream()
                .collect(Collectors.toMap(AggregateTable.Row::name, AggregateTable.Row::count));
        assertEquals(Map.of("read", 4L, "reader", 1L, "", 1L, " ", 1L, " read", 1L, "parse", 1L, "read ", 1L,
                "two words", 2L, "c", 2L), counts);
        for (String blank : List.of("", " ", "\t\n")) {
            TestSupport.assertThrowsMentioning(IllegalArgumentException.class, () -> engine.op("op").kind(blank),
                    "kind", "'op'", "blank");
        }
    }

    @Test
    void percentilesAreExactToAnEighth() {
        for (long scale : new long[]{1, 10, 1_000, 123_456, 10_000_000_000L}) {
            AggregateTable table = Recorder.aggregate();
            LongStream.rangeClosed(1, 100)
                    .forEach(i -> table.ended(
                            new Recorder.OpRecord("op", OpKind.NORMAL, Lane.CPU, "thread", 0, 0, 1, 3, 3 + i * scale,
                                    Recorder.Outcome.COMPLETED)));
            AggregateTable.Row row = table.rows().get(0);
            assertEquals(100, row.count());
            assertEquals(5_050 * scale, row.totalNanos());
            assertEquals(100, row.dependencyWaitNanos());
            assertEquals(200, row.queueWaitNanos());
            assertTrue(row.p50Nanos() >= 50 * scale && row.p50Nanos() <= 50 * scale * 9 / 8 + 1, row::toString);
            assertTrue(row.p99Nanos() >= 99 * scale && row.p99Nanos() <= 99 * scale * 9 / 8 + 1, row::toString);
        }
    }
}
