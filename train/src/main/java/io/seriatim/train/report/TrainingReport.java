package io.seriatim.train.report;

import io.seriatim.executor.trace.Markup;
import io.seriatim.executor.trace.ReportPage;
import io.seriatim.executor.trace.ReportSections;
import io.seriatim.executor.trace.RunRecorder;
import io.seriatim.executor.trace.RunTrace;
import io.seriatim.graph.Program;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A page about a training, for people: how loss and metrics went, what one step did when on which thread, the network, and how it was made. It needs nothing but a browser. Every part may be left out.
 */
public final class TrainingReport {
    private final String title;
    private String subtitle = "";
    private final Map<String, String> environment = new LinkedHashMap<>(RunRecorder.machine());
    private final List<Tile> tiles = new ArrayList<>();
    private final List<Chart> charts = new ArrayList<>();
    private final List<Extra> extras = new ArrayList<>();
    private @Nullable RunTrace trace;
    private String recorded = "";
    private @Nullable Program program;
    private @Nullable Throwable failure;

    /**
     * One of the numbers at the beginning of the page.
     *
     * @param what
     *            it is
     * @param value
     *            with its unit
     * @param more
     *            what makes it comparable; may be empty
     */
    public record Tile(String what, String value, String more) {
    }

    /** Which of two values of a metric is better. */
    public enum Better {
        /** As for a loss. */
        LOWER,
        /** As for accuracy. */
        HIGHER
    }

    /**
     * A report without any part.
     *
     * @param title
     *            of the page
     */
    public TrainingReport(String title) {
        this.title = title;
    }

    /**
     * Says in a line what was trained.
     *
     * @param text
     *            replaces what was there
     * @return this
     */
    public TrainingReport subtitle(String text) {
        subtitle = text;
        return this;
    }

    /**
     * Adds a tile.
     *
     * @param what
     *            it is
     * @param value
     *            with its unit
     * @param more
     *            what makes it comparable; may be empty
     * @return this
     */
    public TrainingReport tile(String what, String value, String more) {
        tiles.add(new Tile(what, value, more));
        return this;
    }

    /**
     * Adds a chart.
     *
     * @param chart
     *            curves; the first chart is the largest
     * @return this
     */
    public TrainingReport chart(Chart chart) {
        charts.add(chart);
        return this;
    }

    /**
     * Adds a chart of a loss or a metric, and a tile with its best judged value, or if it was never judged, with the last one in training.
     *
     * @param chart
     *            curves; judged are those drawn as points, trained those with noise
     * @param better
     *            which values are best
     * @return this
     */
    public TrainingReport metric(Chart chart, Better better) {
        Tiles.metric(chart, better).ifPresent(tiles::add);
        return chart(chart);
    }

    /**
     * Adds a chart of the learning rate.
     *
     * @param rate
     *            by step
     * @return this
     */
    public TrainingReport rate(Curve rate) {
        return chart(Chart.of("Learning rate", "").startingAtZero().with(rate, Chart.Style.LINE));
    }

    /**
     * Adds a chart of the throughput and a tile with its median.
     *
     * @param throughput
     *            by step
     * @param unit
     *            what is counted, such as {@code tokens}
     * @return this
     */
    public TrainingReport throughput(Curve throughput, String unit) {
        Tiles.throughput(throughput, unit).ifPresent(tiles::add);
        return chart(Chart.of("Throughput", unit + " per second").startingAtZero().with(throughput, Chart.Style.NOISY));
    }

    /**
     * Adds a tile with the time that the training took.
     *
     * @param seconds
     *            of wall time
     * @param steps
     *            that were done in it
     * @return this
     */
    public TrainingReport took(double seconds, long steps) {
        return tile("Time", Numbers.duration(seconds), Markup.count(steps) + (steps == 1 ? " step" : " steps"));
    }

    /**
     * Adds a tile with the size of the network.
     *
     * @param count
     *            elements that are trained
     * @return this
     */
    public TrainingReport parameters(long count) {
        return tile("Parameters", Markup.count(count), "numbers that are trained");
    }

    /**
     * Adds a tile with the most memory that the process had in use.
     *
     * @param bytes
     *            resident
     * @return this
     */
    public TrainingReport peakMemory(long bytes) {
        return tile("Peak memory", Markup.bytes(bytes), "of the process, resident");
    }

    /**
     * Adds a chart of the memory that the process has in use.
     *
     * @param along
     *            what the places are, such as {@code step} or {@code seconds}
     * @param bytes
     *            such as the resident memory, and the heap
     * @return this
     */
    public TrainingReport memory(String along, List<Curve> bytes) {
        Chart chart = Chart.of("Memory of the process", "").along(along).as(Chart.Unit.BYTES).startingAtZero();
        for (Curve each : bytes) {
            chart = chart.with(each, Chart.Style.LINE);
        }
        return chart(chart);
    }

    /**
     * Adds what a recorded step did: its timeline, its idle time, its memory, its costs and its critical path.
     *
     * @param recording
     *            whose last run is shown
     * @param called
     *            such as {@code step 20}
     * @return this
     */
    public TrainingReport step(RunTrace recording, String called) {
        trace = recording;
        recorded = called;
        return this;
    }

    /**
     * Adds a drawing of the network: of the whole program, or if that is too large, of its forward part, or of how many operations of each type it has.
     *
     * @param main
     *            a step's program
     * @return this
     */
    public TrainingReport graph(Program main) {
        program = main;
        return this;
    }

    /**
     * Adds a section.
     *
     * @param extra
     *            what only some trainings have
     * @return this
     */
    public TrainingReport extra(Extra extra) {
        extras.add(extra);
        return this;
    }

    /**
     * Says how the training was made, such as its command line or its seed. The machine is said anyway.
     *
     * @param name
     *            what it is
     * @param value
     *            replaces one of that name
     * @return this
     */
    public TrainingReport environment(String name, String value) {
        environment.put(name, value);
        return this;
    }

    /**
     * Says that the training failed.
     *
     * @param cause
     *            whose message is shown, with those of its causes
     * @return this
     */
    public TrainingReport failure(Throwable cause) {
        failure = cause;
        return this;
    }

    /**
     * Writes the page. The file is there whole or not at all.
     *
     * @param file
     *            replaced if it is there
     * @throws IOException
     *             if it cannot be written
     */
    public void write(Path file) throws IOException {
        ReportPage page = new ReportPage(title).style(resource("training.css")).script(resource("training.js"));
        if (!subtitle.isEmpty()) {
            page.add("<p class=\"subtitle\">" + Markup.text(subtitle) + "</p>\n");
        }
        contents(page);
        if (failure != null) {
            page.add(failed(failure));
        }
        if (!tiles.isEmpty()) {
            page.add("<div class=\"tiles\">\n");
            tiles.forEach(
                    each -> page.add(ReportPage.tile(Markup.text(each.what()), Markup.text(each.value()), Markup.text(each.more()))));
            page.add("</div>\n");
        }
        curves(page);
        for (int i = 0; i < extras.size(); i++) {
            heading(page, "extra-" + i, extras.get(i).title());
            page.add(extras.get(i).section());
        }
        recorded().ifPresent(parts -> {
            heading(page, "step", capital(recorded));
            page.add(parts.all());
        });
        if (program != null) {
            heading(page, "network", "Network");
            page.add(GraphPart.of(program));
        }
        heading(page, "environment", "Environment");
        page.list("How it was made", environment).write(file);
    }

    private Optional<ReportSections> recorded() {
        return trace == null ? Optional.empty() : trace.sections(recorded);
    }

    /** Links to the parts that are there. */
    private void contents(ReportPage page) {
        page.add("<nav>");
        link(page, "curves", "Curves");
        for (int i = 0; i < extras.size(); i++) {
            link(page, "extra-" + i, extras.get(i).title());
        }
        if (recorded().isPresent()) {
            link(page, "step", capital(recorded));
        }
        if (program != null) {
            link(page, "network", "Network");
        }
        link(page, "environment", "Environment");
        page.add("</nav>\n");
    }

    private static void link(ReportPage page, String target, String text) {
        page.add("<a href=\"#" + target + "\">" + Markup.text(text) + "</a>");
    }

    private static void heading(ReportPage page, String target, String text) {
        page.add("<h2 class=\"part\" id=\"" + target + "\">" + Markup.text(text) + "</h2>\n");
    }

    private static String capital(String text) {
        return text.isEmpty()
                ? text
                : Character.toString(Character.toUpperCase(text.codePointAt(0))) + text.substring(text.offsetByCodePoints(0, 1));
    }

    private void curves(ReportPage page) {
        heading(page, "curves", "Curves");
        if (charts.isEmpty()) {
            page.add("<section><p>No step has ended, so there is nothing to draw.</p></section>\n");
            return;
        }
        page.add(
                "<p class=\"hint\">Move over a chart for values, drag to look closer, double-click to see all.</p>\n<div class=\"charts\">\n");
        for (int i = 0; i < charts.size(); i++) {
            page.add(new ChartSvg(charts.get(i), i == 0).figure());
        }
        page.add("</div>\n");
    }

    private static String failed(Throwable failure) {
        StringBuilder section = new StringBuilder("<section class=\"failed\">\n<h2>The training failed</h2>\n<ul>");
        Set<Throwable> told = Collections.newSetFromMap(new IdentityHashMap<>());
        for (Throwable each = failure; each != null && told.add(each); each = each.getCause()) {
            String message = each.getMessage();
            section.append("<li>").append(Markup.text(message == null ? each.getClass().getName() : message)).append("</li>\n");
        }
        return section.append("</ul>\n</section>\n").toString();
    }

    private static String resource(String name) {
        try (InputStream in = Objects.requireNonNull(TrainingReport.class.getResourceAsStream(name), name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
