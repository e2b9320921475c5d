package io.seriatim.cli.bench.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class BenchTrainCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int bench(String... args) {
        return new CommandLine(new BenchTrainCommand()).setCaseInsensitiveEnumValuesAllowed(true).setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true)).execute(args);
    }

    @Test
    void stepsAndCallsAreMeasuredInProcessesOfTheirOwn() {
        assertEquals(0, bench("--quick", "--work", "t1,t7"), err::toString);
        List<Figures> figures = Figures.parse(out.toString());
        assertEquals(List.of("mlp", "chain1000"), figures.stream().map(each -> each.text("work")).toList(), out::toString);
        assertEquals(List.of("lib", "work", "threads", "rss_mb", "first_step_s", "median_ms", "min_ms", "first_loss", "last_loss",
                "limit_share", "peak_gflops", "arena_mb"), keysWithMemory(figures.getFirst()), out::toString);
        assertTrue(figures.getFirst().number("last_loss").orElseThrow() < figures.getFirst().number("first_loss").orElseThrow(),
                out::toString);
        assertTrue(figures.getFirst().number("limit_share").orElseThrow() > 0, out::toString);
        assertTrue(figures.getLast().number("ns_per_op").orElseThrow() > 0, out::toString);
    }

    /** The system need not tell how much memory a process has. */
    private static List<String> keysWithMemory(Figures figures) {
        List<String> keys = new ArrayList<>(figures.keys().toList());
        if (!keys.contains("rss_mb")) {
            keys.add(3, "rss_mb");
        }
        return keys;
    }

    @Test
    void aPeerThatCannotBeRunIsALineOnly(@TempDir Path folder) throws IOException {
        Files.createDirectory(folder.resolve("python"));
        assertEquals(0, bench("--quick", "--work", "T7", "--peers", folder.toString()), err::toString);
        assertTrue(err.toString().startsWith("torch: chain1000 is left out: "), err::toString);
        assertEquals(1, out.toString().lines().count(), out::toString);
    }

    @Test
    void aWrongValueIsAUsageError() {
        assertEquals(2, bench("--threads", "0"));
        assertTrue(err.toString().startsWith("--threads must be at least 1, but is 0"), err::toString);
        assertEquals(2, bench("--work", "T9"));
        assertTrue(err.toString().contains("'T9'"), err::toString);
    }
}
