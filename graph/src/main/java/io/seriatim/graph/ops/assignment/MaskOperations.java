package io.seriatim.graph.ops.assignment;

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

/** The masks of objects in regions, from the polygons of their outlines (He et al.: Mask R-CNN, 2017). */
public final class MaskOperations {
    private static final int MOST = 1 << 12;

    private MaskOperations() {
    }

    public static void register(Operations registry) {
        String[] outputs = {"MaskRois", "RoiHasMaskInt32", "MaskInt32"};
        String[] inputs = {"ImInfo", "GtClasses", "IsCrowd", "GtSegms", "Rois", "LabelsInt32"};
        Labels.define(
                Operation.define("generate_mask_labels").in(inputs).out(outputs)
                        .required("num_classes", Attribute.Int.class).required("resolution", Attribute.Int.class),
                inputs, new String[]{"GtClasses", "IsCrowd", "GtSegms", "Rois", "LabelsInt32"}, outputs,
                MaskOperations::infer, given -> new Batch(given).labels()).register(registry);
    }

    private static void infer(Inference inference) {
        Proposals.checkImages(inference);
        Proposals.checkBoxes(inference, "Rois");
        long[] segments = inference.dims("GtSegms");
        inference.require(segments.length == 2 && segments[1] == 2, "GtSegms must be [points, 2], but is %s",
                Numbers.text(segments));
        int classes = inference.attrs().getInt("num_classes");
        int resolution = inference.attrs().getInt("resolution");
        inference.require(classes > 0, "the attribute 'num_classes' must be from 1 on, but is %d", classes);
        inference.require(resolution > 0 && resolution <= MOST,
                "the attribute 'resolution' must be from 1 to %d, but is %d", MOST, resolution);
        long width = (long) classes * resolution * resolution;
        inference.require(width <= Integer.MAX_VALUE, "%d masks of %d · %d elements are too large", classes,
                resolution, resolution);
        inference.set("MaskRois", inference.dtype("Rois"), -1, Boxes.WIDTH);
        inference.set("RoiHasMaskInt32", DType.INT32, -1, 1);
        inference.set("MaskInt32", DType.INT32, -1, width);
    }

    /** An object with its outline, and the box around it. */
    @SuppressWarnings("ArrayRecordComponent") // Of this class alone, and never compared.
    private record Outline(List<float[]> polygons, double[] box) {
        static Outline of(List<float[]> polygons) {
            float[] box = {Float.MAX_VALUE, Float.MAX_VALUE, Float.MIN_NORMAL, Float.MIN_NORMAL};
            for (float[] polygon : polygons) {
                for (int i = 0; i < polygon.length; i++) {
                    box[i % 2] = Math.min(box[i % 2], polygon[i]);
                    box[2 + i % 2] = Math.max(box[2 + i % 2], polygon[i]);
                }
            }
            return new Outline(polygons, new double[]{box[0], box[1], box[2], box[3]});
        }

        /** The mask of the object in a region. */
        boolean[] mask(double[] region, int size) {
            boolean[] mask = new boolean[WorkingMemory.length(size, size)];
            float left = (float) region[0];
            float top = (float) region[1];
            float width = Math.max((float) region[2] - left, 1);
            float height = Math.max((float) region[3] - top, 1);
            for (float[] polygon : polygons) {
                float[] points = new float[polygon.length];
                for (int i = 0; i < points.length; i += 2) {
                    points[i] = (polygon[i] - left) * size / width;
                    points[i + 1] = (polygon[i + 1] - top) * size / height;
                }
                PolygonMask.mark(points, size, mask);
            }
            return mask;
        }
    }

    /** The regions and objects of a batch of images. */
    private static final class Batch {
        private final Given given;
        private final Boxes boxes;
        private final int size;
        private final int width;
        private final List<double[]> regions = new ArrayList<>();
        private final List<Integer> numbers = new ArrayList<>();
        private final List<int[]> masks = new ArrayList<>();

        Batch(Given given) {
            this.given = given;
            boxes = Boxes.of(given.dtype("Rois"));
            size = given.attrs().getInt("resolution");
            width = given.attrs().getInt("num_classes") * size * size;
        }

        ComputedOutputs labels() {
            double[] all = given.numbers("Rois");
            double[] labels = given.numbers("LabelsInt32");
            double[] kinds = given.numbers("GtClasses");
            double[] crowd = given.numbers("IsCrowd");
            double[] info = given.numbers("ImInfo");
            int[] offsets = given.offsets("Rois", all.length / Boxes.WIDTH);
            int[] objects = given.offsets("GtClasses", kinds.length);
            int images = objects.length - 1;
            given.sameImages(images, "Rois", offsets);
            List<long[]> segments = given.lod("GtSegms").levels();
            boolean fits = Arrays.equals(offsets, given.offsets("LabelsInt32", labels.length))
                    && Arrays.equals(objects, given.offsets("IsCrowd", crowd.length)) && info.length == 3 * images
                    && segments.size() == 3
                    && Arrays.equals(segments.getFirst(), Arrays.stream(objects).asLongStream().toArray())
                    && 2 * given.lod("GtSegms").rows() == given.numbers("GtSegms").length;
            if (!fits) {
                throw given
                        .error("GtClasses, IsCrowd and GtSegms must have as many objects for each image, LabelsInt32 "
                                + "as many rows as Rois, and ImInfo a row for each of " + images
                                + " images; the LoD of GtSegms must have the levels objects, polygons and points");
            }
            long[] ends = new long[images + 1];
            for (int i = 0; i < images; i++) {
                if (offsets[i] < offsets[i + 1]) {
                    List<Outline> outlines = new ArrayList<>();
                    for (int j = objects[i]; j < objects[i + 1]; j++) {
                        if (kinds[j] > 0 && crowd[j] == 0) {
                            outlines.add(Outline.of(polygons(segments, j)));
                        }
                    }
                    image(Proposals.rows(all, Boxes.WIDTH, offsets[i], offsets[i + 1]),
                            Proposals.rows(labels, 1, offsets[i], offsets[i + 1]), outlines, info[3 * i + 2]);
                }
                ends[i + 1] = masks.size();
            }
            return results(Lod.of(ends));
        }

        private List<float[]> polygons(List<long[]> segments, int object) {
            double[] points = given.numbers("GtSegms");
            List<float[]> polygons = new ArrayList<>();
            for (int i = (int) segments.get(1)[object]; i < segments.get(1)[object + 1]; i++) {
                int from = (int) segments.get(2)[i];
                int to = (int) segments.get(2)[i + 1];
                if (from == to) {
                    throw given.error("polygon " + i + " of GtSegms has no points");
                }
                float[] polygon = new float[2 * (to - from)];
                for (int k = 0; k < polygon.length; k++) {
                    polygon[k] = (float) points[2 * from + k];
                }
                polygons.add(polygon);
            }
            return polygons;
        }

        private void image(double[] all, double[] labels, List<Outline> outlines, double scale) {
            double[] original = new double[all.length];
            Arrays.setAll(original, i -> boxes.rounded(all[i] / scale));
            boolean found = false;
            for (int i = 0; i < labels.length; i++) {
                if (labels[i] > 0) {
                    found = true;
                    if (outlines.isEmpty()) {
                        throw given.error("region " + i + " of an image has the label " + (long) labels[i]
                                + ", but the image has no objects with outlines");
                    }
                    double[] region = Proposals.rows(original, Boxes.WIDTH, i, i + 1);
                    add(region, i, label(labels[i]), nearest(region, outlines).mask(region, size), scale);
                }
            }
            if (!found) {
                background(original, labels, scale);
            }
        }

        private int label(double label) {
            if (label >= given.attrs().getInt("num_classes")) {
                throw given.error("LabelsInt32 must be less than num_classes, "
                        + given.attrs().getInt("num_classes") + ", but one is " + (long) label);
            }
            return (int) label;
        }

        /** An image without objects gets one mask, which no loss counts. */
        private void background(double[] original, double[] labels, double scale) {
            for (int i = 0; i < labels.length; i++) {
                if (labels[i] == 0) {
                    add(Proposals.rows(original, Boxes.WIDTH, 0, 1), i, 0, new boolean[0], scale);
                    return;
                }
            }
        }

        private Outline nearest(double[] region, List<Outline> outlines) {
            Outline nearest = outlines.getFirst();
            double most = 0;
            for (Outline outline : outlines) {
                double overlap = boxes.overlap(region, 0, outline.box(), 0);
                if (overlap > most) {
                    most = overlap;
                    nearest = outline;
                }
            }
            return nearest;
        }

        private void add(double[] region, int number, int label, boolean[] mask, double scale) {
            regions.add(boxes.scaled(region, scale));
            numbers.add(number);
            int[] row = new int[width];
            Arrays.fill(row, -1);
            for (int i = 0; i < mask.length; i++) {
                row[label * mask.length + i] = mask[i] ? 1 : 0;
            }
            masks.add(row);
        }

        private ComputedOutputs results(Lod lod) {
            double[] rows = new double[WorkingMemory.length(width, masks.size())];
            double[] boxRows = new double[Boxes.WIDTH * masks.size()];
            for (int i = 0; i < masks.size(); i++) {
                int[] mask = masks.get(i);
                for (int k = 0; k < width; k++) {
                    rows[width * i + k] = mask[k];
                }
                System.arraycopy(regions.get(i), 0, boxRows, Boxes.WIDTH * i, Boxes.WIDTH);
            }
            ComputedOutputs results = new ComputedOutputs();
            results.add("MaskRois", given.dtype("Rois"), boxRows, lod, masks.size(), Boxes.WIDTH);
            results.add("RoiHasMaskInt32", DType.INT32, numbers.stream().mapToDouble(Integer::doubleValue).toArray(),
                    lod, masks.size(), 1);
            results.add("MaskInt32", DType.INT32, rows, lod, masks.size(), width);
            return results;
        }
    }
}
