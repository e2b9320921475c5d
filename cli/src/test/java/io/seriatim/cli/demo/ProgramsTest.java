package io.seriatim.cli.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.engine.Engine;
import io.seriatim.engine.Recorder;
import io.seriatim.engine.Recorder.OpRecord;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class ProgramsTest {
    private static final long LIMIT = 400_000;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int demo(String... args) {
        return new CommandLine(SerialToParallelCommand.class).setOut(new PrintWriter(out)).setErr(new PrintWriter(err)).execute(args);
    }

    @Test
    void everyEngineMakesWhatTheLoopMakes() throws Exception {
        List<Group> groups = ClassFiles.groups(LIMIT);
        Result expected = SerialProgram.run(groups);
        for (Engine.Builder builder : List.of(Engine.builder().pooled(2), Engine.builder().shuffled(7), Engine.builder().naive())) {
            try (Engine engine = builder.build()) {
                assertTrue(EngineProgram.run(engine, groups).isSameAs(expected));
            }
        }
    }

    @Test
    void anotherOrderIsAnotherResult() throws Exception {
        List<Group> groups = ClassFiles.groups(LIMIT);
        assertTrue(groups.size() > 1, "needs two groups");
        assertFalse(SerialProgram.run(groups.reversed()).isSameAs(SerialProgram.run(groups)));
    }

    @Test
    void theMentionsOfAClassAreItsConstants() throws Exception {
        Path file = Path.of(java.net.URI.create("jrt:/java.base/java/lang/Object.class"));
        assertTrue(Steps.mentions(List.of(Files.readAllBytes(file))).containsKey("java/lang/Object"));
    }

    @Test
    void theCommandTellsThatTheResultIsTheSame(@TempDir Path folder) throws Exception {
        Path trace = folder.resolve("trace.json");
        assertEquals(0, demo("--limit", "1", "--runs", "1", "--threads", "2", "--trace", trace.toString()), err::toString);
        assertTrue(out.toString().contains("the same, byte for byte"), out.toString());
        assertTrue(Files.readString(trace).contains("\"compress\""));
    }

    @Test
    void wrongOptionsAreRefused(@TempDir Path folder) {
        assertEquals(2, demo("--limit", "0"));
        assertTrue(err.toString().contains("--limit must be at least 1, but is 0"), err.toString());
        assertEquals(2, demo("--threads", "-1"));
        assertTrue(err.toString().contains("--threads must be at least 1, but is -1"), err.toString());
        assertEquals(2, demo("--trace", folder.resolve("none").resolve("t.json").toString()));
        assertTrue(err.toString().contains("a folder that exists"), err.toString());
    }

    @Test
    void theTimelineShowsTheLongestStepOfEachColumn() {
        Timeline timeline = new Timeline();
        timeline.ended(record("compress", "w-0", 0, 50));
        timeline.ended(record("append", "w-0", 50, 100));
        timeline.ended(record("read", "w-1", 80, 100));
        assertEquals(List.of("w-0              CCCCCaaaaa", "w-1              ........RR"), timeline.lines(10).subList(0, 2));
    }

    private static OpRecord record(String name, String thread, long started, long ended) {
        return new OpRecord(name, io.seriatim.engine.OpKind.NORMAL, io.seriatim.engine.Lane.CPU, thread, 0, 0, 0, started, ended,
                Recorder.Outcome.COMPLETED);
    }
}
