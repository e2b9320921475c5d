package io.seriatim.cli;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;

class MainTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    /** A command with the behaviour that the test gives it. */
    @Command(name = "body")
    private record Body(Callable<Integer> body) implements Callable<Integer> {
        @Override
        public Integer call() throws Exception {
            return body.call();
        }
    }

    private int run(CommandLine commands, String... args) {
        return Main.run(commands.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true)), args);
    }

    private int run(String... args) {
        return run(Main.commandLine(), args);
    }

    private int runBody(Callable<Integer> body, String... args) {
        CommandLine commands = Errors.report(Main.commandLine().addSubcommand(new Body(body)));
        return run(commands, Stream.concat(Stream.of("body"), Stream.of(args)).toArray(String[]::new));
    }

    @TestFactory
    Stream<DynamicTest> everyCommandHasHelp() {
        return all(Main.commandLine()).map(command -> {
            String name = command.getCommandSpec().qualifiedName();
            String[] path = name.split(" ");
            String[] args = Stream.concat(Stream.of(path).skip(1), Stream.of("--help")).toArray(String[]::new);
            return DynamicTest.dynamicTest(name, () -> {
                MainTest test = new MainTest();
                assertEquals(0, test.run(args), test.err::toString);
                assertTrue(test.out.toString().startsWith("Usage: " + name + " "), test.out::toString);
                assertTrue(test.out.toString().contains("--debug"), test.out::toString);
            });
        });
    }

    private static Stream<CommandLine> all(CommandLine command) {
        return Stream.concat(Stream.of(command), command.getSubcommands().values().stream().flatMap(MainTest::all));
    }

    @Test
    void versionIsTheBuilds() {
        assertEquals(0, run("--version"));
        assertTrue(out.toString().matches("seriatim \\d+\\.\\d+\\.\\d+\\S*\\RJava 2\\d.*\\R"), out::toString);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-",
            textBlock = """
                    - | seriatim: Missing required subcommand (see 'seriatim --help')
                    demo | seriatim: Missing required subcommand (see 'seriatim demo --help')
                    dance | seriatim: There is no command 'dance': the commands are train, demo, run, show, convert, quantize, doctor, init, completion, bench (see 'seriatim --help')
                    trian | seriatim: There is no command 'trian': did you mean 'train'? (see 'seriatim --help')
                    demo two-device | seriatim: There is no command 'two-device': did you mean 'two-devices'? (see 'seriatim demo --help')
                    doctor now | seriatim: Unmatched argument at index 1: 'now' (see 'seriatim doctor --help')
                    run --bogus | seriatim: Unknown option: '--bogus' (see 'seriatim run --help')
                    run --pogram x | seriatim: Unknown option: '--pogram': did you mean '--program'? (see 'seriatim run --help')
                    run | seriatim: Missing required option: '--program=FILE' (see 'seriatim run --help')
                    """)
    void wrongUsageIsOneLineAndTwo(@Nullable String args, String line) {
        assertEquals(2, args == null ? run() : run(args.split(" ")));
        assertEquals(line, err.toString().strip());
        assertEquals("", out.toString());
    }

    /** The module benchmarks depends on this one. */
    @ParameterizedTest
    @ValueSource(strings = {"bench", "bench engine --quick"})
    void withoutItsModuleBenchSaysWhereItIs(String args) {
        assertEquals(2, run(args.split(" ")));
        assertEquals("seriatim: The measurements are in the module 'benchmarks', which is not on the class path: "
                + "'./seriatim bench' in the source folder builds it; elsewhere, add its jar to the class path "
                + "(see 'seriatim bench --help')", err.toString().strip());
        assertEquals("", out.toString());
    }

    @Test
    void aFailureIsOneLineAndOne() {
        assertAll(() -> assertEquals(1, runBody(() -> {
            throw new IOException("disk\n  full");
        })), () -> assertEquals("seriatim: IOException: disk full", err.toString().strip()));
    }

    @Test
    void anErrorOfTheMachineIsOneLineAndOne() {
        assertAll(() -> assertEquals(1, runBody(() -> {
            throw new StackOverflowError();
        })), () -> assertEquals("seriatim: StackOverflowError", err.toString().strip()));
    }

    @Test
    void debugShowsTheStackTrace() {
        assertEquals(1, runBody(() -> {
            throw new IllegalArgumentException("too many");
        }, "--debug"));
        assertTrue(
                err.toString().startsWith(
                        "seriatim: too many" + System.lineSeparator() + "java.lang.IllegalArgumentException: too many"),
                err::toString);
        assertTrue(err.toString().contains("\tat io.seriatim.cli"), err::toString);
    }

    @Test
    void theCodeOfACommandIsPassedOn() {
        assertEquals(1, runBody(() -> 1));
        assertEquals(0, runBody(() -> 0));
        assertFalse(err.toString().contains("seriatim"), err::toString);
    }
}
