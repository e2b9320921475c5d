package io.seriatim.benchmarks.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class BenchEngineCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int bench(String... args) {
        return new CommandLine(new BenchEngineCommand()).setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .execute(args);
    }

    private int few(String... more) {
        List<String> args = new ArrayList<>(List.of("--ops", "400", "--reps", "1", "--warmup", "0", "--skip-peers"));
        args.addAll(List.of(more));
        return bench(args.toArray(String[]::new));
    }

    @Test
    void theRaceShowsEveryContenderAndWorkload() {
        assertEquals(0, few("--pushers", "1,2"), err::toString);
        for (String text : List.of("chain", "independent", "random", "fan", "wavefront", "serial loop",
                "seriatim, 1 worker",
                "seriatim, 2 workers", "CompletableFuture, 2 workers", "÷ CompletableFuture, 1 worker",
                "1 pushing thread:",
                "2 pushing threads:")) {
            assertTrue(out.toString().contains(text), () -> text + " is missing in\n" + out);
        }
    }

    @Test
    void workloadsAndEnginesAreChosen() {
        assertEquals(0,
                few("--workload", "fan", "--engine", "naive,pooled", "--workers", "1", "--pushers", "1", "--markdown"),
                err::toString);
        assertTrue(out.toString().contains("| seriatim naive "), out::toString);
        assertTrue(out.toString().contains("| seriatim pooled, 1 worker "), out::toString);
        assertTrue(out.toString().contains(" fan |"), out::toString);
        assertFalse(out.toString().contains("chain"), out::toString);
    }

    @Test
    void theOtherTablesArePrintedInsteadOfTheRace() {
        assertEquals(0, few("--memory", "--recorder", "--speedup", "--workload", "random"), err::toString);
        for (String text : List.of("Memory: 400 pending", "3 mutations", "Recorder, 2 workers", "aggregate table",
                "Speed-up against the serial loop")) {
            assertTrue(out.toString().contains(text), () -> text + " is missing in\n" + out);
        }
        assertFalse(out.toString().contains("pushing thread"), out::toString);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            --ops | 0 | --ops must be at least 1, but is 0
            --ops | 3 | --ops must be at least the number of pushing threads, 4, but is 3
            --spin | -1 | --spin must be at least 0, but is -1
            --workers | 1,0 | --workers must be at least 1, but is 0
            --pushers | 0 | --pushers must be at least 1, but is 0
            --reps | 0 | --reps must be at least 1, but is 0
            --warmup | -2 | --warmup must be at least 0, but is -2
            --peer-reps | 0 | --peer-reps must be at least 1, but is 0
            --workload | tree | --workload must be of chain, independent, random, fan, wavefront, but is 'tree'
            """)
    void aWrongValueIsAUsageError(String option, String value, String message) {
        assertEquals(2, bench(option, value));
        assertTrue(err.toString().startsWith(message), err::toString);
    }
}
