package io.seriatim.benchmarks.cluster;

import io.seriatim.executor.trace.Markup;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Draws the model's efficiency over ranks as SVG: a line for each network, dashed with the fastest way of each sum. */
final class ScaleChart {
    private static final int WIDTH = 640;
    private static final int HEIGHT = 300;
    private static final int LEFT = 50;
    private static final int TOP = 16;
    private static final int RIGHT = 16;
    private static final int BOTTOM = 40;
    private static final int LINE = 15;
    private static final List<String> COLOURS = List.of("#c02020", "#2060c0", "#208040", "#806000", "#8030a0",
            "#606060");

    private final List<ScaleForecast.Series> series;

    ScaleChart(List<ScaleForecast.Series> series) {
        this.series = List.copyOf(series);
    }

    String svg() {
        StringBuilder svg = new StringBuilder();
        int height = HEIGHT + LINE * series.size();
        svg.append(Markup.format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
                + "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" "
                + "fill=\"white\"/>\n", WIDTH, height));
        for (int tenth = 0; tenth <= 10; tenth += 2) {
            double y = up(tenth / 10.0);
            svg.append(Markup.format("<path d=\"M%d %.1fH%d\" stroke=\"#ddd\"/><text x=\"%d\" y=\"%.1f\" "
                    + "text-anchor=\"end\">%d %%</text>\n", LEFT, y, WIDTH - RIGHT, LEFT - 4, y + 4, 10 * tenth));
        }
        for (int i = 0; i < ScaleForecast.RANKS.size(); i++) {
            svg.append(Markup.format("<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%d</text>\n", across(i),
                    HEIGHT - BOTTOM + 15, ScaleForecast.RANKS.get(i)));
        }
        svg.append(Markup.format("<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">ranks</text>\n", WIDTH / 2,
                HEIGHT - BOTTOM + 30));
        for (int i = 0; i < series.size(); i++) {
            ScaleForecast.Series each = series.get(i);
            String colour = COLOURS.get(i % COLOURS.size());
            line(svg, colour, "", ranks -> each.efficiency(ranks, each.network()::exchange));
            line(svg, colour, " stroke-dasharray=\"5 4\"", ranks -> each.efficiency(ranks, each.network()::fastest));
            svg.append(Markup.format("<text x=\"%d\" y=\"%d\" fill=\"%s\">— %s</text>\n", LEFT, HEIGHT + LINE * i,
                    colour, Markup.text(each.label())));
        }
        return svg.append("</svg>\n").toString();
    }

    private static void line(StringBuilder svg, String colour, String style, ToDoubleFunction<Integer> efficiency) {
        StringBuilder points = new StringBuilder();
        for (int i = 0; i < ScaleForecast.RANKS.size(); i++) {
            points.append(Markup.format("%.1f,%.1f ", across(i),
                    up(efficiency.applyAsDouble(ScaleForecast.RANKS.get(i)))));
        }
        svg.append(Markup.format("<polyline fill=\"none\" stroke=\"%s\"%s points=\"%s\"/>\n", colour, style,
                points.toString().strip()));
    }

    private static double across(int index) {
        return LEFT + (index + 0.5) / ScaleForecast.RANKS.size() * (WIDTH - LEFT - RIGHT);
    }

    private static double up(double efficiency) {
        return TOP + (1 - Math.clamp(efficiency, 0.0, 1.0)) * (HEIGHT - TOP - BOTTOM);
    }
}
