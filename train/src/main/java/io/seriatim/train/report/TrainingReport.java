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
 * A page about a training, for people: how loss and metrics went, what one step did when on which thread, the network,
 * and how it was made. It needs nothing but a browser. Every part may be left out.
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
     * Adds charts and tiles of loss, metrics, learning rate, throughput and memory, and says in a line what was trained
     * unless that was said.
     *
     * @param history
     *            what was kept of the training
     * @param baselines
     *            losses to compare with, such as {@code bigram}, by their names
     * @return this
     */
    public TrainingReport history(History history, Map<String, Double> baselines) {
        tiles.addAll(Tiles.of(history, baselines));
        history.training().filter(_ -> subtitle.isEmpty()).ifPresent(begun -> subtitle = said(begun));
        List<TrainingListener.Evaluation> judged = history.evaluations();
        Chart loss = trained("Loss", "mean of a batch, and of all validation examples", history.loss())
                .with(Series.of(judged, TrainingListener.Evaluation::loss));
        for (Map.Entry<String, Double> each : baselines.entrySet()) {
            loss = loss.line(each.getKey(), each.getValue());
        }
        chart(loss);
        history.metrics().forEach((name, curve) -> chart(trained(capital(name), "", curve).as(Chart.Unit.of(curve))
                .with(Series.of(judged, each -> Objects.requireNonNullElse(each.metrics().get(name), Double.NaN)))));
        String unit = history.training().map(begun -> begun.unit() + " per second").orElse("per second");
        if (!history.rate().points().isEmpty()) {
            chart(Chart.of("Learning rate", "").startingAtZero()
                    .with(Series.of("rate", Series.Style.LINE, history.rate())));
        }
        chart(trained("Throughput", unit, history.throughput()).startingAtZero());
        Chart memory = Chart.of("Memory of the process", "").along("second").as(Chart.Unit.BYTES).startingAtZero()
                .with(Series.of(history.memory().name(), Series.Style.LINE, history.memory()));
        return chart(history.memory() == history.heap()
                ? memory
                : memory.with(Series.of(history.heap().name(), Series.Style.LINE, history.heap())));
    }

    private static Chart trained(String title, String axis, Curve curve) {
        return Chart.of(title, axis).with(Series.of("training", Series.Style.NOISY, curve));
    }

    private static String said(TrainingListener.Begun begun) {
        return begun.model() + " on " + begun.place() + ", " + Numbers.count(begun.threads(), "thread") + "; "
                + Markup.count(begun.examples())
                + " examples in batches of " + Markup.count(begun.batch()) + ", "
                + Numbers.count(begun.epochs(), "epoch") + ", "
                + Numbers.count(begun.steps(), "step")
                + (begun.firstStep() == 0 ? "" : ", continued after step " + Markup.count(begun.firstStep()));
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
     * Adds a drawing of the network: of the whole program, or if that is too large, of its forward part, or of how many
     * operations of each type it has.
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
