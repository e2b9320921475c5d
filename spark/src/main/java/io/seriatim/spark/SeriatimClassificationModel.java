package io.seriatim.spark;

import io.seriatim.executor.Predictor.Port;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.util.MLReader;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;

/**
 * A network that classifies rows, as {@link SeriatimClassifier} has trained it. It appends scores and probabilities of
 * all classes, as ML vectors, and the number of the most probable class.
 */
public final class SeriatimClassificationModel extends SeriatimModel<SeriatimClassificationModel>
        implements
            ScoreParams<SeriatimClassificationModel> {
    private static final long serialVersionUID = 1;

    /** The new column with scores. */
    private final Param<String> rawPredictionCol;
    /** The new column with probabilities. */
    private final Param<String> probabilityCol;

    /**
     * A model without a network, for readers.
     *
     * @param uid
     *            the name
     */
    public SeriatimClassificationModel(String uid) {
        this(uid, null);
    }

    @SuppressWarnings("this-escape") // Params know the model to which they belong; they do not call it.
    SeriatimClassificationModel(String uid, @Nullable ModelFiles files) {
        super(uid, files);
        rawPredictionCol = new Param<>(this, "rawPredictionCol", "the new column with scores of the classes");
        probabilityCol = new Param<>(this, "probabilityCol", "the new column with probabilities of the classes");
        setDefault(rawPredictionCol, "rawPrediction");
        setDefault(probabilityCol, "probability");
    }

    @Override
    public Param<String> rawPredictionCol() {
        return rawPredictionCol;
    }

    @Override
    public Param<String> probabilityCol() {
        return probabilityCol;
    }

    /**
     * Returns the number of classes.
     *
     * @return the size of the network's output
     */
    public int numClasses() {
        return elements(predictor -> predictor.outputs().getFirst());
    }

    @Override
    public SeriatimClassificationModel self() {
        return this;
    }

    @Override
    SeriatimClassificationModel another(String name, ModelFiles network) {
        return new SeriatimClassificationModel(name, network);
    }

    @Override
    List<ResultColumn> results(Port output) {
        List<ResultColumn> results = new ArrayList<>();
        add(results, getRawPredictionCol(), output, ResultColumn.Kind.VECTOR);
        add(results, getProbabilityCol(), output, ResultColumn.Kind.SOFTMAX);
        add(results, getPredictionCol(), output, ResultColumn.Kind.GREATEST);
        return results;
    }

    private static void add(List<ResultColumn> results, String column, Port output, ResultColumn.Kind kind) {
        if (!column.isEmpty()) {
            results.add(ResultColumn.of(column, output, kind));
        }
    }

    @Override
    StructType widened(StructType schema) {
        return ExampleColumns.with(schema, this);
    }

    /**
     * Returns the reader of saved models.
     *
     * @return the reader, which pipelines call, too
     */
    public static MLReader<SeriatimClassificationModel> read() {
        return new SeriatimModel.Reader<>();
    }

    /**
     * Loads a saved model.
     *
     * @param path
     *            where it was saved, in any file system of Hadoop
     * @return with the network that is saved there
     */
    public static SeriatimClassificationModel load(String path) {
        return read().load(path);
    }
}
