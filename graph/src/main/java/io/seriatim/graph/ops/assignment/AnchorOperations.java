package io.seriatim.graph.ops.assignment;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.ComputedOutputs;
import io.seriatim.graph.ops.common.Given;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Lod;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Which anchors are objects and which are background, as region proposal networks (Ren et al.: Faster R-CNN, 2015) and
 * one-stage detectors (Lin et al.: Focal Loss for Dense Object Detection, 2017) are trained with.
 */
public final class AnchorOperations {
    /** Overlaps that differ by less are equal. */
    private static final float EQUAL = 0.00001f;

    private AnchorOperations() {
    }

    public static void register(Operations registry) {
        String[] outputs = {"LocationIndex", "ScoreIndex", "TargetBBox", "TargetLabel", "BBoxInsideWeight"};
        Labels.define(Operation.define("rpn_target_assign").in("Anchor", "GtBoxes", "IsCrowd", "ImInfo").out(outputs)
                .attr("rpn_batch_size_per_im", 256).required("rpn_straddle_thresh", Attribute.Real.class)
                .attr("rpn_positive_overlap", 0.7f).attr("rpn_negative_overlap", 0.3f).attr("rpn_fg_fraction", 0.25f)
                .attr("use_random", true), new String[]{"Anchor", "GtBoxes", "IsCrowd", "ImInfo"},
                new String[]{"GtBoxes", "IsCrowd"}, outputs, inference -> infer(inference, -1),
                given -> new Anchors(given).labels()).register(registry);
        String[] more = {"LocationIndex", "ScoreIndex", "TargetBBox", "TargetLabel", "BBoxInsideWeight",
                "ForegroundNumber"};
        Labels.define(Operation.define("retinanet_target_assign")
                .in("Anchor", "GtBoxes", "GtLabels", "IsCrowd", "ImInfo").out(more).attr("positive_overlap", 0.5f)
                .attr("negative_overlap", 0.4f),
                new String[]{"Anchor", "GtBoxes", "GtLabels", "IsCrowd", "ImInfo"},
                new String[]{"GtBoxes", "GtLabels", "IsCrowd"}, more, inference -> {
                    long[] labels = inference.dims("GtLabels");
                    inference.require(labels.length == 2, "GtLabels must be [objects, 1], but are %s",
                            Numbers.text(labels));
                    infer(inference, labels[0]);
                    inference.set("ForegroundNumber", DType.INT32, labels[0], 1);
                }, given -> new Anchors(given).labels()).register(registry);
    }

    /** While a program is built, PaddlePaddle declares a number of rows, unknown or that of the objects. */
    private static void infer(Inference inference, long rows) {
        Proposals.checkBoxes(inference, "Anchor");
        Proposals.checkBoxes(inference, "GtBoxes");
        Proposals.checkImages(inference);
        DType dtype = inference.dtype("Anchor");
        inference.set("LocationIndex", DType.INT32, rows);
        inference.set("ScoreIndex", DType.INT32, rows);
        inference.set("TargetBBox", dtype, rows, Boxes.WIDTH);
        inference.set("TargetLabel", DType.INT32, rows, 1);
        inference.set("BBoxInsideWeight", dtype, rows, Boxes.WIDTH);
    }

    /** The anchors of a batch, and what was found for its images until now. */
    private static final class Anchors {
        private final Given given;
        private final Attrs attrs;
        private final Boxes boxes;
        private final double[] anchors;
        private final boolean ofClasses;
        private final Rows locations = new Rows();
        private final Rows scores = new Rows();
        private final Rows targets = new Rows();
        private final Rows labels = new Rows();
        private final Rows weights = new Rows();
        private final Rows foreground = new Rows();

        Anchors(Given given) {
            this.given = given;
            attrs = given.attrs();
            boxes = Boxes.of(given.dtype("Anchor"));
            anchors = given.numbers("Anchor");
            ofClasses = given.type().startsWith("retinanet");
        }

        ComputedOutputs labels() {
            double[] objects = given.numbers("GtBoxes");
            double[] crowd = given.numbers("IsCrowd");
            double[] classes = ofClasses ? given.numbers("GtLabels") : new double[crowd.length];
            double[] info = given.numbers("ImInfo");
            int[] offsets = given.offsets("GtBoxes", objects.length / Boxes.WIDTH);
            int images = offsets.length - 1;
            int[] crowdOffsets = given.offsets("IsCrowd", crowd.length);
            given.sameImages(images, "IsCrowd", crowdOffsets);
            int[] classOffsets = ofClasses ? given.offsets("GtLabels", classes.length) : crowdOffsets;
            given.sameImages(images, "GtLabels", classOffsets);
            if (!Arrays.equals(offsets, crowdOffsets) || !Arrays.equals(offsets, classOffsets)
                    || info.length != 3 * images) {
                throw given
                        .error("GtBoxes, IsCrowd and GtLabels must have as many rows for each image, and ImInfo a row "
                                + "for each of " + images + " images");
            }
            for (int i = 0; i < images; i++) {
                List<Integer> counted = new ArrayList<>();
                for (int j = offsets[i]; j < offsets[i + 1]; j++) {
                    if (crowd[j] == 0) {
                        counted.add(j);
                    }
                }
                image(i, info[3 * i], info[3 * i + 1],
                        boxes.scaled(Proposals.rows(objects, Boxes.WIDTH, counted), info[3 * i + 2]),
                        Proposals.rows(classes, 1, counted));
                for (Rows each : List.of(locations, scores, targets, labels, weights, foreground)) {
                    each.endImage();
                }
            }
            return results();
        }

        private ComputedOutputs results() {
            ComputedOutputs results = new ComputedOutputs();
            DType dtype = given.dtype("Anchor");
            results.add("LocationIndex", DType.INT32, locations.values(), locations.lod(1), locations.count());
            results.add("ScoreIndex", DType.INT32, scores.values(), scores.lod(1), scores.count());
            results.add("TargetBBox", dtype, targets.values(), targets.lod(4), targets.count() / 4, 4);
            results.add("TargetLabel", DType.INT32, labels.values(), labels.lod(1), labels.count(), 1);
            results.add("BBoxInsideWeight", dtype, weights.values(), weights.lod(4), weights.count() / 4, 4);
            if (ofClasses) {
                results.add("ForegroundNumber", DType.INT32, foreground.values(), foreground.lod(1),
                        foreground.count(), 1);
            }
            return results;
        }

        private List<Integer> inside(double height, double width) {
            double margin = ofClasses ? -1 : attrs.getFloat("rpn_straddle_thresh");
            List<Integer> inside = new ArrayList<>();
            for (int i = 0; i < anchors.length / Boxes.WIDTH; i++) {
                int at = Boxes.WIDTH * i;
                if (margin < 0 || (anchors[at] >= -margin && anchors[at + 1] >= -margin
                        && anchors[at + 2] < boxes.rounded(width + margin)
                        && anchors[at + 3] < boxes.rounded(height + margin))) {
                    inside.add(i);
                }
            }
            return inside;
        }

        private void image(int image, double height, double width, double[] objects, double[] classes) {
            List<Integer> inside = inside(height, width);
            double[] own = Proposals.rows(anchors, Boxes.WIDTH, inside);
            Overlaps overlaps = new Overlaps(boxes.overlaps(own, objects));
            Sampling sampling = new Sampling(!ofClasses && attrs.getBool("use_random"), objects, own);
            float positive = attrs.getFloat(ofClasses ? "positive_overlap" : "rpn_positive_overlap");
            float negative = attrs.getFloat(ofClasses ? "negative_overlap" : "rpn_negative_overlap");
            int most = ofClasses ? -1 : attrs.getInt("rpn_batch_size_per_im");
            float fraction = ofClasses ? -1 : attrs.getFloat("rpn_fg_fraction");
            boolean sampled = most > 0 && fraction > 0;
            List<Integer> found = overlaps.objects(positive);
            if (sampled) {
                sampling.keep(found, (int) (fraction * most));
            }
            List<Integer> background = overlaps.below(negative);
            if (sampled) {
                sampling.keep(background, most - found.size());
            }
            boolean[] isObject = new boolean[inside.size()];
            found.forEach(i -> isObject[i] = true);
            // An anchor can be the best of an object and overlap it little: it counts as background. In its place, the
            // first object is listed once more, with weights of 0.
            List<Integer> located = new ArrayList<>();
            for (int i : background) {
                if (isObject[i]) {
                    located.add(found.getFirst());
                    isObject[i] = false;
                }
            }
            int repeated = located.size();
            for (int i = 0; i < isObject.length; i++) {
                if (isObject[i]) {
                    located.add(i);
                    score(image, inside.get(i), ofClasses ? classes[overlaps.best(i)] : 1);
                }
            }
            background.sort(null);
            background.forEach(i -> score(image, inside.get(i), 0));
            for (int i = 0; i < located.size(); i++) {
                locations.add((double) image * anchors.length / Boxes.WIDTH + inside.get(located.get(i)));
                double[] delta = new double[Boxes.WIDTH];
                boxes.delta(own, located.get(i), objects, overlaps.best(located.get(i)), delta, 0);
                targets.add(delta);
                double weight = i < repeated ? 0 : 1;
                weights.add(weight, weight, weight, weight);
            }
            foreground.add(located.size() + 1);
        }

        private void score(int image, int anchor, double label) {
            scores.add((double) image * anchors.length / Boxes.WIDTH + anchor);
            labels.add(label);
        }
    }

    /** The overlaps of anchors with objects. */
    private static final class Overlaps {
        private final double[][] all;
        private final double[] most;
        private final int[] best;
        private final double[] mostOfObject;

        Overlaps(double[][] all) {
            this.all = all;
            most = new double[all.length];
            best = new int[all.length];
            mostOfObject = new double[all.length == 0 ? 0 : all[0].length];
            Arrays.fill(most, Double.NEGATIVE_INFINITY);
            Arrays.fill(mostOfObject, Double.NEGATIVE_INFINITY);
            for (int i = 0; i < all.length; i++) {
                for (int j = 0; j < all[i].length; j++) {
                    if (all[i][j] > most[i]) {
                        most[i] = all[i][j];
                        best[i] = j;
                    }
                    mostOfObject[j] = Math.max(mostOfObject[j], all[i][j]);
                }
            }
        }

        /** The object that an anchor overlaps most. */
        int best(int anchor) {
            return best[anchor];
        }

        /** The anchors that overlap an object that much, or more than all other anchors do. */
        List<Integer> objects(float least) {
            List<Integer> found = new ArrayList<>();
            for (int i = 0; i < all.length; i++) {
                boolean first = false;
                for (int j = 0; j < all[i].length && !first; j++) {
                    first = (float) Math.abs(all[i][j] - mostOfObject[j]) < EQUAL;
                }
                if (first || most[i] >= least) {
                    found.add(i);
                }
            }
            return found;
        }

        /** The anchors that overlap every object by less. */
        List<Integer> below(float bound) {
            List<Integer> found = new ArrayList<>();
            for (int i = 0; i < all.length; i++) {
                if (most[i] < bound) {
                    found.add(i);
                }
            }
            return found;
        }
    }

    /** Numbers of one image after the other. */
    private static final class Rows {
        private final List<Double> numbers = new ArrayList<>();
        private final List<Long> ends = new ArrayList<>(List.of(0L));

        void add(double... more) {
            Arrays.stream(more).forEach(numbers::add);
        }

        void endImage() {
            ends.add((long) numbers.size());
        }

        int count() {
            return numbers.size();
        }

        double[] values() {
            return numbers.stream().mapToDouble(Double::doubleValue).toArray();
        }

        Lod lod(int width) {
            return Lod.of(ends.stream().mapToLong(end -> end / width).toArray());
        }
    }
}
