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
 * Shows people how far a training is. On a terminal it is one line, redrawn in place at most ten times a second;
 * evaluations and checkpoints are lines of their own that stay. Elsewhere, such as in a file, it is a plain line after
 * the first step, after the last, and about twenty times between, at the same steps whenever the same is trained,
 * without control characters.
 * <p>
 * Loss and metrics are means over about the last twenty steps, throughput is that of about the last five seconds, and
 * the time left is what the steps left would take at that pace, with evaluations as often as so far; it is left out
 * until the pace is steady. Between two drawings a step costs a few additions. For one thread.
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
    private final Pace pace = new Pace();
    private @Nullable Begun begun;
    private @Nullable Step last;
    private double evaluationSeconds;
    private long begunAt;
    private long drawnAt;
    private int drawnLength;
    private boolean drawn;

    /**
     * As wide as the variable COLUMNS of the environment says, else {@value #DEFAULT_COLUMNS} characters.
     *
     * @param out
     *            where to print; the bar is of ASCII characters if its charset has no others
     * @param terminal
     *            whether a line can be redrawn there
     */
    public Progress(PrintStream out, boolean terminal) {
        this(out, terminal, columns(System.getenv("COLUMNS")), System::nanoTime);
    }

    /**
     * With all that it depends on.
     *
     * @param out
     *            where to print; the bar is of ASCII characters if its charset has no others
     * @param terminal
     *            whether a line can be redrawn there
     * @param columns
     *            the terminal's width in characters, at least 2
     * @param nanos
     *            a clock in nanoseconds, as System.nanoTime
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
    public void begun(Begun training) {
        begun = training;
        begunAt = nanos.getAsLong();
        lasting(training.model() + " on " + training.place() + ", " + Figures.count(training.threads(), "thread") + ": "
                + Figures.whole(training.parameters()) + " parameters, " + Figures.whole(training.examples())
                + " examples, batches of "
                + Figures.whole(training.batch())
                + (training.firstStep() == 0 ? "" : ", continued after step " + Figures.whole(training.firstStep())));
    }

    @Override
    public void step(Step step) {
        Begun training = training();
        last = step;
        loss.add(step.loss());
        step.metrics().forEach((name, value) -> metrics.computeIfAbsent(name, n -> new Average()).add(value));
        pace.add(step.units(), step.seconds());
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

    private static boolean isFixed(Begun training, long step) {
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

    /** Ends the line that is redrawn, with its latest state, so that others can print; the stream stays open. */
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

    private Begun training() {
        Begun training = begun;
        if (training == null) {
            throw new IllegalStateException(
                    "A training must have begun before its progress is shown: call begun first");
        }
        return training;
    }

    /** A line that stays, above the one that is redrawn. */
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

    private void redraw(Begun training, Step step) {
        String line = fitted(training, step);
        out.print("\r" + padded(line));
        out.flush();
        drawnLength = line.length();
        drawn = true;
    }

    /** Blanks over what is left of the line before: they need no escape sequence, which not every terminal knows. */
    private String padded(String line) {
        return line + " ".repeat(Math.max(0, drawnLength - line.length()));
    }

    /**
     * With as long a bar as there is room for, and cut; the last column stays free, since some terminals go on to the
     * next line there.
     */
    private String fitted(Begun training, Step step) {
        int room = columns - 1 - line(training, step, "").length();
        String line = line(training, step, bar.draw(room, step.step(), training.steps()));
        return line.length() < columns ? line : line.substring(0, columns - 1);
    }

    private String line(Begun training, Step step, String drawing) {
        StringBuilder line = new StringBuilder("epoch ").append(step.epoch()).append('/').append(training.epochs())
                .append(' ');
        line.append(drawing.isEmpty() ? " " : drawing + " ").append(Figures.whole(step.step())).append('/')
                .append(Figures.whole(training.steps()));
        line.append("  loss ").append(Figures.value(loss.value()));
        metrics.forEach(
                (name, average) -> line.append("  ").append(name).append(' ').append(Figures.value(average.value())));
        line.append("  ").append(Figures.speed(pace.unitsPerSecond())).append(' ').append(training.unit()).append("/s");
        String time = time(training, step);
        return Printable.of((time.isEmpty() ? line : line.append("  ").append(time)).toString());
    }

    /** How long it will take, as soon as that can be told, and in the end how long it took. */
    private String time(Begun training, Step step) {
        if (step.step() >= training.steps()) {
            return "in " + Figures.time((nanos.getAsLong() - begunAt) / 1e9);
        }
        if (!pace.isSteady()) {
            return "";
        }
        double evaluation = evaluationSeconds / (step.step() - training.firstStep());
        return Figures.time((training.steps() - step.step()) * (pace.secondsPerStep() + evaluation)) + " left";
    }
}
