package io.seriatim.cli;

import io.seriatim.cli.bench.BenchEngineCommand;
import io.seriatim.cli.bench.executor.BenchExecutorCommand;
import io.seriatim.cli.bench.kernels.BenchKernelsCommand;
import io.seriatim.cli.bench.serve.BenchServeCommand;
import io.seriatim.cli.bench.train.BenchTrainCommand;
import io.seriatim.cli.demo.SerialToParallelCommand;
import io.seriatim.cli.demo.devices.TwoDevicesCommand;
import io.seriatim.cli.doctor.DoctorCommand;
import io.seriatim.cli.run.RunCommand;
import io.seriatim.cli.show.ShowCommand;
import io.seriatim.cli.train.TrainCommand;
import java.io.IOException;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.RunLast;
import picocli.CommandLine.ScopeType;

/** The command {@code seriatim}. */
@Command(name = "seriatim", description = "Takes a program written serially and runs it in parallel with the same "
        + "result.", scope = ScopeType.INHERIT, mixinStandardHelpOptions = true, versionProvider = Version.class,
        subcommands = {
                TrainCommand.class, Main.Demo.class, Main.Bench.class, RunCommand.class, ShowCommand.class,
                DoctorCommand.class})
final class Main {
    /** The commands that show something. */
    @Command(name = "demo", description = "Show what the engine does with a real program.", subcommands = {
            SerialToParallelCommand.class,
            TwoDevicesCommand.class})
    static final class Demo {
        // Only a name for its subcommands.
    }

    /** The commands that measure something. */
    @Command(name = "bench", description = "Measure, against others in the same run.", subcommands = {
            BenchEngineCommand.class,
            BenchExecutorCommand.class, BenchKernelsCommand.class, BenchServeCommand.class, BenchTrainCommand.class})
    static final class Bench {
        // Only a name for its subcommands.
    }

    // The errors look for it themselves: it must work where the command line could not be parsed.
    @Option(names = Errors.DEBUG, description = "Show the stack trace of an error.", scope = ScopeType.INHERIT)
    @SuppressWarnings("UnusedVariable")
    private boolean debug;

    private Main() {
    }

    static CommandLine commandLine() {
        return Errors.report(new CommandLine(new Main()).setCaseInsensitiveEnumValuesAllowed(true))
                .setExecutionStrategy(Main::execute);
    }

    /**
     * All that a command prints passes through an output that terminals do not obey. Help is our own, and may be in
     * colours.
     */
    private static int execute(ParseResult parsed) {
        Integer helped = CommandLine.executeHelpRequest(parsed);
        if (helped != null) {
            return helped;
        }
        CommandLine commands = parsed.commandSpec().commandLine();
        PrintWriter out = commands.getOut();
        PrintWriter err = commands.getErr();
        PrintWriter printableOut = new PrintableWriter(out);
        PrintWriter printableErr = new PrintableWriter(err);
        commands.setOut(printableOut).setErr(printableErr);
        try {
            return new RunLast().execute(parsed);
        } finally {
            printableOut.flush();
            printableErr.flush();
            commands.setOut(out).setErr(err);
        }
    }

    /** Returns 0 when done, 1 for a failure while running, 2 for wrong usage or input. */
    static int run(CommandLine commands, String... args) {
        try {
            return commands.execute(args);
        } catch (Error e) {
            // Exceptions were told of by picocli's handlers; errors pass through it.
            return Errors.failed(commands.getErr(), e, args);
        }
    }

    /**
     * Runs a command.
     *
     * @param args
     *            its names and options
     */
    public static void main(String[] args) {
        StandardOutput standard = StandardOutput.install();
        CommandLine commands = commandLine();
        // The commands' own writer stays on the stream as it is: those who redraw lines need it.
        commands.setErr(commands.getErr());
        System.setErr(PrintableStream.of(System.err));
        int code = run(commands, args);
        commands.getOut().flush();
        System.out.flush();
        IOException failure = standard.failure();
        System.exit(failure == null || code != 0 ? code : Errors.notWritten(commands.getErr(), failure, args));
    }
}
