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
 * Writes metrics.jsonl: one JSON object a line, in UTF-8, each line handed to the system before training goes on. The
 * keys, always in this order:
 * <ul>
 * <li>{@code {"event":"begun","model":…,"place":…,"threads":…,"batch":…,"step":…,"steps":…,"epochs":…,"parameters":…,"examples":…,
 * "unit":…,"wall":…}}, where {@code step} says how many were done before;</li>
 * <li>{@code {"event":"step","step":…,"epoch":…,"loss":…,"accuracy":…,"rate":…,"seconds":…,"units":…,"wall":…}};</li>
 * <li>{@code {"event":"evaluation","step":…,"epoch":…,"loss":…,"accuracy":…,"best":…,"seconds":…,"wall":…}};</li>
 * <li>{@code {"event":"saved","step":…,"folder":…,"wall":…}};</li>
 * <li>{@code {"event":"ended","step":…,"end":…,"wall":…}}, where {@code end} is {@code done}, {@code early} or
 * {@code stopped}.</li>
 * </ul>
 * The metrics of the model stand where {@code accuracy} does here, by their names; one that is named like another key
 * gets {@code metric.} before its name. {@code wall} is in seconds since 1970. NaN, and a rate that there is not, is
 * {@code null}; the infinities are {@code "Infinity"} and {@code "-Infinity"}; every other number reads back to the
 * bit.
 * <p>
 * A continued training continues the file: what belongs to steps that will be done again is cut off, as are the line
 * that said that it had ended and a last line of which only a part was written. So the file reads as if nothing had
 * happened; {@code begun} is written again only if it differs from the one before.
 */
public final class JsonLines implements TrainingListener, AutoCloseable {
    private static final String PREFIX = "metric.";
    private static final Set<String> KEYS = Set.of("event", "step", "epoch", "loss", "rate", "best", "seconds", "units",
            "wall");

    private final Path file;
    private final LongSupplier millis;
    private @Nullable FileChannel channel;

    /**
     * A file that is written once training begins.
     *
     * @param file
     *            such as DIR/metrics.jsonl; its folder must be there by then
     */
    public JsonLines(Path file) {
        this(file, System::currentTimeMillis);
    }

    JsonLines(Path file, LongSupplier millis) {
        this.file = file;
        this.millis = millis;
    }

    @Override
    public void begun(Begun begun) throws IOException {
        close();
        FileChannel opened = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        channel = opened;
        String line = line(begun);
        if (begun.firstStep() == 0) {
            opened.truncate(0);
            write(line);
            return;
        }
        JsonLine last = cut(opened, begun.firstStep());
        if (last == null || !last.saysTheSame(JsonLine.parse(line.strip()), "step", "wall")) {
            write(line);
        }
    }

    /** Cuts off what a training that begins again after a step will write again; returns how the rest has begun. */
    private @Nullable JsonLine cut(FileChannel opened, long step) throws IOException {
        @Var
        JsonLine begun = null;
        @Var
        long end = 0;
        try (MetricsReader lines = new MetricsReader(file)) {
            for (@Var
            JsonLine line = lines.next(); line != null; line = lines.next()) {
                String event = line.text("event");
                if (line.whole("step") > step || event.equals("ended")) {
                    break;
                }
                begun = event.equals("begun") ? line : begun;
                end = lines.position();
            }
        }
        opened.truncate(end);
        opened.position(end);
        return begun;
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

    /** Closes the file. What is written stays; what is told afterwards is an error, until another training begins. */
    @Override
    public void close() throws IOException {
        FileChannel open = channel;
        channel = null;
        if (open != null) {
            open.close();
        }
    }

    /** The metrics of a line of the file, by their names, in its order. */
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

    private String line(Begun begun) {
        return new JsonLine.Writer("begun").text("model", begun.model()).text("place", begun.place())
                .whole("threads", begun.threads())
                .whole("batch", begun.batch()).whole("step", begun.firstStep()).whole("steps", begun.steps())
                .whole("epochs", begun.epochs()).whole("parameters", begun.parameters())
                .whole("examples", begun.examples())
                .text("unit", begun.unit()).wall(millis.getAsLong()).line();
    }

    private void write(String line) throws IOException {
        FileChannel open = channel;
        if (open == null) {
            throw new IllegalStateException(
                    "A training must have begun before " + file + " is written: call begun first");
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
