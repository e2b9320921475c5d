package io.seriatim.graph.ops.detection;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.tensor.numerics.Power;

/**
 * Boxes and scores of classes that a feature map [images, predictions of all anchors, height, width] predicts. The
 * predictions of an anchor are a box, the confidence that there is an object, and the classes; where they are aware of
 * their overlap with the object, those overlaps of all anchors come first.
 */
final class YoloBoxes {
    private static final int CONFIDENCE = 4;
    private static final int CLASSES = 5;
    private final int images;
    private final int height;
    private final int width;
    private final int[] anchors;
    private final int classes;
    private final double threshold;
    private final int ratio;
    private final boolean clip;
    private final double scale;
    private final double bias;
    private final boolean aware;
    private final double factor;
    private final Precision precision;

    /** The boxes of all images, and the scores of their classes: 0 where the confidence is low. */
    static final class Found {
        final double[] boxes;
        final double[] scores;

        Found(double[] boxes, double[] scores) {
            this.boxes = boxes;
            this.scores = scores;
        }
    }

    YoloBoxes(Attrs attrs, long[] dims, Precision precision) {
        images = Math.toIntExact(dims[0]);
        height = Math.toIntExact(dims[2]);
        width = Math.toIntExact(dims[3]);
        anchors = attrs.getInts("anchors");
        classes = attrs.getInt("class_num");
        threshold = attrs.getFloat("conf_thresh");
        ratio = attrs.getInt("downsample_ratio");
        clip = attrs.getBool("clip_bbox");
        scale = attrs.getFloat("scale_x_y");
        bias = -0.5f * (attrs.getFloat("scale_x_y") - 1);
        aware = attrs.getBool("iou_aware");
        factor = attrs.getFloat("iou_aware_factor");
        this.precision = precision;
    }

    Found find(double[] x, long[] sizes) {
        int count = anchors.length / 2;
        int area = height * width;
        int predictions = CLASSES + classes;
        Found found = new Found(new double[WorkingMemory.length((long) images * count, (long) area * BoxCode.SIZE)],
                new double[WorkingMemory.length((long) images * count, (long) area * classes)]);
        for (int image = 0; image < images; image++) {
            int start = image * count * (predictions + (aware ? 1 : 0)) * area;
            int own = start + (aware ? count * area : 0);
            for (int anchor = 0; anchor < count; anchor++) {
                for (int i = 0; i < area; i++) {
                    int at = own + anchor * predictions * area + i;
                    double confidence = precision.sigmoid(x[at + CONFIDENCE * area]);
                    if (aware) {
                        confidence = weighted(confidence, precision.sigmoid(x[start + anchor * area + i]));
                    }
                    if (!(confidence < threshold)) {
                        int box = (image * count + anchor) * area + i;
                        box(x, at, anchor, i, sizes[2 * image], sizes[2 * image + 1],
                                new BoxCode.At(found.boxes, box * BoxCode.SIZE));
                        for (int c = 0; c < classes; c++) {
                            double score = precision.sigmoid(x[at + (CLASSES + c) * area]);
                            found.scores[box * classes + c] = precision.round(confidence * score);
                        }
                    }
                }
            }
        }
        return found;
    }

    private double weighted(double confidence, double overlap) {
        return precision.round(precision.round(Power.of(confidence, precision.round(1 - factor)))
                * precision.round(Power.of(overlap, precision.round(factor))));
    }

    private void box(double[] x, int at, int anchor, int place, long imageHeight, long imageWidth, BoxCode.At to) {
        int area = height * width;
        for (int axis = 0; axis < 2; axis++) {
            long image = axis == 0 ? imageWidth : imageHeight;
            int grid = axis == 0 ? width : height;
            int index = axis == 0 ? place % width : place / width;
            double moved = precision.round(precision.sigmoid(x[at + axis * area]) * scale);
            double center = precision.round(precision.round(precision.round(index + moved) + bias) * image);
            center = precision.round(center / grid);
            double length = precision.round(precision.exp(x[at + (axis + 2) * area]) * anchors[2 * anchor + axis]);
            length = precision.round(precision.round(length * image) / ((double) ratio * grid));
            double low = precision.round(center - length / 2);
            double high = precision.round(center + length / 2);
            if (clip) {
                low = low > 0 ? low : 0;
                high = high < image - 1 ? high : image - 1;
            }
            to.set(axis, low);
            to.set(axis + 2, high);
        }
    }
}
