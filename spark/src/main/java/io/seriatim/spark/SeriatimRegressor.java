package io.seriatim.spark;

import io.seriatim.tensor.DType;
import io.seriatim.train.model.LoadedModel;
import org.apache.spark.ml.util.DefaultParamsReader;
import org.apache.spark.ml.util.Identifiable$;
import org.apache.spark.ml.util.MLReader;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Trains a neural network that predicts a number for each row, as a stage of a pipeline: tasks of Spark are the ranks
 * of a {@link SparkTraining}.
 *
 * <pre>{@code
 * SeriatimRegressionModel model = new SeriatimRegressor()
 *         .setFeaturesCol("measurements").setLabelCol("price").setHiddenLayers(64).setMaxIter(20).fit(rows);
 * Dataset<Row> scored = model.transform(rows); // with the column prediction
 * }</pre>
 *
 * <p>
 * Features are those of {@link SeriatimClassifier}; labels are numbers. Neither is scaled. The network has
 * {@linkplain #setHiddenLayers linear layers} with ReLU between them, or is {@linkplain #setModelFile from a file} and
 * has one number for each row as output. AdamW minimises the mean squared error.
 */
public final class SeriatimRegressor extends SeriatimEstimator<SeriatimRegressor, SeriatimRegressionModel> {
    private static final long serialVersionUID = 1;

    /** A regressor with a name of its own. */
    public SeriatimRegressor() {
        this(Identifiable$.MODULE$.randomUID("seriatimRegressor"));
    }

    /**
     * A regressor with a given name.
     *
     * @param uid
     *            the name, by which pipelines distinguish their stages
     */
    public SeriatimRegressor(String uid) {
        super(uid);
    }

    @Override
    public SeriatimRegressor self() {
        return this;
    }

    @Override
    DType labelType() {
        return DType.FLOAT32;
    }

    @Override
    LoadedModel.Loss loss() {
        return LoadedModel.Loss.MSE;
    }

    @Override
    int outputs(Dataset<Row> examples) {
        return 1;
    }

    @Override
    SeriatimRegressionModel fitted(ModelFiles files) {
        return new SeriatimRegressionModel(uid(), files);
    }

    @Override
    StructType widened(StructType schema) {
        return ExampleColumns.with(schema, getPredictionCol(), DataTypes.DoubleType);
    }

    /**
     * Returns the reader of saved regressors.
     *
     * @return the reader, which pipelines call, too
     */
    public static MLReader<SeriatimRegressor> read() {
        return new DefaultParamsReader<>();
    }

    /**
     * Loads a saved regressor.
     *
     * @param path
     *            where it was saved, in any file system of Hadoop
     * @return with the saved params
     */
    public static SeriatimRegressor load(String path) {
        return read().load(path);
    }
}
