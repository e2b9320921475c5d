package io.seriatim.spark;

import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.parallel.Exchange;
import io.seriatim.tensor.DType;
import io.seriatim.train.model.LoadedModel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.ml.Estimator;
import org.apache.spark.ml.param.BooleanParam;
import org.apache.spark.ml.param.DoubleParam;
import org.apache.spark.ml.param.IntArrayParam;
import org.apache.spark.ml.param.IntParam;
import org.apache.spark.ml.param.LongParam;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.param.ParamValidators;
import org.apache.spark.ml.util.DefaultParamsWriter;
import org.apache.spark.ml.util.MLWritable;
import org.apache.spark.ml.util.MLWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;

/**
 * The common part of the estimators: params, the network and its training.
 *
 * @param <E>
 *            the estimator
 * @param <M>
 *            the fitted model
 */
public abstract sealed class SeriatimEstimator<E extends SeriatimEstimator<E, M>, M extends SeriatimModel<M>>
        extends
            Estimator<M>
        implements
            MLWritable,
            ExampleParams<E>,
            RankParams<E>
        permits SeriatimClassifier, SeriatimRegressor {
    private static final long serialVersionUID = 1;
    private static final int[] HIDDEN = {64, 32};
    private static final String BFLOAT16 = "bf16";

    /** The name. */
    private final String uid;
    /** The column with features. */
    private final Param<String> featuresCol;
    /** The column with labels. */
    private final Param<String> labelCol;
    /** The new column with predictions. */
    private final Param<String> predictionCol;
    /** The number of epochs. */
    private final IntParam maxIter;
    /** The rows of a step. */
    private final IntParam batchSize;
    /** The highest learning rate. */
    private final DoubleParam learningRate;
    /** The decay of weights. */
    private final DoubleParam weightDecay;
    /** The share of elements that are dropped. */
    private final DoubleParam dropout;
    /** The widths of the hidden layers. */
    private final IntArrayParam hiddenLayers;
    /** A file with the network. */
    private final Param<String> modelFile;
    /** The seed. */
    private final LongParam seed;
    /** The number of ranks. */
    private final IntParam numRanks;
    /** The folder for checkpoints. */
    private final Param<String> checkpointDir;
    /** What gradients travel as. */
    private final Param<String> wire;
    /** Whether batch normalisation takes the rows of all ranks. */
    private final BooleanParam syncBatchNorm;
    /** Whether the optimizer's state is sharded. */
    private final BooleanParam shardOptimizer;

    SeriatimEstimator(String uid) {
        this.uid = uid;
        featuresCol = new Param<>(this, "featuresCol", "the column with features: ML vectors, arrays or numbers");
        labelCol = new Param<>(this, "labelCol", "the column with labels");
        predictionCol = new Param<>(this, "predictionCol", "the new column with predictions");
        maxIter = new IntParam(this, "maxIter", "the number of epochs: passes over the rows", ParamValidators.gt(0));
        batchSize = new IntParam(this, "batchSize", "the rows of a step of all ranks together",
                ParamValidators.gt(0));
        learningRate = new DoubleParam(this, "learningRate", "the highest learning rate", ParamValidators.gt(0));
        weightDecay = new DoubleParam(this, "weightDecay", "the decay of the weights", ParamValidators.gtEq(0));
        dropout = new DoubleParam(this, "dropout", "the share of the hidden layers' elements that a step drops",
                ParamValidators.inRange(0, 1, true, false));
        hiddenLayers = new IntArrayParam(this, "hiddenLayers", "the widths of the hidden layers");
        modelFile = new Param<>(this, "modelFile", "the file or folder of a network to be trained further");
        seed = new LongParam(this, "seed", "the seed of the first weights and of the order of the rows");
        numRanks = new IntParam(this, "numRanks", "the number of ranks: tasks that train together; 0 for as many as "
                + "Spark's default parallelism and the batch size allow", ParamValidators.gtEq(0));
        checkpointDir = new Param<>(this, "checkpointDir", "a folder for the checkpoints of trainings that run");
        wire = new Param<>(this, "wire", "what gradients travel as between ranks: f32 or bf16",
                ParamValidators.inArray(new String[]{"f32", BFLOAT16}));
        syncBatchNorm = new BooleanParam(this, "syncBatchNorm", "whether batch normalisation takes mean and variance "
                + "of the rows of all ranks");
        shardOptimizer = new BooleanParam(this, "shardOptimizer", "whether each rank keeps the optimizer's state of "
                + "some parameters only");
        setDefault(featuresCol, "features");
        setDefault(labelCol, "label");
        setDefault(predictionCol, "prediction");
        setDefault(maxIter, 20);
        setDefault(batchSize, 64);
        setDefault(learningRate, 2e-3);
        setDefault(weightDecay, 0.01);
        setDefault(dropout, 0.0);
        setDefault(hiddenLayers, HIDDEN.clone());
        setDefault(seed, 0L);
        setDefault(numRanks, 0);
        setDefault(wire, "f32");
        setDefault(syncBatchNorm, false);
        setDefault(shardOptimizer, false);
    }

    /** Throws if the labels do not fit; returns how many outputs a network for them has. */
    abstract int outputs(Dataset<Row> examples);

    /** Returns the type of the labels. */
    abstract DType labelType();

    /** Returns the loss for a loaded network. */
    abstract LoadedModel.Loss loss();

    /** Returns the fitted model without params. */
    abstract M fitted(ModelFiles files);

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
     * The number of epochs.
     *
     * @return the param
     */
    public final IntParam maxIter() {
        return maxIter;
    }

    /**
     * The rows of a step of all ranks together.
     *
     * @return the param
     */
    public final IntParam batchSize() {
        return batchSize;
    }

    /**
     * The highest learning rate.
     *
     * @return the param
     */
    public final DoubleParam learningRate() {
        return learningRate;
    }

    /**
     * The decay of the weights.
     *
     * @return the param
     */
    public final DoubleParam weightDecay() {
        return weightDecay;
    }

    /**
     * The share of the hidden layers' elements that a step drops.
     *
     * @return the param
     */
    public final DoubleParam dropout() {
        return dropout;
    }

    /**
     * The widths of the hidden layers.
     *
     * @return the param
     */
    public final IntArrayParam hiddenLayers() {
        return hiddenLayers;
    }

    /**
     * A network to be trained further.
     *
     * @return the param
     */
    public final Param<String> modelFile() {
        return modelFile;
    }

    /**
     * The seed.
     *
     * @return the param
     */
    public final LongParam seed() {
        return seed;
    }

    /**
     * The number of ranks.
     *
     * @return the param
     */
    public final IntParam numRanks() {
        return numRanks;
    }

    /**
     * A folder for checkpoints.
     *
     * @return the param
     */
    public final Param<String> checkpointDir() {
        return checkpointDir;
    }

    @Override
    public final Param<String> wire() {
        return wire;
    }

    @Override
    public final BooleanParam syncBatchNorm() {
        return syncBatchNorm;
    }

    @Override
    public final BooleanParam shardOptimizer() {
        return shardOptimizer;
    }

    Exchange exchange() {
        return Exchange.PLAIN.bfloat16(getWire().equals(BFLOAT16)).syncBatchNorm(getSyncBatchNorm())
                .sharded(getShardOptimizer());
    }

    /**
     * Sets the column with labels.
     *
     * @param column
     *            numbers; the default is {@code label}
     * @return this
     */
    public final E setLabelCol(String column) {
        set(labelCol, column);
        return self();
    }

    /**
     * Sets the number of epochs.
     *
     * @param epochs
     *            at least 1; the default is 20
     * @return this
     */
    public final E setMaxIter(int epochs) {
        set(maxIter, epochs);
        return self();
    }

    /**
     * Returns the number of epochs.
     *
     * @return at least 1
     */
    public final int getMaxIter() {
        return (int) getOrDefault(maxIter);
    }

    /**
     * Sets the rows of a step of all ranks together.
     *
     * @param rows
     *            at least 1; the default is 64
     * @return this
     */
    public final E setBatchSize(int rows) {
        set(batchSize, rows);
        return self();
    }

    /**
     * Returns the rows of a step.
     *
     * @return at least 1
     */
    public final int getBatchSize() {
        return (int) getOrDefault(batchSize);
    }

    /**
     * Sets the highest learning rate. It falls to a tenth of it by a cosine.
     *
     * @param rate
     *            above 0; the default is 0.002
     * @return this
     */
    public final E setLearningRate(double rate) {
        set(learningRate, rate);
        return self();
    }

    /**
     * Returns the highest learning rate.
     *
     * @return above 0
     */
    public final double getLearningRate() {
        return (double) getOrDefault(learningRate);
    }

    /**
     * Sets the decay of the weights.
     *
     * @param decay
     *            at least 0; the default is 0.01
     * @return this
     */
    public final E setWeightDecay(double decay) {
        set(weightDecay, decay);
        return self();
    }

    /**
     * Returns the decay of the weights.
     *
     * @return at least 0
     */
    public final double getWeightDecay() {
        return (double) getOrDefault(weightDecay);
    }

    /**
     * Sets the share of the hidden layers' elements that a step drops.
     *
     * @param share
     *            from 0, the default, to below 1
     * @return this
     */
    public final E setDropout(double share) {
        set(dropout, share);
        return self();
    }

    /**
     * Returns the share of elements that a step drops.
     *
     * @return from 0 to below 1
     */
    public final double getDropout() {
        return (double) getOrDefault(dropout);
    }

    /**
     * Sets the widths of the hidden layers, which are linear and followed by ReLU.
     *
     * @param widths
     *            each at least 1; none for a linear model. The default is 64 and 32
     * @return this
     */
    public final E setHiddenLayers(int... widths) {
        if (Arrays.stream(widths).anyMatch(width -> width < 1)) {
            throw new IllegalArgumentException("The widths of hidden layers must be at least 1, but are "
                    + Arrays.toString(widths));
        }
        set(hiddenLayers, widths.clone());
        return self();
    }

    /**
     * Returns the widths of the hidden layers.
     *
     * @return a copy
     */
    public final int[] getHiddenLayers() {
        return getOrDefault(hiddenLayers).clone();
    }

    /**
     * Sets a network of your own, which is trained further instead of one with {@link #setHiddenLayers hidden layers}:
     * it has one input, for the features, and one output. The estimator appends the loss and the optimizer.
     *
     * @param path
     *            a file or folder of any format that {@code InferenceModels.load} takes, in any file system of Hadoop.
     *            It is read when the estimator is fitted
     * @return this
     */
    public final E setModelFile(String path) {
        set(modelFile, path);
        return self();
    }

    /**
     * Returns the file of the network.
     *
     * @return its path; empty if none is set
     */
    public final String getModelFile() {
        return isDefined(modelFile) ? getOrDefault(modelFile) : "";
    }

    /**
     * Sets the seed of the first weights, of dropout and of the order of the rows.
     *
     * @param value
     *            the seed; the default is 0
     * @return this
     */
    public final E setSeed(long value) {
        set(seed, value);
        return self();
    }

    /**
     * Returns the seed.
     *
     * @return the seed
     */
    public final long getSeed() {
        return (long) getOrDefault(seed);
    }

    /**
     * Sets the number of ranks, which must divide the batch size. All train at the same time.
     *
     * @param ranks
     *            at least 1; or 0, the default, for the largest number up to Spark's default parallelism that divides
     *            the batch size. The fitted model depends on it
     * @return this
     */
    public final E setNumRanks(int ranks) {
        set(numRanks, ranks);
        return self();
    }

    /**
     * Returns the number of ranks.
     *
     * @return 0 if Spark's default parallelism decides
     */
    public final int getNumRanks() {
        return (int) getOrDefault(numRanks);
    }

    /**
     * Sets a folder for checkpoints, from which a training goes on after a failure; without one it starts again. Each
     * training writes to a folder of its own there, and deletes it when it has ended well.
     *
     * @param folder
     *            a folder in any file system of Hadoop, which all executors reach
     * @return this
     */
    public final E setCheckpointDir(String folder) {
        set(checkpointDir, folder);
        return self();
    }

    /**
     * Returns the folder for checkpoints.
     *
     * @return its path; empty if none is set
     */
    public final String getCheckpointDir() {
        return isDefined(checkpointDir) ? getOrDefault(checkpointDir) : "";
    }

    /**
     * Trains the network on rows.
     *
     * @param rows
     *            with the columns of features and labels; each time they are computed they have the same values
     * @return the model, which is independent of the rows
     * @throws IllegalArgumentException
     *             if there are no rows, or they do not fit the params
     * @throws IllegalStateException
     *             if the training has failed
     */
    @Override
    public final M fit(Dataset<?> rows) {
        ExampleColumns.check(rows.schema(), getFeaturesCol(), getLabelCol());
        Dataset<Row> examples = rows.select(ExampleColumns.named(getFeaturesCol()),
                ExampleColumns.named(getLabelCol()));
        Configuration settings = rows.sparkSession().sparkContext().hadoopConfiguration();
        try {
            ModelFiles trained = new EstimatorTraining(this, examples, settings).run();
            return copyValues(fitted(trained), ParamMap.empty()).setParent(this);
        } catch (IOException e) {
            throw new UncheckedIOException("The estimator " + uid + ": " + e.getMessage(), e);
        }
    }

    @Override
    public StructType transformSchema(StructType schema) {
        ExampleColumns.check(schema, getFeaturesCol(), getLabelCol());
        return widened(schema);
    }

    /** Returns the schema with the new columns. */
    abstract StructType widened(StructType schema);

    @Override
    public final E copy(ParamMap extra) {
        return defaultCopy(extra);
    }

    /**
     * Returns the writer of the params. That of a network in a {@link #setModelFile file} writes its path.
     *
     * @return the writer
     */
    @Override
    public final MLWriter write() {
        return new DefaultParamsWriter(this);
    }
}
