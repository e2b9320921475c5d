package io.seriatim.spark;

import io.seriatim.train.Model;
import io.seriatim.train.TrainingListener;
import io.seriatim.train.metrics.History;
import io.seriatim.train.report.TrainingReport;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.AccumulableInfo;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorMetricsUpdate;
import org.jspecify.annotations.Nullable;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Passes the events of rank 0 on while the ranks train: to the log, to the user's listeners and to the report. A thread
 * of its own calls them, since Spark's thread of listeners serves all of Spark. Nothing here fails the training: a
 * listener that throws is called no more, and a report that cannot be written is tried again.
 */
final class DriverReports extends SparkListener implements AutoCloseable {
    private static final System.Logger LOGGER = System.getLogger("io.seriatim.spark");
    private static final long REPORT_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final long LAST_SECONDS = 30;

    private final SparkContext spark;
    private final Model model;
    private final int examples;
    private final Map<String, String> settings;
    private final @Nullable HadoopReport file;
    private final ExecutorService thread;
    /** The accumulator of the current attempt. Guarded by this. */
    private @Nullable RankEvents current;

    // Used by the thread only.
    private final List<TrainingListener> listeners;
    private final List<RankEvent> kept = new ArrayList<>();
    private History history = History.ofOtherProcess();
    private long next;
    private @Nullable RankEvents read;
    private long writtenAt = System.nanoTime();
    private RankEvent.@Nullable Began began;

    /**
     * Begins to listen.
     *
     * @param spark
     *            where the ranks train
     * @param model
     *            that they train
     * @param examples
     *            the number of those of all ranks
     * @param settings
     *            for the report
     * @param listeners
     *            of the user
     * @param file
     *            for the report; null if none is written
     */
    DriverReports(SparkContext spark, Model model, int examples, Map<String, String> settings,
            List<TrainingListener> listeners, @Nullable HadoopReport file) {
        this.spark = spark;
        this.model = model;
        this.examples = examples;
        this.settings = new LinkedHashMap<>(settings);
        this.listeners = new ArrayList<>(listeners);
        this.file = file;
        thread = Executors.newSingleThreadExecutor(
                Thread.ofPlatform().daemon().name("seriatim reports of " + model.name()).factory());
        spark.addSparkListener(this);
    }

    /** Writes a report without steps, so that a wrong path is found before the training. */
    void open() throws IOException {
        if (file != null) {
            file.write(report(null));
        }
    }

    /** Returns the accumulator of a new attempt. */
    synchronized RankEvents attempt() {
        RankEvents events = new RankEvents();
        spark.register(events, "training of '" + model.name() + "'");
        current = events;
        return events;
    }

    @Override
    public synchronized void onExecutorMetricsUpdate(SparkListenerExecutorMetricsUpdate update) {
        RankEvents attempt = current;
        if (attempt == null) {
            return;
        }
        CollectionConverters.asJava(update.accumUpdates()).forEach(task -> {
            for (AccumulableInfo info : CollectionConverters.asJava(task._4())) {
                if (info.id() == attempt.id() && info.update().isDefined()
                        && info.update().get() instanceof RankEvents.Latest latest) {
                    thread.execute(() -> pass(attempt, latest.events()));
                }
            }
        });
    }

    /** Passes on what no heartbeat has brought. */
    synchronized void done(List<RankEvent> events) {
        RankEvents attempt = current;
        if (attempt != null) {
            thread.execute(() -> pass(attempt, events));
        }
        thread.execute(() -> write(null));
    }

    /** Writes the failure to the report. */
    void failed(Throwable failure) {
        thread.execute(() -> write(failure));
    }

    private void pass(RankEvents attempt, List<RankEvent> events) {
        if (attempt != read) {
            read = attempt;
            next = 0;
        }
        RankEvent.Stepped step = null;
        for (RankEvent event : events) {
            if (event.number() < next) {
                continue;
            }
            next = event.number() + 1;
            RankEvent told = event instanceof RankEvent.Began begin ? begin(begin) : event;
            kept.add(told);
            tell(told);
            if (told instanceof RankEvent.Stepped stepped) {
                step = stepped;
            } else if (told instanceof RankEvent.Evaluated evaluated) {
                LOGGER.log(System.Logger.Level.INFO, String.format(Locale.ROOT,
                        "'%s': after step %d the validation loss is %.6g%s", model.name(), evaluated.step(),
                        evaluated.loss(), evaluated.best() ? ", the best so far" : ""));
            }
        }
        if (step != null) {
            log(step);
            if (System.nanoTime() - writtenAt > REPORT_NANOS) {
                write(null);
            }
        }
    }

    /** Forgets the steps that an attempt repeats. */
    private RankEvent begin(RankEvent.Began event) {
        RankEvent.Began all = event.withExamples(examples);
        began = all;
        if (!kept.isEmpty()) {
            kept.removeIf(each -> each.step() > all.firstStep());
            history = History.ofOtherProcess();
            kept.forEach(each -> tell(each, history));
        }
        return all;
    }

    private void log(RankEvent.Stepped step) {
        String rate = Double.isNaN(step.rate()) ? "" : String.format(Locale.ROOT, ", learning rate %.3g", step.rate());
        String unit = began == null ? "units" : began.unit();
        LOGGER.log(System.Logger.Level.INFO, String.format(Locale.ROOT,
                "'%s': step %d%s, epoch %d, loss %.6g%s, %.0f %s/s", model.name(), step.step(),
                began == null ? "" : " of " + began.steps(), step.epoch(), step.loss(), rate,
                step.units() / step.seconds(), unit));
    }

    private void tell(RankEvent event) {
        tell(event, history);
        for (TrainingListener each : List.copyOf(listeners)) {
            if (!tell(event, each)) {
                listeners.remove(each);
            }
        }
    }

    /** Returns whether the listener has not failed. */
    private boolean tell(RankEvent event, TrainingListener listener) {
        try {
            event.tell(listener);
            return true;
            // Also errors: the code is the user's, and the ranks train on.
        } catch (Throwable e) {
            LOGGER.log(System.Logger.Level.WARNING, "The listener " + listener + " of the training of '" + model.name()
                    + "' has failed at " + event + "; it is not called again", e);
            return false;
        }
    }

    private TrainingReport report(@Nullable Throwable failure) {
        TrainingReport report = new TrainingReport(model.name()).history(history, Map.of()).graph(model.main());
        settings.forEach(report::environment);
        if (failure != null) {
            report.failure(failure);
        }
        return report;
    }

    private void write(@Nullable Throwable failure) {
        if (file == null) {
            return;
        }
        writtenAt = System.nanoTime();
        try {
            file.write(report(failure));
        } catch (IOException | RuntimeException e) {
            LOGGER.log(System.Logger.Level.WARNING, "The report of the training of '" + model.name()
                    + "' could not be written to " + file, e);
        }
    }

    /** Waits until all was passed on. */
    @Override
    public void close() {
        spark.removeSparkListener(this);
        synchronized (this) {
            // A heartbeat may still be on its way to this listener.
            current = null;
        }
        thread.shutdown();
        try {
            if (!thread.awaitTermination(LAST_SECONDS, TimeUnit.SECONDS)) {
                LOGGER.log(System.Logger.Level.WARNING, "A listener of the training of '" + model.name()
                        + "' has not returned for " + LAST_SECONDS + " s; it is not waited for");
                thread.shutdownNow();
            }
        } catch (InterruptedException e) {
            thread.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }
}
