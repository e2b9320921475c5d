package io.seriatim.spark;

import io.seriatim.executor.Predictor;
import io.seriatim.executor.Predictor.Port;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.ml.Transformer;
import org.apache.spark.ml.param.IntParam;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.param.ParamValidators;
import org.apache.spark.ml.param.StringArrayParam;
import org.apache.spark.ml.util.DefaultParamsReader;
import org.apache.spark.ml.util.DefaultParamsWriter;
import org.apache.spark.ml.util.Identifiable$;
import org.apache.spark.ml.util.MLReader;
import org.apache.spark.ml.util.MLWritable;
import org.apache.spark.ml.util.MLWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;

/**
 * Scores rows with a model of any format that Seriatim loads, as a stage of a pipeline.
 *
 * <pre>{@code
 * Dataset<Row> scored = new SeriatimTransformer()
 *         .setModel("hdfs:///models/digits.onnx")
 *         .setInputCols("pixels")
 *         .setOutputCols("probabilities")
 *         .transform(rows);
 * }</pre>
 *
 * <p>
 * The driver reads the model's files, and broadcasts them. Each executor compiles one plan, which all its tasks share.
 * Rows are scored in batches of their partition; the results are those of the model, not changed by anything that Spark
 * does.
 *
 * <p>
 * <b>Inputs.</b> A column for each input of the model, with numbers, arrays of numbers (nested ones, too), ML vectors
 * or bytes; the first dimension of each input counts rows. Without {@link #setInputCols} they are the columns with the
 * inputs' names. A cell without a value is an error.
 *
 * <p>
 * <b>Outputs.</b> A column for each output of the model: numbers if there is one element for each row, otherwise arrays
 * or, by {@link #setOutputType}, ML vectors with the elements in the order of their indexes.
 *
 * <p>
 * A saved transformer contains the model's files.
 */
public final class SeriatimTransformer extends Transformer implements MLWritable {
    private static final long serialVersionUID = 1;
    private static final int BATCH = 256;
    private static final String ARRAY = "array";
    private static final String VECTOR = "vector";

    /** The name. */
    private final String uid;
    /** The file or folder of the model. */
    private final Param<String> model;
    /** Further files of the model. */
    private final StringArrayParam moreFiles;
    /** The columns that are fed. */
    private final StringArrayParam inputCols;
    /** The new columns. */
    private final StringArrayParam outputCols;
    /** The type of outputs with several elements for each row. */
    private final Param<String> outputType;
    /** The most rows of a run. */
    private final IntParam batchSize;
    /** The number of threads of a run. */
    private final IntParam threads;

    /** A transformer with a name of its own. */
    public SeriatimTransformer() {
        this(Identifiable$.MODULE$.randomUID("seriatim"));
    }

    /**
     * A transformer with a given name.
     *
     * @param uid
     *            the name, by which pipelines distinguish their stages
     */
    @SuppressWarnings("this-escape") // Params know the transformer to which they belong; they do not call it.
    public SeriatimTransformer(String uid) {
        this.uid = uid;
        model = new Param<>(this, "model", "the file or folder of the model");
        moreFiles =
                new StringArrayParam(this, "moreFiles", "further files beside that of the model, which it refers to");
        inputCols = new StringArrayParam(this, "inputCols", "a column for each input of the model, in their order");
        outputCols = new StringArrayParam(this, "outputCols",
                "a new column for each output of the model, in their order");
        outputType = new Param<>(this, "outputType", "the type of outputs with several elements for each row: array or "
                + "vector");
        batchSize = new IntParam(this, "batchSize", "the most rows of a run of the model", ParamValidators.gt(0));
        threads = new IntParam(this, "threads", "the number of threads of a run of the model", ParamValidators.gt(0));
        setDefault(moreFiles, new String[0]);
        setDefault(outputType, ARRAY);
        setDefault(batchSize, BATCH);
        setDefault(threads, 1);
    }

    @Override
    public String uid() {
        return uid;
    }

    /**
     * The file or folder of the model.
     *
     * @return the param
     */
    public Param<String> model() {
        return model;
    }

    /**
     * Further files beside that of the model.
     *
     * @return the param
     */
    public StringArrayParam moreFiles() {
        return moreFiles;
    }

    /**
     * A column for each input of the model.
     *
     * @return the param
     */
    public StringArrayParam inputCols() {
        return inputCols;
    }

    /**
     * A new column for each output of the model.
     *
     * @return the param
     */
    public StringArrayParam outputCols() {
        return outputCols;
    }

    /**
     * The type of outputs with several elements for each row.
     *
     * @return the param
     */
    public Param<String> outputType() {
        return outputType;
    }

    /**
     * The most rows of a run of the model.
     *
     * @return the param
     */
    public IntParam batchSize() {
        return batchSize;
    }

    /**
     * The number of threads of a run of the model.
     *
     * @return the param
     */
    public IntParam threads() {
        return threads;
    }

    /**
     * Sets the model. It is read when rows are transformed.
     *
     * @param path
     *            a file or folder of any format that {@code InferenceModels.load} takes, in any file system of Hadoop.
     *            Files beside it that have its name with other endings belong to it
     * @return this
     */
    public SeriatimTransformer setModel(String path) {
        set(model, path);
        return this;
    }

    /**
     * Names files that belong to the model although their names do not begin with its own, such as the external data
     * of an ONNX file.
     *
     * @param names
     *            names of files beside the model
     * @return this
     */
    public SeriatimTransformer setMoreFiles(String... names) {
        set(moreFiles, names.clone());
        return this;
    }

    /**
     * Sets the columns that are fed.
     *
     * @param columns
     *            one for each input of the model, in their order; the columns with the inputs' names by default
     * @return this
     */
    public SeriatimTransformer setInputCols(String... columns) {
        set(inputCols, columns.clone());
        return this;
    }

    /**
     * Sets the names of the new columns.
     *
     * @param columns
     *            one for each output of the model, in their order; the outputs' names by default
     * @return this
     */
    public SeriatimTransformer setOutputCols(String... columns) {
        set(outputCols, columns.clone());
        return this;
    }

    /**
     * Sets the type of outputs that have several elements for each row.
     *
     * @param type
     *            {@code array}, the default, or {@code vector} for ML vectors
     * @return this
     * @throws IllegalArgumentException
     *             for another type
     */
    public SeriatimTransformer setOutputType(String type) {
        if (!List.of(ARRAY, VECTOR).contains(type)) {
            throw new IllegalArgumentException("outputType is '" + ARRAY + "' or '" + VECTOR + "', not '" + type + "'");
        }
        set(outputType, type);
        return this;
    }

    /**
     * Sets the most rows of a run of the model.
     *
     * @param rows
     *            at least 1; the default is 256. A model whose file fixes the number of rows is run with that one
     * @return this
     */
    public SeriatimTransformer setBatchSize(int rows) {
        set(batchSize, rows);
        return this;
    }

    /**
     * Sets the number of threads of a run of the model.
     *
     * @param count
     *            at least 1; the default is 1, since Spark runs a task on each core. With more, set {@code
     *            spark.task.cpus}
     * @return this
     */
    public SeriatimTransformer setThreads(int count) {
        set(threads, count);
        return this;
    }

    /**
     * Appends the model's results to rows.
     *
     * @param rows
     *            with the columns that are fed
     * @return the rows with all their columns and those of the results; they are computed when they are used
     * @throws IllegalArgumentException
     *             if columns are missing, have names of results, or do not fit the model
     */
    @Override
    public Dataset<Row> transform(Dataset<?> rows) {
        SparkSession session = rows.sparkSession();
        ModelFiles files = files(session.sparkContext().hadoopConfiguration());
        Columns columns = columns(files, rows.schema());
        Broadcast<ModelFiles> sent = new JavaSparkContext(session.sparkContext()).broadcast(files);
        return ScoredFrame.of(rows,
                new Scoring(sent, files.digest(), columns.feeds(), columns.results(), number(batchSize),
                        number(threads)),
                columns.schema());
    }

    @Override
    public StructType transformSchema(StructType schema) {
        SparkSession session = SparkSession.active();
        return columns(files(session.sparkContext().hadoopConfiguration()), schema).schema();
    }

    private record Columns(List<FeedColumn> feeds, List<ResultColumn> results, StructType schema) {
    }

    private Columns columns(ModelFiles files, StructType schema) {
        try (SharedModel loaded = SharedModel.of(files, files.digest(), number(threads))) {
            Predictor predictor = loaded.predictor();
            String[] fed = names(inputCols, predictor.inputs(), "input");
            List<FeedColumn> feeds = new ArrayList<>();
            List<String> there = List.of(schema.fieldNames());
            for (int i = 0; i < fed.length; i++) {
                if (!there.contains(fed[i])) {
                    throw new IllegalArgumentException("There is no column '" + fed[i] + "' for input '"
                            + predictor.inputs().get(i).name() + "' of the model: the columns are " + there
                            + "; name others by setInputCols");
                }
                feeds.add(FeedColumn.of(schema, fed[i], predictor.inputs().get(i)));
            }
            String[] names = names(outputCols, predictor.outputs(), "output");
            List<ResultColumn> results = new ArrayList<>();
            StructType widened = schema;
            for (int i = 0; i < names.length; i++) {
                if (List.of(widened.fieldNames()).contains(names[i])) {
                    throw new IllegalArgumentException("There is a column '" + names[i] + "' already: give output '"
                            + predictor.outputs().get(i).name() + "' of the model another name by setOutputCols");
                }
                ResultColumn result = ResultColumn.of(names[i], predictor.outputs().get(i),
                        VECTOR.equals(getOrDefault(outputType)));
                results.add(result);
                widened = widened.add(names[i], result.dataType(), false);
            }
            return new Columns(feeds, results, widened);
        } catch (IOException e) {
            throw new UncheckedIOException("The model " + getOrDefault(model) + " cannot be loaded: " + e.getMessage(),
                    e);
        }
    }

    private String[] names(StringArrayParam param, List<Port> ports, String what) {
        String[] given = isDefined(param) ? getOrDefault(param) : ports.stream().map(Port::name).toArray(String[]::new);
        if (given.length != ports.size()) {
            throw new IllegalArgumentException(param.name() + " names " + Arrays.toString(given) + ", but the model's "
                    + what + "s are " + ports.stream().map(Port::name).toList() + ": name a column for each");
        }
        return given;
    }

    private ModelFiles files(Configuration settings) {
        if (!isDefined(model)) {
            throw new IllegalArgumentException("The transformer " + uid + " has no model: set one by setModel(path)");
        }
        try {
            return ModelFiles.read(getOrDefault(model), getOrDefault(moreFiles), settings);
        } catch (IOException e) {
            throw new UncheckedIOException(e.getMessage(), e);
        }
    }

    private int number(IntParam param) {
        return (int) getOrDefault(param);
    }

    @Override
    public SeriatimTransformer copy(ParamMap extra) {
        return defaultCopy(extra);
    }

    @Override
    public MLWriter write() {
        return new Writer(this);
    }

    /**
     * Returns the reader of saved transformers.
     *
     * @return the reader, which pipelines call, too
     */
    public static MLReader<SeriatimTransformer> read() {
        return new Reader();
    }

    /**
     * Loads a saved transformer.
     *
     * @param path
     *            where it was saved, in any file system of Hadoop
     * @return with the model that is saved there
     */
    public static SeriatimTransformer load(String path) {
        return read().load(path);
    }

    private static String folder(String saved) {
        return new Path(saved, "model").toString();
    }

    /** Saves the params as Spark does, and the model's files. */
    private static final class Writer extends MLWriter {
        private final SeriatimTransformer transformer;
        private @Nullable ModelFiles files;

        Writer(SeriatimTransformer transformer) {
            this.transformer = transformer;
        }

        private Configuration settings() {
            return sparkSession().sparkContext().hadoopConfiguration();
        }

        /** Reads the model first, since it may be in the folder that is overwritten. */
        @Override
        public void save(String path) throws IOException {
            files = transformer.files(settings());
            super.save(path);
        }

        @Override
        public void saveImpl(String path) {
            ModelFiles read = files == null ? transformer.files(settings()) : files;
            SeriatimTransformer saved = transformer.copy(ParamMap.empty());
            new DefaultParamsWriter(saved.setModel(read.name())).saveImpl(path);
            try {
                read.write(folder(path), settings());
            } catch (IOException e) {
                throw new UncheckedIOException(e.getMessage(), e);
            }
        }
    }

    private static final class Reader extends MLReader<SeriatimTransformer> {
        @Override
        public SeriatimTransformer load(String path) {
            SeriatimTransformer loaded = new DefaultParamsReader<SeriatimTransformer>().load(path);
            String name = loaded.getOrDefault(loaded.model);
            String folder = folder(path);
            return loaded.setModel(name.isEmpty() ? folder : folder + "/" + name);
        }
    }
}
