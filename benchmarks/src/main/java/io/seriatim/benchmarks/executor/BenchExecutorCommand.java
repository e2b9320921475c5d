package io.seriatim.benchmarks.executor;

import io.seriatim.benchmarks.common.Printer;
import io.seriatim.benchmarks.common.Progress;
import io.seriatim.cli.text.Machine;
import java.io.Console;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures plans against a bare loop over the same kernels. */
@Command(name = "executor", description = "Measure plans of programs against a bare loop over the same kernels, in "
        + "the same rounds.")
public final class BenchExecutorCommand implements Callable<Integer> {
    private static final long SAMPLE_NANOS = 100_000_000;
    private static final long QUICK_SAMPLE_NANOS = 20_000_000;
    private static final long LOOP_WARM_UP = 5_000_000_000L;

    @Spec
    private @Nullable CommandSpec spec;

    @Option(names = "--quick", description = "Few rounds and small programs: some seconds.")
    private boolean quick;

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds that count; 11, 3 with --quick.")
    private @Nullable Integer rounds;

    @Option(names = "--only", paramLabel = "PART", split = ",", description = "Only these of ${COMPLETION-CANDIDATES}.")
    private List<Part> parts = new ArrayList<>();

    @Option(names = "--markdown", description = "Print tables for a README.")
    private boolean markdown;

    /** The parts of the benchmark. */
    enum Part {
        /** The overhead of a plan for tiny operations. */
        OVERHEAD,
        /** The time of a loop's iteration. */
        LOOPS,
        /** Steps of networks. */
        NETWORKS,
        /** The time to compile a plan. */
        BUILD,
        /** Inference with int8 products. */
        INT8
    }

    /** Created by the command line parser. */
    public BenchExecutorCommand() {
        // picocli sets the fields by reflection.
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        CommandSpec command = Objects.requireNonNull(spec, "spec");
        int count = rounds == null ? quick ? 3 : 11 : rounds;
        if (count < 1) {
            throw new ParameterException(command.commandLine(), "--rounds must be at least 1, but is " + count);
        }
        Printer printer = new Printer(command.commandLine().getOut(), markdown);
        boolean terminal = Optional.ofNullable(System.console()).filter(Console::isTerminal).isPresent();
        Progress progress = new Progress(command.commandLine().getErr(), terminal);
        Turns turns = new Turns(quick ? 2 : 5, count, quick ? QUICK_SAMPLE_NANOS : SAMPLE_NANOS);
        Set<Part> chosen = parts.isEmpty() ? EnumSet.allOf(Part.class) : EnumSet.copyOf(parts);
        printer.line(Machine.describe());
        for (Part part : chosen) {
            switch (part) {
                case OVERHEAD -> new OverheadBench(turns, progress).run(printer);
                case LOOPS -> new LoopBench(turns, quick ? LOOP_WARM_UP / 10 : LOOP_WARM_UP, progress).run(printer);
                case NETWORKS ->
                    new ModelBench(turns, quick ? 8 : 50, progress).run(printer, quick ? Models.small() : Models.all());
                case BUILD -> new BuildBench(quick ? 1 : Math.min(count, 3), progress).run(printer,
                        quick ? new int[]{1000, 10_000} : new int[]{1000, 10_000, 100_000});
                case INT8 -> new QuantizedBench(turns, progress).run(printer, Models.quantized());
            }
        }
        return 0;
    }
}
