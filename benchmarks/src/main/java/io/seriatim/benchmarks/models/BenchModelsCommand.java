package io.seriatim.benchmarks.models;

import io.seriatim.benchmarks.common.Printer;
import io.seriatim.benchmarks.common.Progress;
import io.seriatim.benchmarks.common.SourceCommit;
import io.seriatim.cli.text.Machine;
import java.io.Console;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Measures the inference of models in files, beside ONNX Runtime and OpenVINO. */
@Command(name = "models", description = BenchModelsCommand.WHAT, footer = {"", BenchModelsCommand.PEERS_ARE})
public final class BenchModelsCommand implements Callable<Integer> {
    static final String WHAT = "Measure the inference of ONNX models, beside ONNX Runtime and OpenVINO in the same "
            + "run.";
    static final String PEERS_ARE = "The peers run in a Python process for each model, with the same number of "
            + "threads and in float32; one that this Python lacks is left out. A result that differs from a peer's by "
            + "more than 0.001 of the output's largest value fails the run.";
    private static final int RUNS = 100;
    private static final int QUICK_RUNS = 10;
    private static final List<String> PEERS = List.of("onnxruntime", "openvino");

    @Spec
    private @Nullable CommandSpec spec;

    @Parameters(arity = "0..*", paramLabel = "DIR", description = "Folders of models: folders with model.onnx and "
            + "input_K.pb, as tools/onnx/networks.py writes them, or files .onnx, whose inputs are made up with open "
            + "dimensions of 1.")
    private List<Path> folders = new ArrayList<>();

    @Option(names = "--quick", description = "Three rounds of 0.1 s after 1 s of other runs, instead of seven of 0.5 s "
            + "after 3 s; only one thread.")
    private boolean quick;

    @Option(names = "--filter", paramLabel = "RE", description = "Only models whose names contain a match of this "
            + "regular expression.")
    private @Nullable String filter;

    @Option(names = "--threads", paramLabel = "N", split = ",", description = "Numbers of threads; 1,2, only 1 with "
            + "--quick.")
    private List<Integer> threads = new ArrayList<>();

    @Option(names = "--python", paramLabel = "PATH", defaultValue = "python3", description = "The Python that has the "
            + "peers. Default: ${DEFAULT-VALUE}.")
    private String python = "python3";

    @Option(names = "--peer", paramLabel = "P", split = ",", description = "Only these of onnxruntime, openvino.")
    private List<String> peers = new ArrayList<>();

    @Option(names = "--why", paramLabel = "NAME",
            description = "Instead show for this model our operations beside those "
                    + "of the peers that compute the same nodes, what we lose most first, with the share of the machine's "
                    + "arithmetic and memory bandwidth. Python also needs the package onnx.")
    private @Nullable String why;

    @Option(names = "--json", paramLabel = "F", description = "Write the median of each round, with commit, processor "
            + "and versions.")
    private @Nullable Path json;

    @Option(names = "--markdown", description = "Print tables for a README.")
    private boolean markdown;

    /** Created by the command line parser. */
    public BenchModelsCommand() {
        // picocli sets the fields by reflection.
    }

    @Override
    public Integer call() throws InterruptedException, IOException {
        CommandSpec command = Objects.requireNonNull(spec, "spec");
        List<ModelFile> models;
        try {
            check();
            models = models();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(command.commandLine(), String.valueOf(e.getMessage()), e);
        }
        Printer printer = new Printer(command.commandLine().getOut(), markdown);
        boolean terminal = Optional.ofNullable(System.console()).filter(Console::isTerminal).isPresent();
        Progress progress = new Progress(command.commandLine().getErr(), terminal);
        printer.line(Machine.describe());
        Map<String, String> versions = PeerChild.versions(python,
                PEERS.stream().filter(each -> peers.isEmpty() || peers.contains(each)).toList(), progress::notice);
        List<Integer> counts = threads.isEmpty() ? quick ? List.of(1) : List.of(1, 2) : threads;
        if (why != null) {
            ModelFile model = models.stream().filter(each -> each.name().equals(why)).findFirst().orElseThrow(
                    () -> new ParameterException(command.commandLine(), "--why must be the name of a model, but is '"
                            + why + "'; the models are "
                            + String.join(", ", models.stream().map(ModelFile::name).toList())));
            for (int count : counts) {
                WhyBench.print(model, count, quick ? QUICK_RUNS : RUNS, python, List.copyOf(versions.keySet()), printer,
                        progress);
            }
            return 0;
        }
        ModelBench bench = new ModelBench(
                quick ? new ModelBench.Effort(1, 3, 0.1) : new ModelBench.Effort(3, 7, 0.5), python,
                List.copyOf(versions.keySet()), progress);
        for (ModelFile model : models) {
            bench.measure(model, counts);
        }
        new ModelTables(bench.figures(), List.copyOf(versions.keySet())).print(printer);
        if (json != null) {
            Files.writeString(json, ModelsJson.text(origin(), versions, bench.figures()));
        }
        return bench.right() ? 0 : 1;
    }

    private void check() {
        if (folders.isEmpty()) {
            throw new IllegalArgumentException("DIR is missing: name at least one folder of models");
        }
        for (int count : threads) {
            if (count < 1) {
                throw new IllegalArgumentException("--threads must be at least 1, but is " + count);
            }
        }
        for (String each : peers) {
            if (!PEERS.contains(each)) {
                throw new IllegalArgumentException(
                        "--peer must be of " + String.join(", ", PEERS) + ", but is '" + each + "'");
            }
        }
        Path parent = json == null ? null : json.toAbsolutePath().getParent();
        if (parent != null && !Files.isDirectory(parent)) {
            throw new IllegalArgumentException("--json must be a file in a folder that exists, but is '" + json + "'");
        }
    }

    private List<ModelFile> models() throws IOException {
        List<ModelFile> all = new ArrayList<>();
        for (Path folder : folders) {
            all.addAll(ModelFile.in(folder));
        }
        if (filter == null) {
            return all;
        }
        Pattern pattern;
        try {
            pattern = Pattern.compile(filter);
        } catch (PatternSyntaxException e) {
            throw new IllegalArgumentException(
                    "--filter must be a regular expression, but is '" + filter + "': " + e.getDescription(), e);
        }
        List<ModelFile> chosen = all.stream().filter(each -> pattern.matcher(each.name()).find()).toList();
        if (chosen.isEmpty()) {
            throw new IllegalArgumentException("--filter must match the name of a model, but is '" + filter
                    + "'; the models are " + String.join(", ", all.stream().map(ModelFile::name).toList()));
        }
        return chosen;
    }

    private Map<String, Object> origin() throws InterruptedException {
        Map<String, Object> origin = new LinkedHashMap<>();
        origin.put("benchmark", "models");
        origin.put("date", LocalDate.now(ZoneOffset.UTC).toString());
        origin.put("commit", SourceCommit.current());
        origin.put("processor", Machine.processor().orElse("unknown"));
        origin.put("cores", Runtime.getRuntime().availableProcessors());
        origin.put("java", Runtime.version().toString());
        origin.put("effort", quick ? "quick" : "full");
        return origin;
    }
}
