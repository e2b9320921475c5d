package io.seriatim.cli;

import io.seriatim.cli.demo.SerialToParallelCommand;
import io.seriatim.cli.demo.devices.TwoDevicesCommand;
import io.seriatim.cli.doctor.DoctorCommand;
import io.seriatim.cli.run.RunCommand;
import io.seriatim.cli.show.ShowCommand;
import io.seriatim.cli.spi.BenchCommands;
import io.seriatim.cli.text.PrintableWriter;
import io.seriatim.cli.train.TrainCommand;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.RunLast;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

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
    @Command(name = Main.BENCH, description = "Measure, against others in the same run.")
    static final class Bench {
        // Only a name for its subcommands, which other jars provide.
    }

    /** Takes the place of {@link Bench} where no jar provides measurements. */
    @Command(name = Main.BENCH, description = Main.NO_BENCHMARKS)
    static final class MissingBench implements Callable<Integer> {
        @Spec
        private @Nullable CommandSpec spec;

        // Whatever was asked for, the answer is the same.
        @Unmatched
        @SuppressWarnings("UnusedVariable")
        private List<String> ignored = new ArrayList<>();

        @Override
        public Integer call() {
            throw new ParameterException(Objects.requireNonNull(spec, "spec").commandLine(), NO_BENCHMARKS);
        }
    }

    private static final String BENCH = "bench";
    private static final String NO_BENCHMARKS = "The measurements are in the module 'benchmarks', which is not on the "
            + "class path: './seriatim bench' in the source folder builds it; elsewhere, add its jar to the class path";

    // The errors look for it themselves: it must work where the command line could not be parsed.
    @Option(names = Errors.DEBUG, description = "Show the stack trace of an error.", scope = ScopeType.INHERIT)
    @SuppressWarnings("UnusedVariable")
    private boolean debug;

    private Main() {
    }

    static CommandLine commandLine() {
        CommandLine commands = new CommandLine(new Main());
        addBenchmarks(commands);
        return Errors.report(commands.setCaseInsensitiveEnumValuesAllowed(true)).setExecutionStrategy(Main::execute);
    }

    private static void addBenchmarks(CommandLine commands) {
        CommandLine bench = Objects.requireNonNull(commands.getSubcommands().get(BENCH));
        for (BenchCommands provider : ServiceLoader.load(BenchCommands.class, Main.class.getClassLoader())) {
            provider.commands().forEach(bench::addSubcommand);
        }
        if (bench.getSubcommands().isEmpty()) {
            commands.getCommandSpec().removeSubcommand(BENCH);
            commands.addSubcommand(new MissingBench());
        }
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
