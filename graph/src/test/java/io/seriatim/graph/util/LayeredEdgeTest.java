package io.seriatim.graph.util;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class LayeredEdgeTest {
    private static final int WIDTH = 170;
    private static final int HEIGHT = 26;
    private static final int GAP_X = 18;
    private static final int GAP_Y = 30;
    private static final int BEND = 10;
    private static final LayeredEdge EDGES = new LayeredEdge(WIDTH + GAP_X, GAP_X, GAP_Y, BEND);
    private static final Pattern CURVE = Pattern
            .compile("C(-?\\d+) (-?\\d+) (-?\\d+) (-?\\d+) (-?\\d+) (-?\\d+)|V(-?\\d+)");

    private static double bezier(double a, double b, double c, double d, double t) {
        double s = 1 - t;
        return s * s * s * a + 3 * s * s * t * b + 3 * s * t * t * c + t * t * t * d;
    }

    /** Whether a point is inside of any box of the grid; rows of a layer are BEND apart, layers of two rows GAP_Y. */
    private static boolean isInBox(double x, double y) {
        double column = x - Math.floor(x / (WIDTH + GAP_X)) * (WIDTH + GAP_X);
        double layer = 2 * HEIGHT + BEND + GAP_Y;
        double row = y - Math.floor(y / layer) * layer;
        boolean inRow = (row > 0.01 && row < HEIGHT - 0.01)
                || (row > HEIGHT + BEND + 0.01 && row < 2 * HEIGHT + BEND - 0.01);
        return inRow && column > 0.01 && column < WIDTH - 0.01;
    }

    private static int top(int row) {
        return row / 2 * (2 * HEIGHT + BEND + GAP_Y) + row % 2 * (HEIGHT + BEND);
    }

    private static void check(String path, int fromX, int fromY) {
        double x = fromX;
        double y = fromY;
        Matcher part = CURVE.matcher(path);
        while (part.find()) {
            if (part.group(7) != null) {
                for (double at = y; at <= Double.parseDouble(part.group(7)); at++) {
                    assertTrue(!isInBox(x, at), path);
                }
                y = Double.parseDouble(part.group(7));
                continue;
            }
            double[] p = Arrays.stream(new int[]{1, 2, 3, 4, 5, 6}).mapToDouble(i -> Double.parseDouble(part.group(i)))
                    .toArray();
            for (double t = 0; t <= 1; t += 0.01) {
                double atX = bezier(x, p[0], p[2], p[4], t);
                double atY = bezier(y, p[1], p[3], p[5], t);
                assertTrue(!isInBox(atX, atY), () -> path + " at " + atX + " " + atY);
            }
            x = p[4];
            y = p[5];
        }
    }

    @Test
    void noEdgePassesBehindABox() {
        int edges = 0;
        for (int from = 0; from < 4; from++) {
            // The next layer begins at the next even row.
            for (int to = from / 2 * 2 + 2; to < 8; to++) {
                for (int columns = 0; columns < 25; columns++) {
                    int fromX = columns / 5 * (WIDTH + GAP_X) + WIDTH / 2;
                    int toX = columns % 5 * (WIDTH + GAP_X) + WIDTH / 2;
                    for (int number = 0; number < 7; number++) {
                        int fromY = top(from) + HEIGHT;
                        String path = EDGES.path(fromX, fromY, toX, top(to), number);
                        assertTrue(path.startsWith("M" + fromX + " " + fromY + "C")
                                && path.endsWith(" " + toX + " " + top(to)), path);
                        check(path, fromX, fromY);
                        edges++;
                    }
                }
            }
        }
        assertEquals(3500, edges);
    }
}
