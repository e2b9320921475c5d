package io.seriatim.graph.ops.detection;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Lowering;

/**
 * The points of a feature map in the image that it was computed from.
 *
 * @param width
 *            of the image
 * @param height
 *            of the image
 * @param stepWidth
 *            from a point to the next one in its row
 * @param stepHeight
 *            from a point to the next one in its column
 * @param offset
 *            of the first point, in steps
 * @param precision
 *            of coordinates
 */
record PointGrid(long width, long height, double stepWidth, double stepHeight, double offset, Precision precision) {
    static PointGrid of(Lowering l) {
        Attrs attrs = l.attrs();
        long[] input = l.in("Input").shape().dims();
        long[] image = l.in("Image").shape().dims();
        Precision precision = Precision.of(l.in("Input").dtype());
        double width = attrs.getFloat("step_w");
        double height = attrs.getFloat("step_h");
        if (width == 0 || height == 0) {
            width = precision.round((double) image[3] / input[3]);
            height = precision.round((double) image[2] / input[2]);
        }
        return new PointGrid(image[3], image[2], width, height, attrs.getFloat("offset"), precision);
    }

    /** The x (0) or y (1) of a point. */
    double center(int axis, int row, int column) {
        return precision.round(precision.round((axis == 0 ? column : row) + offset)
                * (axis == 0 ? stepWidth : stepHeight));
    }

    /** The width (0) or height (1) of the image. */
    long image(int axis) {
        return axis == 0 ? width : height;
    }

    /** Half the width and height of a box with the area of a square and a ratio of width to height. */
    double[] half(double size, double ratio) {
        double root = (float) Math.sqrt(ratio);
        return new double[]{precision.round((float) (size * root) / 2), precision.round((float) (size / root) / 2)};
    }
}
