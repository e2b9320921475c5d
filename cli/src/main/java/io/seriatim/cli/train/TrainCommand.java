package io.seriatim.cli.train;

import io.seriatim.cli.option.RepeatedFeeds;
import io.seriatim.cli.option.Usage;
import io.seriatim.cli.spi.AtLeast;
import io.seriatim.cli.text.Nearest;
import io.seriatim.cluster.Tls;
import io.seriatim.device.DeviceNotFoundException;
import io.seriatim.executor.ProgramFailedException;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.interpret.AllowedFiles;
import io.seriatim.graph.parallel.Exchange;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.InputFiles;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Trains a network, and writes a folder with the model, a report, metrics and checkpoints. */
@Command(name = "train", description = "Train a network: by default one that learns the names of the JDK's classes "
        + "and samples new ones. Writes the model, a report, metrics and checkpoints to a folder.")
public final class TrainCommand implements Callable<Integer> {
    private static final List<String> WITH_RESUME = List.of("--resume", "--threads", "--allow-files", "--ranks",
            "--rank", "--rendezvous", "--tls-certificate", "--tls-key", "--tls-trust", "--debug");
    private static final List<String> FORMATS = List.of("pdmodel", "json", "onnx");
    /** The ends that may be left out of the name of a file. */
    private static final List<String> FILES = List.of("", ".pdmodel", ".json");

    @Spec
    private @Nullable CommandSpec spec;

    @Parameters(index = "0", arity = "0..1", defaultValue = "names", paramLabel = "names|lenet|mlp|resnet18|FILE",
            description = "The network, a table (.csv) with --label, a training program of "
                    + "PaddlePaddle (.pdmodel or __model__), or, with --loss "
                    + "cross-entropy or mse, a model to train further (.pdmodel, .json, .onnx, -symbol.json). "
                    + "Default: ${DEFAULT-VALUE}.")
    private String what = "names";

    @Option(names = "--data", paramLabel = "PATH", description = "The data: a folder with the files of "
            + "MNIST or Fashion-MNIST, a folder with x.npy and y.npy, a table (.csv) with the label in the last "
            + "column, or text for 'names'. Default (only for 'names'): the class names of this JDK.")
    private @Nullable Path data;

    @Option(names = "--startup", paramLabel = "FILE",
            description = "For a program: the program that initialises its parameters.")
    private @Nullable Path startup;

    @Option(names = "--feed", paramLabel = "NAME=FILE.npy", description = "For a program or model: the file of a feed, "
            + "with one row for each example. Given once for each feed, instead of --data.")
    private Map<String, Path> feeds = new LinkedHashMap<>();

    @Option(names = "--loss", paramLabel = "NAME|cross-entropy|mse", description = "For a program: the variable to "
            + "minimise; default: the variable at which its backward part begins. For a model: its loss, of class "
            + "numbers or of values.")
    private @Nullable String loss;

    @Option(names = "--labels", paramLabel = "FILE.npy", description = "For a model with --feed: the labels, with one "
            + "row for each example.")
    private @Nullable Path labels;

    @Option(names = "--output", paramLabel = "NAME", description = "For a model: the output from which the loss is "
            + "computed. Default: the only one.")
    private @Nullable String output;

    @Option(names = "--label", paramLabel = "COLUMN", description = "For a table: the column with the classes. The "
            + "other columns are numbers if all of their cells are, and otherwise categories.")
    private @Nullable String label;

    @Option(names = "--category", paramLabel = "COLUMN", description = "For a table: a column of numbers that stand "
            + "for categories, such as postcodes. May be repeated.")
    private List<String> categories = new ArrayList<>();

    @Option(names = "--without", paramLabel = "COLUMN",
            description = "For a table: a column to leave out. May be repeated.")
    private List<String> without = new ArrayList<>();

    @Option(names = "--separator", defaultValue = ",", paramLabel = "C",
            description = "For a table: the character between cells, or tab. Default: a comma.")
    private String separator = ",";

    @Option(names = "--save", split = ",", paramLabel = "pdmodel|json|onnx", description = "The formats of the saved "
            + "model. Default: that of a model that is trained further if it can be written, otherwise pdmodel.")
    private List<String> save = new ArrayList<>();

    @Option(names = "--epochs", defaultValue = "0", paramLabel = "N", description = "The number of passes over the "
            + "data. Default: names 5, lenet 12, mlp 12, resnet18 3, a table 20, a program 1.")
    private int epochs;

    @Option(names = "--batch", defaultValue = "0", paramLabel = "N", description = "The batch size, which "
            + "several places and ranks share evenly. Default: names 16, lenet and mlp 64, resnet18 32, a table 32, "
            + "a program its own.")
    private int batch;

    @Option(names = "--steps", defaultValue = "0", paramLabel = "N", description = "Ends after N steps. Default: "
            + "at the end of the last epoch.")
    private long steps;

    @Option(names = "--rate", defaultValue = "0", paramLabel = "X", description = "The highest learning rate. "
            + "Default: names 0.004, lenet 0.006, mlp 0.002, resnet18 0.001, a table 0.003, "
            + "a program its own.")
    private double rate;

    @Option(names = "--seed", defaultValue = "0", paramLabel = "N",
            description = "The seed of the initial parameters and "
                    + "of the order of the data. Default: ${DEFAULT-VALUE}.")
    @AtLeast(AtLeast.ANY)
    private long seed;

    @Option(names = "--place", defaultValue = "cpu", paramLabel = "P[,P…]", description = "The places: "
            + "cpu, or sim:N for a simulated device. Several places share each batch and average their gradients. "
            + "Default: ${DEFAULT-VALUE}.")
    private String place = "cpu";

    @Option(names = "--ranks", defaultValue = "0", paramLabel = "N", description = "The number of processes that "
            + "train together, each with its part of each batch. Without --rank, all are started on this machine. "
            + "Default: 1, or with --resume that of the run.")
    private int ranks;

    @Option(names = "--rank", paramLabel = "K", description = "With --ranks and --rendezvous: this process is number "
            + "K, from 0. Rank 0 writes the folder. The environment variable SERIATIM_SECRET holds a random text, the "
            + "same for all ranks.")
    @AtLeast(0)
    private @Nullable Integer rank;

    @Option(names = "--rendezvous", paramLabel = "HOST:PORT|DIR", description = "Where the ranks meet: an address of "
            + "rank 0 with a free port, or, on one machine, an empty folder.")
    private @Nullable String rendezvous;

    @Option(names = "--sync-batch-norm", description = "With --ranks or several places: batch normalisation "
            + "takes mean and variance of the rows of all ranks and places, as one place with the whole batch does. "
            + "Default: of each place's own.")
    private boolean syncBatchNorm;

    @Option(names = "--shard-optimizer", description = "With --ranks: each rank keeps the optimizer's state of some "
            + "parameters only. The result is the same.")
    private boolean shardOptimizer;

    @Option(names = "--tls-certificate", paramLabel = "FILE", description = "With --rendezvous HOST:PORT: encrypts "
            + "the connections of the ranks. The certificate of this rank with its key (.p12), or with --tls-key (PEM). "
            + "The environment variable SERIATIM_TLS_PASSWORD holds the password of a .p12.")
    private @Nullable Path tlsCertificate;

    @Option(names = "--tls-key", paramLabel = "FILE", description = "With a --tls-certificate in PEM: its private key, "
            + "as PKCS#8 in PEM.")
    private @Nullable Path tlsKey;

    @Option(names = "--tls-trust", paramLabel = "FILE", description = "The certificates that have signed those of the "
            + "ranks (.p12, or PEM with --tls-key).")
    private @Nullable Path tlsTrust;

    @Option(names = "--wire", defaultValue = "f32", paramLabel = "f32|bf16", description = "With --ranks: the "
            + "precision in which gradients of float32 travel between ranks. Default: ${DEFAULT-VALUE}.")
    private String wire = "f32";

    @Option(names = "--threads", defaultValue = "0", paramLabel = "N", description = "The number of threads of a "
            + "step, which does not change the result. Default: one for each processor, at most 8.")
    private int threads;

    @Option(names = "--precision", defaultValue = "f32", paramLabel = "f32|bf16",
            description = "The precision of products " + "and convolutions. Default: ${DEFAULT-VALUE}.")
    private String precision = "f32";

    @Option(names = "--patience", defaultValue = "0", paramLabel = "N",
            description = "Ends the training when the validation "
                    + "loss has not fallen for N evaluations. Default: never.")
    private int patience;

    @Option(names = "--evaluate-every", defaultValue = "0", paramLabel = "N",
            description = "Also evaluates the model " + "every N steps. Default: after each epoch only.")
    private long evaluateEvery;

    @Option(names = "--checkpoint-every", defaultValue = "0", paramLabel = "N",
            description = "Also writes a checkpoint "
                    + "every N steps. Default: after evaluations only. The newest two and the best are kept.")
    private long checkpointEvery;

    @Option(names = "--allow-files", paramLabel = "DIR", description = "For a program: a folder in which its "
            + "operations, such as save and load, may read and write files. Default: none, and a program that has "
            + "such operations is refused.")
    private @Nullable Path allowFiles;

    @Option(names = "--resume", paramLabel = "RUN", description = "Resumes the run in this folder "
            + "with its settings; only --threads, --allow-files and --ranks, also another number, may be given as well.")
    private @Nullable Path resume;

    @Option(names = "--out", paramLabel = "DIR", description = "The folder to create, with its parents. "
            + "Default: runs/NAME-TIME, below the current folder.")
    private @Nullable Path out;

    /** Created by the command line parser. */
    public TrainCommand() {
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
            return train();
        }
    }

    private int train() throws IOException {
        Kernels.loadAhead();
        Job job;
        AllowedFiles files;
        Path folder;
        try {
            Settings settings = resume == null ? settings() : resumed(resume);
            job = Job.of(settings);
            files = allowFiles == null ? AllowedFiles.NONE : AllowedFiles.in(allowFiles);
            folder = resume != null ? resume : isFollower() ? Path.of("") : folder();
            requireShares(settings.ranks(), job.settings());
        } catch (IllegalArgumentException | IOException e) {
            throw wrong(e);
        }
        try (TrainingRanks together = together(job.settings())) {
            if (together.rank() > 0) {
                return Session.follow(job, threads(together), files, together) ? Interrupts.INTERRUPTED : 0;
            }
            return train(job, folder, files, together);
        }
    }

    private boolean isFollower() {
        return rank != null && rank > 0;
    }

    private ParameterException wrong(Exception e) {
        if (e instanceof NoSuchFileException file) {
            return usage(
                    "There is no file " + file.getFile() + (file.getReason() == null ? "" : ": " + file.getReason()),
                    e);
        }
        return e instanceof ParameterException known ? known : usage(String.valueOf(e.getMessage()), e);
    }

    private int ranks(Settings settings) {
        return ranks == 0 ? settings.ranks() : ranks;
    }

    /** Checks the ranks before any is started. */
    private void requireShares(int began, Settings settings) {
        int all = ranks == 0 ? began : ranks;
        if ((rank == null) != (rendezvous == null) || (rank != null && ranks == 0)) {
            throw usage("--rank K, --ranks N and --rendezvous HOST:PORT belong together: without --rank and "
                    + "--rendezvous, all ranks are started on this machine", null);
        }
        boolean isTls = tlsCertificate != null;
        if (isTls != (tlsTrust != null) || (!isTls && tlsKey != null)
                || (isTls && (rendezvous == null || TrainingRanks.isFolder(rendezvous)))) {
            throw usage("--tls-certificate, --tls-trust, --rendezvous HOST:PORT and, for a certificate in PEM, "
                    + "--tls-key belong together: ranks that meet in a folder do not leave this machine", null);
        }
        if (rank != null && rank >= all) {
            throw usage("--rank must be 0 to " + (all - 1) + " for --ranks " + all + ", but is " + rank, null);
        }
        int shares = all * settings.places().split(",", -1).length;
        if (all > 1 && settings.batch() % shares != 0) {
            throw usage("A batch of " + settings.batch() + " cannot be split evenly among " + all
                    + " ranks" + (shares == all ? "" : " with " + shares / all + " places each")
                    + ": take a --batch that is a multiple of " + shares, null);
        }
    }

    private TrainingRanks together(Settings settings) throws IOException {
        PrintWriter err = command().commandLine().getErr();
        int all = ranks(settings);
        if (rank != null && rendezvous != null) {
            try {
                return TrainingRanks.join(rank, all, rendezvous, tls(), err);
            } catch (IllegalArgumentException | FileFormatException | NoSuchFileException e) {
                throw wrong(e);
            }
        }
        return all == 1 ? TrainingRanks.alone(err) : TrainingRanks.launch(all, arguments(), err);
    }

    private @Nullable Tls tls() throws IOException {
        return tlsCertificate == null || tlsTrust == null
                ? null
                : TrainingRanks.tls(tlsCertificate, tlsKey, tlsTrust);
    }

    /** The arguments of this process, without the number of ranks. */
    private List<String> arguments() {
        List<String> given = command().root().commandLine().getParseResult().originalArgs();
        List<String> kept = new ArrayList<>();
        for (int i = 0; i < given.size(); i++) {
            if (given.get(i).equals("--ranks")) {
                i++;
            } else if (!given.get(i).startsWith("--ranks=")) {
                kept.add(given.get(i));
            }
        }
        return kept;
    }

    private int train(Job job, Path folder, AllowedFiles files, TrainingRanks together) throws IOException {
        Session session;
        try {
            session = new Session(job, folder, threads(together), files, resume != null, together,
                    command().commandLine().getOut(), command().commandLine().getErr());
        } catch (IllegalArgumentException | DeviceNotFoundException | IOException e) {
            throw wrong(e);
        }
        boolean stopped;
        try {
            stopped = session.train();
        } catch (IllegalArgumentException | IllegalStateException | ProgramFailedException | IOException e) {
            // A folder with checkpoints is an IllegalStateException.
            if (session.hasBegun()) {
                throw e;
            }
            throw usage(String.valueOf(e.getMessage()), e);
        }
        return stopped ? Interrupts.INTERRUPTED : 0;
    }

    private int threads(TrainingRanks together) {
        int processors = Runtime.getRuntime().availableProcessors();
        boolean isShared = together.size() > 1 && (rendezvous == null || TrainingRanks.isFolder(rendezvous));
        return threads == 0 ? Math.clamp(processors / (isShared ? together.size() : 1), 1, 8) : threads;
    }

    private Exchange exchange() {
        return Exchange.PLAIN.bfloat16(wire.equals("bf16")).syncBatchNorm(syncBatchNorm)
                .sharded(shardOptimizer);
    }

    private Settings settings() {
        if (!precision.equals("f32") && !precision.equals("bf16")) {
            throw usage("--precision must be f32 or bf16, but is '" + precision + "'", null);
        }
        if (!wire.equals("f32") && !wire.equals("bf16")) {
            throw usage("--wire must be f32 or bf16, but is '" + wire + "'", null);
        }
        RepeatedFeeds.refuse(command().commandLine());
        require("--epochs", epochs, 0);
        require("--batch", batch, 0);
        require("--steps", steps, 0);
        require("--threads", threads, 0);
        require("--ranks", ranks, 0);
        require("--patience", patience, 0);
        require("--evaluate-every", evaluateEvery, 0);
        require("--checkpoint-every", checkpointEvery, 0);
        if (!(rate >= 0) || Double.isInfinite(rate)) {
            throw usage("--rate must be a number above 0, but is " + rate, null);
        }
        boolean network = Job.NETWORKS.contains(what);
        if (network && (startup != null || loss != null || !feeds.isEmpty())) {
            throw usage("--startup, --feed and --loss are for programs, but '" + what + "' is a network", null);
        }
        if (labels == null
                ? loss != null && startup == null && Settings.LOSSES.containsKey(loss) && !feeds.isEmpty()
                : feeds.isEmpty() || network) {
            throw usage("--labels FILE.npy and --feed NAME=FILE.npy belong together: a model's labels and its feeds",
                    null);
        }
        if (output != null && (network || startup != null)) {
            throw usage("--output is for models that are trained further with --loss cross-entropy or mse", null);
        }
        Settings.Table table = table(network);
        for (String format : save) {
            if (!FORMATS.contains(format)) {
                throw usage("--save must be some of " + FORMATS + ", but is '" + format + "'", null);
            }
            InferenceModels.requireWritable(Path.of("model." + format));
        }
        if (!network && FILES.stream().noneMatch(end -> Files.exists(Path.of(what + end)))) {
            String meant = Nearest.to(what, Job.NETWORKS).map(name -> ": did you mean '" + name + "'?").orElse("");
            throw usage("There is no network and no file '" + what + "'"
                    + (meant.isEmpty() ? ": train" : meant + " Train") + " one of "
                    + Job.NETWORKS + ", or a program's or model's file", null);
        }
        Map<String, Path> absolute = new LinkedHashMap<>();
        feeds.forEach((name, file) -> absolute.put(name, file.toAbsolutePath().normalize()));
        return new Settings(network ? what : Path.of(what).toAbsolutePath().normalize().toString(), absolute(startup),
                absolute, loss, absolute(labels), output, table, absolute(data), epochs, batch, rate, steps, seed,
                place, Math.max(1, ranks),
                precision, patience, evaluateEvery, checkpointEvery, exchange(),
                save.stream().distinct().toList());
    }

    private Settings.@Nullable Table table(boolean network) {
        boolean isTable = !network && what.toLowerCase(Locale.ROOT).endsWith(".csv");
        if (label == null) {
            if (!categories.isEmpty() || !without.isEmpty() || !separator.equals(",")) {
                throw usage("--category, --without and --separator are for tables, which need --label COLUMN", null);
            }
            if (isTable && Files.exists(Path.of(what))) {
                throw usage("A table needs --label, the column with the classes: train " + what + " --label COLUMN",
                        null);
            }
            return null;
        }
        if (network || (!isTable && !Files.isRegularFile(Path.of(what)))) {
            throw usage("--label is for tables: name the file, as in train people.csv --label " + label, null);
        }
        if (data != null || startup != null || loss != null || labels != null || output != null || !feeds.isEmpty()) {
            throw usage("--data, --startup, --loss, --labels, --output and --feed are not for tables: the rows of "
                    + what + " are the data", null);
        }
        String character = separator.equals("tab") || separator.equals("\\t") ? "\t" : separator;
        if (character.length() != 1 || "\"\r\n".contains(character)) {
            throw usage("--separator must be one character, but not a quote or a line feed, or tab, but is '"
                    + separator + "'", null);
        }
        return new Settings.Table(label, List.copyOf(categories), List.copyOf(without), character);
    }

    private void require(String name, long value, long least) {
        if (value < least) {
            throw usage(name + " must be " + (least + 1) + " or more, but is " + value, null);
        }
    }

    private static @Nullable Path absolute(@Nullable Path path) {
        return path == null ? null : path.toAbsolutePath().normalize();
    }

    /** Uses the settings of the run, because other settings would make it a different training. */
    private Settings resumed(Path run) throws IOException {
        List<String> given = command().commandLine().getParseResult().matchedArgs().stream().filter(ArgSpec::isOption)
                .map(arg -> ((picocli.CommandLine.Model.OptionSpec) arg).longestName())
                .filter(name -> !WITH_RESUME.contains(name)).toList();
        if (!given.isEmpty() || command().commandLine().getParseResult().hasMatchedPositional(0)) {
            throw usage(
                    "A run is resumed with its own settings, those of " + run.resolve(Settings.FILE) + ": leave out "
                            + (given.isEmpty() ? "'" + what + "'" : String.join(", ", given)),
                    null);
        }
        return Settings.read(run);
    }

    /** Checks that the folder can be created before the data are read, which may take long. */
    private void requireFolder(Path folder) {
        Path there = folder.toAbsolutePath().normalize();
        while (!Files.exists(there) && there.getParent() != null) {
            there = there.getParent();
        }
        if (!Files.isDirectory(there) || !Files.isWritable(there)) {
            throw usage("The folder " + folder + " cannot be created, because " + there
                    + (Files.isDirectory(there) ? " cannot be written to" : " is a file") + ": name another with --out",
                    null);
        }
    }

    private Path folder() {
        Path made = out;
        if (made == null) {
            String name = Job.NETWORKS.contains(what)
                    ? what
                    : String.valueOf(Path.of(what).getFileName()).replaceAll("(-symbol)?\\.(pdmodel|json|onnx|csv)$",
                            "");
            String time = LocalDateTime.now(ZoneId.systemDefault())
                    .format(DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT));
            made = Path.of("runs", name + "-" + time);
            for (int i = 2; Files.exists(made); i++) {
                made = Path.of("runs", name + "-" + time + "-" + i);
            }
        }
        requireFolder(made);
        Settings.requireNoRun(made);
        return made;
    }
}
