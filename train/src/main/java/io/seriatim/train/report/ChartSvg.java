package io.seriatim.train.report;

import io.seriatim.executor.trace.Markup;
import java.util.Locale;

/** Draws a chart, and embeds the data that the page's script needs to zoom it. */
final class ChartSvg {
    private static final int LEFT = 64;
    private static final int RIGHT = 12;
    private static final int TOP = 10;
    private static final int BELOW = 24;
    private static final int COLUMN = 556;
    private static final int ACROSS = 1118;

    private final Chart chart;
    private final int width;
    private final int height;
    private final Scale x;
    private final Scale y;
    private final StringBuilder markup = new StringBuilder();

    ChartSvg(Chart chart, boolean wide) {
        this.chart = chart;
        this.width = wide ? ACROSS : COLUMN;
        this.height = wide ? 320 : 220;
        this.x = Scale.along(chart.series());
        this.y = Scale.of(chart, chart.series());
    }

    /** Returns a figure with heading, drawing, legend and data. */
    String figure() {
        add("<figure class=\"chart%s\">\n<figcaption><h3>%s</h3><span>%s</span>", width == ACROSS ? " wide" : "",
                Markup.text(chart.title()),
                Markup.text(chart.axis()));
        add("<button class=\"log\" type=\"button\" hidden=\"hidden\">Log scale</button>"
                + "<button class=\"whole\" type=\"button\" hidden=\"hidden\">All</button></figcaption>\n");
        if (chart.series().stream().allMatch(each -> each.size() == 0)) {
            return markup.append("<p>There are no values yet.</p>\n</figure>\n").toString();
        }
        drawing();
        legend();
        markup.append("<script type=\"application/json\">");
        json();
        return markup.append("</script>\n</figure>\n").toString();
    }

    private void add(String format, Object... values) {
        markup.append(values.length == 0 ? format : Markup.format(format, values));
    }

    private double px(double at) {
        return LEFT + x.share(at) * (width - LEFT - RIGHT);
    }

    private double py(double value) {
        double share = y.share(value);
        return TOP + (1 - Math.clamp(share, -2.0, 3.0)) * (height - TOP - BELOW);
    }

    private void drawing() {
        int bottom = height - BELOW;
        add("<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n<g class=\"axis\">", width, height,
                Markup.text(spoken()));
        for (Scale.Tick tick : x.ticks(Chart.Unit.NUMBER, width / 110, true)) {
            add("<path d=\"M%.1f %dV%d\"/><text x=\"%.1f\" y=\"%d\">%s</text>", px(tick.value()), TOP, bottom,
                    px(tick.value()),
                    bottom + 16, tick.label());
        }
        add("</g>\n<g class=\"axis bytes\">");
        for (Scale.Tick tick : y.ticks(chart.unit(), height / 45, false)) {
            add("<path d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\">%s</text>", LEFT, py(tick.value()), width - RIGHT,
                    LEFT - 8,
                    py(tick.value()) + 4, tick.label());
        }
        add("</g>\n<svg class=\"plot\" x=\"%d\" y=\"0\" width=\"%d\" height=\"%d\" viewBox=\"%d 0 %d %d\">\n", LEFT,
                width - LEFT - RIGHT,
                bottom, LEFT, width - LEFT - RIGHT, bottom);
        chart.lines().forEach(this::line);
        for (int i = 0; i < chart.series().size(); i++) {
            curve(chart.series().get(i), i);
        }
        add("</svg></svg>\n");
    }

    private void line(Chart.Line line) {
        double height = py(line.value());
        add("<path class=\"baseline\" d=\"M%d %.1fH%d\"/><text class=\"note end\" x=\"%d\" y=\"%.1f\">%s %s</text>\n",
                LEFT, height,
                width - RIGHT, width - RIGHT - 4, height < TOP + 16 ? height + 13 : height - 5,
                Markup.text(line.name()),
                Numbers.value(chart.unit(), line.value()));
    }

    private void curve(Series curve, int number) {
        String colour = "s" + number % 8;
        if (!curve.single()) {
            add("<path class=\"band c%d\" d=\"%s\"/>\n", number % 8, band(curve));
        } else if (curve.noisy()) {
            path(colour + " raw", curve.at(), curve.values());
        }
        path(colour, curve.at(), curve.shown());
        for (int i = 0; i < curve.size(); i++) {
            if (!Double.isFinite(curve.values()[i])) {
                add("<path class=\"broken\" d=\"M%.1f %dV%d\"><title>%s</title></path>\n", px(curve.at()[i]), TOP,
                        height - BELOW,
                        Markup.text(curve.name() + " " + Numbers.value(chart.unit(), curve.values()[i])));
            } else if (curve.style() == Series.Style.POINTS) {
                add("<circle class=\"c%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n", number % 8, px(curve.at()[i]),
                        py(curve.values()[i]));
            }
        }
    }

    /** A single point is drawn as a line of length 0, whose round caps make it a dot. */
    private void path(String style, double[] at, double[] values) {
        StringBuilder path = new StringBuilder();
        boolean open = false;
        for (int i = 0; i < at.length; i++) {
            boolean finite = Double.isFinite(values[i]);
            if (finite && open) {
                path.append(Markup.format("L%.1f %.1f", px(at[i]), py(values[i])));
            } else if (finite) {
                path.append(Markup.format("M%.1f %.1fh0", px(at[i]), py(values[i])));
            }
            open = finite;
        }
        add("<path class=\"curve %s\" d=\"%s\"/>\n", style, path);
    }

    /**
     * Returns the shape between the minimum and the maximum of each point, with one polygon for each uninterrupted
     * range.
     */
    private String band(Series curve) {
        StringBuilder path = new StringBuilder();
        int n = curve.size();
        for (int from = 0; from < n; from++) {
            int to = from;
            while (to < n && Double.isFinite(curve.values()[to])) {
                to++;
            }
            for (int i = from; i < to; i++) {
                path.append(Markup.format("%s%.1f %.1f", i == from ? "M" : "L", px(curve.at()[i]),
                        py(curve.greatest()[i])));
            }
            for (int i = to - 1; i >= from; i--) {
                path.append(
                        Markup.format("L%.1f %.1f%s", px(curve.at()[i]), py(curve.least()[i]), i == from ? "Z" : ""));
            }
            from = to;
        }
        return path.toString();
    }

    private String spoken() {
        StringBuilder spoken = new StringBuilder(chart.title());
        for (Series curve : chart.series()) {
            double[] shown = curve.shown();
            if (shown.length > 0) {
                spoken.append(Markup.format("; %s from %s to %s", curve.name(), Numbers.value(chart.unit(), shown[0]),
                        Numbers.value(chart.unit(), shown[shown.length - 1])));
            }
        }
        return spoken.toString();
    }

    private void legend() {
        add("<ul class=\"legend\"><li class=\"place\"></li>");
        for (int i = 0; i < chart.series().size(); i++) {
            Series curve = chart.series().get(i);
            double[] shown = curve.shown();
            add("<li><i class=\"c%d%s\"></i>%s <b>%s</b></li>", i % 8,
                    curve.style() == Series.Style.POINTS ? " point" : "",
                    Markup.text(curve.name()),
                    shown.length == 0 ? "–" : Numbers.value(chart.unit(), shown[shown.length - 1]));
        }
        add("</ul>\n");
    }

    private void json() {
        add("{\"along\":%s,\"unit\":\"%s\",\"fromZero\":%s,\"margins\":[%d,%d,%d,%d],\"lines\":[",
                Markup.quoted(chart.along()),
                chart.unit().name().toLowerCase(Locale.ROOT), chart.fromZero(), LEFT, RIGHT, TOP, BELOW);
        for (int i = 0; i < chart.lines().size(); i++) {
            add("%s{\"name\":%s,\"value\":%s}", i == 0 ? "" : ",", Markup.quoted(chart.lines().get(i).name()),
                    number(chart.lines().get(i).value()));
        }
        add("],\"curves\":[");
        for (int i = 0; i < chart.series().size(); i++) {
            Series curve = chart.series().get(i);
            add("%s{\"name\":%s,\"style\":\"%s\",\n\"at\":", i == 0 ? "" : ",", Markup.quoted(curve.name()),
                    curve.style().name().toLowerCase(Locale.ROOT));
            numbers(curve.at());
            add(",\n\"values\":");
            numbers(curve.values());
            add(",\n\"smoothed\":");
            numbers(curve.noisy() ? curve.shown() : new double[0]);
            add(",\n\"least\":");
            numbers(curve.single() ? new double[0] : curve.least());
            add(",\n\"greatest\":");
            numbers(curve.single() ? new double[0] : curve.greatest());
            add("}");
        }
        add("]}");
    }

    private void numbers(double[] values) {
        markup.append('[');
        for (int i = 0; i < values.length; i++) {
            markup.append(i == 0 ? "" : ",").append(number(values[i]));
        }
        markup.append(']');
    }

    /**
     * Formats a number with seven digits, which is more than a drawing shows. Numbers that JSON lacks are strings,
     * which the script converts back.
     */
    private static String number(double value) {
        if (!Double.isFinite(value)) {
            return "\"" + value + "\"";
        }
        if (value == Math.rint(value) && Math.abs(value) < 1e15) {
            return Long.toString((long) value);
        }
        String digits = Markup.format("%.7g", value);
        return digits.contains("e") || !digits.contains(".") ? digits : digits.replaceAll("\\.?0+$", "");
    }
}
