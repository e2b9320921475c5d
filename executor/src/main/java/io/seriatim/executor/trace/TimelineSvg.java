package io.seriatim.executor.trace;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Draws the timeline of a run: a row for each thread and stream, a bar for each instruction. Adjacent bars that are too
 * narrow to see are merged, so that the size of the drawing does not depend on the length of the run. The page also
 * contains the times of all bars as JSON, from which its script draws a section of the run in the same way.
 */
final class TimelineSvg {
    private static final int TOP = 8;
    private static final int ROW = 40;
    private static final int BAR = 26;
    private static final int INSET = 5;
    private static final double NARROWEST = 1;
    private static final double NARROWEST_LABEL = 34;
    private static final double CHARACTER = 6;
    /**
     * The styles of intervals in which an instruction was ready but had not started, and of instructions on the
     * critical path. Smaller numbers are colours of operation types.
     */
    private static final int QUEUE = Colours.OTHERS + 1;
    private static final int CRITICAL = Colours.OTHERS + 2;

    private final RunTrace.Run run;
    private final List<RunTrace.Lane> lanes;
    private final Colours colours;
    private final TimeAxis axis;
    private final List<Row> rows = new ArrayList<>();
    private final List<String> labels = new ArrayList<>();
    private final List<Integer> labelStyles = new ArrayList<>();
    private final IdentityHashMap<TracedPlan, int[]> labelNumbers = new IdentityHashMap<>();

    /** A labelled interval. */
    private record Bar(long from, long to, int label) {
    }

    /** Disjoint bars at the same height. */
    private record Row(int y, int height, List<Bar> bars) {
    }

    TimelineSvg(RunTrace.Run run, List<Slice> slices, List<Idleness> idleness, CriticalPath path,
            List<RunTrace.Lane> lanes,
            Colours colours) {
        this.run = run;
        this.lanes = lanes;
        this.colours = colours;
        this.axis = new TimeAxis(run.started(), run.ended());
        labels.add("ready, not started");
        labelStyles.add(QUEUE);
        labels.add("on the critical path");
        labelStyles.add(CRITICAL);
        Set<RunTrace.Span> critical = Collections.newSetFromMap(new IdentityHashMap<>());
        critical.addAll(path.spans());
        for (int i = 0; i < idleness.size(); i++) {
            rowsOf(idleness.get(i), slices, critical, TOP + i * ROW);
        }
    }

    private void rowsOf(Idleness lane, List<Slice> slices, Set<RunTrace.Span> critical, int y) {
        List<Bar> waits = new ArrayList<>();
        for (int i = 0; i < lane.queue().count(); i++) {
            waits.add(new Bar(lane.queue().from(i), lane.queue().to(i), 0));
        }
        rows.add(new Row(y, BAR, waits));
        Map<Integer, List<Bar>> byDepth = new TreeMap<>();
        List<Bar> onPath = new ArrayList<>();
        slices.stream().filter(slice -> slice.span().lane() == lane.lane())
                .sorted(Comparator.comparingLong(slice -> slice.span().started()))
                .forEach(slice -> {
                    RunTrace.Span span = slice.span();
                    byDepth.computeIfAbsent(slice.depth(), _ -> new ArrayList<>())
                            .add(new Bar(span.started(), span.ended(), label(slice)));
                    if (critical.contains(span)) {
                        onPath.add(new Bar(span.started(), span.ended(), 1));
                    }
                });
        byDepth.forEach((depth, bars) -> rows
                .add(new Row(y + Math.min(depth, 4) * INSET, BAR - Math.min(depth, 4) * INSET, bars)));
        rows.add(new Row(y + BAR + 2, 3, onPath));
    }

    private int label(Slice slice) {
        int[] numbers = labelNumbers.computeIfAbsent(slice.plan(), plan -> new int[plan.instructions().size()]);
        int index = slice.span().instruction();
        if (numbers[index] == 0) {
            numbers[index] = labels.size();
            labels.add(slice.label());
            labelStyles.add(colours.of(slice.instruction().type()));
        }
        return numbers[index];
    }

    String svg() {
        int bottom = TOP + run.lanes().size() * ROW;
        StringBuilder svg = new StringBuilder(
                Markup.format("<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Timeline\">",
                        TimeAxis.WIDTH, bottom + 20));
        for (int i = 0; i < run.lanes().size(); i++) {
            RunTrace.Lane lane = lanes.get(run.lanes().get(i));
            int y = TOP + i * ROW;
            svg.append(Markup.format(
                    "<text class=\"lane\" x=\"4\" y=\"%d\">%s<title>%s</title></text><text class=\"place\" x=\"4\" "
                            + "y=\"%d\">%s</text>",
                    y + 12, Markup.text(Markup.shortened(lane.name(), 23)), Markup.text(lane.name()), y + 25,
                    Markup.text(Markup.shortened(lane.place(), 23))));
            svg.append(
                    Markup.format("<rect class=\"d\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>", TimeAxis.LEFT, y,
                            TimeAxis.WIDTH - TimeAxis.LEFT - TimeAxis.RIGHT, BAR));
        }
        axis.draw(svg, TOP - 4, bottom);
        // A nested svg element clips the bars to its area.
        int width = TimeAxis.WIDTH - TimeAxis.LEFT - TimeAxis.RIGHT;
        svg.append(
                Markup.format("<svg class=\"bars\" x=\"%d\" y=\"0\" width=\"%d\" height=\"%d\" viewBox=\"%d 0 %d %d\">",
                        TimeAxis.LEFT,
                        width, bottom, TimeAxis.LEFT, width, bottom));
        rows.forEach(row -> draw(svg, row));
        return svg.append("</svg></svg>").toString();
    }

    /**
     * Draws the bars of a row. Adjacent bars that are too narrow to see are merged into one, in the colour that
     * accounts for most of their time.
     */
    private void draw(StringBuilder svg, Row row) {
        long[] byStyle = new long[CRITICAL + 1];
        long from = 0;
        long to = 0;
        int count = 0;
        for (Bar bar : row.bars()) {
            boolean narrow = axis.x(bar.to()) - axis.x(bar.from()) < NARROWEST;
            if (count > 0 && (!narrow || axis.x(bar.from()) - axis.x(to) >= NARROWEST)) {
                merged(svg, row, from, to, count, byStyle);
                count = 0;
            }
            if (!narrow) {
                single(svg, row, bar);
                continue;
            }
            if (count++ == 0) {
                from = bar.from();
                Arrays.fill(byStyle, 0);
            }
            to = bar.to();
            byStyle[labelStyles.get(bar.label())] += Math.max(1, bar.to() - bar.from());
        }
        if (count > 0) {
            merged(svg, row, from, to, count, byStyle);
        }
    }

    private void merged(StringBuilder svg, Row row, long from, long to, int count, long[] byStyle) {
        int most = 0;
        for (int i = 1; i < byStyle.length; i++) {
            most = byStyle[i] > byStyle[most] ? i : most;
        }
        long busy = Arrays.stream(byStyle).sum();
        rect(svg, row, from, to, most, count + (count == 1 ? " interval, " : " intervals, ") + Markup.time(busy));
    }

    private void single(StringBuilder svg, Row row, Bar bar) {
        String label = labels.get(bar.label());
        rect(svg, row, bar.from(), bar.to(), labelStyles.get(bar.label()),
                label + ", " + Markup.time(bar.to() - bar.from()));
        double width = axis.x(bar.to()) - axis.x(bar.from());
        int fits = (int) ((width - 6) / CHARACTER);
        if (width >= NARROWEST_LABEL && labelStyles.get(bar.label()) < QUEUE) {
            svg.append(Markup.format("<text x=\"%.1f\" y=\"%d\">%s</text>", axis.x(bar.from()) + 4,
                    row.y() + row.height() - 9,
                    Markup.text(Markup.shortened(label, fits))));
        }
    }

    private void rect(StringBuilder svg, Row row, long from, long to, int style, String title) {
        svg.append(
                Markup.format(
                        "<rect class=\"%s\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\"><title>%s</title></rect>",
                        style(style),
                        axis.x(from), row.y(), Math.max(0.8, axis.x(to) - axis.x(from)), row.height(),
                        Markup.text(title)));
    }

    private static String style(int style) {
        return style == QUEUE ? "q" : style == CRITICAL ? "k" : "c" + style;
    }

    /**
     * Returns the data from which the script of the page draws a section of the run. Each bar of a row consists of its
     * distance from the end of the previous bar, its length and its label.
     */
    String json() {
        StringBuilder json = new StringBuilder(
                Markup.format("{\"left\":%d,\"width\":%d,\"length\":%d,\"labels\":[", TimeAxis.LEFT,
                        TimeAxis.WIDTH - TimeAxis.LEFT - TimeAxis.RIGHT, run.duration()));
        for (int i = 0; i < labels.size(); i++) {
            json.append(i == 0 ? "" : ",").append(Markup.quoted(labels.get(i)));
        }
        json.append("],\"styles\":[");
        for (int i = 0; i < labels.size(); i++) {
            json.append(i == 0 ? "\"" : ",\"").append(style(labelStyles.get(i))).append('"');
        }
        json.append("],\"rows\":[");
        for (int i = 0; i < rows.size(); i++) {
            Row row = rows.get(i);
            json.append(i == 0 ? "\n" : ",\n")
                    .append(Markup.format("{\"y\":%d,\"height\":%d,\"bars\":[", row.y(), row.height()));
            long reached = run.started();
            for (int j = 0; j < row.bars().size(); j++) {
                Bar bar = row.bars().get(j);
                json.append(j == 0 ? "" : ",").append(bar.from() - reached).append(',').append(bar.to() - bar.from())
                        .append(',')
                        .append(bar.label());
                reached = bar.to();
            }
            json.append("]}");
        }
        return json.append("]}").toString();
    }
}
