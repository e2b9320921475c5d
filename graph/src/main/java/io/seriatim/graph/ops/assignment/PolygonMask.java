package io.seriatim.graph.ops.assignment;

import io.seriatim.graph.op.WorkingMemory;
/**
 * The elements of a square mask that lie in a polygon. The boundary is followed on a grid five times as fine, as in the
 * tools of the COCO data set: where it crosses the middle of a column, the elements below change sides.
 */
final class PolygonMask {
    private static final int FINE = 5;

    private final int size;
    /** Before which elements, column after column, the side changes. */
    private final boolean[] changes;

    private PolygonMask(int size) {
        this.size = size;
        changes = new boolean[WorkingMemory.length(size, size) + 1];
    }

    /** Marks the elements of a polygon in a mask, row after row; points are x and y in elements of the mask. */
    static void mark(float[] points, int size, boolean[] mask) {
        PolygonMask polygon = new PolygonMask(size);
        int count = points.length / 2;
        for (int i = 0; i < count; i++) {
            int next = (i + 1) % count;
            polygon.edge(fine(points[2 * i]), fine(points[2 * i + 1]), fine(points[2 * next]),
                    fine(points[2 * next + 1]));
        }
        boolean inside = false;
        for (int i = 0; i < size * size; i++) {
            inside ^= polygon.changes[i];
            mask[i % size * size + i / size] |= inside;
        }
    }

    private static long fine(float coordinate) {
        return nearest((double) FINE * coordinate);
    }

    private void edge(long fromX, long fromY, long toX, long toY) {
        long width = Math.abs(toX - fromX);
        long height = Math.abs(toY - fromY);
        boolean turned = width >= height ? fromX > toX : fromY > toY;
        if (turned) {
            edge(toX, toY, fromX, fromY, width, height);
        } else {
            edge(fromX, fromY, toX, toY, width, height);
        }
    }

    private void edge(long fromX, long fromY, long toX, long toY, long width, long height) {
        boolean flat = width >= height;
        long steps = flat ? width : height;
        double slope = steps == 0 ? 0 : (double) (flat ? toY - fromY : toX - fromX) / steps;
        for (int column = 0; column < size; column++) {
            // Between this x of the fine grid and the next one lies the middle of the column.
            long middle = (long) FINE * column + FINE / 2;
            if (flat) {
                long step = middle - fromX;
                if (step >= 0 && step < steps) {
                    cross(column, Math.min(at(fromY, slope, step), at(fromY, slope, step + 1)));
                }
            } else {
                long step = lastBefore(fromX, slope, steps, middle);
                if (step >= 0) {
                    cross(column, fromY + step);
                }
            }
        }
    }

    private static long at(long from, double slope, long step) {
        return nearest(from + slope * step);
    }

    /** Half numbers are rounded away from 0. */
    private static int nearest(double number) {
        return (int) Math.copySign(Math.floor(Math.abs(number) + 0.5), number);
    }

    /** The step after which a steep edge gets from one x to its neighbour; −1 if it does not. */
    private static long lastBefore(long fromX, double slope, long steps, long middle) {
        boolean isBefore = at(fromX, slope, 0) <= middle;
        if (isBefore == (at(fromX, slope, steps) <= middle)) {
            return -1;
        }
        long low = 0;
        long high = steps;
        while (high - low > 1) {
            long step = (low + high) >>> 1;
            if ((at(fromX, slope, step) <= middle) == isBefore) {
                low = step;
            } else {
                high = step;
            }
        }
        return low;
    }

    private void cross(int column, long y) {
        double element = Math.ceil(Math.clamp((y + 0.5) / FINE - 0.5, 0, size));
        changes[column * size + (int) element] ^= true;
    }
}
