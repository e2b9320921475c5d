package io.seriatim.cli;

import io.seriatim.cli.convert.ConvertCommand;
import io.seriatim.cli.demo.SerialToParallelCommand;
import io.seriatim.cli.demo.devices.TwoDevicesCommand;
import io.seriatim.cli.doctor.DoctorCommand;
import io.seriatim.cli.quantize.QuantizeCommand;
import io.seriatim.cli.run.RunCommand;
import io.seriatim.cli.setup.CompletionCommand;
import io.seriatim.cli.setup.InitCommand;
import io.seriatim.cli.show.ShowCommand;
import io.seriatim.cli.spi.BenchCommands;
import io.seriatim.cli.text.PrintableWriter;
import io.seriatim.cli.train.TrainCommand;
import io.seriatim.tensor.InputFiles;
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
                ConvertCommand.class, QuantizeCommand.class, DoctorCommand.class,
                InitCommand.class, CompletionCommand.class})
final class Main {
    /** The demonstrations. */
    @Command(name = "demo", description = "Show what the engine does with a real program.", subcommands = {
            SerialToParallelCommand.class,
            TwoDevicesCommand.class})
    static final class Demo {
        // A group of subcommands without an action of its own.
    }

    /** The benchmarks. */
    @Command(name = Main.BENCH, description = "Measure, against others in the same run.")
    static final class Bench {
        // A group of subcommands, which other jars provide.
    }

    /** Replaces {@link Bench} if no jar provides benchmarks. */
    @Command(name = Main.BENCH, description = Main.NO_BENCHMARKS)
    static final class MissingBench implements Callable<Integer> {
        @Spec
        private @Nullable CommandSpec spec;

        // All arguments lead to the same message.
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

    // {@link Errors} searches the arguments for this option itself, because it must work even if the command line
    // cannot be parsed.
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
     * Commands print through a writer that escapes control sequences. Help contains no text from files, so it may have
     * colours.
     */
    private static int execute(ParseResult parsed) {
        Integer helped = CommandLine.executeHelpRequest(parsed);
        if (helped != null) {
            return helped;
        }
        CommandLine commands = parsed.commandSpec().commandLine();
        NumberOptions.check(parsed);
        PrintWriter out = commands.getOut();
        PrintWriter err = commands.getErr();
        PrintWriter printableOut = new PrintableWriter(out);
        PrintWriter printableErr = new PrintableWriter(err);
        commands.setOut(printableOut).setErr(printableErr);
        // No command replaces what it has read.
        try (InputFiles.Watch _ = InputFiles.watch()) {
            return new RunLast().execute(parsed);
        } finally {
            printableOut.flush();
            printableErr.flush();
            commands.setOut(out).setErr(err);
        }
    }

    /** Runs a command; returns 0 for success, 1 for a failure, 2 for wrong usage or input. */
    static int run(CommandLine commands, String... args) {
        try {
            return commands.execute(args);
        } catch (Error e) {
            // picocli's handlers have reported exceptions, but not errors.
            return Errors.failed(commands.getErr(), e, args);
        }
    }

    /**
     * Runs a command.
     *
     * @param args
     *            the name of the command and its options
     */
    public static void main(String[] args) {
        StandardOutput standard = StandardOutput.install();
        CommandLine commands = commandLine();
        // The commands' writer uses the raw stream, because commands that redraw lines need it.
        commands.setErr(commands.getErr());
        System.setErr(PrintableStream.of(System.err));
        int code = run(commands, args);
        commands.getOut().flush();
        System.out.flush();
        IOException failure = standard.failure();
        System.exit(failure == null || code != 0 ? code : Errors.notWritten(commands.getErr(), failure, args));
    }
}
