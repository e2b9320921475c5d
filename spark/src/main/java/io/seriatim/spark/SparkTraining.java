package io.seriatim.spark;

import io.seriatim.device.Place;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.parallel.DataParallel;
import io.seriatim.graph.parallel.Exchange;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.Model;
import io.seriatim.train.NotFiniteException;
import io.seriatim.train.Trainer;
import io.seriatim.train.TrainingListener;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.storage.StorageLevel;
import org.jspecify.annotations.Nullable;
import scala.reflect.ClassTag$;

/**
 * Trains a model on a data frame or an RDD, with the tasks of a Spark cluster as ranks.
 *
 * <pre>{@code
 * try (SparkTraining.Result result = SparkTraining.of(model, rows).columns("pixels", "digit").ranks(4)
 *         .batch(256).epochs(5).seed(1).checkpoints("hdfs:///runs/digits").fit()) {
 *     InferenceModels.save(Path.of("digits.onnx"), result.model());
 * }
 * }</pre>
 *
 * <p>
 * <b>Data.</b> The rows are encoded, dealt to the ranks and kept by Spark, so that each rank has about as many. Each
 * takes its share of every batch from its own rows, in an order that follows from the seed and the epoch. An epoch ends
 * when the rank with the fewest rows has no full share left: all ranks make as many steps, and the rows that are left
 * out differ from epoch to epoch.
 *
 * <p>
 * <b>Result.</b> All ranks have the same parameters, to the bit, after each step. They depend on the rows, the model,
 * the seed, the batch size, the number of ranks and that of steps, but not on what failed: if a task or an executor
 * fails, the driver starts all ranks again from the newest checkpoint. With {@link #validation validation data} the
 * result is that of the evaluation with the smallest loss if there are {@link #checkpoints checkpoints}, otherwise that
 * of the last step.
 *
 * <p>
 * <b>Cluster.</b> All ranks run at the same time: there must be as many free slots for tasks as ranks. They connect to
 * each other by TCP, and are authenticated by a secret: one that follows from that of Spark where Spark authenticates
 * its own connections ({@code spark.authenticate}), and otherwise one that the driver draws and sends to the tasks.
 * What is sent is encrypted with {@link #tls}.
 */
public final class SparkTraining {
    private static final System.Logger LOGGER = System.getLogger("io.seriatim.spark");
    private static final int ATTEMPTS = 4;

    private final Model model;
    private final org.apache.spark.sql.Dataset<Row> rows;
    private List<String> columns = List.of();
    private org.apache.spark.sql.@Nullable Dataset<Row> validation;
    private int ranks;
    private int batch = 64;
    private int epochs = 1;
    private long steps = Long.MAX_VALUE;
    private long seed;
    private int threads = 1;
    private long evaluateEvery;
    private long checkpointEvery;
    private int patience;
    private int attempts = ATTEMPTS;
    private Duration joinLimit = Duration.ofMinutes(2);
    private Duration silenceLimit = Duration.ofSeconds(15);
    private Exchange exchange = Exchange.PLAIN;
    private @Nullable TlsFiles tls;
    private @Nullable String checkpoints;
    private boolean resume;
    private @Nullable String report;
    private final List<TrainingListener> listeners = new ArrayList<>();
    private RankTask.Probe probe = (_, _, _) -> {
    };

    private SparkTraining(Model model, org.apache.spark.sql.Dataset<Row> rows) {
        this.model = model;
        this.rows = rows;
    }

    /**
     * The result of a training.
     *
     * @param model
     *            the trained model for inference, as {@link Trainer#save} saves it
     * @param variables
     *            all variables that outlive steps, such as parameters and the state of the optimizer; the model has the
     *            same tensors
     * @param step
     *            the number of steps, including those before the training was resumed
     * @param loss
     *            the last validation loss; NaN if there was no evaluation
     * @param bestStep
     *            the step after which the validation loss was smallest; −1 if there was no evaluation
     * @param bestLoss
     *            the smallest validation loss
     * @param attempts
     *            how often the ranks were started
     */
    public record Result(InferenceModel model, Map<String, Tensor> variables, long step, double loss, long bestStep,
            double bestLoss, int attempts) implements AutoCloseable {
        /** Copies the map. */
        public Result {
            variables = Collections.unmodifiableMap(new LinkedHashMap<>(variables));
        }

        /** Frees the memory of all variables. */
        @Override
        public void close() {
            variables.values().forEach(Tensor::close);
        }
    }

    /**
     * Describes a training with default options.
     *
     * @param model
     *            the model; its schedules of learning rates are evaluated on the driver
     * @param rows
     *            the examples, which have the same values each time they are computed
     * @return the training
     */
    public static SparkTraining of(Model model, org.apache.spark.sql.Dataset<Row> rows) {
        return new SparkTraining(model, rows);
    }

    /**
     * Describes a training on rows that are not a data frame, with default options.
     *
     * @param model
     *            the model
     * @param rows
     *            the examples, which have the same values each time they are computed
     * @param schema
     *            the names and types of their cells
     * @return the training
     */
    public static SparkTraining of(Model model, JavaRDD<Row> rows, StructType schema) {
        return of(model, session(rows).createDataFrame(rows, schema));
    }

    /**
     * Describes a training on objects, with default options.
     *
     * @param model
     *            the model
     * @param examples
     *            the examples, which have the same values each time they are computed
     * @param bean
     *            their class, whose properties with getters are the columns: numbers, arrays and lists
     * @return the training
     */
    public static SparkTraining of(Model model, JavaRDD<?> examples, Class<?> bean) {
        return of(model, session(examples).createDataFrame(examples, bean));
    }

    private static SparkSession session(JavaRDD<?> rows) {
        // The session of the context that has the rows: a process has one context at a time.
        SparkSession session = SparkSession.builder().getOrCreate();
        if (!session.sparkContext().equals(rows.context())) {
            throw new IllegalArgumentException("The rows belong to a SparkContext that is not the active one: it was "
                    + "stopped, so that they cannot be computed");
        }
        return session;
    }

    /**
     * Sets the columns that are fed.
     *
     * @param names
     *            one for each feed of the model, in their order; the columns with the feeds' names by default
     * @return this
     */
    public SparkTraining columns(String... names) {
        columns = List.of(names);
        return this;
    }

    /**
     * Sets the data on which rank 0 evaluates the model at the end of each epoch. They must fit into its memory and
     * that of the driver.
     *
     * @param examples
     *            with the same columns
     * @return this
     */
    public SparkTraining validation(org.apache.spark.sql.Dataset<Row> examples) {
        validation = examples;
        return this;
    }

    /**
     * Sets the number of ranks.
     *
     * @param count
     *            at least 1; the default is Spark's default parallelism, which is the number of cores of all executors
     * @return this
     */
    public SparkTraining ranks(int count) {
        ranks = (int) atLeast("ranks", 1, count);
        return this;
    }

    /**
     * Sets the batch size of all ranks together.
     *
     * @param examples
     *            a multiple of the number of ranks; the default is 64
     * @return this
     */
    public SparkTraining batch(int examples) {
        batch = (int) atLeast("batch", 1, examples);
        return this;
    }

    /**
     * Sets the number of epochs.
     *
     * @param times
     *            at least 1; the default is 1
     * @return this
     */
    public SparkTraining epochs(int times) {
        epochs = (int) atLeast("epochs", 1, times);
        return this;
    }

    /**
     * Limits the number of steps.
     *
     * @param count
     *            at least 1; the default is no limit
     * @return this
     */
    public SparkTraining steps(long count) {
        steps = atLeast("steps", 1, count);
        return this;
    }

    /**
     * Sets the seed of the order of the examples and of random operations.
     *
     * @param value
     *            the seed; the default is 0
     * @return this
     */
    public SparkTraining seed(long value) {
        seed = value;
        return this;
    }

    /**
     * Sets the number of threads of a step of each rank.
     *
     * @param count
     *            at least 1; the default is 1. With more, set {@code spark.task.cpus}
     * @return this
     */
    public SparkTraining threads(int count) {
        threads = (int) atLeast("threads", 1, count);
        return this;
    }

    /**
     * Evaluates the model more often than at the end of each epoch.
     *
     * @param everySteps
     *            the interval in steps; 0 for the end of each epoch only
     * @return this
     */
    public SparkTraining evaluateEvery(long everySteps) {
        evaluateEvery = atLeast("evaluateEvery", 0, everySteps);
        return this;
    }

    /**
     * Writes checkpoints more often than at the end of each epoch.
     *
     * @param everySteps
     *            the interval in steps; 0 for the end of each epoch only
     * @return this
     */
    public SparkTraining checkpointEvery(long everySteps) {
        checkpointEvery = atLeast("checkpointEvery", 0, everySteps);
        return this;
    }

    /**
     * Ends the training early when the validation loss has not fallen for some evaluations.
     *
     * @param evaluations
     *            the number of evaluations; 0, the default, disables early stopping
     * @return this
     */
    public SparkTraining patience(int evaluations) {
        patience = (int) atLeast("patience", 0, evaluations);
        return this;
    }

    /**
     * Sets how ranks exchange gradients. Whatever it is, checkpoints are whole, and the variables of the result, too.
     *
     * @param value
     *            {@link Exchange#PLAIN} by default. A training is resumed with the same
     * @return this
     */
    public SparkTraining exchange(Exchange value) {
        exchange = value;
        return this;
    }

    /**
     * Encrypts the connections between ranks with TLS 1.3, with key and certificates from files in PEM. They are on
     * the machine of each executor: a name that is not absolute is that of a file of {@code --files}
     * ({@code spark.files}), which Spark sends on its own connections; a key is better put there by other means.
     * Without this the files are those of Spark's settings {@code spark.seriatim.tls.certificate},
     * {@code spark.seriatim.tls.key} and {@code spark.seriatim.tls.trust}, if they are set.
     *
     * @param certificate
     *            the certificate of the executor, which names its host as Spark does, and behind it those that have
     *            signed it
     * @param key
     *            its private key, as PKCS#8 without a password
     * @param trusted
     *            the certificates that have signed those of the executors, or these themselves
     * @return this
     */
    public SparkTraining tls(String certificate, String key, String trusted) {
        tls = new TlsFiles(certificate, key, trusted);
        return this;
    }

    /**
     * Encrypts the connections between ranks, as {@link #tls(String, String, String)} does, with stores of the type
     * PKCS12. Their password is in the variable {@code SERIATIM_TLS_PASSWORD} of the executors' environment, such as
     * {@code spark.executorEnv.SERIATIM_TLS_PASSWORD} sets it.
     *
     * @param keys
     *            with the private key of the executor and the chain of its certificate
     * @param trusted
     *            with the certificates that have signed those of the executors, or with these themselves
     * @return this
     */
    public SparkTraining tls(String keys, String trusted) {
        tls = new TlsFiles(keys, null, trusted);
        return this;
    }

    /**
     * Sets the folder of the checkpoints. Without one, a failure starts the training from its first step.
     *
     * @param folder
     *            a folder in any file system of Hadoop, which all executors reach; it is created
     * @return this
     */
    public SparkTraining checkpoints(String folder) {
        checkpoints = folder;
        return this;
    }

    /**
     * Resumes from the newest checkpoint in the folder if there is one, as if there had been no interruption: with the
     * same model, rows, seed, batch size and number of ranks. Without this, a folder with checkpoints is refused.
     *
     * @return this
     */
    public SparkTraining resume() {
        resume = true;
        return this;
    }

    /**
     * Sets how often the ranks are started until the training has failed.
     *
     * @param most
     *            at least 1; the default is 4
     * @return this
     */
    public SparkTraining attempts(int most) {
        attempts = (int) atLeast("attempts", 1, most);
        return this;
    }

    /**
     * Sets how long ranks wait for each other.
     *
     * @param join
     *            until all ranks have started; 2 minutes by default
     * @param silence
     *            for a sign of life of a rank before it counts as dead; 15 seconds by default. Set it above the longest
     *            pause of the garbage collector
     * @return this
     */
    public SparkTraining limits(Duration join, Duration silence) {
        joinLimit = join;
        silenceLimit = silence;
        return this;
    }

    /**
     * Adds a listener, which the driver calls while the ranks train, on a thread of its own. Rank 0 tells the driver by
     * the heartbeats of its executor ({@code spark.executor.heartbeatInterval}, 10 seconds by default), so that events
     * come in bundles. A step that a listener is told stands for all since the one before: its loss and metrics are
     * their means, its seconds and units their sums. Checkpoints are not told. If the ranks start again,
     * {@link TrainingListener#started} is called again, with the step from which they go on; steps after that one are
     * repeated. A listener that throws is called no more; the training goes on.
     *
     * @param listener
     *            the listener
     * @return this
     */
    public SparkTraining listener(TrainingListener listener) {
        listeners.add(listener);
        return this;
    }

    /**
     * Writes a page with curves of loss, metrics, learning rate and throughput, the network and the settings: before
     * the first step, while the ranks train, and when the training has ended or failed.
     *
     * @param file
     *            a file in any file system of Hadoop, such as {@code hdfs:///runs/digits/report.html}; replaced if it
     *            exists
     * @return this
     */
    public SparkTraining report(String file) {
        report = file;
        return this;
    }

    SparkTraining probe(RankTask.Probe called) {
        probe = called;
        return this;
    }

    private static long atLeast(String name, long least, long value) {
        if (value < least) {
            throw new IllegalArgumentException(
                    "'" + name + "' of a training must be at least " + least + ", but is " + value);
        }
        return value;
    }

    /**
     * Trains the model.
     *
     * @return the result, which belongs to the caller
     * @throws IllegalArgumentException
     *             if columns are missing or do not fit the model, there are too few rows for a batch, or
     *             the model cannot be trained with this {@link #exchange}
     * @throws IllegalStateException
     *             if the ranks have failed as often as allowed; the causes are the failures. Or if the folder holds
     *             checkpoints, and the training is not resumed. Or if {@link #tls} is wanted, but whoever reads the
     *             connections of Spark would read the secret of the ranks
     * @throws IOException
     *             if checkpoints cannot be read, or the report cannot be written before the first step
     */
    public Result fit() throws IOException {
        SparkContext spark = rows.sparkSession().sparkContext();
        int size = ranks > 0 ? ranks : spark.defaultParallelism();
        if (batch % size != 0) {
            throw new IllegalArgumentException("A batch of " + batch + " cannot be split evenly among " + size
                    + " ranks: take a multiple");
        }
        TlsFiles certificates = tls == null ? TlsFiles.configured(spark.getConf()) : tls;
        CheckpointStore store = checkpoints == null
                ? null
                : CheckpointStore.of(checkpoints, spark.hadoopConfiguration());
        if (store != null && !resume && !store.steps().isEmpty()) {
            throw new IllegalStateException("The folder " + checkpoints + " holds the checkpoints of a training, the "
                    + "newest after step " + store.steps().getLast() + ": resume that training with resume(), or train "
                    + "into another folder");
        }
        RowEncoder encoder = RowEncoder.of(model, columns, rows);
        ArrayList<byte[]> held = validation == null ? null : new ArrayList<>(held(validation));
        JavaRDD<byte[]> data = DealtRows.of(rows.javaRDD().mapPartitions(encoder), size)
                .persist(StorageLevel.MEMORY_AND_DISK());
        try {
            List<DealtRows.Part> parts = DealtRows.parts(data);
            int fewest = parts.stream().mapToInt(DealtRows.Part::rows).min().orElseThrow();
            if (fewest < batch / size) {
                throw new IllegalArgumentException("A batch of " + batch + " takes " + batch / size
                        + " rows of each of " + size + " ranks, but they have "
                        + parts.stream().map(DealtRows.Part::rows).toList() + ": take smaller batches or fewer ranks");
            }
            long total = Math.min(steps, (long) epochs * (fewest / (batch / size)));
            String name = "spark-" + UUID.randomUUID();
            RankTask.Job job = new RankTask.Job(name, JobSecret.of(name, spark, certificates != null), certificates,
                    exchange, size,
                    new ModelMessage(model, total), encoder, held,
                    new ArrayList<>(parts.stream().map(DealtRows.Part::digest).toList()), batch, epochs, steps, seed,
                    threads,
                    evaluateEvery, checkpointEvery, patience, joinLimit, silenceLimit, store, probe);
            // Mistakes of the model and its data are found here, and not by each rank.
            job.trainer(model, EncodedRows.zeros(job.fields(), batch)).build();
            DataParallel.of(model.main(), model.startup(), model.feeds(), model.loss(), List.of(), List.of(Place.CPU))
                    .ofRank(0, size, exchange);
            try (DriverReports reports = new DriverReports(spark, model,
                    parts.stream().mapToInt(DealtRows.Part::rows).sum(), settings(spark, size, certificates != null),
                    listeners,
                    report == null ? null : new HadoopReport(report, spark.hadoopConfiguration()))) {
                reports.open();
                return run(spark, job, data, reports);
            }
        } finally {
            data.unpersist(false);
        }
    }

    /** What the report says about how the model was trained. */
    private Map<String, String> settings(SparkContext spark, int size, boolean isEncrypted) {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("Spark", spark.version() + ", " + spark.master() + ", " + spark.applicationId());
        settings.put("ranks", Integer.toString(size));
        settings.put("batch", Integer.toString(batch));
        settings.put("epochs", Integer.toString(epochs));
        settings.put("seed", Long.toString(seed));
        settings.put("threads", Integer.toString(threads));
        settings.put("exchange", (exchange.isBfloat16() ? "gradients as bfloat16" : "gradients in their own type")
                + (exchange.isSyncBatchNorm() ? ", batch normalisation over all ranks" : "")
                + (exchange.isSharded() ? ", sharded state of the optimizer" : "") + (isEncrypted ? ", TLS" : ""));
        if (checkpoints != null) {
            settings.put("checkpoints", checkpoints);
        }
        return settings;
    }

    private Result run(SparkContext spark, RankTask.Job job, JavaRDD<byte[]> data, DriverReports reports) {
        Broadcast<RankTask.Job> sent = new JavaSparkContext(spark).broadcast(job);
        List<Exception> failures = new ArrayList<>();
        try {
            for (int attempt = 0; attempt < attempts; attempt++) {
                try {
                    RankTask.Trained trained = once(sent, attempt, data, reports.attempt());
                    reports.done(trained.events());
                    return result(trained, attempt + 1);
                    // Spark throws checked exceptions that its signatures do not declare.
                } catch (Exception e) {
                    failures.add(e);
                    LOGGER.log(System.Logger.Level.WARNING, "Attempt " + (attempt + 1) + " of " + attempts
                            + " to train '" + model.name() + "' has failed", e);
                    // The failure of a barrier stage is a text. The same steps would compute the same numbers.
                    if (String.valueOf(e.getMessage()).contains(NotFiniteException.class.getName())) {
                        break;
                    }
                }
            }
        } finally {
            sent.destroy();
        }
        IllegalStateException failure = new IllegalStateException("The training of '" + model.name() + "' has failed "
                + failures.size() + " times, at last: " + failures.getLast().getMessage(), failures.getLast());
        failures.subList(0, failures.size() - 1).forEach(failure::addSuppressed);
        reports.failed(failure);
        throw failure;
    }

    private static RankTask.Trained once(Broadcast<RankTask.Job> job, int attempt, JavaRDD<byte[]> data,
            RankEvents events) {
        List<RankTask.Trained> all = JavaRDD.fromRDD(data.rdd().barrier().mapPartitions(
                new RankTask(job, attempt, events), false,
                ClassTag$.MODULE$.<RankTask.Trained>apply(RankTask.Trained.class)),
                ClassTag$.MODULE$.<RankTask.Trained>apply(RankTask.Trained.class)).collect();
        return all.stream().filter(each -> each.rank() == 0).findFirst().orElseThrow();
    }

    private Result result(RankTask.Trained trained, int attempt) {
        Map<String, Tensor> values = ModelMessage.tensors(trained.values());
        return new Result(InferenceModels.of(model.evaluation(), model.inputs(), model.outputs(), values::get), values,
                trained.step(), trained.loss(), trained.bestStep(), trained.bestLoss(), attempt);
    }

    private List<byte[]> held(org.apache.spark.sql.Dataset<Row> frame) {
        List<byte[]> held =
                new ArrayList<>(frame.javaRDD().mapPartitions(RowEncoder.of(model, columns, frame)).collect());
        held.sort(Arrays::compareUnsigned);
        if (held.isEmpty()) {
            throw new IllegalArgumentException("The validation data have no rows: give some, or none at all");
        }
        return held;
    }
}
