package io.seriatim.spark;

import io.seriatim.cluster.Cluster;
import io.seriatim.cluster.ClusterOptions;
import io.seriatim.cluster.Rendezvous;
import io.seriatim.graph.parallel.CommunicationException;
import io.seriatim.graph.parallel.Exchange;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.Model;
import io.seriatim.train.Trainer;
import io.seriatim.train.TrainingListener;
import io.seriatim.train.data.Dataset;
import io.seriatim.train.data.Field;
import io.seriatim.train.data.Split;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.broadcast.Broadcast;
import org.jspecify.annotations.Nullable;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;

/**
 * Trains as one rank, as a task of a barrier stage: all tasks run at the same time, and if one fails, Spark ends all.
 * The other ranks notice the failure by their connections.
 */
final class RankTask extends AbstractFunction1<Iterator<byte[]>, Iterator<RankTask.Trained>> implements Serializable {
    private static final long serialVersionUID = 1;

    private final Broadcast<Job> job;
    private final int attempt;
    private final RankEvents events;

    /** What is called after each step of each rank: tests let ranks fail. */
    interface Probe extends Serializable {
        /** Throws to fail. */
        void step(int rank, int attempt, long step);
    }

    /**
     * What all attempts have in common.
     *
     * @param name
     *            of the job, which all connections name
     * @param secret
     *            of the job, with which ranks know each other
     * @param tls
     *            encrypts their connections; null for not
     * @param exchange
     *            how they exchange gradients
     * @param ranks
     *            how many there are
     * @param model
     *            as it is before the first step
     * @param encoder
     *            makes fields of rows
     * @param validation
     *            the rows of the evaluations; null if there are none
     * @param digests
     *            by rank, the hash of its rows
     * @param batch
     *            rows of all ranks in a step
     * @param epochs
     *            at most
     * @param steps
     *            at most
     * @param seed
     *            of the order of the rows
     * @param threads
     *            of each rank
     * @param evaluateEvery
     *            in steps
     * @param checkpointEvery
     *            in steps
     * @param patience
     *            evaluations without a better one after which training ends; 0 for no limit
     * @param joinLimit
     *            how long ranks wait for each other at the start
     * @param silenceLimit
     *            after which a silent rank has failed
     * @param store
     *            where checkpoints are; null if none are written
     * @param probe
     *            called after each step
     */
    record Job(String name, JobSecret secret, @Nullable TlsFiles tls, Exchange exchange, int ranks, ModelMessage model,
            RowEncoder encoder,
            @Nullable ArrayList<byte[]> validation, ArrayList<String> digests, int batch, int epochs, long steps,
            long seed, int threads, long evaluateEvery, long checkpointEvery, int patience, Duration joinLimit,
            Duration silenceLimit, @Nullable CheckpointStore store, Probe probe) implements Serializable {
        private static final long serialVersionUID = 1;

        List<Field> fields() {
            List<Field> fields = new ArrayList<>();
            encoder.columns().forEach(each -> fields.add(new Field(each.name(), each.type(), each.shape())));
            return fields;
        }

        Trainer.Builder trainer(Model trained, Dataset own) {
            Dataset held = validation == null ? own : new EncodedRows(fields(), validation);
            Trainer.Builder trainer = Trainer.of(trained, new Split(own, held)).batch(batch).epochs(epochs).steps(steps)
                    .seed(seed).threads(threads).evaluateEvery(evaluateEvery).checkpointEvery(checkpointEvery)
                    .patience(patience).exchange(exchange);
            return validation == null ? trainer.withoutEvaluation() : trainer;
        }
    }

    /**
     * The result of a rank.
     *
     * @param rank
     *            its number
     * @param values
     *            of rank 0, the trained variables by name; of others none
     * @param step
     *            the last one
     * @param loss
     *            of the last step
     * @param bestStep
     *            of the best evaluation
     * @param bestLoss
     *            of the best evaluation
     * @param events
     *            of rank 0, the latest events
     */
    record Trained(int rank, LinkedHashMap<String, ModelMessage.Value> values, long step, double loss, long bestStep,
            double bestLoss, ArrayList<RankEvent> events) implements Serializable {
        private static final long serialVersionUID = 1;
    }

    /** How long a rank that another has left waits for Spark to learn of the other's failure, or death. */
    private static final Duration MOST_WAITED = Duration.ofSeconds(1);
    private static final Duration POLLED = Duration.ofMillis(10);

    RankTask(Broadcast<Job> job, int attempt, RankEvents events) {
        this.job = job;
        this.attempt = attempt;
        this.events = events;
    }

    @Override
    public Iterator<Trained> apply(Iterator<byte[]> rows) {
        BarrierTaskContext context = BarrierTaskContext.get();
        List<byte[]> own = new ArrayList<>();
        CollectionConverters.asJava(rows).forEachRemaining(own::add);
        try {
            return CollectionConverters.asScala(List.of(train(context, own)).iterator());
        } catch (IOException e) {
            throw new UncheckedIOException("Rank " + context.partitionId() + ": " + e.getMessage(), e);
        } catch (RuntimeException e) {
            if (isOfAnother(e, context.partitionId())) {
                awaitEnd(context);
            }
            throw e;
        }
    }

    private static boolean isOfAnother(Throwable failure, int rank) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof CommunicationException lost) {
                return lost.rank() != rank;
            }
        }
        return false;
    }

    /** Waits until Spark ends the stage: it reports the failure that comes last, which should not be the effect. */
    private static void awaitEnd(BarrierTaskContext context) {
        long end = System.nanoTime() + MOST_WAITED.toNanos();
        try {
            while (!context.isInterrupted() && System.nanoTime() < end) {
                Thread.sleep(POLLED);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Trained train(BarrierTaskContext context, List<byte[]> rows) throws IOException {
        Job all = job.value();
        int rank = context.partitionId();
        requireSame(rank, rows, all.digests().get(rank));
        ClusterOptions options = ClusterOptions.of(rank, all.ranks(), all.secret().bytes())
                .job(all.name()).generation(attempt)
                .host(host(context.getTaskInfos()[rank].address())).joinLimit(all.joinLimit())
                .silenceLimit(all.silenceLimit());
        if (all.tls() != null) {
            options = options.tls(all.tls().read());
        }
        // Spark's exchange takes a second.
        Rendezvous meeting = Rendezvous.gather(address -> all.ranks() == 1
                ? List.of(address)
                : List.of(context.allGather(address)));
        try (Cluster cluster = Cluster.join(options, meeting)) {
            return rank == 0 ? first(context, cluster, rows) : run(context, cluster, rows, null, false);
        }
    }

    /** Another order would give another result, and it would depend on what failed. */
    static void requireSame(int rank, List<byte[]> rows, String digest) {
        if (!EncodedRows.digest(rows).equals(digest)) {
            throw new IllegalStateException("The " + rows.size() + " rows of rank " + rank + " are others than before: "
                    + "the data frame is computed anew with other results. Write it to files, or use checkpoint(), and "
                    + "train on that");
        }
    }

    /** Returns the host of {@code HOST:PORT}. */
    static String host(String address) {
        int port = address.lastIndexOf(':');
        String host = port < 0 ? address : address.substring(0, port);
        return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
    }

    /** Rank 0 has a folder while it runs, with the checkpoints from which it begins. */
    private Trained first(BarrierTaskContext context, Cluster cluster, List<byte[]> rows) throws IOException {
        CheckpointStore store = job.value().store();
        if (store == null) {
            return run(context, cluster, rows, null, false);
        }
        Path folder = Files.createTempDirectory("seriatim-run");
        try {
            boolean isResumed = !store.steps().isEmpty();
            store.download(folder.resolve("checkpoints"));
            return run(context, cluster, rows, folder, isResumed);
        } finally {
            List<Path> files;
            try (Stream<Path> tree = Files.walk(folder)) {
                files = tree.sorted(Comparator.reverseOrder()).toList();
            }
            for (Path file : files) {
                Files.delete(file);
            }
        }
    }

    private Trained run(BarrierTaskContext context, Cluster cluster, List<byte[]> rows, @Nullable Path folder,
            boolean isResumed) throws IOException {
        Job all = job.value();
        Model model = all.model().model();
        int rank = cluster.rank();
        Trainer.Builder builder = all.trainer(model, new EncodedRows(all.fields(), rows)).communicator(cluster)
                .ownExamples().listener(new TrainingListener() {
                    @Override
                    public void step(Step step) {
                        // Spark does not interrupt the threads of a barrier stage.
                        if (context.isInterrupted()) {
                            throw new IllegalStateException("Spark has ended the task of rank " + rank);
                        }
                        all.probe().step(rank, attempt, step.step());
                    }

                    @Override
                    public void saved(long step, Path checkpoint) throws IOException {
                        if (all.store() != null) {
                            all.store().upload(checkpoint);
                        }
                    }
                });
        if (rank == 0) {
            builder.listener(new RankReporter(events, System::nanoTime));
        }
        if (folder != null) {
            builder.folder(folder);
        }
        if (isResumed) {
            builder.resume();
        }
        Trainer trainer = builder.build();
        Trainer.Result result = trainer.run();
        Map<String, Tensor> values = new LinkedHashMap<>();
        if (rank == 0) {
            for (VarDesc variable : model.main().persistables()) {
                Tensor value = trainer.scope().find(variable.name());
                if (value != null) {
                    values.put(variable.name(), value);
                }
            }
        }
        return new Trained(rank, new LinkedHashMap<>(ModelMessage.values(values)), result.step(), result.loss(),
                result.bestStep(), result.bestLoss(), events.value().events());
    }
}
