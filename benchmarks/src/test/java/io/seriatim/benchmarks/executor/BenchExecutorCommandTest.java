package io.seriatim.benchmarks.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class BenchExecutorCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int bench(String... args) {
        return new CommandLine(new BenchExecutorCommand()).setCaseInsensitiveEnumValuesAllowed(true)
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true)).execute(args);
    }

    @Test
    void oneTableAlone() {
        assertEquals(0, bench("--quick", "--rounds", "1", "--only", "overhead", "--markdown"), err::toString);
        for (String text : List.of("1,000 operations of 16 floats, 1 round", "| chain ", "| fan ", "| random ",
                "Goals: at most 100 ns")) {
            assertTrue(out.toString().contains(text), () -> text + " is missing in\n" + out);
        }
        assertFalse(out.toString().contains("ResNet"), out::toString);
    }

    @Test
    void aWrongValueIsAUsageError() {
        assertEquals(2, bench("--rounds", "0"));
        assertTrue(err.toString().startsWith("--rounds must be at least 1, but is 0"), err::toString);
        assertEquals(2, bench("--only", "everything"));
        assertTrue(err.toString().contains("'everything'"), err::toString);
    }
}
