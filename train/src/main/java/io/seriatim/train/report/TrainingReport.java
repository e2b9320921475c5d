package io.seriatim.train.report;

import io.seriatim.executor.trace.Markup;
import io.seriatim.executor.trace.ReportPage;
import io.seriatim.executor.trace.ReportSections;
import io.seriatim.executor.trace.RunRecorder;
import io.seriatim.executor.trace.RunTrace;
import io.seriatim.graph.program.Program;
import io.seriatim.train.TrainingListener;
import io.seriatim.train.metrics.Curve;
import io.seriatim.train.metrics.History;
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
 * A self-contained HTML page about a training: curves of loss and metrics, the timeline of one step by thread, the
 * network and the environment. Every part is optional.
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
     * A key figure at the top of the page.
     *
     * @param what
     *            the name of the figure
     * @param value
     *            the value, with its unit
     * @param more
     *            additional information; may be empty
     */
    public record Tile(String what, String value, String more) {
    }

    /**
     * Creates an empty report.
     *
     * @param title
     *            the title of the page
     */
    public TrainingReport(String title) {
        this.title = title;
    }

    /**
     * Sets the subtitle, which describes the training in one line.
     *
     * @param text
     *            the subtitle
     * @return this
     */
    public TrainingReport subtitle(String text) {
        subtitle = text;
        return this;
    }

    /**
     * Adds a key figure.
     *
     * @param what
     *            the name of the figure
     * @param value
     *            the value, with its unit
     * @param more
     *            additional information; may be empty
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
     *            the chart; the first one is drawn largest
     * @return this
     */
    public TrainingReport chart(Chart chart) {
        charts.add(chart);
        return this;
    }

    /**
     * Adds charts and key figures of loss, metrics, learning rate, throughput and memory, and sets the subtitle if none
     * is set.
     *
     * @param history
     *            the history of the training
     * @param baselines
     *            losses of reference models by name, such as {@code bigram}
     * @return this
     */
    public TrainingReport history(History history, Map<String, Double> baselines) {
        tiles.addAll(Tiles.of(history, baselines));
        history.training().filter(_ -> subtitle.isEmpty()).ifPresent(started -> subtitle = said(started));
        List<TrainingListener.Evaluation> judged = history.evaluations();
        Chart loss = trained("Loss", "mean of a batch, and of all validation examples", history.loss())
                .with(Series.of(judged, TrainingListener.Evaluation::loss));
        for (Map.Entry<String, Double> each : baselines.entrySet()) {
            loss = loss.line(each.getKey(), each.getValue());
        }
        chart(loss);
        history.metrics().forEach((name, curve) -> chart(trained(capital(name), "", curve).as(Chart.Unit.of(curve))
                .with(Series.of(judged, each -> Objects.requireNonNullElse(each.metrics().get(name), Double.NaN)))));
        String unit = history.training().map(started -> started.unit() + " per second").orElse("per second");
        if (!history.rate().points().isEmpty()) {
            chart(Chart.of("Learning rate", "").startingAtZero()
                    .with(Series.of("rate", Series.Style.LINE, history.rate())));
        }
        chart(trained("Throughput", unit, history.throughput()).startingAtZero());
        if (history.training().isPresent() && history.memory().points().isEmpty()) {
            return this; // a training in another process
        }
        Chart memory = Chart.of("Memory of the process", "").along("second").as(Chart.Unit.BYTES).startingAtZero()
                .with(Series.of(history.memory().name(), Series.Style.LINE, history.memory()));
        return chart(history.memory() == history.heap()
                ? memory
                : memory.with(Series.of(history.heap().name(), Series.Style.LINE, history.heap())));
    }

    private static Chart trained(String title, String axis, Curve curve) {
        return Chart.of(title, axis).with(Series.of("training", Series.Style.NOISY, curve));
    }

    private static String said(TrainingListener.Started started) {
        return started.model() + " on " + started.place() + ", " + Numbers.count(started.threads(), "thread") + "; "
                + Markup.count(started.examples())
                + " examples in batches of " + Markup.count(started.batch()) + ", "
                + Numbers.count(started.epochs(), "epoch") + ", "
                + Numbers.count(started.steps(), "step")
                + (started.firstStep() == 0 ? "" : ", continued after step " + Markup.count(started.firstStep()));
    }

    /**
     * Adds a recorded step: its timeline, idle time, memory, costs and critical path.
     *
     * @param recording
     *            the recording, whose last run is shown
     * @param called
     *            the name of the step, such as {@code step 20}
     * @return this
     */
    public TrainingReport step(RunTrace recording, String called) {
        trace = recording;
        recorded = called;
        return this;
    }

    /**
     * Adds a drawing of the network: the whole program or, if that is too large, its forward part or a table of
     * operation types.
     *
     * @param main
     *            the program of a step
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
     *            the section
     * @return this
     */
    public TrainingReport extra(Extra extra) {
        extras.add(extra);
        return this;
    }

    /**
     * Adds an entry to the environment, such as the command line or the seed. The machine is always listed.
     *
     * @param name
     *            the name
     * @param value
     *            the value, which replaces an earlier one of that name
     * @return this
     */
    public TrainingReport environment(String name, String value) {
        environment.put(name, value);
        return this;
    }

    /**
     * Marks the training as failed.
     *
     * @param cause
     *            the failure, which is shown with its causes
     * @return this
     */
    public TrainingReport failure(Throwable cause) {
        failure = cause;
        return this;
    }

    /**
     * Writes the page atomically.
     *
     * @param file
     *            the file, which is replaced if it exists
     * @throws IOException
     *             if the file cannot be written
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
                    each -> page.add(ReportPage.tile(Markup.text(each.what()), Markup.text(each.value()),
                            Markup.text(each.more()))));
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

    /** Adds links to the existing parts. */
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
                : Character.toString(Character.toUpperCase(text.codePointAt(0)))
                        + text.substring(text.offsetByCodePoints(0, 1));
    }

    private void curves(ReportPage page) {
        heading(page, "curves", "Curves");
        if (charts.isEmpty()) {
            page.add("<section><p>No step has ended, so there is nothing to draw.</p></section>\n");
            return;
        }
        page.add(
                "<p class=\"hint\">Move over a chart for values, drag to look closer, double-click to see "
                        + "all.</p>\n<div class=\"charts\">\n");
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
            section.append("<li>").append(Markup.text(message == null ? each.getClass().getName() : message))
                    .append("</li>\n");
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
