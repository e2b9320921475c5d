package io.seriatim.executor.trace;

/**
 * Maps times to horizontal coordinates of a drawing.
 *
 * @param from
 *            the time at the left edge
 * @param to
 *            the time at the right edge
 */
record TimeAxis(long from, long to) {
    static final int WIDTH = 1120;
    static final int LEFT = 168;
    static final int RIGHT = 14;
    private static final int TICKS = 8;

    double x(long time) {
        return LEFT + (time - from) * (double) (WIDTH - LEFT - RIGHT) / Math.max(1, to - from);
    }

    /** Draws grid lines, labelled with the time since the left edge. */
    void draw(StringBuilder svg, int top, int bottom) {
        long step = step();
        svg.append("<g class=\"axis\">");
        for (long time = 0; time <= to - from; time += step) {
            double x = x(from + time);
            svg.append(Markup.format("<path d=\"M%.1f %dV%d\"/><text x=\"%.1f\" y=\"%d\">%s</text>", x, top, bottom, x,
                    bottom + 14,
                    Markup.time(time)));
        }
        svg.append("</g>");
    }

    /** Returns the distance of grid lines: 1, 2 or 5 times a power of ten. */
    private long step() {
        long least = Math.max(1, (to - from) / TICKS);
        long power = 1;
        while (power * 10 <= least) {
            power *= 10;
        }
        return least <= power ? power : least <= 2 * power ? 2 * power : least <= 5 * power ? 5 * power : 10 * power;
    }
}
