package io.seriatim.graph.ops.detection;

/**
 * The bounds of some boxes of an array, to find those that a further box may overlap. Most boxes are far apart, and
 * finding that out takes most of the time of suppression, so it is done without a branch for each comparison.
 */
final class BoxBounds {
    private final double[] boxes;
    private final int size;
    private final double[] left;
    private final double[] top;
    private final double[] right;
    private final double[] bottom;
    private int count;
    private boolean finite = true;
    private double x1;
    private double y1;
    private double x2;
    private double y2;

    /**
     * Of no box yet.
     *
     * @param boxes
     *            the numbers of boxes, pairs of x and y
     * @param size
     *            how many numbers a box has
     * @param most
     *            how many boxes may be added
     */
    BoxBounds(double[] boxes, int size, int most) {
        this.boxes = boxes;
        this.size = size;
        left = new double[most];
        top = new double[most];
        right = new double[most];
        bottom = new double[most];
    }

    /** Sets the box that is searched for or added: the one that begins at a place of the array. */
    void look(int at) {
        x1 = boxes[at];
        y1 = boxes[at + 1];
        x2 = x1;
        y2 = y1;
        if (size == BoxOverlap.RECTANGLE) {
            // Not the larger one: a rectangle with exchanged corners is apart from more.
            x2 = boxes[at + 2];
            y2 = boxes[at + 3];
        }
        for (int i = 2; i < size && size > BoxOverlap.RECTANGLE; i += 2) {
            x1 = Math.min(x1, boxes[at + i]);
            y1 = Math.min(y1, boxes[at + i + 1]);
            x2 = Math.max(x2, boxes[at + i]);
            y2 = Math.max(y2, boxes[at + i + 1]);
        }
        finite &= Double.isFinite(x1) && Double.isFinite(y1) && Double.isFinite(x2) && Double.isFinite(y2);
    }

    /** Adds the box that was looked at last. */
    void add() {
        left[count] = x1;
        top[count] = y1;
        right[count] = x2;
        bottom[count++] = y2;
    }

    /** The number, from a first one on, of the next box that may overlap the one looked at; that of all if none may. */
    int next(int first) {
        if (!finite) {
            return first;
        }
        for (int i = first; i < count; i++) {
            // The sign bit is set if one of the differences is negative.
            long apart = Double.doubleToRawLongBits(right[i] - x1) | Double.doubleToRawLongBits(x2 - left[i])
                    | Double.doubleToRawLongBits(bottom[i] - y1) | Double.doubleToRawLongBits(y2 - top[i]);
            if (apart >= 0) {
                return i;
            }
        }
        return count;
    }
}
