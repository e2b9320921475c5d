package io.seriatim.benchmarks.kernels;

import io.seriatim.benchmarks.common.Printer;
import io.seriatim.benchmarks.common.Progress;
import io.seriatim.cli.text.Machine;
import io.seriatim.cli.text.Table;
import io.seriatim.tensor.onednn.OneDnn;
import java.io.Console;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Measures the kernels of the processor against their limits. */
@Command(name = "kernels", description = "Measure the kernels of the processor, each against its limit in the same "
        + "rounds.",
        footer = {
                "",
                BenchKernelsCommand.LIMITS})
public final class BenchKernelsCommand implements Callable<Integer> {
    static final String LIMITS = "Limits: for matrix products and convolutions a bare call of oneDNN in its "
            + "favourite layout; for what passes over memory a copy.";

    @Spec
    private @Nullable CommandSpec spec;

    @Option(names = "--quick", description = "Few and small cases: some seconds.")
    private boolean quick;

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds that count; 11, 3 with --quick.")
    private @Nullable Integer rounds;

    @Option(names = "--markdown", description = "Print tables for a README.")
    private boolean markdown;

    /** Created by the command line parser. */
    public BenchKernelsCommand() {
        // picocli sets the fields by reflection.
    }

    @Override
    public Integer call() throws InterruptedException, IOException {
        CommandSpec command = Objects.requireNonNull(spec, "spec");
        OneDnn.Status library = OneDnn.status();
        if (!library.loaded()) {
            throw new IllegalStateException("there is no limit to measure against: " + library.problem());
        }
        Printer printer = new Printer(command.commandLine().getOut(), markdown);
        boolean terminal = Optional.ofNullable(System.console()).filter(Console::isTerminal).isPresent();
        Progress progress = new Progress(command.commandLine().getErr(), terminal);
        Duel duel = new Duel(rounds == null ? quick ? 3 : 11 : rounds, quick ? 2_000_000 : 20_000_000);
        printer.line(
                Machine.describe() + "; oneDNN " + library.version() + ", " + library.instructions() + "; one thread");
        double peak = table(printer, progress, duel, "Matrix products", "bare call", KernelCases.matMul(quick));
        table(printer, progress, duel, "Convolutions", "bare call", KernelCases.convolution(quick));
        table(printer, progress, duel, "Passes over memory", "copy", KernelCases.memory(quick));
        printer.line(String.format(Locale.ROOT,
                "Peak: %.0f GFLOP/s, the fastest bare matrix product. Allocation of a cached buffer and its "
                        + "release: %.0f ns (goal 200).",
                peak,
                KernelCases.allocation(duel)));
        if (!quick) {
            progress.stage("two workers");
            printer.line(TwoWorkers.measure(duel.rounds()));
            progress.stage("warm-up, in a process of its own");
            printer.line(WarmUp.inOwnProcess());
        }
        progress.done();
        return 0;
    }

    private static double table(Printer printer, Progress progress, Duel duel, String title, String limit,
            List<Supplier<Case>> cases) {
        Table table = new Table(List.of(title, "µs a call", "speed", limit, "of it", "goal"));
        progress.stage(title);
        double fastest = 0;
        int round = 0;
        for (Supplier<Case> supplier : cases) {
            progress.round(round++, 0, cases.size());
            try (Case one = supplier.get()) {
                Figure figure = duel.run(one);
                List<String> row = new ArrayList<>();
                row.add(one.name());
                row.add(String.format(Locale.ROOT, "%.2f", figure.nanos() / 1e3));
                row.add(String.format(Locale.ROOT, "%.1f %s", figure.speed(), one.unit().label()));
                row.add(String.format(Locale.ROOT, "%.1f", figure.limit()));
                row.add(String.format(Locale.ROOT, "%.2f", figure.ratio()));
                row.add(String.format(Locale.ROOT, "%.2f", one.goal()));
                table.row(row);
                fastest = Math.max(fastest, figure.limit());
            }
        }
        progress.done();
        printer.print(title + ", float32 where nothing else is said", table);
        return fastest;
    }
}
