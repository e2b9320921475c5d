package io.seriatim.graph.ops.assignment;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.ComputedOutputs;
import io.seriatim.graph.ops.common.Given;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Lod;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Which proposed regions are objects of which class, where their boxes are, and which are background, as the second
 * stage of a detector is trained with (Ren et al.: Faster R-CNN, 2015; Cai and Vasconcelos: Cascade R-CNN, 2018).
 */
public final class ProposalLabelOperations {
    /** Overlaps that differ by less are equal. */
    private static final float EQUAL = 0.00001f;

    private ProposalLabelOperations() {
    }

    public static void register(Operations registry) {
        String[] outputs = {"Rois", "LabelsInt32", "BboxTargets", "BboxInsideWeights", "BboxOutsideWeights",
                "MaxOverlapWithGT"};
        Operation.Builder operation = Operation.define("generate_proposal_labels")
                .in("RpnRois", "GtClasses", "IsCrowd", "GtBoxes", "ImInfo", "MaxOverlap?").out(outputs)
                .required("batch_size_per_im", Attribute.Int.class).required("fg_fraction", Attribute.Real.class)
                .required("fg_thresh", Attribute.Real.class).required("bg_thresh_hi", Attribute.Real.class)
                .required("bg_thresh_lo", Attribute.Real.class).required("bbox_reg_weights", Attribute.Reals.class)
                .required("class_nums", Attribute.Int.class).attr("use_random", true).attr("is_cascade_rcnn", false)
                .attr("is_cls_agnostic", false);
        String[] inputs = {"RpnRois", "GtClasses", "IsCrowd", "GtBoxes", "ImInfo", "MaxOverlap"};
        Labels.define(operation, inputs, new String[]{"RpnRois", "GtClasses", "IsCrowd", "GtBoxes"}, outputs,
                ProposalLabelOperations::infer, given -> new Batch(given).labels()).register(registry);
    }

    private static void infer(Inference inference) {
        Proposals.checkBoxes(inference, "RpnRois");
        Proposals.checkBoxes(inference, "GtBoxes");
        Proposals.checkImages(inference);
        Attrs attrs = inference.attrs();
        int classes = attrs.getInt("class_nums");
        inference.require(classes > 0 && classes <= 1 << 20, "the attribute 'class_nums' must be from 1 on, but is %d",
                classes);
        inference.require(attrs.getInt("batch_size_per_im") > 0,
                "the attribute 'batch_size_per_im' must be from 1 on, but is %d", attrs.getInt("batch_size_per_im"));
        double[] weights = attrs.getDoubles("bbox_reg_weights");
        inference.require(weights.length == Boxes.WIDTH && Arrays.stream(weights).allMatch(weight -> weight != 0),
                "the attribute 'bbox_reg_weights' must be four numbers other than 0, but is %s",
                Numbers.text(weights));
        inference.require(!attrs.getBool("is_cls_agnostic") || classes > 1,
                "the attribute 'class_nums' must be from 2 on if 'is_cls_agnostic' is set, but is %d", classes);
        inference.require(!attrs.getBool("is_cascade_rcnn") || inference.has("MaxOverlap"),
                "it needs MaxOverlap if the attribute '%s' is set", "is_cascade_rcnn");
        DType dtype = inference.dtype("RpnRois");
        inference.set("Rois", dtype, -1, Boxes.WIDTH);
        inference.set("LabelsInt32", DType.INT32, -1, 1);
        for (String slot : List.of("BboxTargets", "BboxInsideWeights", "BboxOutsideWeights")) {
            inference.set(slot, dtype, -1, (long) Boxes.WIDTH * classes);
        }
        inference.set("MaxOverlapWithGT", dtype, -1);
    }

    /** A region that is trained with. */
    @SuppressWarnings("ArrayRecordComponent") // Of this class alone, and never compared.
    private record Example(double[] box, int label, double[] target, double overlap) {
    }

    /** The regions and objects of a batch of images. */
    private static final class Batch {
        private final Given given;
        private final Attrs attrs;
        private final Boxes boxes;
        private final int classes;
        private final List<Example> examples = new ArrayList<>();

        Batch(Given given) {
            this.given = given;
            attrs = given.attrs();
            boxes = Boxes.of(given.dtype("RpnRois"));
            classes = attrs.getInt("class_nums");
        }

        ComputedOutputs labels() {
            double[] regions = given.numbers("RpnRois");
            double[] objects = given.numbers("GtBoxes");
            double[] kinds = given.numbers("GtClasses");
            double[] crowd = given.numbers("IsCrowd");
            double[] info = given.numbers("ImInfo");
            boolean cascade = attrs.getBool("is_cascade_rcnn");
            double[] known = cascade ? given.numbers("MaxOverlap") : new double[regions.length / Boxes.WIDTH];
            int[] offsets = given.offsets("RpnRois", regions.length / Boxes.WIDTH);
            int[] objectOffsets = given.offsets("GtBoxes", objects.length / Boxes.WIDTH);
            int images = offsets.length - 1;
            given.sameImages(images, "GtBoxes", objectOffsets);
            if (!Arrays.equals(objectOffsets, given.offsets("GtClasses", kinds.length))
                    || !Arrays.equals(objectOffsets, given.offsets("IsCrowd", crowd.length))
                    || info.length != 3 * images || known.length != regions.length / Boxes.WIDTH) {
                throw given.error("GtBoxes, GtClasses and IsCrowd must have as many rows for each image, ImInfo a row "
                        + "for each of " + images + " images, and MaxOverlap a number for each region");
            }
            long[] ends = new long[images + 1];
            for (int i = 0; i < images; i++) {
                if (offsets[i] < offsets[i + 1]) {
                    double scale = info[3 * i + 2];
                    double[] own = original(Proposals.rows(regions, Boxes.WIDTH, offsets[i], offsets[i + 1]), scale);
                    if (cascade) {
                        own = open(own, Proposals.rows(known, 1, offsets[i], offsets[i + 1]));
                    }
                    int from = objectOffsets[i];
                    int to = objectOffsets[i + 1];
                    image(own, Proposals.rows(objects, Boxes.WIDTH, from, to), Proposals.rows(kinds, 1, from, to),
                            Proposals.rows(crowd, 1, from, to), scale);
                }
                ends[i + 1] = examples.size();
            }
            return results(Lod.of(ends));
        }

        private double[] original(double[] regions, double scale) {
            double[] original = new double[regions.length];
            for (int i = 0; i < original.length; i++) {
                original[i] = boxes.rounded(regions[i] / scale);
            }
            return original;
        }

        /** The regions that have an area and are not an object itself; if there are none, an empty one. */
        private double[] open(double[] regions, double[] overlaps) {
            List<Integer> kept = IntStream.range(0, overlaps.length)
                    .filter(i -> regions[4 * i + 2] - regions[4 * i] + 1 > 0
                            && regions[4 * i + 3] - regions[4 * i + 1] + 1 > 0 && overlaps[i] < 1)
                    .boxed().toList();
            return kept.isEmpty() ? new double[Boxes.WIDTH] : Proposals.rows(regions, Boxes.WIDTH, kept);
        }

        private void image(double[] regions, double[] objects, double[] kinds, double[] crowd, double scale) {
            double[] all = Arrays.copyOf(objects, objects.length + regions.length);
            System.arraycopy(regions, 0, all, objects.length, regions.length);
            double[][] overlaps = boxes.overlaps(all, objects);
            float least = attrs.getFloat("fg_thresh");
            float high = attrs.getFloat("bg_thresh_hi");
            float low = attrs.getFloat("bg_thresh_lo");
            List<Integer> found = new ArrayList<>();
            List<Integer> background = new ArrayList<>();
            for (int i = 0; i < overlaps.length; i++) {
                double most = i < crowd.length && crowd[i] != 0 ? -1 : most(overlaps[i]);
                if (most >= least) {
                    found.add(i);
                } else if (most >= low && most < high) {
                    background.add(i);
                }
            }
            if (!attrs.getBool("is_cascade_rcnn")) {
                int count = attrs.getInt("batch_size_per_im");
                Sampling sampling = new Sampling(attrs.getBool("use_random"), all);
                sampling.keep(found, (int) Math.floor(count * attrs.getFloat("fg_fraction")));
                sampling.keep(background, count - found.size());
            }
            double[] weights = attrs.getDoubles("bbox_reg_weights");
            for (int i : found) {
                int object = first(overlaps[i]);
                double[] target = new double[Boxes.WIDTH];
                boxes.delta(all, i, objects, object, target, 0);
                Arrays.setAll(target, k -> target[k] / weights[k]);
                examples.add(new Example(box(all, i, scale), label(kinds[object]), target, most(overlaps[i])));
            }
            for (int i : background) {
                examples.add(new Example(box(all, i, scale), 0, new double[Boxes.WIDTH], most(overlaps[i])));
            }
        }

        private int label(double kind) {
            if (!(kind >= 0 && kind < classes)) {
                throw given.error("GtClasses must be from 0 to " + (classes - 1) + ", but one is " + (long) kind);
            }
            return (int) kind;
        }

        private double[] box(double[] all, int box, double scale) {
            return boxes.scaled(Proposals.rows(all, Boxes.WIDTH, box, box + 1), scale);
        }

        private static double most(double[] overlaps) {
            return Arrays.stream(overlaps).max().orElse(0);
        }

        private static int first(double[] overlaps) {
            double most = most(overlaps);
            int first = 0;
            while (!((float) Math.abs(most - overlaps[first]) < EQUAL)) {
                first++;
            }
            return first;
        }

        private ComputedOutputs results(Lod lod) {
            int width = Boxes.WIDTH * classes;
            double[] regions = new double[Boxes.WIDTH * examples.size()];
            double[] labels = new double[examples.size()];
            double[] targets = new double[WorkingMemory.length(width, examples.size())];
            double[] weights = new double[targets.length];
            double[] overlaps = new double[examples.size()];
            for (int i = 0; i < examples.size(); i++) {
                Example example = examples.get(i);
                System.arraycopy(example.box(), 0, regions, Boxes.WIDTH * i, Boxes.WIDTH);
                labels[i] = example.label();
                overlaps[i] = example.overlap();
                if (example.label() > 0) {
                    int kind = attrs.getBool("is_cls_agnostic") ? 1 : example.label();
                    int at = width * i + Boxes.WIDTH * kind;
                    System.arraycopy(example.target(), 0, targets, at, Boxes.WIDTH);
                    Arrays.fill(weights, at, at + Boxes.WIDTH, 1);
                }
            }
            ComputedOutputs results = new ComputedOutputs();
            DType dtype = given.dtype("RpnRois");
            results.add("Rois", dtype, regions, lod, examples.size(), Boxes.WIDTH);
            results.add("LabelsInt32", DType.INT32, labels, lod, examples.size(), 1);
            results.add("BboxTargets", dtype, targets, lod, examples.size(), width);
            results.add("BboxInsideWeights", dtype, weights, lod, examples.size(), width);
            results.add("BboxOutsideWeights", dtype, weights, lod, examples.size(), width);
            results.add("MaxOverlapWithGT", dtype, overlaps, lod, examples.size());
            return results;
        }
    }
}
