package io.seriatim.graph.ops.detection;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Lowering;

/**
 * Boxes of given sizes and ratios in pixels of the image. A ratio is that of height to width, and changes a square of
 * the stride before it is scaled to a size.
 */
final class Anchors implements PriorOperations.PointBoxes {
    private final double[] sizes;
    private final double[] ratios;
    private final double[] strides;
    private final double offset;
    private final Precision precision;

    private Anchors(Attrs attrs, Precision precision) {
        sizes = attrs.getDoubles("anchor_sizes");
        ratios = attrs.getDoubles("aspect_ratios");
        strides = attrs.getDoubles("stride");
        offset = attrs.getFloat("offset");
        this.precision = precision;
    }

    static Anchors of(Lowering l) {
        return new Anchors(l.attrs(), Precision.of(l.in("Input").dtype()));
    }

    @Override
    public int count() {
        return ratios.length * sizes.length;
    }

    @Override
    public void write(int row, int column, double[] to, int at) {
        Precision p = precision;
        double x = center(column, strides[0]);
        double y = center(row, strides[1]);
        int place = at;
        for (double ratio : ratios) {
            double area = p.round(p.round(strides[0] * strides[1]) / ratio);
            double width = Precision.nearest(p.round(Math.sqrt(area)));
            double height = Precision.nearest(p.round(width * ratio));
            for (double size : sizes) {
                double halfWidth = half(size, strides[0], width);
                double halfHeight = half(size, strides[1], height);
                to[place++] = p.round(x - halfWidth);
                to[place++] = p.round(y - halfHeight);
                to[place++] = p.round(x + halfWidth);
                to[place++] = p.round(y + halfHeight);
            }
        }
    }

    private double center(int index, double stride) {
        return precision.round(precision.round(index * stride)
                + precision.round(offset * precision.round(stride - 1)));
    }

    private double half(double size, double stride, double length) {
        double scale = precision.round(size / stride);
        return precision.round(precision.round(scale * length) - 1) / 2;
    }
}
