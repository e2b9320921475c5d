package io.seriatim.graph.util;

import java.util.Locale;

/**
 * Draws an edge of a graph in layers, whose boxes lie on a grid, so that it does not pass behind other boxes: between
 * neighbouring rows it is one curve; otherwise it runs down in the gap between two columns.
 *
 * @param columnWidth
 *            the distance from a box to the next one in its row
 * @param columnGap
 *            the part of that between the boxes
 * @param rowGap
 *            the distance between a layer and the next
 * @param bend
 *            the least distance between rows, in which an edge turns
 */
public record LayeredEdge(int columnWidth, int columnGap, int rowGap, int bend) {
    private static final int LANES = 5;

    /**
     * The edge from the lower side of a box to the upper side of another one.
     *
     * @param fromX
     *            the centre of the first box
     * @param fromY
     *            its lower side
     * @param toX
     *            the centre of the second box
     * @param toY
     *            its upper side
     * @param number
     *            edges with different numbers lie beside one another in a gap
     * @return the attribute {@code d} of an SVG path
     */
    public String path(int fromX, int fromY, int toX, int toY, int number) {
        if (toY - fromY <= rowGap) {
            int half = (toY - fromY) / 2;
            return String.format(Locale.ROOT, "M%d %dC%d %d %d %d %d %d", fromX, fromY, fromX, fromY + half, toX,
                    toY - half, toX, toY);
        }
        int side = fromX < toX ? -columnWidth / 2 : columnWidth / 2;
        int lane = toX + side + (Math.floorMod(number, LANES) - LANES / 2) * columnGap / (LANES + 1);
        return String.format(Locale.ROOT, "M%d %dC%d %d %d %d %d %dV%dC%d %d %d %d %d %d", fromX, fromY, fromX,
                fromY + bend, lane, fromY, lane, fromY + bend, toY - bend, lane, toY, toX, toY - bend, toX, toY);
    }
}
