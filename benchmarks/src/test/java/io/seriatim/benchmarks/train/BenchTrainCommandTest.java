package io.seriatim.benchmarks.train;

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
        return new CommandLine(new BenchTrainCommand()).setCaseInsensitiveEnumValuesAllowed(true)
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true)).execute(args);
    }

    @Test
    void stepsAndCallsAreMeasuredInProcessesOfTheirOwn() {
        assertEquals(0, bench("--quick", "--work", "t1,t7"), err::toString);
        List<Figures> figures = Figures.parse(out.toString());
        assertEquals(List.of("mlp", "chain1000"), figures.stream().map(each -> each.text("work")).toList(),
                out::toString);
        assertEquals(
                List.of("lib", "work", "threads", "rss_mb", "first_step_s", "median_ms", "min_ms", "first_loss",
                        "last_loss",
                        "kernels_ms", "waiting_ms", "idle_ms", "limit_share", "peak_gflops", "arena_mb"),
                keysWithMemory(figures.getFirst()),
                out::toString);
        assertTrue(
                figures.getFirst().number("last_loss").orElseThrow() < figures.getFirst().number("first_loss")
                        .orElseThrow(),
                out::toString);
        assertTrue(figures.getFirst().number("limit_share").orElseThrow() > 0, out::toString);
        assertTrue(figures.getLast().number("ns_per_op").orElseThrow() > 0, out::toString);
    }

    /** Some systems do not report the memory of a process. */
    private static List<String> keysWithMemory(Figures figures) {
        List<String> keys = new ArrayList<>(figures.keys().toList());
        if (!keys.contains("rss_mb")) {
            keys.add(3, "rss_mb");
        }
        return keys;
    }

    @Test
    void aPeerThatCannotBeRunIsALineOnly(@TempDir Path folder) throws IOException {
        Files.writeString(Files.createDirectory(folder.resolve("python")).resolve("torch_bench.py"), "");
        Files.writeString(Files.createDirectory(folder.resolve("jvm")).resolve("run.sh"), "exit 3");
        assertEquals(0, bench("--quick", "--work", "T7", "--rounds", "2", "--peers", folder.toString()), err::toString);
        assertTrue(err.toString().startsWith("torch"), err::toString);
        assertEquals(2, out.toString().lines().filter(line -> line.startsWith("{")).count(), out::toString);
        assertTrue(out.toString().lines().anyMatch(line -> line.startsWith("| chain1000 |")), out::toString);
    }

    @Test
    void theSettingReachesTheProcess() {
        assertEquals(0, bench("--quick", "--work", "T1", "--precision", "bf16", "--without", "EPILOGUES,chains"),
                err::toString);
        Figures figures = Figures.parse(out.toString()).getFirst();
        assertEquals("bf16", figures.text("precision"));
        assertEquals("EPILOGUES,CHAINS", figures.text("without"));
    }

    @Test
    void aWrongValueIsAUsageError() {
        assertEquals(2, bench("--threads", "0"));
        assertTrue(err.toString().startsWith("--threads must be at least 1, but is 0"), err::toString);
        assertEquals(2, bench("--work", "T9"));
        assertTrue(err.toString().contains("'T9'"), err::toString);
        assertEquals(2, bench("--rounds", "0"));
        assertEquals(2, bench("--without", "NOTHING"));
        assertEquals(2, bench("--precision", "bf16", "--work", "T5"));
        assertTrue(err.toString().contains("--precision bf16 is for works that train, but --work names T5"),
                err::toString);
    }
}
