package io.seriatim.executor.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests recordings with given times, for which all figures of the report are known. */
class RunTraceTest {
    @TempDir
    private Path folder = Path.of("");

    /** Returns a plan of a, then b and c in parallel, then d, which waits for both. */
    private static TracedPlan diamond(String name) {
        return new TracedPlan(name,
                List.of(instruction("a"), instruction("b", 0), instruction("c", 0), instruction("d", 1, 2)),
                List.of(new TracedPlan.Value("a", 1000, 0, List.of(1, 2), false),
                        new TracedPlan.Value("b", 500, 1, List.of(3), false)),
                1500, 10);
    }

    private static TracedPlan.Instruction instruction(String name, Integer... dependencies) {
        return new TracedPlan.Instruction(name, "type_" + name, "portable", "cpu", -1, List.of(dependencies));
    }

    private static RunLog run(RunRecorder recorder, TracedPlan plan) {
        RunLog log = recorder.begin(plan);
        int lane = log.thread("cpu");
        // The first thread runs a from 1,000 to 1,100 and b to 1,300, and is idle to 1,350 although c is ready.
        log.started(0, lane, 1_000_000_000_000L);
        log.ended(0, 1_000_000_000_100L);
        log.started(1, lane, 1_000_000_000_100L);
        log.ended(1, 1_000_000_000_300L);
        log.started(2, lane, 1_000_000_000_350L);
        log.ended(2, 1_000_000_000_400L);
        log.started(3, lane, 1_000_000_000_400L);
        log.ended(3, 1_000_000_000_500L);
        log.end(1_000_000_000_600L);
        return log;
    }

    @Test
    void whatIsReadyAndNotStartedIsTold() {
        RunRecorder recorder = new RunRecorder();
        run(recorder, diamond("p"));
        RunTrace.Run run = recorder.trace().runs().getFirst();
        assertEquals(List.of(100L, 200L, 50L, 100L), run.spans().stream().map(RunTrace.Span::duration).toList());
        assertEquals(1_000_000_000_100L, run.spans().get(2).ready(), "c is ready when a has ended");
        assertEquals(1_000_000_000_400L, run.spans().get(3).ready(), "d is ready when b and c have ended");
        CriticalPath path = CriticalPath.of(run);
        assertEquals(400, path.length());
        assertEquals(List.of(0, 1, 3), path.spans().stream().map(RunTrace.Span::instruction).toList());
        Idleness idleness = Idleness.of(run, Slice.of(run), recorder.trace().lanes()).getFirst();
        assertEquals(450, idleness.busy().length());
        assertEquals(100, idleness.dependency().length(), "after the last, nothing is ready");
        assertEquals(50, idleness.queue().length() - queueBeforeTheFirst(run), "between b and c, and before a");
    }

    /** Returns the queue time before a, which is ready from the beginning. */
    private static long queueBeforeTheFirst(RunTrace.Run run) {
        return run.spans().getFirst().started() - run.started();
    }

    @Test
    void partsOfTheTimeAmountToTheRun() {
        RunRecorder recorder = new RunRecorder();
        run(recorder, diamond("p"));
        RunTrace trace = recorder.trace();
        RunTrace.Run run = trace.runs().getFirst();
        TimeShares one = trace.shares(run, 1);
        assertEquals(450, one.busy());
        assertEquals((double) run.duration(), one.busy() + one.waiting() + one.idle());
        TimeShares two = trace.shares(run, 2);
        assertEquals(225, two.busy(), "the second thread took no part");
        assertEquals((double) run.duration(), two.busy() + two.waiting() + two.idle());
    }

    @Test
    void filesAreWholeAndNamesAreNoMarkup() throws IOException {
        RunRecorder recorder = new RunRecorder().note("Threads", "<1>");
        run(recorder, diamond("</script><b onload=\"x\">&"));
        Path trace = folder.resolve("t.json");
        Path report = folder.resolve("r.html");
        recorder.trace().writeTrace(trace);
        recorder.trace().writeReport(report);
        String json = Files.readString(trace);
        assertTrue(json.contains("type_b") && json.strip().endsWith("}"), json);
        assertEquals(count(json, '{'), count(json, '}'), "objects are closed");
        assertEquals(count(json, '['), count(json, ']'), "lists are closed");
        String html = Files.readString(report);
        assertFalse(html.contains("<b onload"), "names are no markup");
        assertFalse(html.contains("http://") && !html.contains("http://www.w3.org"), "nothing comes from elsewhere");
        assertTrue(html.contains("&lt;1&gt;") && html.contains("type_b"), "what was recorded is shown");
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(2, files.count(), "nothing temporary is left");
        }
    }

    private static long count(String text, char character) {
        return text.chars().filter(each -> each == character).count();
    }

    @Test
    void theLatestRunsAreKept() {
        RunRecorder recorder = new RunRecorder(9);
        TracedPlan plan = diamond("p");
        for (int i = 0; i < 5; i++) {
            run(recorder, plan);
        }
        RunTrace trace = recorder.trace();
        assertEquals(List.of(3L, 4L), trace.runs().stream().map(RunTrace.Run::number).toList());
        assertEquals(3, trace.runsLeftOut());
        assertThrows(IllegalArgumentException.class, () -> new RunRecorder(0));
    }

    @Test
    void runsOfManyThreadsAreNotMixed() throws InterruptedException {
        RunRecorder recorder = new RunRecorder();
        TracedPlan plan = diamond("p");
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            threads.add(Thread.ofPlatform().name("runner " + t).start(() -> {
                for (int i = 0; i < 200; i++) {
                    run(recorder, plan);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        RunTrace trace = recorder.trace();
        assertEquals(800, trace.runs().size());
        assertEquals(4, trace.lanes().size());
        assertTrue(trace.runs().stream().allMatch(run -> run.spans().size() == 4 && run.lanes().size() == 1
                && run.spans().stream().allMatch(span -> span.completed() && span.lane() == run.lanes().getFirst())));
        assertEquals(800, trace.runs().stream().map(RunTrace.Run::number).distinct().count());
    }
}
