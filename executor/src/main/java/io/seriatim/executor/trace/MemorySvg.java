package io.seriatim.executor.trace;

/** Draws the memory use of a run over time. */
final class MemorySvg {
    private static final int HEIGHT = 180;
    private static final int COLUMNS = 2;
    private static final int TOP = 20;
    private static final int BOTTOM = HEIGHT - 22;

    private final MemoryUse use;
    private final RunTrace.Run run;
    private final TimeAxis axis;
    private final double most;

    MemorySvg(MemoryUse use, RunTrace.Run run) {
        this.use = use;
        this.run = run;
        this.axis = new TimeAxis(run.started(), run.ended());
        this.most = Math.max(1, Math.max(use.peakBytes(), run.plan().arenaBytes()));
    }

    private double y(double bytes) {
        return BOTTOM - bytes / most * (BOTTOM - TOP);
    }

    String svg() {
        StringBuilder svg = new StringBuilder(
                Markup.format("<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Memory over time\">",
                        TimeAxis.WIDTH, HEIGHT));
        axis.draw(svg, TOP - 4, BOTTOM);
        svg.append("<g class=\"axis bytes\">");
        for (int i = 0; i <= 2; i++) {
            double bytes = most * i / 2;
            svg.append(Markup.format("<path d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\">%s</text>", TimeAxis.LEFT,
                    y(bytes),
                    TimeAxis.WIDTH - TimeAxis.RIGHT, TimeAxis.LEFT - 8, y(bytes) + 4, Markup.bytes((long) bytes)));
        }
        svg.append("</g>");
        area(svg);
        reserved(svg);
        peak(svg);
        return svg.append("</svg>").toString();
    }

    /**
     * Draws the maximum memory use within each column, so that the size of the drawing does not depend on the length of
     * the run.
     */
    private void area(StringBuilder svg) {
        long[] columns = new long[COLUMNS * (TimeAxis.WIDTH - TimeAxis.LEFT - TimeAxis.RIGHT)];
        long now = 0;
        int reached = 0;
        for (int i = 0; i <= use.times().length; i++) {
            boolean last = i == use.times().length;
            int column = last
                    ? columns.length - 1
                    : Math.clamp((long) (COLUMNS * (axis.x(use.times()[i]) - TimeAxis.LEFT)), 0, columns.length - 1);
            for (int j = reached; j <= column; j++) {
                columns[j] = Math.max(columns[j], now);
            }
            reached = column;
            now = last ? 0 : use.bytes()[i];
            columns[column] = Math.max(columns[column], now);
        }
        StringBuilder path = new StringBuilder(Markup.format("M%d %.1f", TimeAxis.LEFT, y((double) columns[0])));
        for (int i = 1; i < columns.length; i++) {
            if (columns[i] != columns[i - 1]) {
                path.append(Markup.format("H%.1fV%.1f", TimeAxis.LEFT + i / (double) COLUMNS, y((double) columns[i])));
            }
        }
        path.append("H").append(TimeAxis.WIDTH - TimeAxis.RIGHT);
        svg.append("<path class=\"line\" d=\"").append(path).append("\"/><path class=\"area\" d=\"").append(path)
                .append(Markup.format("V%dH%dZ\"/>", BOTTOM, TimeAxis.LEFT));
    }

    private void reserved(StringBuilder svg) {
        long arena = run.plan().arenaBytes();
        if (arena > 0) {
            svg.append(Markup.format(
                    "<path class=\"reserved\" d=\"M%d %.1fH%d\"/><text class=\"note\" x=\"%d\" y=\"%.1f\">arena "
                            + "%s</text>",
                    TimeAxis.LEFT, y((double) arena), TimeAxis.WIDTH - TimeAxis.RIGHT, TimeAxis.LEFT + 6,
                    y((double) arena) - 5,
                    Markup.bytes(arena)));
        }
    }

    private void peak(StringBuilder svg) {
        if (use.peak() >= 0) {
            double x = axis.x(use.times()[use.peak()]);
            boolean right = x > TimeAxis.WIDTH - 120;
            svg.append(Markup.format(
                    "<circle class=\"peak\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/><text class=\"note%s\" x=\"%.1f\" "
                            + "y=\"%.1f\">peak %s</text>",
                    x, y((double) use.peakBytes()), right ? " end" : "", right ? x - 7 : x + 7,
                    y((double) use.peakBytes()) + 14,
                    Markup.bytes(use.peakBytes())));
        }
    }
}
