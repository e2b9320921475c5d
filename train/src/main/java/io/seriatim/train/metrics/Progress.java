package io.seriatim.train.metrics;

import io.seriatim.graph.util.Printable;
import io.seriatim.train.TrainingListener;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Prints the progress of a training. On a terminal it is one line, which is redrawn in place at most ten times a
 * second; evaluations and checkpoints are printed as permanent lines. Other output, such as a file, gets a plain line
 * after the first step, after the last one and about twenty times in between, always at the same steps and without
 * control characters.
 * <p>
 * Loss and metrics are averages over about the last twenty steps, and the throughput is the average over about the last
 * five seconds. The remaining time is extrapolated from the throughput and the time of evaluations so far; it is
 * omitted until the throughput is steady. Between two drawings a step costs a few additions. Not thread-safe.
 */
public final class Progress implements TrainingListener, AutoCloseable {
    private static final int DEFAULT_COLUMNS = 100;
    private static final int PLAIN_LINES = 20;
    private static final long REDRAW_NANOS = 100_000_000;

    private final PrintStream out;
    private final boolean terminal;
    private final int columns;
    private final Bar bar;
    private final LongSupplier nanos;
    private final Average loss = new Average();
    private final Map<String, Average> metrics = new LinkedHashMap<>();
    private final Throughput throughput = new Throughput();
    private @Nullable Started started;
    private @Nullable Step last;
    private double evaluationSeconds;
    private long startedAt;
    private long drawnAt;
    private int drawnLength;
    private boolean drawn;

    /**
     * Creates a listener with the width of the environment variable COLUMNS, or {@value #DEFAULT_COLUMNS} characters.
     *
     * @param out
     *            the stream to print to; the bar consists of ASCII characters if its character set has no box-drawing
     *            ones
     * @param terminal
     *            whether a line can be redrawn
     */
    public Progress(PrintStream out, boolean terminal) {
        this(out, terminal, columns(System.getenv("COLUMNS")), System::nanoTime);
    }

    /**
     * Creates a listener with all settings.
     *
     * @param out
     *            the stream to print to; the bar consists of ASCII characters if its character set has no box-drawing
     *            ones
     * @param terminal
     *            whether a line can be redrawn
     * @param columns
     *            the terminal's width in characters, at least 2
     * @param nanos
     *            a clock in nanoseconds, such as System.nanoTime
     */
    public Progress(PrintStream out, boolean terminal, int columns, LongSupplier nanos) {
        if (columns < 2) {
            throw new IllegalArgumentException(
                    "The width of the terminal must be at least 2 characters, but is " + columns);
        }
        this.out = out;
        this.terminal = terminal;
        this.columns = columns;
        this.bar = Bar.of(out.charset());
        this.nanos = nanos;
    }

    static int columns(@Nullable String variable) {
        boolean usable = variable != null && variable.matches("[0-9]{2,4}");
        return usable ? Math.max(2, Integer.parseInt(variable)) : DEFAULT_COLUMNS;
    }

    @Override
    public void started(Started training) {
        started = training;
        startedAt = nanos.getAsLong();
        lasting(training.model() + " on " + training.place() + ", " + Figures.count(training.threads(), "thread") + ": "
                + Figures.whole(training.parameters()) + " parameters, " + Figures.whole(training.examples())
                + " examples, batches of "
                + Figures.whole(training.batch())
                + (training.firstStep() == 0 ? "" : ", continued after step " + Figures.whole(training.firstStep())));
    }

    @Override
    public void step(Step step) {
        Started training = training();
        last = step;
        loss.add(step.loss());
        step.metrics().forEach((name, value) -> metrics.computeIfAbsent(name, n -> new Average()).add(value));
        throughput.add(step.units(), step.seconds());
        if (terminal) {
            long now = nanos.getAsLong();
            if (!drawn || now - drawnAt >= REDRAW_NANOS) {
                drawnAt = now;
                redraw(training, step);
            }
        } else if (isFixed(training, step.step())) {
            out.println(line(training, step, ""));
        }
    }

    private static boolean isFixed(Started training, long step) {
        return step == training.firstStep() + 1 || step == training.steps()
                || step % Math.ceilDiv(training.steps(), PLAIN_LINES) == 0;
    }

    @Override
    public void evaluated(Evaluation evaluation) {
        evaluationSeconds += evaluation.seconds();
        StringBuilder line = new StringBuilder("step ").append(Figures.whole(evaluation.step()))
                .append("  validation loss ")
                .append(Figures.value(evaluation.loss()));
        evaluation.metrics()
                .forEach((name, value) -> line.append("  ").append(name).append(' ').append(Figures.value(value)));
        lasting(line.append(evaluation.best() ? "  best so far" : "").toString());
    }

    @Override
    public void saved(long step, Path folder) {
        lasting("step " + Figures.whole(step) + "  checkpoint " + folder);
    }

    @Override
    public void ended(End end, long step) {
        close();
    }

    /** Completes the redrawn line, so that other code can print. The stream stays open. */
    @Override
    public void close() {
        Step step = last;
        if (drawn && step != null) {
            redraw(training(), step);
            out.println();
            out.flush();
        }
        drawn = false;
        drawnLength = 0;
    }

    private Started training() {
        Started training = started;
        if (training == null) {
            throw new IllegalStateException(
                    "A training must have started before its progress is shown: call started first");
        }
        return training;
    }

    /** Prints a permanent line above the redrawn one. */
    private void lasting(String text) {
        String line = Printable.of(text);
        if (!drawn) {
            out.println(line);
            return;
        }
        out.println("\r" + padded(line));
        drawnLength = 0;
        Step step = last;
        if (step != null) {
            redraw(training(), step);
        }
    }

    private void redraw(Started training, Step step) {
        String line = fitted(training, step);
        out.print("\r" + padded(line));
        out.flush();
        drawnLength = line.length();
        drawn = true;
    }

    /**
     * Pads a line with blanks that cover the rest of the previous one, because not every terminal supports escape
     * sequences.
     */
    private String padded(String line) {
        return line + " ".repeat(Math.max(0, drawnLength - line.length()));
    }

    /**
     * Returns a line that fits the width, with a bar if there is room. The last column stays free, because some
     * terminals wrap there.
     */
    private String fitted(Started training, Step step) {
        int room = columns - 1 - line(training, step, "").length();
        String line = line(training, step, bar.draw(room, step.step(), training.steps()));
        return line.length() < columns ? line : line.substring(0, columns - 1);
    }

    private String line(Started training, Step step, String drawing) {
        StringBuilder line = new StringBuilder("epoch ").append(step.epoch()).append('/').append(training.epochs())
                .append(' ');
        line.append(drawing.isEmpty() ? " " : drawing + " ").append(Figures.whole(step.step())).append('/')
                .append(Figures.whole(training.steps()));
        line.append("  loss ").append(Figures.value(loss.value()));
        metrics.forEach(
                (name, average) -> line.append("  ").append(name).append(' ').append(Figures.value(average.value())));
        line.append("  ").append(Figures.speed(throughput.unitsPerSecond())).append(' ').append(training.unit())
                .append("/s");
        String time = time(training, step);
        return Printable.of((time.isEmpty() ? line : line.append("  ").append(time)).toString());
    }

    /** Returns the remaining time, if it can be extrapolated, or the total time after the last step. */
    private String time(Started training, Step step) {
        if (step.step() >= training.steps()) {
            return "in " + Figures.time((nanos.getAsLong() - startedAt) / 1e9);
        }
        if (!throughput.isSteady()) {
            return "";
        }
        double evaluation = evaluationSeconds / (step.step() - training.firstStep());
        return Figures.time((training.steps() - step.step()) * (throughput.secondsPerStep() + evaluation)) + " left";
    }
}
