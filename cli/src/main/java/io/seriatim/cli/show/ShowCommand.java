package io.seriatim.cli.show;

import io.seriatim.cli.option.Outputs;
import io.seriatim.cli.option.ProgramArgument;
import io.seriatim.cli.option.Shapes;
import io.seriatim.device.DeviceNotFoundException;
import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.executor.PlanView;
import io.seriatim.executor.ProgramFailedException;
import io.seriatim.graph.ProgramCheck;
import io.seriatim.graph.ProgramSummary;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.LoadOptions;
import io.seriatim.graph.op.Problem;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.TrainingMode;
import io.seriatim.graph.util.Printable;
import io.seriatim.tensor.AtomicFile;
import io.seriatim.tensor.InputFiles;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Says whether a program can be run, prints, draws and summarises it, or shows the executor's plan of it. */
@Command(name = "show", description = "Print, draw and summarise a program or, with --plan, "
        + "the executor's plan of it. The first line says whether the program can be run. Unknown operation types are "
        + "marked with ?.")
public final class ShowCommand implements Callable<Integer> {
    @Spec
    private @Nullable CommandSpec spec;

    @Option(names = "--program", required = true, paramLabel = "FILE", description = "A .pdmodel or __model__ of "
            + "PaddlePaddle 2, or a folder with a __model__; a .json of PaddlePaddle 3, an .onnx, or a -symbol.json of "
            + "MXNet.")
    private @Nullable Path program;

    @Option(names = "--dot", paramLabel = "FILE", description = "Write the program in Graphviz format.")
    private @Nullable Path dot;

    @Option(names = "--svg", paramLabel = "FILE", description = "Draw the program or, with --plan, the plan.")
    private @Nullable Path svg;

    @Option(names = "--batch", defaultValue = "1", paramLabel = "N", description = "The value of unknown "
            + "dimensions in the estimates and in the plan. Default: ${DEFAULT-VALUE}.")
    private long batch;

    @Option(names = "--inference", description = "Loads the program for inference, also if it was exported in training "
            + "mode: dropouts drop nothing, and normalisations use the statistics of the file.")
    private boolean inference;

    @Option(names = "--shape", paramLabel = "NAME=D,D…",
            description = "The dimensions of a feed that the program leaves "
                    + "open, such as image=1,3,224,224.")
    private Map<String, String> shapes = new LinkedHashMap<>();

    @Option(names = "--summary", description = "Omit the variables and operations.")
    private boolean summaryOnly;

    @Option(names = "--plan", description = "Print the executor's plan step by step instead: variables, kernels, "
            + "dependencies, streams, lifetimes, memory. Runs no operation and needs no parameters.")
    private boolean plan;

    @Option(names = "--place", defaultValue = "cpu", paramLabel = "PLACE",
            description = "The place of the " + "plan, such as cpu or sim:0. Default: ${DEFAULT-VALUE}.")
    private String place = "cpu";

    @Option(names = "--threads", defaultValue = "1", paramLabel = "N",
            description = "The number of threads of " + "the plan. Default: ${DEFAULT-VALUE}.")
    private int threads;

    @Option(names = "--fetch", paramLabel = "NAME",
            description = "A variable that the plan fetches. Default: " + "the variables that the program fetches.")
    private List<String> fetches = new ArrayList<>();

    /** Created by the command line parser. */
    public ShowCommand() {
        // picocli sets the fields by reflection.
    }

    @Override
    public Integer call() throws IOException {
        CommandSpec command = Objects.requireNonNull(spec, "spec");
        if (batch < 1) {
            throw new ParameterException(command.commandLine(), "--batch must be 1 or more, but is " + batch);
        }
        if (threads < 1) {
            throw new ParameterException(command.commandLine(), "--threads must be 1 or more, but is " + threads);
        }
        try (InputFiles.Watch _ = InputFiles.watch()) {
            return show(command);
        }
    }

    private int show(CommandSpec command) throws IOException {
        LoadOptions options = Shapes.options(command.commandLine(), inference, shapes);
        Path file = ProgramArgument.located(Objects.requireNonNull(program, "program"));
        if (ProgramArgument.isProgram(file)) {
            return show(command, program(command.commandLine(), file, options), false);
        }
        ProgramArgument model;
        try {
            model = ProgramArgument.model(command.commandLine(), file, options);
        } catch (ParameterException e) {
            throw e;
        } catch (IllegalArgumentException e) {
            if (!shapes.isEmpty()) {
                throw new ParameterException(command.commandLine(), String.valueOf(e.getMessage()), e);
            }
            return refused(command, file, e);
        }
        return show(command, model, true);
    }

    private static ProgramArgument program(CommandLine command, Path file, LoadOptions options) throws IOException {
        ProgramArgument read = ProgramArgument.program(command, file);
        try {
            return read.with(options);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(command, file + ": " + e.getMessage(), e);
        }
    }

    private int show(CommandSpec command, ProgramArgument argument, boolean model) throws IOException {
        new Outputs(spec).add("--dot", dot).add("--svg", svg);
        Program read = argument.program();
        PrintWriter out = command.commandLine().getOut();
        ProgramSummary summary = ProgramSummary.of(read, batch);
        PlanView view = plan && summary.unknown().isEmpty() ? plan(command, read, argument.fetches()) : null;
        if (view == null) {
            verdict(out, ProgramCheck.of(read));
            if (model) {
                argument.feeds().forEach(name -> out.println(Printable.of("feed   " + read.global().get(name))));
                argument.fetches().forEach(name -> out.println(Printable.of("fetch  " + read.global().get(name))));
                out.println();
            }
            if (!summaryOnly) {
                print(out, read, summary.unknown());
            }
            mode(out, read);
            summarise(out, summary);
        } else {
            out.print(view.text());
        }
        write(out, dot, read.toDot());
        write(out, svg, view == null ? read.toSvg() : view.svg());
        out.flush();
        if (plan && view == null) {
            PrintWriter err = command.commandLine().getErr();
            err.println("There is no plan, since operation types are not known: "
                    + Printable.of(String.join(", ", summary.unknown()))
                    + (svg == null ? "" : "; the picture is that of the program"));
            err.flush();
        }
        return 0;
    }

    /** A model that cannot be run: why, and what its file lists. */
    private int refused(CommandSpec command, Path file, IllegalArgumentException reason) throws IOException {
        String listing;
        try {
            listing = InferenceModels.listing(file);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(command.commandLine(), String.valueOf(e.getMessage()), e);
        }
        PrintWriter out = command.commandLine().getOut();
        out.println("runs: no");
        out.println(Printable.of("  " + reason.getMessage()));
        out.println();
        if (!summaryOnly) {
            listing.lines().map(Printable::of).forEach(out::println);
        }
        out.flush();
        return 0;
    }

    private PlanView plan(CommandSpec command, Program read, List<String> own) {
        List<String> wanted = fetches.isEmpty() ? own : fetches;
        try (Executor executor = Executor.builder().place(Place.parse(place)).threads(threads).build()) {
            return PlanView.of(executor, read, batch, wanted);
        } catch (IllegalArgumentException | DeviceNotFoundException | ProgramFailedException e) {
            throw new ParameterException(command.commandLine(),
                    "There is no plan for unknown dimensions of " + batch + " on " + place + ": " + e.getMessage(), e);
        }
    }

    /** Whether the program can be run and, if not, each reason with the first operation to which it applies. */
    private static void verdict(PrintWriter out, ProgramCheck check) {
        out.println(check.runs() ? "runs: yes" : "runs: no");
        for (Problem problem : check.problems()) {
            out.println(Printable.of("  %-8s '%s' (%s)%s".formatted(problem.kind().name().toLowerCase(Locale.ROOT),
                    problem.type(), problem.place(), problem.reason().isEmpty() ? "" : ": " + problem.reason())));
        }
        out.println();
    }

    private static void print(PrintWriter out, Program program, List<String> unknown) {
        String text = program.toString();
        for (String line : text.lines().toList()) {
            boolean marked = unknown.stream().anyMatch(type -> line.contains(" = " + Printable.of(type) + "("));
            out.println(marked ? "? " + line.stripLeading() : line);
        }
        out.println();
    }

    /** Says whether a model was exported in training mode; programs with gradients are meant to be. */
    private static void mode(PrintWriter out, Program program) {
        String training = TrainingMode.describe(program);
        boolean trains = program.blocks().stream().anyMatch(block -> block.ops().stream().anyMatch(Roles::isTraining));
        if (!training.isEmpty() && !trains) {
            out.println(Printable.of("mode         training: results are random or depend on the batch (" + training
                    + "); --inference loads it for inference"));
        }
    }

    private void summarise(PrintWriter out, ProgramSummary summary) {
        out.printf(Locale.ROOT, "blocks       %d%n", summary.blocks());
        out.printf(Locale.ROOT, "parameters   %d with %s elements%n", summary.parameters(),
                summary.parameterElements() == Long.MAX_VALUE
                        ? "more than 9.2e18"
                        : String.format(Locale.ROOT, "%,d", summary.parameterElements()));
        out.printf(Locale.ROOT,
                "memory       %s persistent, %s temporary if nothing were reused (unknown dimensions: %d)%n",
                bytes(summary.persistentBytes()), bytes(summary.temporaryBytes()), batch);
        out.printf(Locale.ROOT, "computation  %s%n", flops(summary.flops()));
        out.printf(Locale.ROOT, "operations   %d%n",
                summary.operations().values().stream().mapToInt(Integer::intValue).sum());
        summary.operations().entrySet().stream()
                .sorted(Map.Entry.<String, Integer>comparingByValue().reversed()
                        .thenComparing(Map.Entry.comparingByKey()))
                .forEach(
                        entry -> out.printf(Locale.ROOT, "  %6d %s%s%n", entry.getValue(), Printable.of(entry.getKey()),
                                summary.unknown().contains(entry.getKey()) ? "  ? not known" : ""));
    }

    private static String bytes(long bytes) {
        return bytes == Long.MAX_VALUE
                ? "more than 9.2e12 MB"
                : bytes < 10_000 ? bytes + " bytes" : String.format(Locale.ROOT, "%,.1f MB", bytes / 1e6);
    }

    private static String flops(double flops) {
        return flops < 1e6
                ? String.format(Locale.ROOT, "%,.0f operations", flops)
                : flops < 1e9
                        ? String.format(Locale.ROOT, "%.1f million operations", flops / 1e6)
                        : flops < 1e21
                                ? String.format(Locale.ROOT, "%,.2f billion operations", flops / 1e9)
                                : "more than 1e21 operations";
    }

    private static void write(PrintWriter out, @Nullable Path file, String content) throws IOException {
        if (file != null) {
            Path folder = file.toAbsolutePath().getParent();
            Files.createDirectories(folder);
            AtomicFile.writeText(file, text -> text.write(content));
            out.println(Printable.of("written      " + file));
        }
    }
}
