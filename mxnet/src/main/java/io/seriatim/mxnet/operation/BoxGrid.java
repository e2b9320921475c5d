package io.seriatim.mxnet.operation;

import io.seriatim.graph.op.Attrs;

/**
 * Boxes around the centers of a grid's cells, in units of the image: of all sizes with the first ratio, then of the
 * first size with the other ratios.
 */
final class BoxGrid {
    private final int height;
    private final int width;
    private final float[] sizes;
    private final float[] ratios;
    private final float[] steps;
    private final float[] offsets;
    private final boolean clip;

    BoxGrid(Attrs attrs, int height, int width) {
        this.height = height;
        this.width = width;
        sizes = Results.floats(attrs, "sizes");
        ratios = Results.floats(attrs, "ratios");
        offsets = Results.floats(attrs, "offsets");
        clip = attrs.getBool("clip");
        float[] given = Results.floats(attrs, "steps");
        steps = given[0] > 0 && given[1] > 0 ? given : new float[]{1f / height, 1f / width};
    }

    double[] boxes() {
        int each = sizes.length + Math.max(ratios.length, 1) - 1;
        double[] boxes = new double[Math.multiplyExact(Math.multiplyExact(height, width), 4 * each)];
        int at = 0;
        for (int row = 0; row < height; row++) {
            float y = (row + offsets[0]) * steps[0];
            for (int column = 0; column < width; column++) {
                float x = (column + offsets[1]) * steps[1];
                float first = ratios.length > 0 ? (float) Math.sqrt(ratios[0]) : 1;
                for (float size : sizes) {
                    at = box(boxes, at, x, y, size, first);
                }
                for (int i = 1; i < ratios.length; i++) {
                    at = box(boxes, at, x, y, sizes[0], (float) Math.sqrt(ratios[i]));
                }
            }
        }
        return boxes;
    }

    private int box(double[] boxes, int at, float x, float y, float size, float ratio) {
        float w = size * height / width * ratio / 2;
        float h = size / ratio / 2;
        boxes[at] = clipped(x - w);
        boxes[at + 1] = clipped(y - h);
        boxes[at + 2] = clipped(x + w);
        boxes[at + 3] = clipped(y + h);
        return at + 4;
    }

    private float clipped(float value) {
        return clip ? Math.clamp(value, 0f, 1f) : value;
    }
}
