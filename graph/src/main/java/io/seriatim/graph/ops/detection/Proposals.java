package io.seriatim.graph.ops.detection;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.ComputedOutputs;
import io.seriatim.graph.ops.common.Given;
import io.seriatim.graph.ops.common.StandardOrder;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The regions that a network proposes to look for objects in: its best boxes, decoded from anchors and clipped to the
 * image, without small ones and those that overlap better ones.
 */
final class Proposals {
    /** Boxes do not grow to more than this many times their anchor. */
    private static final double LARGEST_GROWTH = 1000.0 / 16;
    private final int anchorsHere;
    private final int height;
    private final int width;
    private final double[] scores;
    private final double[] deltas;
    private final double[] images;
    private final int imageColumns;
    private final double[] anchors;
    private final double[] variances;
    private final double pixel;
    private final boolean scaled;
    private final Attrs attrs;
    private final Precision precision;
    private final DType dtype;
    private final BoxCode code;

    /** The boxes proposed for one image, and their scores. */
    private static final class Found {
        private final double[] boxes;
        private final double[] scores;

        Found(double[] boxes, double[] scores) {
            this.boxes = boxes;
            this.scores = scores;
        }
    }

    /**
     * Of inputs.
     *
     * @param given
     *            the inputs and attributes
     * @param imageSlot
     *            the input with the size of each image
     * @param pixel
     *            whether coordinates are indexes of pixels
     * @param scaled
     *            whether small boxes are those of the image before it was scaled
     */
    Proposals(Given given, String imageSlot, boolean pixel, boolean scaled) {
        anchorsHere = given.length("Scores", 1);
        height = given.length("Scores", 2);
        width = given.length("Scores", 3);
        scores = given.numbers("Scores");
        deltas = given.numbers("BboxDeltas");
        images = given.numbers(imageSlot);
        imageColumns = given.length(imageSlot, 1);
        anchors = given.numbers("Anchors");
        variances = given.numbers("Variances");
        this.pixel = pixel ? 1 : 0;
        this.scaled = scaled;
        attrs = given.attrs();
        dtype = given.dtype("Anchors");
        precision = Precision.of(dtype);
        code = new BoxCode(this.pixel, precision.round(Math.log(LARGEST_GROWTH)), precision);
    }

    ComputedOutputs outputs(int count) {
        List<Found> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(image(i));
        }
        double[] boxes = all.stream().flatMapToDouble(each -> Arrays.stream(each.boxes)).toArray();
        double[] probabilities = all.stream().flatMapToDouble(each -> Arrays.stream(each.scores)).toArray();
        int[] counts = all.stream().mapToInt(each -> each.scores.length).toArray();
        return new ComputedOutputs().add("RpnRois", dtype, boxes, probabilities.length, BoxCode.SIZE)
                .add("RpnRoiProbs", dtype, probabilities, probabilities.length, 1)
                .addInts("RpnRoisNum", counts, count).divide("RpnRois", 0, counts).divide("RpnRoiProbs", 0, counts);
    }

    private Found image(int image) {
        double[] scores = ofImage(image);
        int[] order = best(scores);
        double[] boxes = new double[WorkingMemory.length(order.length, BoxCode.SIZE)];
        int count = 0;
        for (int index : order) {
            int at = count * BoxCode.SIZE;
            decode(image, index, new BoxCode.At(boxes, at));
            if (isLarge(image, boxes, at)) {
                order[count++] = index;
            }
        }
        if (count == 0) {
            return new Found(new double[BoxCode.SIZE], new double[1]);
        }
        double threshold = attrs.getFloat("nms_thresh");
        int[] kept = threshold > 0
                ? suppressed(boxes, order, count, scores, threshold)
                : StandardOrder.indexes(count);
        Found found = new Found(new double[kept.length * BoxCode.SIZE], new double[kept.length]);
        for (int i = 0; i < kept.length; i++) {
            System.arraycopy(boxes, kept[i] * BoxCode.SIZE, found.boxes, i * BoxCode.SIZE, BoxCode.SIZE);
            found.scores[i] = scores[order[kept[i]]];
        }
        return found;
    }

    /** The scores of an image in the order of its anchors: of a row, then of a column, then of the anchors there. */
    private double[] ofImage(int image) {
        double[] result = new double[WorkingMemory.length((long) anchorsHere * height, width)];
        for (int i = 0; i < result.length; i++) {
            result[i] = scores[place(image, i, 1, 0)];
        }
        return result;
    }

    /** Where a number of an anchor is in a tensor [images, anchors · numbers, height, width]. */
    private int place(int image, int index, int numbers, int number) {
        int channel = index % anchorsHere * numbers + number;
        return (image * anchorsHere * numbers + channel) * height * width + index / anchorsHere;
    }

    private int[] best(double[] scores) {
        int limit = attrs.getInt("pre_nms_topN");
        int[] items = StandardOrder.indexes(scores.length);
        StandardOrder order = new StandardOrder(items, scores);
        if (limit <= 0 || limit >= scores.length) {
            order.sort();
            return items;
        }
        order.select(limit);
        return Arrays.copyOf(items, limit);
    }

    /** The box of an anchor, clipped to the image. */
    private void decode(int image, int index, BoxCode.At to) {
        double[] differences = new double[BoxCode.SIZE];
        for (int i = 0; i < BoxCode.SIZE; i++) {
            differences[i] = deltas[place(image, index, BoxCode.SIZE, i)];
        }
        code.decode(new BoxCode.At(anchors, index * BoxCode.SIZE), new BoxCode.At(differences, 0),
                new BoxCode.At(variances, index * BoxCode.SIZE), to);
        for (int i = 0; i < BoxCode.SIZE; i++) {
            // The height of the image comes before its width.
            double most = precision.round(images[image * imageColumns + 1 - i % 2] - pixel);
            to.set(i, Math.max(Math.min(to.get(i), most), 0));
        }
    }

    private boolean isLarge(int image, double[] boxes, int at) {
        double least = Math.max(attrs.getFloat("min_size"), 1);
        boolean large = true;
        for (int axis = 0; axis < 2; axis++) {
            double difference = precision.round(boxes[at + axis + 2] - boxes[at + axis]);
            double length = precision.round(difference + pixel);
            if (pixel > 0) {
                double center = precision.round(boxes[at + axis] + length / 2);
                large &= center <= images[image * imageColumns + 1 - axis];
                if (scaled) {
                    length = precision.round(precision.round(difference / images[image * imageColumns + 2]) + 1);
                }
            }
            large &= length >= least;
        }
        return large;
    }

    /** Places of those that are kept, the best first; of two with equal scores the later comes first. */
    private int[] suppressed(double[] boxes, int[] order, int count, double[] scores, double threshold) {
        int[] candidates = IntStream.range(0, count).map(i -> count - 1 - i).boxed()
                .sorted((one, other) -> Double.compare(scores[order[other]] + 0.0, scores[order[one]] + 0.0))
                .mapToInt(Integer::intValue).toArray();
        BoxOverlap overlap = new BoxOverlap(boxes, BoxCode.SIZE, pixel == 0, precision);
        int limit = attrs.getInt("post_nms_topN");
        return new Suppression(threshold, attrs.getFloat("eta"), precision).kept(candidates, limit > 0 ? limit : -1,
                overlap, i -> i * BoxCode.SIZE);
    }
}
