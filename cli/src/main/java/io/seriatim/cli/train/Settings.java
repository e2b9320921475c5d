package io.seriatim.cli.train;

import io.seriatim.graph.parallel.Exchange;
import io.seriatim.tensor.AtomicFile;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.InputFiles;
import io.seriatim.train.Trainer;
import io.seriatim.train.model.LoadedModel;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a training, including defaults. They are stored in the run's folder, so that the run can be resumed
 * and its settings can be inspected later.
 *
 * @param what
 *            the name of a network, or the file of a program
 * @param startup
 *            the startup program of a program
 * @param feeds
 *            the files of a program's feeds
 * @param loss
 *            the variable with the loss of a program, or null to find it; the kind of loss of a loaded model
 * @param labels
 *            the file of a loaded model's labels, or null if they are part of the data
 * @param output
 *            the output of a loaded model from which its loss is computed, or null for the only one
 * @param table
 *            the columns of a table, or null if {@code what} is none
 * @param data
 *            the file or folder of the data, or null for the network's default
 * @param rate
 *            the highest learning rate; 0 for the default of the recipe or program
 * @param steps
 *            the maximum number of steps; 0 for no limit
 * @param ranks
 *            the number of processes with which the run began
 * @param exchange
 *            how ranks exchange gradients
 * @param save
 *            the ends of the names of saved models; none for the default
 */
record Settings(String what, @Nullable Path startup, Map<String, Path> feeds, @Nullable String loss,
        @Nullable Path labels, @Nullable String output, @Nullable Table table, @Nullable Path data, int epochs,
        int batch, double rate, long steps, long seed, String places, int ranks, String precision, int patience,
        long evaluateEvery, long checkpointEvery, Exchange exchange, List<String> save) {
    static final String FILE = "run.properties";
    /** The losses of loaded models by name. */
    static final Map<String, LoadedModel.Loss> LOSSES = Map.of("cross-entropy", LoadedModel.Loss.CROSS_ENTROPY, "mse",
            LoadedModel.Loss.MSE);
    private static final String FEED = "feed.";
    private static final String NAMES = "\n";

    /**
     * The columns of a table.
     *
     * @param label
     *            the column with the classes
     * @param categories
     *            columns that are categories even if they have numbers
     * @param without
     *            columns that are left out
     * @param separator
     *            one character
     */
    record Table(String label, List<String> categories, List<String> without, String separator) {
        private void put(Map<String, String> lines) {
            lines.put("label", label);
            Settings.put(lines, "category", categories.isEmpty() ? null : String.join(NAMES, categories));
            Settings.put(lines, "without", without.isEmpty() ? null : String.join(NAMES, without));
            lines.put("separator", separator);
        }

        private static @Nullable Table of(Map<String, String> lines) {
            String label = lines.get("label");
            return label == null
                    ? null
                    : new Table(label, names(lines.get("category")), names(lines.get("without")),
                            lines.getOrDefault("separator", ","));
        }

        private static List<String> names(@Nullable String text) {
            return text == null ? List.of() : List.of(text.split(NAMES, -1));
        }
    }

    Settings with(int newEpochs, int newBatch) {
        return new Settings(what, startup, feeds, loss, labels, output, table, data, newEpochs, newBatch, rate, steps,
                seed,
                places, ranks, precision, patience, evaluateEvery, checkpointEvery, exchange, save);
    }

    /** The loss that a loaded model gets; null if the file is a training program, which computes its own. */
    LoadedModel.@Nullable Loss lossOfModel() {
        return startup != null || loss == null ? null : LOSSES.get(loss);
    }

    boolean isBfloat16() {
        return precision.equals("bf16");
    }

    Map<String, String> lines() {
        Map<String, String> lines = new LinkedHashMap<>();
        lines.put("what", what);
        put(lines, "startup", startup);
        feeds.forEach((name, file) -> put(lines, FEED + name, file));
        put(lines, "loss", loss);
        put(lines, "labels", labels);
        put(lines, "output", output);
        if (table != null) {
            table.put(lines);
        }
        put(lines, "data", data);
        lines.put("epochs", Integer.toString(epochs));
        lines.put("batch", Integer.toString(batch));
        lines.put("rate", Double.toString(rate));
        lines.put("steps", Long.toString(steps));
        lines.put("seed", Long.toString(seed));
        lines.put("place", places);
        // Earlier versions knew none.
        put(lines, "ranks", ranks == 1 ? null : ranks);
        lines.put("precision", precision);
        lines.put("patience", Integer.toString(patience));
        lines.put("evaluate-every", Long.toString(evaluateEvery));
        lines.put("checkpoint-every", Long.toString(checkpointEvery));
        put(lines, "wire", exchange.isBfloat16() ? "bf16" : null);
        put(lines, "sync-batch-norm", exchange.isSyncBatchNorm() ? "true" : null);
        put(lines, "shard-optimizer", exchange.isSharded() ? "true" : null);
        put(lines, "save", save.isEmpty() ? null : String.join(",", save));
        return lines;
    }

    static void put(Map<String, String> lines, String key, @Nullable Object value) {
        if (value != null) {
            lines.put(key, value.toString());
        }
    }

    /** Writes the settings and the fingerprint of the data, which {@link Trainer} checks when the run is resumed. */
    void write(Path folder, String fingerprint) throws IOException {
        AtomicFile.writeText(folder.resolve(FILE), out -> {
            for (Map.Entry<String, String> line : lines().entrySet()) {
                out.write(PropertyText.encoded(line.getKey()).replace("=", "\\u003d") + "="
                        + PropertyText.encoded(line.getValue()) + "\n");
            }
            out.write("data-fingerprint=" + fingerprint + "\n");
        });
    }

    /** Throws an IllegalArgumentException if a folder holds a run. */
    static void requireNoRun(Path folder) {
        if (Files.exists(folder.resolve(FILE))) {
            throw new IllegalArgumentException(
                    "The folder " + folder + " already holds a run: resume it with --resume " + folder
                            + ", or name another folder");
        }
    }

    static Settings read(Path folder) throws IOException {
        Path file = folder.resolve(FILE);
        if (!Files.isRegularFile(file)) {
            throw new NoSuchFileException(file.toString(), null, "the folder holds no run to resume");
        }
        Map<String, String> lines = new LinkedHashMap<>();
        Map<String, Path> feeds = new LinkedHashMap<>();
        for (String line : lines(file)) {
            int equals = line.indexOf('=');
            if (equals > 0 && line.startsWith(FEED)) {
                feeds.put(PropertyText.decoded(line.substring(FEED.length(), equals)),
                        Path.of(PropertyText.decoded(line.substring(equals + 1))));
            } else if (equals > 0) {
                lines.put(line.substring(0, equals), PropertyText.decoded(line.substring(equals + 1)));
            }
        }
        Parser parser = new Parser(file, lines);
        return new Settings(parser.needed("what", text -> text), parser.path("startup"), feeds, lines.get("loss"),
                parser.path("labels"), lines.get("output"), Table.of(lines), parser.path("data"),
                parser.needed("epochs", Integer::valueOf), parser.needed("batch", Integer::valueOf),
                parser.needed("rate", Double::valueOf), parser.needed("steps", Long::valueOf),
                parser.needed("seed", Long::valueOf),
                parser.needed("place", text -> text),
                lines.containsKey("ranks") ? parser.needed("ranks", Integer::valueOf) : 1,
                parser.needed("precision", text -> text),
                parser.needed("patience", Integer::valueOf), parser.needed("evaluate-every", Long::valueOf),
                parser.needed("checkpoint-every", Long::valueOf),
                Exchange.PLAIN.bfloat16("bf16".equals(lines.get("wire")))
                        .syncBatchNorm(lines.containsKey("sync-batch-norm"))
                        .sharded(lines.containsKey("shard-optimizer")),
                lines.containsKey("save") ? List.of(parser.needed("save", text -> text).split(",")) : List.of());
    }

    private static List<String> lines(Path file) throws IOException {
        try {
            return Files.readAllLines(InputFiles.requireRegular(file));
        } catch (CharacterCodingException e) {
            throw new FileFormatException(file.toString(),
                    "the settings of a run must be text in UTF-8, but this file is not", e);
        }
    }

    private record Parser(Path file, Map<String, String> lines) {
        @Nullable
        Path path(String key) {
            return lines.containsKey(key) ? Path.of(Objects.requireNonNull(lines.get(key))) : null;
        }

        <T> T needed(String key, Function<String, T> parse) throws FileFormatException {
            String text = lines.get(key);
            if (text == null) {
                throw new FileFormatException(file.toString(), "the line '" + key + "=…' is missing");
            }
            try {
                return parse.apply(text);
            } catch (NumberFormatException e) {
                throw new FileFormatException(file.toString(), "'" + key + "' must be a number, but is '" + text + "'",
                        e);
            }
        }
    }
}
