package io.seriatim.benchmarks.metg;

import io.seriatim.benchmarks.metg.EfficiencyCurve.Sample;
import io.seriatim.benchmarks.metg.MetgResults.Contestant;
import io.seriatim.executor.trace.Markup;
import java.util.Comparator;
import java.util.List;

/**
 * Draws efficiency over granularity as SVG: a panel for each pattern and number of tasks a worker, a line for each
 * system, of the repetition whose METG is the median.
 */
final class EfficiencyChart {
    private static final int WIDTH = 300;
    private static final int HEIGHT = 190;
    private static final int LEFT = 40;
    private static final int TOP = 26;
    private static final int BOTTOM = 24;
    private static final int RIGHT = 12;
    private static final int ACROSS = 3;
    private static final int LEGEND = 24;
    private static final double MOST = 1.1;
    private static final List<String> COLOURS = List.of("#c02020", "#2060c0", "#208040", "#806000", "#8030a0",
            "#606060");

    private final MetgResults results;
    private final double least;
    private final double most;
    private final StringBuilder svg = new StringBuilder();

    EfficiencyChart(MetgResults results) {
        this.results = results;
        double[] all = results.tasksPerWorker().stream()
                .flatMap(tasks -> results.patterns().stream().flatMap(pattern -> results.systems().stream()
                        .flatMap(system -> results.of(pattern, tasks, system).stream())))
                .flatMap(curve -> curve.samples().stream()).mapToDouble(Sample::granularity).sorted().toArray();
        least = all.length == 0 ? 0 : Math.floor(Math.log10(all[0]));
        most = all.length == 0 ? 1 : Math.max(least + 1, Math.ceil(Math.log10(all[all.length - 1])));
    }

    String svg() {
        int panels = results.patterns().size() * results.tasksPerWorker().size();
        int down = (panels + ACROSS - 1) / ACROSS;
        svg.append(Markup.format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
                + "font-family=\"sans-serif\" font-size=\"10\">\n<rect width=\"100%%\" height=\"100%%\" "
                + "fill=\"white\"/>\n", ACROSS * WIDTH, down * HEIGHT + LEGEND));
        int n = 0;
        for (int tasks : results.tasksPerWorker()) {
            for (TaskPattern pattern : results.patterns()) {
                panel(pattern, tasks, n % ACROSS * WIDTH, n / ACROSS * HEIGHT);
                n++;
            }
        }
        int x = LEFT;
        for (int i = 0; i < results.systems().size(); i++) {
            String name = results.systems().get(i).name();
            svg.append(Markup.format("<text x=\"%d\" y=\"%d\" fill=\"%s\">— %s</text>\n", x,
                    down * HEIGHT + LEGEND - 10, colour(i), Markup.text(name)));
            x += 30 + 6 * name.length();
        }
        return svg.append("</svg>\n").toString();
    }

    private static String colour(int system) {
        return COLOURS.get(system % COLOURS.size());
    }

    private void panel(TaskPattern pattern, int tasks, int x, int y) {
        svg.append(Markup.format("<g transform=\"translate(%d %d)\">\n<text x=\"%d\" y=\"14\" font-weight=\"bold\">%s, "
                + "%d a thread</text>\n", x, y, LEFT, Markup.text(pattern.label()), tasks));
        for (int decade = (int) least; decade <= most; decade++) {
            double at = across(Math.pow(10, decade));
            svg.append(Markup.format("<path d=\"M%.1f %dV%d\" stroke=\"#ddd\"/><text x=\"%.1f\" y=\"%d\" "
                    + "text-anchor=\"middle\">%s</text>\n", at, TOP, HEIGHT - BOTTOM, at, HEIGHT - BOTTOM + 13,
                    time(decade)));
        }
        for (double share : new double[]{0, 0.5, 1}) {
            svg.append(Markup.format("<path d=\"M%d %.1fH%d\" stroke=\"%s\"/><text x=\"%d\" y=\"%.1f\" "
                    + "text-anchor=\"end\">%.0f %%</text>\n", LEFT, up(share), WIDTH - RIGHT,
                    share == EfficiencyCurve.THRESHOLD ? "#888" : "#ddd", LEFT - 4, up(share) + 3, 100 * share));
        }
        for (int i = 0; i < results.systems().size(); i++) {
            line(pattern, tasks, results.systems().get(i), colour(i));
        }
        svg.append("</g>\n");
    }

    private void line(TaskPattern pattern, int tasks, Contestant system, String colour) {
        List<EfficiencyCurve> sorted = results.of(pattern, tasks, system).stream()
                .sorted(Comparator.comparingDouble(curve -> curve.metg().orElse(Double.POSITIVE_INFINITY))).toList();
        if (sorted.isEmpty()) {
            return;
        }
        StringBuilder points = new StringBuilder();
        for (Sample sample : sorted.get((sorted.size() - 1) / 2).samples()) {
            points.append(Markup.format("%.1f,%.1f ", across(sample.granularity()), up(sample.efficiency())));
        }
        svg.append(Markup.format("<polyline fill=\"none\" stroke=\"%s\" points=\"%s\"/>\n", colour,
                points.toString().strip()));
    }

    private double across(double granularity) {
        double share = (Math.log10(granularity) - least) / (most - least);
        return LEFT + share * (WIDTH - LEFT - RIGHT);
    }

    private static double up(double efficiency) {
        return TOP + (1 - Math.clamp(efficiency / MOST, 0.0, 1.0)) * (HEIGHT - TOP - BOTTOM);
    }

    /** Labels a decade of nanoseconds. */
    private static String time(int decade) {
        String unit = decade < 3 ? " ns" : decade < 6 ? " µs" : decade < 9 ? " ms" : " s";
        return "1" + "0".repeat(decade % 3) + unit;
    }
}
