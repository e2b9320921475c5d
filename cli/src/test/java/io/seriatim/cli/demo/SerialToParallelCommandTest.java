package io.seriatim.cli.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class SerialToParallelCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    private Path folder;

    private int demo(String... args) {
        return new CommandLine(SerialToParallelCommand.class).setOut(new PrintWriter(out)).setErr(new PrintWriter(err))
                .execute(args);
    }

    private List<Path> left() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        }
    }

    @Test
    void itTellsThatTheResultIsTheSame() {
        assertEquals(0, demo("--limit", "1", "--runs", "2", "--threads", "2"), err::toString);
        assertTrue(out.toString().contains("the same, byte for byte"), out::toString);
        assertTrue(out.toString().contains("speed-up"), out::toString);
        assertTrue(err.toString().contains("run 2 of 2"), err::toString);
        assertTrue(out.toString().lines().allMatch(line -> line.length() <= 90), out::toString);
    }

    @Test
    void theTraceHoldsEveryStepOfOneRun() throws IOException {
        Path trace = folder.resolve("trace.json");
        Files.writeString(trace, "an older one");
        assertEquals(0, demo("--limit", "1", "--runs", "1", "--threads", "2", "--trace", trace.toString()),
                err::toString);
        assertEquals(List.of(trace), left());
        String json = Files.readString(trace);
        int groups = ClassFiles.groups(1_000_000).size();
        for (String step : List.of("read", "hash", "list", "compress", "append", "index", "merge")) {
            assertEquals(groups, json.split("\"name\":\"" + step + "\"", -1).length - 1, step);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            --limit -3    | --limit must be at least 1, but is -3
            --limit 0     | --limit must be at least 1, but is 0
            --limit some  | Invalid value for option '--limit': 'some' is not an int
            --threads 0   | --threads must be at least 1, but is 0
            --runs 0      | --runs must be at least 1, but is 0
            """)
    void wrongNumbersAreRefused(String args, String message) {
        assertEquals(2, demo(args.split(" ")));
        assertTrue(err.toString().startsWith(message), err::toString);
        assertEquals("", out.toString());
    }

    @Test
    void aTraceThatCannotBeWrittenIsRefusedBeforeTheRun() throws IOException {
        refuseTrace(folder.resolve("none").resolve("t.json"), "--trace must be a file in a folder that exists");
        refuseTrace(folder, "--trace must be a file in a folder that exists");
        // Invalid in every file system, for any user.
        refuseTrace(folder.resolve("x".repeat(300)), "--trace must be a file that can be written");
        assertEquals(List.of(), left());
    }

    private void refuseTrace(Path file, String message) {
        err.getBuffer().setLength(0);
        assertEquals(2, demo("--trace", file.toString()));
        assertTrue(err.toString().startsWith(message), err::toString);
        assertEquals("", out.toString());
    }

    @Test
    void progressIsRemovedFromATerminalAndPlainElsewhere() {
        try (Progress progress = new Progress(new PrintWriter(out), true)) {
            progress.show("warming up");
            progress.show("run 1");
        }
        assertEquals("\rwarming up\rrun 1     \r     \r", out.toString());
        try (Progress progress = new Progress(new PrintWriter(err), false)) {
            progress.show("run 1");
        }
        assertFalse(err.toString().contains("\r"));
    }
}
