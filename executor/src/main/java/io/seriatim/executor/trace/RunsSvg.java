package io.seriatim.executor.trace;

/** Draws the durations of runs as a bar chart. */
final class RunsSvg {
    private static final int HEIGHT = 90;
    private static final int MOST_BARS = 240;

    private RunsSvg() {
    }

    /** Draws at most {@link #MOST_BARS} bars. If there are more runs, each bar shows the longest of several runs. */
    static String of(long[] durations) {
        int bars = Math.min(MOST_BARS, durations.length);
        long[] heights = new long[bars];
        long most = 1;
        for (int i = 0; i < durations.length; i++) {
            int bar = (int) ((long) i * bars / durations.length);
            heights[bar] = Math.max(heights[bar], durations[i]);
            most = Math.max(most, durations[i]);
        }
        double width = Math.min(40, (TimeAxis.WIDTH - TimeAxis.LEFT - TimeAxis.RIGHT) / (double) bars);
        StringBuilder svg = new StringBuilder(
                Markup.format("<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Length of each run\">",
                        TimeAxis.WIDTH, HEIGHT + 4));
        svg.append(Markup.format(
                "<g class=\"axis bytes\"><path d=\"M%d %dH%d\"/><text x=\"%d\" y=\"14\">%s</text><text x=\"%d\" "
                        + "y=\"%d\">0</text></g>",
                TimeAxis.LEFT, HEIGHT, TimeAxis.WIDTH - TimeAxis.RIGHT, TimeAxis.LEFT - 8, Markup.time(most),
                TimeAxis.LEFT - 8, HEIGHT));
        for (int i = 0; i < bars; i++) {
            double height = heights[i] / (double) most * (HEIGHT - 8);
            svg.append(Markup.format(
                    "<rect class=\"c0\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"><title>%s</title></rect>",
                    TimeAxis.LEFT + i * width, HEIGHT - height, Math.max(0.8, width - 1.5), height,
                    Markup.time(heights[i])));
        }
        return svg.append("</svg>").toString();
    }
}
