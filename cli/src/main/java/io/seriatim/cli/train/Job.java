package io.seriatim.cli.train;

import io.seriatim.cli.option.ProgramArgument;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.graph.optimizer.Schedule;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.train.Model;
import io.seriatim.train.data.Batches;
import io.seriatim.train.data.ClassNames;
import io.seriatim.train.data.Data;
import io.seriatim.train.data.DataFiles;
import io.seriatim.train.data.FeedFiles;
import io.seriatim.train.data.LabelledData;
import io.seriatim.train.data.Split;
import io.seriatim.train.data.TableData;
import io.seriatim.train.data.TableEncoding;
import io.seriatim.train.data.TextData;
import io.seriatim.train.data.Vocabulary;
import io.seriatim.train.model.Architecture;
import io.seriatim.train.model.Bigram;
import io.seriatim.train.model.CharacterTransformer;
import io.seriatim.train.model.LeNet;
import io.seriatim.train.model.LoadedModel;
import io.seriatim.train.model.Mlp;
import io.seriatim.train.model.ProgramModel;
import io.seriatim.train.model.Recipe;
import io.seriatim.train.model.ResNet18;
import io.seriatim.train.model.TableMlp;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A model and the data to train it on.
 *
 * @param settings
 *            the settings, completed with the recipe's defaults
 * @param data
 *            a description of the data in one line
 * @param text
 *            the text of a text model, or null
 * @param baseline
 *            the validation loss of a bigram model of that text; NaN without text
 * @param table
 *            the encoding of a table, which is saved beside the model, or null
 */
record Job(Settings settings, Model model, Split split, String data, @Nullable Text text, double baseline,
        @Nullable TableEncoding table) {
    /** The names of the networks. Any other argument is the file of a program. */
    static final List<String> NETWORKS = List.of("names", "lenet", "mlp", "resnet18");
    private static final int DEFAULT_BATCH = 64;

    private Job(Settings settings, Model model, Split split, String data, @Nullable Text text, double baseline) {
        this(settings, model, split, data, text, baseline, null);
    }

    /**
     * The text of a text model.
     *
     * @param vocabulary
     *            the vocabulary
     * @param names
     *            the existing names, or null if the text is not a list of names
     */
    record Text(Vocabulary vocabulary, @Nullable ClassNames names) {
    }

    static Job of(Settings settings) throws IOException {
        return switch (settings.what()) {
            case "names" -> text(settings);
            case "lenet", "mlp", "resnet18" -> labelled(settings);
            default -> settings.table() != null
                    ? table(settings, settings.table())
                    : settings.lossOfModel() != null ? loaded(settings, settings.lossOfModel()) : program(settings);
        };
    }

    private static Job text(Settings settings) throws IOException {
        Path path = settings.data();
        ClassNames names = path == null ? ClassNames.ofRuntime() : null;
        TextData data;
        if (names != null) {
            data = names.split(settings.seed());
        } else if (DataFiles.open(Objects.requireNonNull(path)) instanceof TextData text) {
            data = text;
        } else {
            throw new IllegalArgumentException(
                    "'names' is trained on text, but " + path + " holds examples with labels: train mlp on them");
        }
        CharacterTransformer network = CharacterTransformer.forNames(data.vocabulary().size());
        Split windows = data.windows(network.context());
        String about = String.format(Locale.ROOT,
                "%s: %,d characters for training, %,d for validation, %d different",
                names == null
                        ? path
                        : String.format(Locale.ROOT, "%,d class names of this JDK", names.names().size()),
                data.training().length(), data.validation().length(), data.vocabulary().size());
        double baseline = Bigram.of(data.training(), data.vocabulary().size(), 1).loss(data.validation());
        return built(settings, network, windows, about, new Text(data.vocabulary(), names), baseline);
    }

    private static Job labelled(Settings settings) throws IOException {
        LabelledData data = examples(settings);
        Architecture network = switch (settings.what()) {
            case "lenet" -> new LeNet(data.input(), data.label(), data.classes());
            case "mlp" -> new Mlp(data.input(), data.label(), data.classes() == 0 ? values(data) : data.classes());
            default -> new ResNet18(data.input(), data.label(), data.classes());
        };
        return built(settings, network, data.split(), about(settings, data.split()), null, Double.NaN);
    }

    private static Job table(Settings settings, Settings.Table columns) throws IOException {
        TableData.Examples rows = TableData.csv(Path.of(settings.what())).separator(columns.separator().charAt(0))
                .category(columns.categories().toArray(String[]::new))
                .without(columns.without().toArray(String[]::new)).label(columns.label()).inferred()
                .seed(settings.seed()).read();
        TableMlp network = new TableMlp(rows.encoding());
        int batch = Math.min(network.recipe().batch(), rows.split().training().size());
        Settings filled = settings.batch() == 0 ? settings.with(settings.epochs(), batch) : settings;
        String leftOut = rows.leftOut().isEmpty()
                ? ""
                : rows.leftOut().entrySet().stream().map(each -> each.getKey() + " (" + each.getValue() + ")").sorted()
                        .collect(Collectors.joining(", ", "; left out: ", ""));
        String about = String.format(Locale.ROOT, "%s: %,d rows for training, %,d for validation; %s%s",
                settings.what(), rows.split().training().size(), rows.split().validation().size(), rows.encoding(),
                leftOut);
        Job job = built(filled, network, rows.split(), about, null, Double.NaN);
        return new Job(job.settings, job.model, job.split, job.data, null, Double.NaN, rows.encoding());
    }

    private static int values(LabelledData data) {
        return Math.toIntExact(data.label().shape().size());
    }

    private static String about(Settings settings, Split split) {
        String examples = String.format(Locale.ROOT, "%,d examples for training, %,d for validation",
                split.training().size(),
                split.validation().size());
        String where = settings.data() == null ? "feeds" : settings.data().toString();
        return where + ": " + (split.training().equals(split.validation()) ? examples + ", the same" : examples);
    }

    private static LabelledData examples(Settings settings) throws IOException {
        Path path = settings.data();
        if (path == null) {
            throw new IllegalArgumentException("'" + settings.what()
                    + "' needs --data: a folder with the files of MNIST or Fashion-MNIST, x.npy and y.npy, or a "
                    + "table (.csv) with the label in the last column");
        }
        return switch (DataFiles.open(path)) {
            case LabelledData labelled -> labelled;
            case TextData _ ->
                throw new IllegalArgumentException("'" + settings.what() + "' needs examples with labels, but " + path
                        + " is text: train names on it");
        };
    }

    private static Job built(Settings settings, Architecture network, Split split, String about, @Nullable Text text,
            double baseline) {
        Recipe recipe = network.recipe();
        Settings filled = settings.with(settings.epochs() == 0 ? recipe.epochs() : settings.epochs(),
                settings.batch() == 0 ? recipe.batch() : settings.batch());
        Recipe own = recipe.withBatch(filled.batch()).withEpochs(filled.epochs()).withBfloat16(settings.isBfloat16());
        if (settings.rate() > 0) {
            own = own.withRate(settings.rate());
        }
        long all = (long) Batches.of(split.training(), filled.batch(), 0).perEpoch() * filled.epochs();
        Model model = network.build(own, settings.steps() == 0 ? all : Math.min(all, settings.steps()));
        return new Job(filled, model, split, about, text, baseline);
    }

    /** A model for inference, to be trained further. */
    private static Job loaded(Settings settings, LoadedModel.Loss loss) throws IOException {
        if (settings.isBfloat16()) {
            throw new IllegalArgumentException("--precision bf16 is for the networks " + NETWORKS
                    + ": a model that was loaded has a precision of its own");
        }
        InferenceModel model = InferenceModels.load(Path.of(settings.what()));
        boolean built = false;
        try {
            String name = String.valueOf(Path.of(settings.what()).getFileName());
            Job job = loaded(settings, new LoadedModel(name, model, settings.output(), loss));
            built = true;
            return job;
        } finally {
            if (!built) {
                model.close();
            }
        }
    }

    private static Job loaded(Settings settings, LoadedModel loaded) throws IOException {
        Recipe recipe = LoadedModel.recipe();
        int batch = settings.batch() != 0 ? settings.batch() : loaded.batch() != 0 ? loaded.batch() : recipe.batch();
        Split split = loaded(settings, loaded, batch);
        if (settings.batch() == 0 && loaded.batch() == 0) {
            batch = Math.min(batch, split.training().size());
        }
        Settings filled = settings.with(settings.epochs() == 0 ? recipe.epochs() : settings.epochs(), batch);
        Recipe own = recipe.withBatch(batch).withEpochs(filled.epochs());
        if (settings.rate() > 0) {
            own = own.withRate(settings.rate());
        }
        long all = (long) Batches.of(split.training(), batch, 0).perEpoch() * filled.epochs();
        Model model = loaded.build(split.training().fields().getLast(), own,
                Math.max(1, settings.steps() == 0 ? all : Math.min(all, settings.steps())));
        return new Job(filled, model, split, about(settings, split), null, Double.NaN);
    }

    private static Split loaded(Settings settings, LoadedModel loaded, int batch) throws IOException {
        List<String> feeds = loaded.model().feeds();
        Path labels = settings.labels();
        if (labels == null) {
            return examples(settings).split();
        }
        if (!settings.feeds().keySet().equals(Set.copyOf(feeds))) {
            throw new IllegalArgumentException("The model is fed " + feeds + ", but --feed gives "
                    + settings.feeds().keySet() + ": give a file for each of its feeds, and for no other");
        }
        Map<String, Path> ordered = new LinkedHashMap<>();
        feeds.forEach(feed -> ordered.put(feed, Objects.requireNonNull(settings.feeds().get(feed))));
        ordered.put(loaded.labels(), labels);
        return FeedFiles.read(ordered, batch);
    }

    private static Job program(Settings settings) throws IOException {
        Path file = Path.of(settings.what());
        if (settings.startup() == null && !ProgramArgument.isProgram(ProgramArgument.located(file))) {
            throw new IllegalArgumentException("To train the model " + file + " further, give its loss: --loss "
                    + "cross-entropy or --loss mse");
        }
        Program main = ProgramFiles.read(file);
        Path startupFile = settings.startup();
        if (startupFile == null) {
            throw new IllegalArgumentException(
                    "A program needs --startup, the program that sets its parameters; a model "
                            + "for inference needs --loss cross-entropy or --loss mse");
        }
        if (settings.isBfloat16()) {
            throw new IllegalArgumentException("--precision bf16 is for the networks " + NETWORKS
                    + ": a program defines its own precision");
        }
        Program startup = ProgramFiles.read(startupFile);
        List<String> feeds = settings.feeds().isEmpty()
                ? ProgramModel.feeds(main)
                : List.copyOf(settings.feeds().keySet());
        int batch = settings.batch() == 0 ? batch(main, feeds) : settings.batch();
        Split split = split(settings, batch);
        batch = settings.batch() == 0 ? Math.min(batch, split.training().size()) : batch;
        Model model = ProgramModel.of(String.valueOf(file.getFileName()), main, startup, feeds, settings.loss());
        if (settings.rate() > 0) {
            String rate = ProgramModel.rate(main)
                    .orElseThrow(() -> new IllegalArgumentException(
                            "The program computes its learning rate itself: leave --rate out"));
            model = model.withSchedules(Map.of(rate, Schedule.constant(settings.rate())));
        }
        Settings filled = settings.with(settings.epochs() == 0 ? 1 : settings.epochs(), batch);
        return new Job(filled, model, split, about(settings, split), null, Double.NaN);
    }

    /** Returns the first dimension of the feeds, if the program fixes it. */
    private static int batch(Program main, List<String> feeds) {
        for (String feed : feeds) {
            VarDesc desc = main.global().find(feed);
            List<Long> dims = desc == null || desc.type().tensorType() == null
                    ? new ArrayList<>()
                    : Objects.requireNonNull(desc.type().tensorType()).dims();
            if (!dims.isEmpty() && dims.getFirst() > 0) {
                return Math.toIntExact(dims.getFirst());
            }
        }
        return DEFAULT_BATCH;
    }

    private static Split split(Settings settings, int batch) throws IOException {
        if (!settings.feeds().isEmpty()) {
            return FeedFiles.read(settings.feeds(), batch);
        }
        if (settings.data() == null) {
            throw new IllegalArgumentException(
                    "A program needs data: --feed NAME=FILE.npy for each feed, with one row for each "
                            + "example, or --data DIR");
        }
        Data data = DataFiles.open(settings.data());
        if (data instanceof LabelledData labelled) {
            return labelled.split();
        }
        throw new IllegalArgumentException(
                "A program needs examples with labels, but " + settings.data() + " is text: name its feeds");
    }
}
