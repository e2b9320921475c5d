package io.seriatim.train.metrics;

import com.google.errorprone.annotations.Var;
import io.seriatim.train.TrainingListener;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps what a report draws: curves over steps, evaluations, memory over time. It takes the same memory however long a
 * training is (but for its evaluations), since {@linkplain Curve curves} are thinned. For one thread.
 */
public final class History implements TrainingListener {
    private static final long NANOS = 1_000_000_000;

    private final LongSupplier nanos;
    private final Memory process;
    private final Curve loss = new Curve("loss");
    private final Map<String, Curve> metrics = new LinkedHashMap<>();
    private final Curve rate = new Curve("rate");
    private final Curve throughput = new Curve("throughput");
    private final Curve heap = new Curve("heap");
    private final Curve resident = new Curve("resident memory");
    private final List<Evaluation> evaluations = new ArrayList<>();
    private @Nullable Begun begun;
    private @Nullable End end;
    private long lastStep;
    private long begunAt;
    private long nextSample;
    private long elapsed;
    private long peak = -1;
    private long steps;
    private long units;
    private double seconds;

    /** An empty history. */
    public History() {
        this(System::nanoTime, new Memory.OfProcess(Path.of("/proc/self/status")));
    }

    History(LongSupplier nanos, Memory process) {
        this.nanos = nanos;
        this.process = process;
    }

    /**
     * The history of a training that is continued: its curves and evaluations so far. It then listens to the rest of
     * it.
     *
     * @param metrics
     *            what {@link JsonLines} has written
     * @param upToStep
     *            the last step of interest: the one after which training is continued
     * @return a new one
     * @throws IOException
     *             if the file cannot be read, or has other lines (a last line without its end is left out)
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
                keep(new Evaluation(line.whole("step"), Math.toIntExact(line.whole("epoch")), line.number("loss"),
                        JsonLines.metrics(line), line.truth("best"), line.number("seconds")));
            case "begun", "saved", "ended" -> lastStep = Math.max(lastStep, line.whole("step"));
            default -> throw new IllegalArgumentException("'event' is " + line.text("event"));
        }
    }

    @Override
    public void begun(Begun training) throws IOException {
        begun = training;
        end = null;
        begunAt = nanos.getAsLong();
        nextSample = 0;
        lastStep = training.firstStep();
        sample();
    }

    @Override
    public void step(Step step) throws IOException {
        draw(step);
        steps++;
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
        // Weighted by time, the mean of many steps is what they trained by what they took.
        throughput.add(step.step(), step.units() / step.seconds(), step.seconds());
        lastStep = step.step();
    }

    @Override
    public void evaluated(Evaluation evaluation) throws IOException {
        keep(evaluation);
        sample();
    }

    /** A training that is continued may judge again what was judged when it was saved. */
    private void keep(Evaluation evaluation) {
        evaluations.removeIf(earlier -> earlier.step() == evaluation.step());
        evaluations.add(evaluation);
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
        peak = process.peak();
    }

    /** At most once a second, since to ask the system takes longer than a small step. */
    private void sample() throws IOException {
        elapsed = nanos.getAsLong() - begunAt;
        if (elapsed < nextSample) {
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
     * What was about to happen when this process began.
     *
     * @return nothing before training has begun
     */
    public Optional<Begun> training() {
        return Optional.ofNullable(begun);
    }

    /**
     * Why the training has ended.
     *
     * @return nothing if it has not, or has failed
     */
    public Optional<End> end() {
        return Optional.ofNullable(end);
    }

    /**
     * The last step.
     *
     * @return 0 if there was none
     */
    public long lastStep() {
        return lastStep;
    }

    /**
     * The training loss over steps.
     *
     * @return a curve that goes on with the training
     */
    public Curve loss() {
        return loss;
    }

    /**
     * The metrics of the training batches over steps.
     *
     * @return curves by their names, in the order of the model
     */
    public Map<String, Curve> metrics() {
        return Collections.unmodifiableMap(metrics);
    }

    /**
     * The learning rate over steps.
     *
     * @return a curve, empty if the program has no rate
     */
    public Curve rate() {
        return rate;
    }

    /**
     * Units per second over steps; the mean of a point is all units of its steps by all their seconds.
     *
     * @return a curve that goes on with the training
     */
    public Curve throughput() {
        return throughput;
    }

    /**
     * All evaluations, in order of their steps; of two after the same step, the later.
     *
     * @return what cannot be changed
     */
    public List<Evaluation> evaluations() {
        return Collections.unmodifiableList(evaluations);
    }

    /**
     * The evaluation with the smallest loss, the first of several.
     *
     * @return nothing if there is none with a finite loss
     */
    public Optional<Evaluation> best() {
        return evaluations.stream().filter(evaluation -> Double.isFinite(evaluation.loss()))
                .min(Comparator.comparingDouble(Evaluation::loss));
    }

    /**
     * The memory of this process in bytes, over seconds since it began to train: what is resident, or the heap in use
     * where the system does not say. The curve's name says which.
     *
     * @return a curve that goes on with the training, a sample a second at most
     */
    public Curve memory() {
        return resident.points().isEmpty() ? heap : resident;
    }

    /**
     * The heap in use in bytes, over seconds since this process began to train.
     *
     * @return a curve that goes on with the training, a sample a second at most
     */
    public Curve heap() {
        return heap;
    }

    /**
     * The most memory that this process took, as the system says once training has ended, else as far as it was
     * sampled.
     *
     * @return bytes; 0 before training has begun
     */
    public long peakMemory() {
        return peak >= 0 ? peak : (long) memory().points().stream().mapToDouble(Curve.Point::max).max().orElse(0);
    }

    /**
     * How long this process has trained, with evaluations and checkpoints.
     *
     * @return seconds up to what was told last
     */
    public double elapsedSeconds() {
        return (double) elapsed / NANOS;
    }

    /**
     * How many steps this process has trained.
     *
     * @return without those of earlier processes
     */
    public long trainedSteps() {
        return steps;
    }

    /**
     * What this process has trained by what its steps took.
     *
     * @return units per second; NaN before the first step
     */
    public double meanThroughput() {
        return units / seconds;
    }
}
