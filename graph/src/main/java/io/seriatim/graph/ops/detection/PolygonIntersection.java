package io.seriatim.graph.ops.detection;

import java.util.Arrays;

/**
 * The area that two polygons have in common, each taken as the points that a ray to infinity leaves through an odd
 * number of edges. Horizontal lines through all corners and crossings cut the plane into strips in which edges do not
 * cross, so that the polygons are trapezoids there.
 */
final class PolygonIntersection {
    /** Of each edge: the x and y of its lower end, then of its upper end. */
    private final double[] edges;
    private final int count;
    /** How many of the edges belong to the first polygon. */
    private int ofFirst;
    private double[] heights;
    private int found;

    private PolygonIntersection(double[] boxes, int one, int other, int size) {
        edges = new double[4 * size];
        heights = new double[2 * size];
        int end = add(boxes, one, size, 0);
        ofFirst = end;
        count = add(boxes, other, size, end);
    }

    /** Of two polygons with {@code size / 2} corners, whose coordinates begin at two places of an array. */
    static double area(double[] boxes, int one, int other, int size) {
        return areApart(boxes, one, other, size) || areApart(boxes, one + 1, other + 1, size)
                ? 0
                : new PolygonIntersection(boxes, one, other, size).area();
    }

    private static boolean areApart(double[] boxes, int one, int other, int size) {
        double least = Double.POSITIVE_INFINITY;
        double most = Double.NEGATIVE_INFINITY;
        double otherLeast = Double.POSITIVE_INFINITY;
        double otherMost = Double.NEGATIVE_INFINITY;
        for (int i = 0; i < size; i += 2) {
            least = Math.min(least, boxes[one + i]);
            most = Math.max(most, boxes[one + i]);
            otherLeast = Math.min(otherLeast, boxes[other + i]);
            otherMost = Math.max(otherMost, boxes[other + i]);
        }
        // NaN compares as false: polygons that are nowhere have nothing in common.
        return !(least < otherMost && otherLeast < most);
    }

    private int add(double[] boxes, int box, int size, int edge) {
        int at = edge;
        for (int i = 0; i < size; i += 2) {
            int next = (i + 2) % size;
            boolean up = boxes[box + i + 1] < boxes[box + next + 1];
            int lower = box + (up ? i : next);
            int upper = box + (up ? next : i);
            heights[found++] = boxes[box + i + 1];
            if (boxes[lower + 1] < boxes[upper + 1]) {
                System.arraycopy(boxes, lower, edges, 4 * at, 2);
                System.arraycopy(boxes, upper, edges, 4 * at + 2, 2);
                at++;
            }
        }
        return at;
    }

    private double area() {
        for (int i = 0; i < count; i++) {
            for (int j = i + 1; j < count; j++) {
                addCrossing(i, j);
            }
        }
        Arrays.sort(heights, 0, found);
        double sum = 0;
        for (int i = 1; i < found; i++) {
            if (heights[i] > heights[i - 1]) {
                sum += strip(heights[i - 1], heights[i]);
            }
        }
        return sum;
    }

    private void addCrossing(int one, int other) {
        double from = Math.max(edges[4 * one + 1], edges[4 * other + 1]);
        double to = Math.min(edges[4 * one + 3], edges[4 * other + 3]);
        if (from < to) {
            double before = x(one, from) - x(other, from);
            double after = x(one, to) - x(other, to);
            if (before * after < 0) {
                if (found == heights.length) {
                    heights = Arrays.copyOf(heights, 2 * found);
                }
                heights[found++] = from + (to - from) * (before / (before - after));
            }
        }
    }

    private double x(int edge, double y) {
        int at = 4 * edge;
        double part = (y - edges[at + 1]) / (edges[at + 3] - edges[at + 1]);
        return edges[at] + (edges[at + 2] - edges[at]) * part;
    }

    /** The common area between two heights. */
    private double strip(double from, double to) {
        double middle = from + (to - from) / 2;
        double[] places = new double[count];
        int[] crossed = new int[count];
        int crossings = 0;
        for (int i = 0; i < count; i++) {
            if (edges[4 * i + 1] < middle && middle < edges[4 * i + 3]) {
                double place = x(i, middle);
                int at = crossings++;
                for (; at > 0 && places[at - 1] > place; at--) {
                    places[at] = places[at - 1];
                    crossed[at] = crossed[at - 1];
                }
                places[at] = place;
                crossed[at] = i;
            }
        }
        double width = 0;
        boolean inFirst = false;
        boolean inSecond = false;
        for (int i = 0; i < crossings; i++) {
            if (inFirst && inSecond) {
                width += places[i] - places[i - 1];
            }
            inFirst ^= crossed[i] < ofFirst;
            inSecond ^= crossed[i] >= ofFirst;
        }
        return width * (to - from);
    }
}
