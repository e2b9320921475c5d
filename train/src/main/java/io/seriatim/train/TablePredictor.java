package io.seriatim.train;

import io.seriatim.executor.BadRequestException;
import io.seriatim.executor.Predictor;
import io.seriatim.executor.RunOptions;
import io.seriatim.executor.RunTimeoutException;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.data.TableEncoding;
import io.seriatim.train.data.TableEncoding.Column;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;

/**
 * A {@link Predictor} of rows of a table, which encodes their texts as the model was trained. Thread-safe.
 *
 * <pre>{@code
 * try (TablePredictor people = TablePredictor.load(folder.resolve("model.pdmodel"))) {
 *     String label = people.predict(Map.of("city", "Rome", "age", "31")).label();
 * }
 * }</pre>
 */
public final class TablePredictor implements AutoCloseable {
    private final Predictor predictor;
    private final TableEncoding encoding;
    private final List<String> inputs;
    private final List<String> columns;
    private final boolean ignoresOthers;

    /**
     * The answer for a row.
     *
     * @param label
     *            the class with the highest score
     * @param scores
     *            the output of the model for each class, in the order of {@link TableEncoding#classes}: probabilities
     *            for the model of {@code seriatim train}
     */
    public record Prediction(String label, Map<String, Float> scores) {
        /** Copies the map. */
        public Prediction {
            scores = Collections.unmodifiableMap(new LinkedHashMap<>(scores));
        }
    }

    private TablePredictor(Predictor predictor, TableEncoding encoding, boolean ignoresOthers) {
        this.predictor = predictor;
        this.encoding = encoding;
        this.ignoresOthers = ignoresOthers;
        this.inputs = predictor.inputs().stream().map(Predictor.Port::name).toList();
        this.columns = encoding.columns().stream().map(Column::name).toList();
        if (!columns.containsAll(inputs)) {
            throw new IllegalArgumentException("The inputs of the model must be columns of the table, " + columns
                    + ", but are " + inputs + ": is the encoding that of another model?");
        }
        if (predictor.outputs().size() != 1) {
            throw new IllegalArgumentException(
                    "A model of a table must have one output, a score for each class, but has "
                            + predictor.outputs());
        }
    }

    /**
     * Loads a model and the encoding beside it.
     *
     * @param model
     *            a file or folder of any format that {@link Predictor#load} takes; {@value TableEncoding#FILE} is in
     *            the same folder
     * @return a predictor
     * @throws IOException
     *             if a file cannot be read, or is invalid
     * @throws IllegalArgumentException
     *             if the model and the encoding do not belong together
     */
    public static TablePredictor load(Path model) throws IOException {
        Path folder = Files.isDirectory(model) ? model : model.toAbsolutePath().getParent();
        TableEncoding encoding = TableEncoding.load(folder == null
                ? Path.of(TableEncoding.FILE)
                : folder.resolve(TableEncoding.FILE));
        return of(Predictor.load(model), encoding);
    }

    /**
     * Combines a predictor, such as one with batching, and an encoding.
     *
     * @param predictor
     *            the predictor, which is closed with the result, or if this method fails
     * @param encoding
     *            the encoding of its inputs
     * @return a predictor of rows
     * @throws IllegalArgumentException
     *             if they do not belong together
     */
    public static TablePredictor of(Predictor predictor, TableEncoding encoding) {
        boolean made = false;
        try {
            TablePredictor table = new TablePredictor(predictor, encoding, false);
            made = true;
            return table;
        } finally {
            if (!made) {
                predictor.close();
            }
        }
    }

    /**
     * Returns a predictor of the same model that ignores columns which it does not know, such as the number of a row.
     * By default they are refused, since they may be misspelt.
     *
     * @return a predictor that shares this one's model: closing either closes both
     */
    public TablePredictor ignoringOtherColumns() {
        return new TablePredictor(predictor, encoding, true);
    }

    /**
     * Compiles the model for a number of rows, so that the first request does not wait for it.
     *
     * @param rows
     *            the number of rows of a request, at least 1
     * @throws IllegalArgumentException
     *             if the number is less than 1
     * @throws IllegalStateException
     *             if the predictor is closed
     */
    public void warmUp(int rows) {
        if (rows < 1) {
            throw new IllegalArgumentException("The rows of a request must be at least 1, but are " + rows);
        }
        Map<String, long[]> sizes = new LinkedHashMap<>();
        encoding.columns().stream().filter(column -> inputs.contains(column.name())).forEach(
                column -> sizes.put(column.name(), new long[]{rows, column.field().shape().size()}));
        predictor.warmUp(sizes);
    }

    /**
     * Returns the encoding.
     *
     * @return the columns and classes
     */
    public TableEncoding encoding() {
        return encoding;
    }

    /**
     * Predicts the class of a row.
     *
     * @param row
     *            the text of every column by name; the empty text is a missing value. The label may be there, and is
     *            ignored
     * @return the class and the scores
     * @throws BadRequestException
     *             if a column is missing or unknown, a number is none, or the model does not accept the tensors
     * @throws IllegalStateException
     *             if the predictor is closed
     */
    public Prediction predict(Map<String, String> row) {
        return predict(row, RunOptions.defaults());
    }

    /**
     * Predicts the class of a row with a deadline or a cancellation.
     *
     * @param row
     *            as for {@link #predict(Map)}
     * @param options
     *            the deadline, and what cancels the run
     * @return the class and the scores
     * @throws BadRequestException
     *             as for {@link #predict(Map)}
     * @throws RunTimeoutException
     *             if the time is over
     * @throws CancellationException
     *             if the run is cancelled
     * @throws IllegalStateException
     *             if the predictor is closed
     */
    public Prediction predict(Map<String, String> row, RunOptions options) {
        return predict(List.of(row), options).getFirst();
    }

    /**
     * Predicts the classes of rows in one run.
     *
     * @param rows
     *            at least one, each with the text of every column by name; the label may be there, and is ignored
     * @return one answer for each row
     * @throws BadRequestException
     *             if a column is missing or unknown, a number is none, or the model does not accept the tensors
     * @throws IllegalStateException
     *             if the predictor is closed
     */
    public List<Prediction> predict(List<? extends Map<String, String>> rows) {
        return predict(rows, RunOptions.defaults());
    }

    /**
     * Predicts the classes of rows in one run with a deadline or a cancellation.
     *
     * @param rows
     *            as for {@link #predict(List)}
     * @param options
     *            the deadline, and what cancels the run
     * @return one answer for each row
     * @throws BadRequestException
     *             as for {@link #predict(List)}
     * @throws RunTimeoutException
     *             if the time is over
     * @throws CancellationException
     *             if the run is cancelled
     * @throws IllegalStateException
     *             if the predictor is closed
     */
    public List<Prediction> predict(List<? extends Map<String, String>> rows, RunOptions options) {
        Map<String, Tensor> encoded = encoded(rows);
        Tensor output = null;
        try {
            Map<String, Tensor> fed = new LinkedHashMap<>(encoded);
            fed.keySet().retainAll(inputs);
            output = predictor.run(fed, options).all().values().iterator().next();
            return answers(output, rows.size());
        } finally {
            encoded.values().forEach(Tensor::close);
            if (output != null) {
                output.close();
            }
        }
    }

    private List<Prediction> answers(Tensor output, int rows) {
        List<String> classes = encoding.classes();
        if (output.shape().size() != (long) rows * classes.size()) {
            throw new IllegalArgumentException("The output of the model must have a score for each of the "
                    + classes.size() + " classes of " + rows + " rows, but has the shape " + output.shape());
        }
        float[] scores = output.toFloatArray();
        List<Prediction> answers = new ArrayList<>();
        for (int row = 0; row < rows; row++) {
            Map<String, Float> byClass = new LinkedHashMap<>();
            int best = 0;
            for (int i = 0; i < classes.size(); i++) {
                float score = scores[row * classes.size() + i];
                byClass.put(classes.get(i), score);
                best = score > scores[row * classes.size() + best] ? i : best;
            }
            answers.add(new Prediction(classes.get(best), byClass));
        }
        return answers;
    }

    /** The rows are a request: what is wrong with them is for the caller to change. */
    private Map<String, Tensor> encoded(List<? extends Map<String, String>> rows) {
        try {
            for (int i = 0; i < rows.size() && !ignoresOthers; i++) {
                checkNames(rows.get(i), i);
            }
            return encoding.encode(rows);
        } catch (IllegalArgumentException e) {
            throw new BadRequestException(String.valueOf(e.getMessage()), e);
        }
    }

    private void checkNames(Map<String, String> row, int index) {
        for (String name : row.keySet()) {
            if (!columns.contains(name) && !encoding.label().equals(name)) {
                throw new IllegalArgumentException("Row " + index + " has the column '" + name
                        + "', which the model does not know: its columns are " + columns
                        + ". Leave it out, or let ignoringOtherColumns() ignore it");
            }
        }
    }

    /** Closes the predictor. */
    @Override
    public void close() {
        predictor.close();
    }
}
