package io.seriatim.benchmarks.serve;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class BenchServeCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int bench(String... args) {
        return new CommandLine(new BenchServeCommand()).setCaseInsensitiveEnumValuesAllowed(true)
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true)).execute(args);
    }

    @Test
    void eachNumberOfClientsHasARow() {
        assertEquals(0, bench("--quick", "--work", "t1,t2", "--clients", "1,3", "--rounds", "1"), err::toString);
        assertEquals(4,
                out.toString().lines().filter(line -> line.matches("\\| T[12] +\\| +[13] \\| +[\\d,]+ \\|.*")).count(),
                out::toString);
    }

    @Test
    void joinedRequestsStandBesideThoseThatAreNot() {
        assertEquals(0, bench("--quick", "--work", "t1", "--clients", "3", "--rounds", "1", "--batch", "4"),
                err::toString);
        assertTrue(out.toString().contains("one by one, 1/s"), out::toString);
        assertEquals(1,
                out.toString().lines()
                        .filter(line -> line.matches("\\| T1 +\\| +3 \\| +[\\d,]+ \\| +[\\d,]+ \\| +[\\d.]+ \\|.*"))
                        .count(),
                out::toString);
    }

    @Test
    void aWrongValueIsAUsageError() {
        assertEquals(2, bench("--clients", "0"));
        assertEquals(2, bench("--rounds", "0"));
        assertEquals(2, bench("--batch", "-1"));
        assertEquals(2, bench("--seconds", "0"));
        assertTrue(err.toString().contains("--seconds must be more than nothing, but is 0.0"), err::toString);
    }
}
