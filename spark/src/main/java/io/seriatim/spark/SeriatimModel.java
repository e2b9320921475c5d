package io.seriatim.spark;

import io.seriatim.executor.Predictor;
import io.seriatim.executor.Predictor.Port;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.function.Function;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.ml.Model;
import org.apache.spark.ml.param.IntParam;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.param.ParamValidators;
import org.apache.spark.ml.util.DefaultParamsReader;
import org.apache.spark.ml.util.DefaultParamsWriter;
import org.apache.spark.ml.util.MLReader;
import org.apache.spark.ml.util.MLWritable;
import org.apache.spark.ml.util.MLWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;

/**
 * The common part of the fitted models: the trained network, with which rows are scored.
 *
 * @param <M>
 *            the model
 */
public abstract sealed class SeriatimModel<M extends SeriatimModel<M>> extends Model<M>
        implements
            MLWritable,
            ExampleParams<M>
        permits SeriatimClassificationModel, SeriatimRegressionModel {
    private static final long serialVersionUID = 1;

    /** The name. */
    private final String uid;
    /** The column with features. */
    private final Param<String> featuresCol;
    /** The column with labels, for evaluators. */
    private final Param<String> labelCol;
    /** The new column with predictions. */
    private final Param<String> predictionCol;
    /** The most rows of a run. */
    private final IntParam scoringBatchSize;
    /** The network; null until a reader has set it. */
    private @Nullable ModelFiles files;

    SeriatimModel(String uid, @Nullable ModelFiles files) {
        this.uid = uid;
        this.files = files;
        featuresCol = new Param<>(this, "featuresCol", "the column with features: ML vectors, arrays or numbers");
        labelCol = new Param<>(this, "labelCol", "the column with labels");
        predictionCol = new Param<>(this, "predictionCol", "the new column with predictions");
        scoringBatchSize = new IntParam(this, "scoringBatchSize", "the most rows of a run of the network",
                ParamValidators.gt(0));
        setDefault(featuresCol, "features");
        setDefault(labelCol, "label");
        setDefault(predictionCol, "prediction");
        setDefault(scoringBatchSize, 256);
    }

    /** Returns another model of this kind without params. */
    abstract M another(String name, ModelFiles network);

    /** Returns the new columns, which are results of an output of the network. */
    abstract List<ResultColumn> results(Port output);

    final ModelFiles files() {
        if (files == null) {
            throw new IllegalStateException("The model " + uid + " has no network: it is made by fit, or by load");
        }
        return files;
    }

    @Override
    public final String uid() {
        return uid;
    }

    @Override
    public final Param<String> featuresCol() {
        return featuresCol;
    }

    @Override
    public final Param<String> labelCol() {
        return labelCol;
    }

    @Override
    public final Param<String> predictionCol() {
        return predictionCol;
    }

    /**
     * The most rows of a run of the network.
     *
     * @return the param
     */
    public final IntParam scoringBatchSize() {
        return scoringBatchSize;
    }

    /**
     * Sets the most rows of a run of the network.
     *
     * @param rows
     *            at least 1; the default is 256
     * @return this
     */
    public final M setScoringBatchSize(int rows) {
        set(scoringBatchSize, rows);
        return self();
    }

    /**
     * Returns the most rows of a run of the network.
     *
     * @return at least 1
     */
    public final int getScoringBatchSize() {
        return (int) getOrDefault(scoringBatchSize);
    }

    /**
     * Returns the number of features of a row.
     *
     * @return the size of the network's input
     */
    public final int numFeatures() {
        return elements(predictor -> predictor.inputs().getFirst());
    }

    /** Returns the number of elements of a row of an input or output. */
    final int elements(Function<Predictor, Port> port) {
        try (SharedModel loaded = SharedModel.of(files(), files().digest(), 1)) {
            return Math.toIntExact(port.apply(loaded.predictor()).sizes().stream().skip(1)
                    .reduce(1L, (left, right) -> left * right));
        } catch (IOException e) {
            throw new UncheckedIOException(e.getMessage(), e);
        }
    }

    /**
     * Returns a copy of the trained network, which can be saved in any format by {@code InferenceModels.save}.
     *
     * @return the network, which belongs to the caller
     */
    public final InferenceModel network() {
        try {
            return files().load();
        } catch (IOException e) {
            throw new UncheckedIOException(e.getMessage(), e);
        }
    }

    /**
     * Appends the network's results to rows.
     *
     * @param rows
     *            with the column of features
     * @return the rows with all their columns and the new ones; they are computed when they are used
     * @throws IllegalArgumentException
     *             if the column of features is missing or of another type, or a new column is there already
     */
    @Override
    public final Dataset<Row> transform(Dataset<?> rows) {
        StructType schema = transformSchema(rows.schema());
        ModelFiles network = files();
        String digest = network.digest();
        FeedColumn feed;
        List<ResultColumn> results;
        try (SharedModel loaded = SharedModel.of(network, digest, 1)) {
            Predictor predictor = loaded.predictor();
            feed = FeedColumn.of(rows.schema(), getFeaturesCol(), predictor.inputs().getFirst());
            results = results(predictor.outputs().getFirst());
        } catch (IOException e) {
            throw new UncheckedIOException(e.getMessage(), e);
        }
        Broadcast<ModelFiles> sent = new JavaSparkContext(rows.sparkSession().sparkContext()).broadcast(network);
        return ScoredFrame.of(rows, new Scoring(sent, digest, List.of(feed), results,
                getScoringBatchSize(), 1), schema);
    }

    @Override
    public final StructType transformSchema(StructType schema) {
        ExampleColumns.checkFeatures(schema, getFeaturesCol());
        return widened(schema);
    }

    /** Returns the schema with the new columns. */
    abstract StructType widened(StructType schema);

    @Override
    public final M copy(ParamMap extra) {
        M copy = files == null ? defaultCopy(extra) : copyValues(another(uid, files), extra);
        return hasParent() ? copy.setParent(parent()) : copy;
    }

    /**
     * Returns the writer of the params and the network.
     *
     * @return the writer
     */
    @Override
    public final MLWriter write() {
        return new Writer(this);
    }

    private static String folder(String saved) {
        return new Path(saved, "model").toString();
    }

    /** Saves the params as Spark does, and the network's files. */
    private static final class Writer extends MLWriter {
        private final SeriatimModel<?> model;

        Writer(SeriatimModel<?> model) {
            this.model = model;
        }

        @Override
        public void saveImpl(String path) {
            ModelFiles network = model.files();
            new DefaultParamsWriter(model).saveImpl(path);
            try {
                network.write(folder(path), sparkSession().sparkContext().hadoopConfiguration());
            } catch (IOException e) {
                throw new UncheckedIOException(e.getMessage(), e);
            }
        }
    }

    /** Loads the params as Spark does, and the network's files. */
    static final class Reader<M extends SeriatimModel<M>> extends MLReader<M> {
        @Override
        public M load(String path) {
            M loaded = new DefaultParamsReader<M>().load(path);
            Configuration settings = SparkSession.active().sparkContext().hadoopConfiguration();
            try {
                SeriatimModel<M> model = loaded;
                model.files = ModelFiles.read(folder(path) + "/model.pdmodel", new String[0], settings);
            } catch (IOException e) {
                throw new UncheckedIOException(e.getMessage(), e);
            }
            return loaded;
        }
    }
}
