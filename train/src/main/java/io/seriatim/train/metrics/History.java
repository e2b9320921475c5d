package io.seriatim.train.metrics;

import com.google.errorprone.annotations.Var;
import io.seriatim.train.TrainingListener;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Records the data of a report: curves over steps, evaluations, memory over time. Its size does not grow with the
 * length of a training: {@linkplain Curve curves} are aggregated, and of many evaluations some are kept. An event takes
 * amortised constant time. Not thread-safe.
 */
public final class History implements TrainingListener {
    private static final long NANOS = 1_000_000_000;

    private final LongSupplier nanos;
    private final @Nullable Memory process;
    private final Curve loss = new Curve("loss");
    private final Map<String, Curve> metrics = new LinkedHashMap<>();
    private final Curve rate = new Curve("rate");
    private final Curve throughput = new Curve("throughput");
    private final Curve heap = new Curve("heap");
    private final Curve resident = new Curve("resident memory");
    private final Evaluations evaluations = new Evaluations();
    private @Nullable Started started;
    private @Nullable End end;
    private long lastStep;
    private long startedAt;
    private long nextSample;
    private long elapsed;
    private long peak = -1;
    private long steps;
    private long units;
    private double seconds;

    /** Creates an empty history. */
    public History() {
        this(System::nanoTime, new Memory.OfProcess(Path.of("/proc/self/status")));
    }

    /**
     * Creates an empty history of a training in another process, whose events are passed on to this one. It has no
     * curves of memory, and a step may stand for all steps since the one before.
     *
     * @return the history
     */
    public static History ofOtherProcess() {
        return new History(System::nanoTime, null);
    }

    History(LongSupplier nanos, @Nullable Memory process) {
        this.nanos = nanos;
        this.process = process;
    }

    /**
     * Reads the history of a training that is resumed: its curves and evaluations so far. As a listener it then records
     * the rest.
     *
     * @param metrics
     *            a file written by {@link JsonLines}
     * @param upToStep
     *            the last step to read: the one from which the training is resumed
     * @return the history
     * @throws IOException
     *             if the file cannot be read or contains invalid lines; an incomplete last line is ignored
     */
    public static History read(Path metrics, long upToStep) throws IOException {
        History history = new History();
        history.restore(metrics, upToStep);
        return history;
    }

    void restore(Path file, long upToStep) throws IOException {
        try (MetricsReader lines = new MetricsReader(file)) {
            for (@Var
            JsonLine line = lines.next(); line != null && line.whole("step") <= upToStep; line = lines.next()) {
                try {
                    restore(line);
                } catch (IllegalArgumentException e) {
                    throw lines.wrong(e);
                }
            }
        }
    }

    private void restore(JsonLine line) {
        switch (line.text("event")) {
            case "step" -> draw(new Step(line.whole("step"), Math.toIntExact(line.whole("epoch")), line.number("loss"),
                    JsonLines.metrics(line), line.number("rate"), line.number("seconds"), line.whole("units")));
            case "evaluation" ->
                evaluations.add(
                        new Evaluation(line.whole("step"), Math.toIntExact(line.whole("epoch")), line.number("loss"),
                                JsonLines.metrics(line), line.truth("best"), line.number("seconds")));
            case "begun", "saved", "ended" -> lastStep = Math.max(lastStep, line.whole("step"));
            default -> throw new IllegalArgumentException("'event' is " + line.text("event"));
        }
    }

    @Override
    public void started(Started training) throws IOException {
        started = training;
        end = null;
        startedAt = nanos.getAsLong();
        nextSample = 0;
        lastStep = training.firstStep();
        sample();
    }

    @Override
    public void step(Step step) throws IOException {
        steps += step.step() - lastStep;
        draw(step);
        units += step.units();
        seconds += step.seconds();
        sample();
    }

    private void draw(Step step) {
        loss.add(step.step(), step.loss());
        step.metrics().forEach((name, value) -> metrics.computeIfAbsent(name, Curve::new).add(step.step(), value));
        if (!Double.isNaN(step.rate())) {
            rate.add(step.step(), step.rate());
        }
        // Weighted by time, so that the mean of a point is its units divided by its seconds.
        throughput.add(step.step(), step.units() / step.seconds(), step.seconds());
        lastStep = step.step();
    }

    @Override
    public void evaluated(Evaluation evaluation) throws IOException {
        evaluations.add(evaluation);
        sample();
    }

    @Override
    public void saved(long step, Path folder) throws IOException {
        sample();
    }

    @Override
    public void ended(End why, long step) throws IOException {
        end = why;
        lastStep = step;
        sample();
        peak = process == null ? -1 : process.peak();
    }

    /** Samples the memory at most once a second, because a system call takes longer than a small step. */
    private void sample() throws IOException {
        elapsed = nanos.getAsLong() - startedAt;
        if (process == null || elapsed < nextSample) {
            return;
        }
        long second = elapsed / NANOS;
        nextSample = (second + 1) * NANOS;
        heap.add(second, (double) process.heap());
        long bytes = process.resident();
        if (bytes >= 0) {
            resident.add(second, (double) bytes);
        }
    }

    /**
     * Returns the properties of the training.
     *
     * @return empty before the training has started
     */
    public Optional<Started> training() {
        return Optional.ofNullable(started);
    }

    /**
     * Returns the reason for the end of the training.
     *
     * @return empty if it has not ended or has failed
     */
    public Optional<End> end() {
        return Optional.ofNullable(end);
    }

    /**
     * Returns the last step.
     *
     * @return the step, or 0 if there was none
     */
    public long lastStep() {
        return lastStep;
    }

    /**
     * Returns the training loss over steps.
     *
     * @return a curve that grows with the training
     */
    public Curve loss() {
        return loss;
    }

    /**
     * Returns the metrics of the training batches over steps.
     *
     * @return curves by name, in the order of the model
     */
    public Map<String, Curve> metrics() {
        return Collections.unmodifiableMap(metrics);
    }

    /**
     * Returns the learning rate over steps.
     *
     * @return a curve, which is empty if the program has no schedule
     */
    public Curve rate() {
        return rate;
    }

    /**
     * Returns the throughput in units per second over steps; the mean of a point is the sum of its units divided by the
     * sum of its seconds.
     *
     * @return a curve that grows with the training
     */
    public Curve throughput() {
        return throughput;
    }

    /**
     * Returns the evaluations in the order of their steps; of two after the same step, the later one. If there were
     * more than {@value Curve#MAX_POINTS}, it is a selection that is spread evenly over the steps, with the last one.
     *
     * @return an unmodifiable list
     */
    public List<Evaluation> evaluations() {
        return evaluations.kept();
    }

    /**
     * Returns the evaluation with the smallest loss of all, the first of several.
     *
     * @return empty if no loss is finite
     */
    public Optional<Evaluation> best() {
        return evaluations.best();
    }

    /**
     * Returns the memory of this process in bytes, over seconds since the start of the training: the resident memory
     * or, if the system does not report it, the used heap. The name of the curve says which.
     *
     * @return a curve that grows with the training, with at most one sample per second
     */
    public Curve memory() {
        return resident.points().isEmpty() ? heap : resident;
    }

    /**
     * Returns the used heap in bytes, over seconds since the start of the training.
     *
     * @return a curve that grows with the training, with at most one sample per second
     */
    public Curve heap() {
        return heap;
    }

    /**
     * Returns the peak memory of this process: after the end of the training as the system reports it, before as
     * sampled.
     *
     * @return the number of bytes; 0 before the training has started
     */
    public long peakMemory() {
        return peak >= 0 ? peak : (long) memory().points().stream().mapToDouble(Curve.Point::max).max().orElse(0);
    }

    /**
     * Returns the duration of the training in this process, including evaluations and checkpoints.
     *
     * @return seconds up to the last event
     */
    public double elapsedSeconds() {
        return (double) elapsed / NANOS;
    }

    /**
     * Returns the number of steps of this process.
     *
     * @return the number, without steps before the training was resumed
     */
    public long trainedSteps() {
        return steps;
    }

    /**
     * Returns the mean throughput of this process.
     *
     * @return units per second; NaN before the first step
     */
    public double meanThroughput() {
        return units / seconds;
    }
}
