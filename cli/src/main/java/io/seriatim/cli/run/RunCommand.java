package io.seriatim.cli.run;

import io.seriatim.cli.option.Outputs;
import io.seriatim.cli.option.ProgramArgument;
import io.seriatim.cli.option.RepeatedFeeds;
import io.seriatim.cli.option.Shapes;
import io.seriatim.cli.option.Usage;
import io.seriatim.cli.spi.AtLeast;
import io.seriatim.device.DeviceNotFoundException;
import io.seriatim.device.Place;
import io.seriatim.executor.BadRequestException;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Plan;
import io.seriatim.executor.trace.RunRecorder;
import io.seriatim.executor.trace.RunTrace;
import io.seriatim.graph.format.LoadOptions;
import io.seriatim.graph.format.ParameterFiles;
import io.seriatim.graph.interpret.AllowedFiles;
import io.seriatim.graph.interpret.FilesNotAllowedException;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.FeedCheck;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.graph.util.Printable;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.InputFiles;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Npy;
import io.seriatim.tensor.Npz;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.StringJoiner;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Runs a program. Fetches with one element are printed in one line per step, larger ones are written to files. */
@Command(name = "run", description = "Run a model or a program. Prints 'step=K name=value…' for fetches with one "
        + "element; other fetches of the last step are written to files NAME.npy.")
public final class RunCommand implements Callable<Integer> {
    /** The kinds of random numbers. */
    enum Random {
        /** Counter-based numbers, which do not depend on the order of operations. */
        PHILOX,
        /** The numbers of PaddlePaddle on a CPU. */
        PADDLE
    }

    /** The maximum length of a file name in bytes on common file systems. */
    private static final int LONGEST_NAME = 255;

    @Spec
    private @Nullable CommandSpec spec;

    @Option(names = "--program", required = true, paramLabel = "FILE", description = "The program: a .pdmodel or "
            + "__model__ of PaddlePaddle 2, a .json of PaddlePaddle 3, an .onnx, or a -symbol.json of MXNet.")
    private @Nullable Path program;

    @Option(names = "--startup", paramLabel = "FILE",
            description = "A program that runs once before, to initialise " + "the parameters.")
    private @Nullable Path startup;

    @Option(names = "--params", paramLabel = "FILE", description = "Parameters: a .pdiparams, an .npz with some of "
            + "them by name, or a folder with a file for each. They are set after the startup program. Default, without "
            + "a startup program: those of the model.")
    private @Nullable Path params;

    @Option(names = "--feed", paramLabel = "NAME=FILE.npy", description = "The value of a variable. If there is "
            + "a FILE.lod.npy, it has the offsets that divide the rows into sequences.")
    private Map<String, Path> feeds = new LinkedHashMap<>();

    @Option(names = "--inference", description = "Loads the program for inference, also if it was exported in training "
            + "mode: dropouts drop nothing, and normalisations use the statistics of the file.")
    private boolean inference;

    @Option(names = "--shape", paramLabel = "NAME=D,D…",
            description = "The dimensions of a feed that the program leaves "
                    + "open, such as image=1,3,224,224.")
    private Map<String, String> shapes = new LinkedHashMap<>();

    @Option(names = "--fetch", paramLabel = "NAME",
            description = "A variable to fetch. Default: the variables that the " + "program fetches.")
    private List<String> fetches = new ArrayList<>();

    @Option(names = "--steps", defaultValue = "1", paramLabel = "N",
            description = "The number of runs. " + "Default: ${DEFAULT-VALUE}.")
    private int steps;

    @Option(names = "--random", defaultValue = "philox", paramLabel = "philox|paddle", description = "The kind of "
            + "random numbers. With paddle, a seed gives the numbers of PaddlePaddle. Default: ${DEFAULT-VALUE}.")
    private Random random = Random.PHILOX;

    @Option(names = "--seed", defaultValue = "0", paramLabel = "N",
            description = "The seed of operations without a seed " + "of their own. Default: ${DEFAULT-VALUE}.")
    @AtLeast(AtLeast.ANY)
    private long seed;

    @Option(names = "--place", defaultValue = "cpu", paramLabel = "P", description = "The place: cpu, or sim:N "
            + "for a simulated device; operations with op_device run there. Default: ${DEFAULT-VALUE}.")
    private String place = "cpu";

    @Option(names = "--threads", defaultValue = "1", paramLabel = "N",
            description = "The number of threads of a " + "step. Default: ${DEFAULT-VALUE}.")
    private int threads;

    @Option(names = "--trace", paramLabel = "FILE.json", description = "Records the steps as a timeline for "
            + "Perfetto or chrome://tracing.")
    private @Nullable Path trace;

    @Option(names = "--report", paramLabel = "FILE.html", description = "Records the steps as a page: timeline, "
            + "memory, the costliest operations, reasons for idle threads.")
    private @Nullable Path report;

    @Option(names = "--allow-files", paramLabel = "DIR", description = "A folder in which operations of the "
            + "program, such as save and load, may read and write files. Default: none, and a program that has "
            + "such operations is refused.")
    private @Nullable Path allowFiles;

    @Option(names = "--out", defaultValue = ".", paramLabel = "DIR",
            description = "The folder of result files. Default: the " + "current folder.")
    private @Nullable Path out;

    /** Created by the command line parser. */
    public RunCommand() {
        // picocli sets the fields by reflection.
    }

    private CommandSpec command() {
        return Objects.requireNonNull(spec, "spec");
    }

    private ParameterException usage(String message, @Nullable Throwable cause) {
        return Usage.error(spec, message, cause);
    }

    @Override
    public Integer call() throws IOException {
        try (InputFiles.Watch _ = InputFiles.watch()) {
            return run();
        }
    }

    private int run() throws IOException {
        if (steps < 1) {
            throw usage("--steps must be 1 or more, but is " + steps, null);
        }
        RepeatedFeeds.refuse(command().commandLine());
        LoadOptions options = Shapes.options(command().commandLine(), inference, shapes);
        ProgramArgument argument = read(Objects.requireNonNull(program, "program"), options);
        Program main = argument.program().randomSeed(seed);
        Program first = startup == null ? null : read(startup, LoadOptions.defaults()).program().randomSeed(seed);
        List<String> wanted = (fetches.isEmpty() ? argument.fetches() : fetches).stream().distinct().toList();
        checkFetches(main, wanted);
        Path folder = folder(Objects.requireNonNull(out, "out"));
        Map<String, Tensor> values = feeds(main, argument.feeds());
        Map<String, Tensor> given = parameters(main);
        checkOutputs(main, wanted, folder);
        RunRecorder recorder = trace == null && report == null ? null : new RunRecorder();
        Map<String, Tensor> results = Map.of();
        try (Executor executor = executor(recorder)) {
            // Operations that are not allowed are reported before any program runs, including the startup program.
            Plan plan = executor.compile(main, new Feeds(List.copyOf(values.keySet())), new Fetches(wanted));
            if (first != null) {
                executor.run(first);
            }
            argument.parameters().forEach(executor.scope()::set);
            given.forEach(executor.scope()::set);
            PrintWriter printer = command().commandLine().getOut();
            Tensor[] fed = values.values().toArray(Tensor[]::new);
            for (int step = 1; step <= steps; step++) {
                results = plan.run(fed).all();
                printer.println(line(step, results));
                printer.flush();
            }
        } catch (FilesNotAllowedException e) {
            throw usage(String.valueOf(e.getMessage()), e);
        } catch (BadRequestException e) {
            throw usage(String.valueOf(e.getMessage()), e);
        } finally {
            if (recorder != null) {
                write(recorder.trace(), command().commandLine().getErr());
            }
        }
        write(folder, results, command().commandLine().getErr());
        return 0;
    }

    /** Checks the names of result files before the run, so that no result is lost after a long computation. */
    private void checkFetches(Program main, List<String> wanted) {
        Map<String, String> files = new HashMap<>();
        for (String name : wanted) {
            VarDesc desc = main.global().find(name);
            if (desc == null) {
                throw usage("The program has no variable '" + name + "' to fetch", null);
            }
            if (isScalar(desc)) {
                continue;
            }
            String file = fileOf(name);
            if (file.getBytes(StandardCharsets.UTF_8).length > LONGEST_NAME || !isFileName(file)) {
                throw usage("The fetch '" + name + "' cannot be written to a file: '" + file
                        + "' is not a valid file name; leave the fetch out, or fetch a copy under another name", null);
            }
            String other = files.putIfAbsent(file, name);
            if (other != null) {
                throw usage(
                        "The fetches '" + other + "' and '" + name + "' would share the file " + file
                                + ": fetch them in two runs",
                        null);
            }
        }
    }

    /** Checks the places of all files after input was read and before the run. */
    private void checkOutputs(Program main, List<String> wanted, Path folder) throws IOException {
        Outputs outputs = new Outputs(spec).add("--trace", trace).add("--report", report);
        for (String name : wanted) {
            if (!isScalar(main.global().get(name))) {
                outputs.add("The fetch '" + name + "'", folder.resolve(fileOf(name)));
            }
        }
    }

    /** Returns whether a variable has one element for all feeds, so that it is printed instead of written to a file. */
    private static boolean isScalar(VarDesc desc) {
        VarType.TensorType type = desc.type().tensorType();
        return type != null && type.dims().stream().allMatch(dim -> dim == 1);
    }

    private static String fileOf(String fetch) {
        return fetch.replace('/', '_').replace(':', '_') + ".npy";
    }

    private static boolean isFileName(String file) {
        try {
            return Path.of(file).getNameCount() == 1 && !Path.of(file).isAbsolute();
        } catch (InvalidPathException e) {
            return false;
        }
    }

    private Executor executor(@Nullable RunRecorder recorder) {
        if (threads < 1) {
            throw usage("--threads must be 1 or more, but is " + threads, null);
        }
        AllowedFiles files = allowedFiles();
        try {
            Executor.Builder builder = Executor.builder().place(Place.parse(place)).threads(threads).files(files);
            if (random == Random.PADDLE) {
                builder.paddleRandom(seed);
            }
            if (recorder != null) {
                builder.recorder(recorder.note("Place", place).note("Threads", Integer.toString(threads)));
            }
            return builder.build();
        } catch (IllegalArgumentException | DeviceNotFoundException e) {
            throw usage("--place: " + e.getMessage(), e);
        }
    }

    private AllowedFiles allowedFiles() {
        try {
            return allowFiles == null ? AllowedFiles.NONE : AllowedFiles.in(allowFiles);
        } catch (IllegalArgumentException e) {
            throw usage("--allow-files: " + e.getMessage(), e);
        }
    }

    private void write(RunTrace recorded, PrintWriter notes) throws IOException {
        if (trace != null) {
            recorded.writeTrace(trace);
            notes.println("written " + trace);
        }
        if (report != null) {
            recorded.writeReport(report);
            notes.println("written " + report);
        }
        notes.flush();
    }

    private ProgramArgument read(Path given, LoadOptions options) throws IOException {
        Path file = ProgramArgument.located(given);
        try {
            if (!ProgramArgument.isProgram(file)) {
                return ProgramArgument.model(command().commandLine(), file, options);
            }
            ProgramArgument read = ProgramArgument.program(command().commandLine(), file);
            Operations.system().requireRunnable(read.program());
            boolean alone = startup == null && params == null;
            return alone && read.hasParametersBeside(file)
                    ? ProgramArgument.model(command().commandLine(), file, options)
                    : read.with(options);
        } catch (IllegalArgumentException e) {
            String message = String.valueOf(e.getMessage());
            throw usage(message.startsWith(file.toString()) ? message : file + ": " + message, e);
        }
    }

    /** Tensors read from a file. */
    private interface Input<T> {
        /** Reads the file. */
        T read() throws IOException;
    }

    private <T> T input(Path file, Input<T> input) throws IOException {
        try {
            return input.read();
        } catch (FileFormatException e) {
            throw usage(String.valueOf(e.getMessage()), e);
        } catch (NoSuchFileException e) {
            throw usage("There is no file " + file, e);
        }
    }

    private Map<String, Tensor> parameters(Program main) throws IOException {
        Path file = params;
        if (file == null) {
            return Map.of();
        }
        return input(file,
                () -> Files.isDirectory(file)
                        ? ParameterFiles.readSeparate(file, main)
                        : file.toString().endsWith(".npz")
                                ? named(file, main)
                                : ParameterFiles.readCombined(file, main));
    }

    /** Returns the program's parameters that an .npz contains. The others keep the values of the startup program. */
    private static Map<String, Tensor> named(Path file, Program main) throws IOException {
        Map<String, Tensor> all = Npz.read(file);
        Map<String, Tensor> named = new LinkedHashMap<>();
        for (VarDesc desc : main.persistables()) {
            Tensor tensor = all.get(desc.name());
            if (tensor != null) {
                named.put(desc.name(), tensor);
            }
        }
        if (named.isEmpty()) {
            throw new FileFormatException(file.toString(), 0,
                    "none of its arrays has the name of a parameter of the program; they are " + all.keySet());
        }
        return named;
    }

    private Map<String, Tensor> feeds(Program main, List<String> own) throws IOException {
        Map<String, Tensor> values = new LinkedHashMap<>();
        for (Map.Entry<String, Path> feed : feeds.entrySet()) {
            if (main.global().find(feed.getKey()) == null) {
                throw usage(own.isEmpty()
                        ? FeedCheck.unknown(main, feed.getKey())
                        : "The program has no variable '" + feed.getKey() + "' to feed; its feeds are " + own, null);
            }
            values.put(feed.getKey(),
                    divided(feed.getValue(), input(feed.getValue(), () -> Npy.read(feed.getValue()))));
        }
        for (Map.Entry<String, Tensor> value : values.entrySet()) {
            String problem = FeedCheck.problem(main.global().get(value.getKey()), value.getValue().spec(),
                    feeds.get(value.getKey()) + " holds");
            if (problem != null) {
                throw usage(problem, null);
            }
        }
        String problem = main.symbolicDims().problem(values.keySet(),
                name -> Objects.requireNonNull(values.get(name)).shape());
        if (problem != null) {
            throw usage(problem, null);
        }
        return values;
    }

    /** Returns a fed tensor with its offsets, if there is a file of them. */
    private Tensor divided(Path file, Tensor value) throws IOException {
        Path offsets = offsetsOf(file);
        if (!Files.exists(offsets)) {
            return value;
        }
        try (Tensor read = input(offsets, () -> Npy.read(offsets))) {
            return value.withLod(Lod.of(read));
        } catch (IllegalArgumentException e) {
            throw usage("The offsets in " + offsets + " do not divide the rows of " + file + ": " + e.getMessage(), e);
        }
    }

    private static Path offsetsOf(Path file) {
        String name = String.valueOf(file.getFileName());
        String stem = name.endsWith(".npy") ? name.substring(0, name.length() - ".npy".length()) : name;
        return file.resolveSibling(stem + ".lod.npy");
    }

    private static String line(int step, Map<String, Tensor> results) {
        StringJoiner line = new StringJoiner(" ").add("step=" + step);
        results.forEach((name, tensor) -> {
            if (tensor.shape().size() == 1) {
                line.add(Printable.key(name) + "=" + scalar(tensor));
            }
        });
        return line.toString();
    }

    private static String scalar(Tensor tensor) {
        return switch (tensor.dtype()) {
            case FLOAT32, FLOAT16, BFLOAT16 -> Float.toString(tensor.toFloatArray()[0]);
            case FLOAT64 -> Double.toString(tensor.toDoubleArray()[0]);
            case COMPLEX64 -> complex(tensor.asReal().toFloatArray());
            case COMPLEX128 -> complex(tensor.asReal().toDoubleArray());
            case UINT64 -> Long.toUnsignedString(tensor.toLongArray()[0]);
            default -> Long.toString(tensor.toLongArray()[0]);
        };
    }

    private static String complex(float... parts) {
        return Float.toString(parts[0]) + (Float.toString(parts[1]).startsWith("-") ? "" : "+") + parts[1] + "j";
    }

    private static String complex(double... parts) {
        return Double.toString(parts[0]) + (Double.toString(parts[1]).startsWith("-") ? "" : "+") + parts[1] + "j";
    }

    /** Creates the folder before the run, so that a long computation cannot fail at its end for lack of it. */
    private Path folder(Path path) {
        try {
            return Files.createDirectories(path);
        } catch (IOException e) {
            throw usage("There is no folder " + path + ", and it cannot be made", e);
        }
    }

    private static void write(Path folder, Map<String, Tensor> results, PrintWriter notes) throws IOException {
        Set<String> written = new HashSet<>();
        for (Map.Entry<String, Tensor> result : results.entrySet()) {
            if (result.getValue().shape().size() != 1) {
                if (!written.add(fileOf(result.getKey()))) {
                    throw new IOException(
                            "'" + result.getKey() + "' was declared to have one element, and has the shape "
                                    + result.getValue().shape() + ": its file " + fileOf(result.getKey())
                                    + " is that of another fetch; fetch them in two runs");
                }
                Path file = folder.resolve(fileOf(result.getKey()));
                Npy.write(file, result.getValue());
                notes.println(Printable.of("written " + file));
                Path offsets = offsetsOf(file);
                if (!result.getValue().lod().isEmpty() && written.add(String.valueOf(offsets.getFileName()))) {
                    Npy.write(offsets, result.getValue().lod().toTensor());
                    notes.println(Printable.of("written " + offsets));
                }
            }
        }
        notes.flush();
    }
}
