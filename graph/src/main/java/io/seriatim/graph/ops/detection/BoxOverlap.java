package io.seriatim.graph.ops.detection;

/**
 * How much boxes of an array overlap: the area of their intersection as a part of the area of their union. A box has
 * four numbers, the corners of a rectangle [x₁, y₁, x₂, y₂], or more, the corners of a polygon.
 */
final class BoxOverlap {
    /** How many numbers a rectangle has. */
    static final int RECTANGLE = 4;
    private final double[] boxes;
    private final int size;
    private final double pixel;
    private final Precision precision;

    /**
     * Of boxes.
     *
     * @param boxes
     *            their numbers; may be changed between calls
     * @param size
     *            how many numbers a box has
     * @param normalized
     *            false if coordinates are indexes of pixels, so that a rectangle is one wider than their difference
     * @param precision
     *            in which overlaps are computed
     */
    BoxOverlap(double[] boxes, int size, boolean normalized, Precision precision) {
        this.boxes = boxes;
        this.size = size;
        this.pixel = normalized ? 0 : 1;
        this.precision = precision;
    }

    /** Finds boxes of the array that may overlap others. */
    BoxBounds bounds(int most) {
        return new BoxBounds(boxes, size, most);
    }

    /** Of the boxes that begin at two places of the array. */
    double of(int one, int other) {
        return size == RECTANGLE ? ofRectangles(one, other) : ofPolygons(one, other);
    }

    private double ofRectangles(int one, int other) {
        double[] b = boxes;
        if (b[other] > b[one + 2] || b[other + 2] < b[one] || b[other + 1] > b[one + 3] || b[other + 3] < b[one + 1]) {
            return 0;
        }
        Precision p = precision;
        double width = p.round(p.round(Math.min(b[one + 2], b[other + 2]) - Math.max(b[one], b[other])) + pixel);
        double height = p
                .round(p.round(Math.min(b[one + 3], b[other + 3]) - Math.max(b[one + 1], b[other + 1])) + pixel);
        double both = p.round(width * height);
        return p.round(both / p.round(p.round(area(one) + area(other)) - both));
    }

    /** The area of a rectangle; 0 if its corners are exchanged. */
    double area(int box) {
        if (boxes[box + 2] < boxes[box] || boxes[box + 3] < boxes[box + 1]) {
            return 0;
        }
        double width = precision.round(precision.round(boxes[box + 2] - boxes[box]) + pixel);
        double height = precision.round(precision.round(boxes[box + 3] - boxes[box + 1]) + pixel);
        return precision.round(width * height);
    }

    private double ofPolygons(int one, int other) {
        double first = polygonArea(one);
        double second = polygonArea(other);
        if (first == 0 || second == 0) {
            return 0;
        }
        double both = precision.round(PolygonIntersection.area(boxes, one, other, size));
        return both == 0
                ? 0
                : precision.round(both / precision.round(precision.round(first + second) - both));
    }

    /** By the shoelace formula. */
    private double polygonArea(int box) {
        double sum = 0;
        for (int i = 0; i < size; i += 2) {
            int next = (i + 2) % size;
            double left = precision.round(boxes[box + i] * boxes[box + next + 1]);
            double right = precision.round(boxes[box + i + 1] * boxes[box + next]);
            sum = precision.round(sum + precision.round(left - right));
        }
        return Math.abs(precision.round(sum / 2));
    }
}
