package io.seriatim.train.metrics;

import com.google.errorprone.annotations.Var;
import io.seriatim.train.TrainingListener;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes metrics.jsonl: one JSON object per line, in UTF-8. Each line is written to the file before the training
 * continues. The keys are, in this order:
 * <ul>
 * <li>{@code {"event":"begun","model":…,"place":…,"threads":…,"batch":…,"step":…,"steps":…,"epochs":…,
 * "parameters":…,"examples":…,"unit":…,"wall":…}}, where {@code step} is the number of steps completed before;</li>
 * <li>{@code {"event":"step","step":…,"epoch":…,"loss":…,"accuracy":…,"rate":…,"seconds":…,"units":…,"wall":…}};</li>
 * <li>{@code {"event":"evaluation","step":…,"epoch":…,"loss":…,"accuracy":…,"best":…,"seconds":…,"wall":…}};</li>
 * <li>{@code {"event":"saved","step":…,"folder":…,"wall":…}};</li>
 * <li>{@code {"event":"ended","step":…,"end":…,"wall":…}}, where {@code end} is {@code done}, {@code early} or
 * {@code stopped}.</li>
 * </ul>
 * The metrics of the model have the position of {@code accuracy}; the name of a metric that equals another key gets the
 * prefix {@code metric.}. {@code wall} is in seconds since 1970. NaN, and a missing rate, are {@code null}; the
 * infinities are {@code "Infinity"} and {@code "-Infinity"}; all other numbers are read back exactly.
 * <p>
 * A resumed training continues the file. Lines of steps that will be repeated, the line with the end, and an incomplete
 * last line are removed, so the file looks as if the training had not been interrupted. A line {@code begun} is written
 * again only if it differs from the previous one.
 */
public final class JsonLines implements TrainingListener, AutoCloseable {
    private static final String PREFIX = "metric.";
    private static final Set<String> KEYS = Set.of("event", "step", "epoch", "loss", "rate", "best", "seconds", "units",
            "wall");

    private final Path file;
    private final LongSupplier millis;
    private @Nullable FileChannel channel;

    /**
     * Creates a listener, which opens the file when the training starts.
     *
     * @param file
     *            for instance DIR/metrics.jsonl; its folder must exist when the training starts
     */
    public JsonLines(Path file) {
        this(file, System::currentTimeMillis);
    }

    JsonLines(Path file, LongSupplier millis) {
        this.file = file;
        this.millis = millis;
    }

    @Override
    public void started(Started started) throws IOException {
        close();
        FileChannel opened = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        channel = opened;
        String line = line(started);
        if (started.firstStep() == 0) {
            opened.truncate(0);
            write(line);
            return;
        }
        JsonLine last = cut(opened, started.firstStep());
        if (last == null || !last.saysTheSame(JsonLine.parse(line.strip()), "step", "wall")) {
            write(line);
        }
    }

    /** Cuts off what a training that begins again after a step will write again; returns how the rest has started. */
    private @Nullable JsonLine cut(FileChannel opened, long step) throws IOException {
        @Var
        JsonLine start = null;
        @Var
        long end = 0;
        try (MetricsReader lines = new MetricsReader(file)) {
            for (@Var
            JsonLine line = lines.next(); line != null; line = lines.next()) {
                String event = line.text("event");
                if (line.whole("step") > step || event.equals("ended")) {
                    break;
                }
                start = event.equals("begun") ? line : start;
                end = lines.position();
            }
        }
        opened.truncate(end);
        opened.position(end);
        return start;
    }

    @Override
    public void step(Step step) throws IOException {
        JsonLine.Writer line = new JsonLine.Writer("step").whole("step", step.step()).whole("epoch", step.epoch());
        metrics(line.number("loss", step.loss()), step.metrics());
        line.number("rate", step.rate()).number("seconds", step.seconds()).whole("units", step.units());
        write(line.wall(millis.getAsLong()).line());
    }

    @Override
    public void evaluated(Evaluation evaluation) throws IOException {
        JsonLine.Writer line = new JsonLine.Writer("evaluation").whole("step", evaluation.step()).whole("epoch",
                evaluation.epoch());
        metrics(line.number("loss", evaluation.loss()), evaluation.metrics());
        line.truth("best", evaluation.best()).number("seconds", evaluation.seconds());
        write(line.wall(millis.getAsLong()).line());
    }

    @Override
    public void saved(long step, Path folder) throws IOException {
        write(new JsonLine.Writer("saved").whole("step", step).text("folder", folder.toString())
                .wall(millis.getAsLong()).line());
    }

    @Override
    public void ended(End end, long step) throws IOException {
        String why = end.name().toLowerCase(Locale.ROOT);
        write(new JsonLine.Writer("ended").whole("step", step).text("end", why).wall(millis.getAsLong()).line());
    }

    /** Closes the file. Later events throw until another training starts. */
    @Override
    public void close() throws IOException {
        FileChannel open = channel;
        channel = null;
        if (open != null) {
            open.close();
        }
    }

    /** Returns the metrics of a line, by name, in the order of the line. */
    static Map<String, Double> metrics(JsonLine line) {
        Map<String, Double> metrics = new LinkedHashMap<>();
        for (String key : line.keys()) {
            if (!KEYS.contains(key)) {
                metrics.put(key.startsWith(PREFIX) ? key.substring(PREFIX.length()) : key, line.number(key));
            }
        }
        return metrics;
    }

    private static void metrics(JsonLine.Writer line, Map<String, Double> metrics) {
        metrics.forEach((name, value) -> line
                .number(KEYS.contains(name) || name.startsWith(PREFIX) ? PREFIX + name : name, value));
    }

    private String line(Started started) {
        return new JsonLine.Writer("begun").text("model", started.model()).text("place", started.place())
                .whole("threads", started.threads())
                .whole("batch", started.batch()).whole("step", started.firstStep()).whole("steps", started.steps())
                .whole("epochs", started.epochs()).whole("parameters", started.parameters())
                .whole("examples", started.examples())
                .text("unit", started.unit()).wall(millis.getAsLong()).line();
    }

    private void write(String line) throws IOException {
        FileChannel open = channel;
        if (open == null) {
            throw new IllegalStateException(
                    "A training must have started before " + file + " is written: call started first");
        }
        ByteBuffer bytes = ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8));
        try {
            while (bytes.hasRemaining()) {
                open.write(bytes);
            }
        } catch (IOException e) {
            throw NotWritten.of(file, e);
        }
    }
}
