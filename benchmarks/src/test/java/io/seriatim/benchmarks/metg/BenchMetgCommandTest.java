package io.seriatim.benchmarks.metg;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class BenchMetgCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    private Path folder;

    private int bench(String... args) {
        return new CommandLine(new BenchMetgCommand()).setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true)).execute(args);
    }

    @Test
    void itPrintsATableForEachWidthAndWritesItsFiles() throws Exception {
        Path json = folder.resolve("metg.json");
        Path svg = folder.resolve("metg.svg");
        assertEquals(0,
                bench("--quick", "--seconds", "0.001", "--workers", "1", "--pattern", "tree,stencil", "--system",
                        "forkjoin,seriatim", "--json", json.toString(), "--svg", svg.toString()),
                err::toString);
        for (String text : List.of("1 thread that runs tasks, steps of 1 task a thread", "steps of 8 tasks a thread",
                "stencil 1D", "tree", "Seriatim: the pushing thread is an additional one",
                "ForkJoin: the pushing thread is one of these threads", "geometric mean")) {
            assertTrue(out.toString().contains(text), () -> text + " is missing in\n" + out);
        }
        assertTrue(Files.readString(json).contains("\"cores\": "));
        assertTrue(Files.readString(svg).startsWith("<svg "));
    }

    /** No such compiler is installed. */
    @Test
    void aMissingPeerIsSkippedWithAMessage() {
        assertEquals(0, bench("--quick", "--seconds", "0.001", "--workers", "1", "--pattern", "trivial", "--system",
                "seriatim,taskflow", "--taskflow", folder.toString()), err::toString);
        assertTrue(err.toString().contains("taskflow is not compared: "), err::toString);
        assertTrue(out.toString().contains("trivial"), out::toString);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|',
            textBlock = """
                    --pattern | fan | --pattern must be of trivial, no-communication, stencil, periodic-stencil, nearest, spread, four-nearest, fft, tree, all-to-all, random-nearest, load-imbalance, but is 'fan'
                    --system | tbb | --system must be of seriatim, seriatim-graph, futures, forkjoin, openmp, taskflow, taskflow-graph, but is 'tbb'
                    --workers | 0 | --workers must be at least 1, but is 0
                    --reps | 0 | --reps must be at least 1, but is 0
                    --seconds | 0 | --seconds must be above 0, but is 0.0
                    """)
    void aWrongValueIsAUsageError(String option, String value, String message) {
        assertEquals(2, bench(option, value));
        assertTrue(err.toString().startsWith(message), err::toString);
    }
}
