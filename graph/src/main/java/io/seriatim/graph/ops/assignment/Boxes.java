package io.seriatim.graph.ops.assignment;

import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.tensor.DType;

/**
 * Boxes x₁, y₁, x₂, y₂ whose last row and column belong to them. Steps are rounded to the elements' type, since
 * thresholds decide on the results.
 *
 * @param single
 *            whether the type is float32
 */
record Boxes(boolean single) {
    static final int WIDTH = 4;

    static Boxes of(DType dtype) {
        return new Boxes(dtype != DType.FLOAT64);
    }

    double rounded(double number) {
        return single ? (float) number : number;
    }

    private double length(double[] boxes, int at) {
        return rounded(rounded(boxes[at + 2] - boxes[at]) + 1);
    }

    private double area(double[] boxes, int box) {
        return rounded(length(boxes, WIDTH * box) * length(boxes, WIDTH * box + 1));
    }

    private double common(double[] a, int i, double[] b, int j) {
        double from = Math.max(a[i], b[j]);
        double to = Math.min(a[i + 2], b[j + 2]);
        return Math.max(rounded(rounded(to - from) + 1), 0);
    }

    /** The intersection of two boxes by their union. */
    double overlap(double[] a, int i, double[] b, int j) {
        double intersection = rounded(common(a, WIDTH * i, b, WIDTH * j)
                * common(a, WIDTH * i + 1, b, WIDTH * j + 1));
        return intersection == 0
                ? 0
                : rounded(intersection / rounded(rounded(area(a, i) + area(b, j)) - intersection));
    }

    /** The overlaps of each box of one list with each of another. */
    double[][] overlaps(double[] a, double[] b) {
        WorkingMemory.length(a.length / WIDTH, b.length / WIDTH);
        double[][] overlaps = new double[a.length / WIDTH][b.length / WIDTH];
        for (int i = 0; i < overlaps.length; i++) {
            for (int j = 0; j < overlaps[i].length; j++) {
                overlaps[i][j] = overlap(a, i, b, j);
            }
        }
        return overlaps;
    }

    /** Writes where an object is from a box: the distances of the centers by the box's size, and ln of the factors. */
    void delta(double[] boxes, int i, double[] objects, int j, double[] into, int at) {
        for (int axis = 0; axis < 2; axis++) {
            double length = length(boxes, WIDTH * i + axis);
            double other = length(objects, WIDTH * j + axis);
            double center = boxes[WIDTH * i + axis] + 0.5 * length;
            double otherCenter = objects[WIDTH * j + axis] + 0.5 * other;
            into[at + axis] = (otherCenter - center) / length;
            into[at + 2 + axis] = Math.log(other / length);
        }
    }

    /** All numbers times a factor. */
    double[] scaled(double[] boxes, double factor) {
        double[] scaled = new double[boxes.length];
        for (int i = 0; i < boxes.length; i++) {
            scaled[i] = rounded(boxes[i] * factor);
        }
        return scaled;
    }
}
