package io.seriatim.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** The command line finds the measurements as a service. */
class BenchCommandsTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... args) {
        return Main.run(Main.commandLine().setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true)),
                args);
    }

    @Test
    void allAreFound() {
        CommandLine bench = Objects.requireNonNull(Main.commandLine().getSubcommands().get("bench"));
        assertEquals(List.of("cluster", "engine", "executor", "kernels", "metg", "models", "serve", "train"),
                List.copyOf(bench.getSubcommands().keySet()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"bench", "bench cluster", "bench engine", "bench executor", "bench kernels", "bench metg",
            "bench models",
            "bench serve", "bench train"})
    void eachHasHelp(String command) {
        assertEquals(0, run((command + " --help").split(" ")), err::toString);
        assertTrue(out.toString().startsWith("Usage: seriatim " + command + " "), out::toString);
        assertTrue(out.toString().contains("--debug"), out::toString);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|',
            textBlock = """
                    bench | seriatim: Missing required subcommand (see 'seriatim bench --help')
                    dance | seriatim: There is no command 'dance': the commands are train, demo, bench, run, show, convert, quantize, doctor, init, completion (see 'seriatim --help')
                    bench kernel | seriatim: There is no command 'kernel': did you mean 'kernels'? (see 'seriatim bench --help')
                    bench engine --tempo | seriatim: Unknown option: '--tempo' (see 'seriatim bench engine --help')
                    bench engine --ops 0 | seriatim: --ops must be 1 or more, but is 0 (see 'seriatim bench engine --help')
                    """)
    void wrongUsageIsOneLineAndTwo(String args, String line) {
        assertEquals(2, run(args.split(" ")));
        assertEquals(line, err.toString().strip());
        assertEquals("", out.toString());
    }
}
