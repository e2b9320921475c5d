package io.seriatim.graph.ops.detection;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.WorkingMemory;
import java.util.Arrays;

/**
 * The loss of predicted boxes [images, predictions of the anchors of a mask, size, size]. Each true box, given by its
 * center, width and height as parts of the image, is compared with the prediction of the most similar anchor at its
 * center, if the mask has this anchor. All other predictions are to say that there is no object, except those that
 * overlap a true box anyway.
 */
final class YoloLoss {
    private static final int CONFIDENCE = 4;
    private static final int CLASSES = 5;
    /** Sides of true boxes below are those of no box. */
    private static final double LEAST_SIDE = 1e-6;
    private static final double LEAST_SCORE = 1e-5;
    private static final double IGNORED = -1;
    private static final double MOST_SMOOTHED = 1.0 / 40;
    private final int images;
    private final int size;
    private final int[] anchors;
    private final int[] mask;
    private final int classes;
    private final int trueBoxes;
    private final double ignored;
    private final int inputSize;
    private final double scale;
    private final double bias;
    private final double yes;
    private final double no;
    private final Precision p;

    /** Predictions, and the true boxes, labels and weights of each image. */
    static final class Truth {
        final double[] x;
        final double[] boxes;
        final long[] labels;
        final double[] scores;

        Truth(double[] x, double[] boxes, long[] labels, double[] scores) {
            this.x = x;
            this.boxes = boxes;
            this.labels = labels;
            this.scores = scores;
        }
    }

    /** The loss of each image, the weight of each prediction's object, and the anchor of the mask of each true box. */
    static final class Result {
        final double[] losses;
        final double[] objects;
        final long[] matches;

        Result(double[] losses, double[] objects, long[] matches) {
            this.losses = losses;
            this.objects = objects;
            this.matches = matches;
        }
    }

    YoloLoss(Attrs attrs, long[] dims, int trueBoxes, Precision precision) {
        images = Math.toIntExact(dims[0]);
        size = Math.toIntExact(dims[2]);
        anchors = attrs.getInts("anchors");
        mask = attrs.getInts("anchor_mask");
        classes = attrs.getInt("class_num");
        this.trueBoxes = trueBoxes;
        ignored = attrs.getFloat("ignore_thresh");
        inputSize = Math.multiplyExact(attrs.getInt("downsample_ratio"), size);
        scale = attrs.getFloat("scale_x_y");
        bias = (float) (-0.5 * (scale - 1));
        p = precision;
        boolean smooth = attrs.getBool("use_label_smooth");
        double smoothed = p.round(Math.min(1.0 / classes, MOST_SMOOTHED));
        yes = smooth ? p.round(1 - smoothed) : 1;
        no = smooth ? smoothed : 0;
    }

    Result forward(Truth truth) {
        Result result = new Result(new double[images],
                new double[WorkingMemory.length((long) images * mask.length, (long) size * size)],
                new long[WorkingMemory.length(images, trueBoxes)]);
        for (int image = 0; image < images; image++) {
            ignore(image, truth, result.objects);
            for (int i = 0; i < trueBoxes; i++) {
                int box = image * trueBoxes + i;
                int match = isBox(truth, box) ? match(truth, box) : -1;
                result.matches[box] = match;
                if (match >= 0) {
                    int cell = cell(truth, box);
                    addLocation(truth, box, match, prediction(image, match, 0, cell), result.losses);
                    result.objects[(image * mask.length + match) * size * size + cell] = truth.scores[box];
                    addClasses(truth, image, box, prediction(image, match, CLASSES, cell), result.losses);
                }
            }
            addObjects(truth, image, result);
        }
        return result;
    }

    private boolean isBox(Truth truth, int box) {
        return !(truth.boxes[box * 4 + 2] < LEAST_SIDE || truth.boxes[box * 4 + 3] < LEAST_SIDE);
    }

    /** Where a number of a prediction is. */
    private int prediction(int image, int anchor, int number, int cell) {
        return ((image * mask.length + anchor) * (CLASSES + classes) + number) * size * size + cell;
    }

    /** The cell of the center of a true box. */
    private int cell(Truth truth, int box) {
        double column = p.round(truth.boxes[box * 4] * size);
        double row = p.round(truth.boxes[box * 4 + 1] * size);
        if (!(column > -1 && column < size && row > -1 && row < size)) {
            throw new IllegalArgumentException(
                    "Operation 'yolov3_loss': the centers of the boxes in GTBox must be parts "
                            + "of the image from 0 to 1, but box number " + box + " is "
                            + Arrays.toString(Arrays.copyOfRange(truth.boxes, box * 4, box * 4 + 4)));
        }
        return ((int) row) * size + (int) column;
    }

    /** Marks the predictions that overlap a true box. */
    private void ignore(int image, Truth truth, double[] objects) {
        for (int anchor = 0; anchor < mask.length; anchor++) {
            for (int cell = 0; cell < size * size; cell++) {
                double[] predicted = predicted(truth.x, prediction(image, anchor, 0, cell), mask[anchor], cell);
                double best = 0;
                for (int box = image * trueBoxes; box < (image + 1) * trueBoxes; box++) {
                    if (isBox(truth, box)) {
                        best = Math.max(best, overlap(predicted, 0, truth.boxes, box * 4));
                    }
                }
                if (best > ignored) {
                    objects[(image * mask.length + anchor) * size * size + cell] = IGNORED;
                }
            }
        }
    }

    private double[] predicted(double[] x, int at, int anchor, int cell) {
        double[] box = new double[4];
        int area = size * size;
        for (int axis = 0; axis < 2; axis++) {
            int index = axis == 0 ? cell % size : cell / size;
            double moved = p.round(p.sigmoid(x[at + axis * area]) * scale);
            box[axis] = p.round(p.round(p.round(index + moved) + bias) / size);
            double length = p.round(p.exp(x[at + (axis + 2) * area]) * anchors[2 * anchor + axis]);
            box[axis + 2] = p.round(length / inputSize);
        }
        return box;
    }

    /** The overlap of two boxes that are given by their centers, widths and heights. */
    private double overlap(double[] one, int i, double[] other, int j) {
        double width = common(one, i, other, j);
        double height = common(one, i + 1, other, j + 1);
        double both = width < 0 || height < 0 ? 0 : p.round(width * height);
        double areas = p.round(p.round(one[i + 2] * one[i + 3]) + p.round(other[j + 2] * other[j + 3]));
        return p.round(both / p.round(areas - both));
    }

    private double common(double[] one, int i, double[] other, int j) {
        double left = Math.max(p.round(one[i] - one[i + 2] / 2), p.round(other[j] - other[j + 2] / 2));
        double right = Math.min(p.round(one[i] + one[i + 2] / 2), p.round(other[j] + other[j + 2] / 2));
        return p.round(right - left);
    }

    /** The place in the mask of the anchor that is most similar to a true box, or −1. */
    private int match(Truth truth, int box) {
        double[] centered = {0, 0, truth.boxes[box * 4 + 2], truth.boxes[box * 4 + 3]};
        double most = 0;
        int best = 0;
        for (int i = 0; i < anchors.length / 2; i++) {
            double width = p.round((double) anchors[2 * i] / inputSize);
            double height = p.round((double) anchors[2 * i + 1] / inputSize);
            double overlap = (float) overlap(new double[]{0, 0, width, height}, 0, centered, 0);
            if (overlap > most) {
                most = overlap;
                best = i;
            }
        }
        for (int i = 0; i < mask.length; i++) {
            if (mask[i] == best) {
                return i;
            }
        }
        return -1;
    }

    /** What the box of a prediction should say: its center in its cell, and the logarithms of its sides. */
    private double target(Truth truth, int box, int anchor, int number) {
        double value = truth.boxes[box * 4 + number];
        if (number < 2) {
            double scaled = p.round(value * size);
            return p.round(scaled - (int) scaled);
        }
        return p.log(p.round(p.round(value * inputSize) / anchors[2 * anchor + number - 2]));
    }

    /** Small boxes weigh more. */
    private double weight(Truth truth, int box) {
        double area = p.round(truth.boxes[box * 4 + 2] * truth.boxes[box * 4 + 3]);
        return p.round((2 - area) * truth.scores[box]);
    }

    private void addLocation(Truth truth, int box, int match, int at, double[] losses) {
        double weight = weight(truth, box);
        for (int i = 0; i < 4; i++) {
            double x = truth.x[at + i * size * size];
            double target = target(truth, box, mask[match], i);
            double loss = i < 2 ? crossEntropy(x, target) : p.round(Math.abs(p.round(target - x)));
            add(losses, box / trueBoxes, loss * weight);
        }
    }

    private void addClasses(Truth truth, int image, int box, int at, double[] losses) {
        for (int i = 0; i < classes; i++) {
            double loss = crossEntropy(truth.x[at + i * size * size], i == truth.labels[box] ? yes : no);
            add(losses, image, loss * truth.scores[box]);
        }
    }

    private void addObjects(Truth truth, int image, Result result) {
        for (int anchor = 0; anchor < mask.length; anchor++) {
            for (int cell = 0; cell < size * size; cell++) {
                double object = result.objects[(image * mask.length + anchor) * size * size + cell];
                double x = truth.x[prediction(image, anchor, CONFIDENCE, cell)];
                if (object > LEAST_SCORE) {
                    add(result.losses, image, crossEntropy(x, 1) * object);
                } else if (object > IGNORED / 2) {
                    add(result.losses, image, crossEntropy(x, 0));
                }
            }
        }
    }

    private void add(double[] losses, int image, double loss) {
        losses[image] = p.round(losses[image] + p.round(loss));
    }

    /** The cross entropy of a sigmoid. */
    private double crossEntropy(double x, double label) {
        return p.round((x > 0 ? x : 0) - p.round(x * label) + Math.log(1 + p.exp(-Math.abs(x))));
    }

    /**
     * The gradient with respect to the predictions, or the derivatives of its elements with respect to the predictions
     * of the same places; it does not depend on others.
     *
     * @param truth
     *            predictions and true boxes
     * @param gradients
     *            of the loss of each image
     * @param objects
     *            what the forward computation gave for predictions
     * @param matches
     *            what it gave for true boxes
     * @param again
     *            whether to differentiate twice
     * @return one number for each prediction
     */
    double[] backward(Truth truth, double[] gradients, double[] objects, long[] matches, boolean again) {
        double[] dx = new double[truth.x.length];
        for (int image = 0; image < images; image++) {
            double gradient = gradients[image];
            for (int i = 0; i < trueBoxes; i++) {
                int box = image * trueBoxes + i;
                int match = Math.toIntExact(matches[box]);
                if (match >= 0) {
                    requireAnchor(match);
                    int cell = cell(truth, box);
                    locationGradient(truth, box, match, prediction(image, match, 0, cell), gradient, again, dx);
                    classesGradient(truth, box, prediction(image, match, CLASSES, cell), gradient, again, dx);
                }
            }
            objectsGradient(truth, image, objects, gradient, again, dx);
        }
        return dx;
    }

    private void requireAnchor(int match) {
        if (match >= mask.length) {
            throw new IllegalArgumentException("Operation 'yolov3_loss_grad': GTMatchMask must hold places of the "
                    + mask.length + " anchors in anchor_mask, but holds " + match);
        }
    }

    private void locationGradient(Truth truth, int box, int match, int at, double gradient, boolean again,
            double[] dx) {
        double weight = weight(truth, box);
        for (int i = 0; i < 4; i++) {
            int place = at + i * size * size;
            double target = target(truth, box, mask[match], i);
            double distance = again ? 0 : truth.x[place] > target ? 1 : -1;
            double slope = i < 2 ? entropySlope(truth.x[place], target, again) : distance;
            dx[place] = p.round(p.round(slope * weight) * gradient);
        }
    }

    private void classesGradient(Truth truth, int box, int at, double gradient, boolean again, double[] dx) {
        for (int i = 0; i < classes; i++) {
            int place = at + i * size * size;
            double slope = entropySlope(truth.x[place], i == truth.labels[box] ? yes : no, again);
            dx[place] = p.round(p.round(slope * truth.scores[box]) * gradient);
        }
    }

    private void objectsGradient(Truth truth, int image, double[] objects, double gradient, boolean again,
            double[] dx) {
        for (int anchor = 0; anchor < mask.length; anchor++) {
            for (int cell = 0; cell < size * size; cell++) {
                double object = objects[(image * mask.length + anchor) * size * size + cell];
                int place = prediction(image, anchor, CONFIDENCE, cell);
                if (object > LEAST_SCORE) {
                    dx[place] = p.round(p.round(entropySlope(truth.x[place], 1, again) * object) * gradient);
                } else if (object > IGNORED / 2) {
                    dx[place] = p.round(entropySlope(truth.x[place], 0, again) * gradient);
                }
            }
        }
    }

    /** The slope of the cross entropy of a sigmoid, or the slope of that. */
    private double entropySlope(double x, double label, boolean again) {
        double probability = 1 / (1 + p.exp(-x));
        return p.round(again ? probability * (1 - probability) : probability - label);
    }

    /** For each image, the sum of products of two numbers of each of its predictions. */
    double[] sums(double[] one, double[] other) {
        double[] sums = new double[images];
        for (int i = 0; i < one.length; i++) {
            sums[i / (one.length / images)] += one[i] * other[i];
        }
        return sums;
    }
}
