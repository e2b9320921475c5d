package io.seriatim.spark;

import io.seriatim.tensor.DType;
import io.seriatim.train.model.LoadedModel;
import org.apache.spark.ml.attribute.Attribute;
import org.apache.spark.ml.attribute.NominalAttribute;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.util.DefaultParamsReader;
import org.apache.spark.ml.util.Identifiable$;
import org.apache.spark.ml.util.MLReader;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Option;

/**
 * Trains a neural network that classifies rows, as a stage of a pipeline: tasks of Spark are the ranks of a
 * {@link SparkTraining}.
 *
 * <pre>{@code
 * SeriatimClassificationModel model = new SeriatimClassifier()
 *         .setFeaturesCol("pixels").setLabelCol("digit").setHiddenLayers(64).setMaxIter(5).fit(rows);
 * Dataset<Row> scored = model.transform(rows); // with the columns rawPrediction, probability and prediction
 * }</pre>
 *
 * <p>
 * <b>Features</b> are ML vectors, arrays of numbers, bytes or numbers, as many in each row. They are fed as they are:
 * scale them by a stage before, such as Spark's {@code StandardScaler}.
 *
 * <p>
 * <b>Labels</b> are class numbers from 0, of any type of numbers, as {@code StringIndexer} makes them. Their number is
 * in the column's metadata, or follows from the greatest label.
 *
 * <p>
 * <b>Network.</b> {@linkplain #setHiddenLayers Linear layers} with ReLU between them, or {@linkplain #setModelFile a
 * network from a file}, whose output is scores of the classes or a softmax of them. AdamW minimises the cross-entropy.
 *
 * <p>
 * The model depends on the rows, the params and the number of ranks, but not on tasks that failed. All ranks run at the
 * same time; a {@code CrossValidator} with parallelism 1 fits one model after the other.
 */
public final class SeriatimClassifier extends SeriatimEstimator<SeriatimClassifier, SeriatimClassificationModel>
        implements
            ScoreParams<SeriatimClassifier> {
    private static final long serialVersionUID = 1;

    /** The new column with scores. */
    private final Param<String> rawPredictionCol;
    /** The new column with probabilities. */
    private final Param<String> probabilityCol;

    /** A classifier with a name of its own. */
    public SeriatimClassifier() {
        this(Identifiable$.MODULE$.randomUID("seriatimClassifier"));
    }

    /**
     * A classifier with a given name.
     *
     * @param uid
     *            the name, by which pipelines distinguish their stages
     */
    @SuppressWarnings("this-escape") // Params know the estimator to which they belong; they do not call it.
    public SeriatimClassifier(String uid) {
        super(uid);
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

    @Override
    public SeriatimClassifier self() {
        return this;
    }

    @Override
    DType labelType() {
        return DType.INT64;
    }

    @Override
    LoadedModel.Loss loss() {
        return LoadedModel.Loss.CROSS_ENTROPY;
    }

    @Override
    int outputs(Dataset<Row> examples) {
        Row range = examples.select(ExampleColumns.named(getLabelCol()).cast(DataTypes.DoubleType).as("label"))
                .agg(functions.min("label"), functions.max("label")).first();
        if (range.isNullAt(0)) {
            throw new IllegalArgumentException("Column '" + getLabelCol() + "' has no labels");
        }
        double least = range.getDouble(0);
        double greatest = range.getDouble(1);
        // NaN is greater than all numbers.
        if (!(least >= 0 && greatest < Integer.MAX_VALUE)) {
            throw new IllegalArgumentException("The labels of column '" + getLabelCol() + "' are from " + least + " to "
                    + greatest + ", but must be class numbers, from 0: index them by Spark's StringIndexer");
        }
        int classes = Math.max(2, (int) greatest + 1);
        Attribute attribute = Attribute.fromStructField(examples.schema().apply(getLabelCol()));
        Option<Object> declared =
                attribute instanceof NominalAttribute nominal ? nominal.getNumValues() : Option.empty();
        return declared.isDefined() ? Math.max(classes, (Integer) declared.get()) : classes;
    }

    @Override
    SeriatimClassificationModel fitted(ModelFiles files) {
        return new SeriatimClassificationModel(uid(), files);
    }

    @Override
    StructType widened(StructType schema) {
        return ExampleColumns.with(schema, this);
    }

    /**
     * Returns the reader of saved classifiers.
     *
     * @return the reader, which pipelines call, too
     */
    public static MLReader<SeriatimClassifier> read() {
        return new DefaultParamsReader<>();
    }

    /**
     * Loads a saved classifier.
     *
     * @param path
     *            where it was saved, in any file system of Hadoop
     * @return with the saved params
     */
    public static SeriatimClassifier load(String path) {
        return read().load(path);
    }
}
