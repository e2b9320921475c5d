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
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The mean average precision of detections (Everingham et al.: The PASCAL Visual Object Classes Challenge, 2010). */
public final class DetectionMapOperations {
    private DetectionMapOperations() {
    }

    public static void register(Operations registry) {
        Operation.Builder operation = Operation.define("detection_map")
                .in("DetectRes", "Label", "HasState?", "PosCount?", "TruePos?", "FalsePos?")
                .out("AccumPosCount", "AccumTruePos", "AccumFalsePos", "MAP")
                .required("class_num", Attribute.Int.class).attr("background_label", 0)
                .attr("overlap_threshold", 0.5f).attr("evaluate_difficult", true).attr("ap_type", "integral");
        Labels.define(operation, new String[]{"DetectRes", "Label", "HasState", "PosCount", "TruePos", "FalsePos"},
                new String[]{"DetectRes", "Label", "TruePos", "FalsePos"},
                new String[]{"AccumTruePos", "AccumFalsePos"}, DetectionMapOperations::infer,
                given -> new Counts(given).labels()).register(registry);
    }

    private static void infer(Inference inference) {
        long[] detections = inference.dims("DetectRes");
        long[] objects = inference.dims("Label");
        Attrs attrs = inference.attrs();
        inference.require(detections.length == 2 && (detections[1] == 6 || detections[1] < 0),
                "DetectRes must be [detections, 6], but is %s", Numbers.text(detections));
        inference.require(objects.length == 2 && (objects[1] == 5 || objects[1] == 6 || objects[1] < 0),
                "Label must be [objects, 5] or [objects, 6], but is %s", Numbers.text(objects));
        inference.require(inference.dtype("DetectRes").isFloating(),
                "DetectRes must be of a floating-point type, but is %s", inference.dtype("DetectRes"));
        inference.require(attrs.getInt("class_num") > 0 && attrs.getInt("class_num") <= 1 << 24,
                "the attribute 'class_num' must be from 1 on, but is %d", attrs.getInt("class_num"));
        String type = attrs.getText("ap_type");
        inference.require(type.equals("integral") || type.equals("11point"),
                "the attribute 'ap_type' must be integral or 11point, but is '%s'", type);
        inference.require(!inference.has("PosCount") || (inference.has("TruePos") && inference.has("FalsePos")),
                "it needs TruePos and FalsePos with %s", "PosCount");
        inference.set("MAP", inference.dtype("DetectRes"), 1);
        if (!inference.isForRun()) {
            for (String slot : List.of("AccumPosCount", "AccumTruePos", "AccumFalsePos")) {
                inference.asDeclared(slot);
            }
        }
    }

    /** A detection, and whether it is right. */
    private record Detection(double score, boolean isRight) {
    }

    /** A box with its class; that of an object may be difficult to detect, that of a detection has a score. */
    @SuppressWarnings("ArrayRecordComponent") // Of this class alone, and never compared.
    private record Box(int kind, double score, boolean isDifficult, double[] sides) {
    }

    /** The objects and detections of each class until now. */
    private static final class Counts {
        private final Given given;
        private final Boxes rounding;
        private final Map<Integer, Integer> objects = new TreeMap<>();
        private final Map<Integer, List<Detection>> right = new TreeMap<>();
        private final Map<Integer, List<Detection>> wrong = new TreeMap<>();

        Counts(Given given) {
            this.given = given;
            rounding = Boxes.of(given.dtype("DetectRes"));
        }

        ComputedOutputs labels() {
            if (given.has("HasState") && given.has("PosCount") && given.numbers("HasState")[0] != 0) {
                continued();
            }
            int width = Math.toIntExact(given.dims("Label")[1]);
            double[] labels = given.numbers("Label");
            double[] detections = given.numbers("DetectRes");
            int[] objectOffsets = given.offsets("Label", labels.length / width);
            int[] offsets = given.offsets("DetectRes", detections.length / 6);
            given.sameImages(objectOffsets.length - 1, "DetectRes", offsets);
            for (int n = 0; n + 1 < offsets.length; n++) {
                List<Box> known = new ArrayList<>();
                for (int i = objectOffsets[n]; i < objectOffsets[n + 1]; i++) {
                    boolean difficult = width == 6 && Math.abs(labels[width * i + 1]) >= 1e-6;
                    known.add(new Box((int) labels[width * i], 0, difficult,
                            Arrays.copyOfRange(labels, width * i + width - 4, width * i + width)));
                }
                List<Box> found = new ArrayList<>();
                for (int i = offsets[n]; i < offsets[n + 1]; i++) {
                    found.add(new Box((int) detections[6 * i], detections[6 * i + 1], false,
                            Arrays.copyOfRange(detections, 6 * i + 2, 6 * i + 6)));
                }
                image(known, found);
            }
            return results();
        }

        private void continued() {
            double[] counts = given.numbers("PosCount");
            for (int i = 0; i < Math.min(counts.length, given.attrs().getInt("class_num")); i++) {
                objects.put(i, (int) counts[i]);
            }
            continued("TruePos", right);
            continued("FalsePos", wrong);
        }

        private void continued(String slot, Map<Integer, List<Detection>> into) {
            double[] rows = given.numbers(slot);
            int[] offsets = given.offsets(slot, rows.length / 2);
            for (int kind = 0; kind + 1 < offsets.length; kind++) {
                for (int i = offsets[kind]; i < offsets[kind + 1]; i++) {
                    into.computeIfAbsent(kind, _ -> new ArrayList<>())
                            .add(new Detection(rows[2 * i], (int) rows[2 * i + 1] != 0));
                }
            }
        }

        private void image(List<Box> known, List<Box> found) {
            boolean all = given.attrs().getBool("evaluate_difficult");
            for (Box each : known) {
                if (all || !each.isDifficult()) {
                    objects.merge(each.kind(), 1, Integer::sum);
                }
            }
            Map<Integer, List<Box>> byKind = new TreeMap<>();
            found.forEach(each -> byKind.computeIfAbsent(each.kind(), _ -> new ArrayList<>()).add(each));
            byKind.forEach((kind, detections) -> {
                List<Box> candidates = known.stream().filter(each -> each.kind() == kind).toList();
                if (!candidates.isEmpty()) {
                    detections.sort(Comparator.comparingDouble((Box each) -> -each.score()));
                }
                boolean[] taken = new boolean[candidates.size()];
                detections.forEach(each -> detection(each, candidates, taken, all));
            });
        }

        private void detection(Box detection, List<Box> candidates, boolean[] taken, boolean all) {
            double most = -1;
            int best = -1;
            for (int i = 0; i < candidates.size(); i++) {
                double overlap = overlap(clipped(detection.sides()), candidates.get(i).sides());
                if (overlap > most) {
                    most = overlap;
                    best = i;
                }
            }
            boolean isMatch = best >= 0 && most > given.attrs().getFloat("overlap_threshold");
            if (isMatch && !all && candidates.get(best).isDifficult()) {
                return;
            }
            boolean isRight = isMatch && !taken[best];
            if (isRight) {
                taken[best] = true;
            }
            right.computeIfAbsent(detection.kind(), _ -> new ArrayList<>())
                    .add(new Detection(detection.score(), isRight));
            wrong.computeIfAbsent(detection.kind(), _ -> new ArrayList<>())
                    .add(new Detection(detection.score(), !isRight));
        }

        private static double[] clipped(double[] box) {
            return Arrays.stream(box).map(side -> Math.clamp(side, 0.0, 1.0)).toArray();
        }

        private double area(double[] box) {
            return rounding.rounded(rounding.rounded(box[2] - box[0]) * rounding.rounded(box[3] - box[1]));
        }

        private double overlap(double[] a, double[] b) {
            if (b[0] > a[2] || b[2] < a[0] || b[1] > a[3] || b[3] < a[1]) {
                return 0;
            }
            double common = area(new double[]{Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.min(a[2], b[2]),
                    Math.min(a[3], b[3])});
            return rounding.rounded(common / rounding.rounded(rounding.rounded(area(a) + area(b)) - common));
        }

        private ComputedOutputs results() {
            int classes = given.attrs().getInt("class_num");
            double[] counts = new double[WorkingMemory.length(classes)];
            objects.forEach((kind, count) -> {
                if (kind >= 0 && kind < classes) {
                    counts[kind] = count;
                }
            });
            ComputedOutputs results = new ComputedOutputs();
            results.add("AccumPosCount", DType.INT32, counts, Lod.NONE, classes, 1);
            set(results, "AccumTruePos", right, classes);
            set(results, "AccumFalsePos", wrong, classes);
            results.add("MAP", given.dtype("DetectRes"), new double[]{mean()}, Lod.NONE, 1);
            return results;
        }

        private void set(ComputedOutputs results, String slot, Map<Integer, List<Detection>> all, int classes) {
            List<Detection> rows = new ArrayList<>();
            long[] ends = new long[WorkingMemory.length(classes + 1L)];
            for (int kind = 0; kind < classes; kind++) {
                rows.addAll(all.getOrDefault(kind, List.of()));
                ends[kind + 1] = rows.size();
            }
            double[] values = new double[2 * rows.size()];
            for (int i = 0; i < rows.size(); i++) {
                values[2 * i] = rows.get(i).score();
                values[2 * i + 1] = rows.get(i).isRight() ? 1 : 0;
            }
            results.add(slot, given.dtype("DetectRes"), values, Lod.of(ends), rows.size(), 2);
        }

        /** As in PaddlePaddle, a class counts unless its number of objects is the number of the background class. */
        private double mean() {
            double sum = 0;
            int count = 0;
            for (Map.Entry<Integer, Integer> each : objects.entrySet()) {
                if (each.getValue() != given.attrs().getInt("background_label")) {
                    count++;
                    if (right.containsKey(each.getKey())) {
                        sum += precision(each.getKey(), each.getValue());
                    }
                }
            }
            return count == 0 ? 0 : sum / count;
        }

        private double precision(int kind, int positives) {
            int[] hits = sums(right.getOrDefault(kind, List.of()));
            int[] misses = sums(wrong.getOrDefault(kind, List.of()));
            double[] precision = new double[hits.length];
            double[] recall = new double[hits.length];
            for (int i = 0; i < hits.length; i++) {
                precision[i] = rounding.rounded((double) hits[i] / (hits[i] + misses[i]));
                recall[i] = rounding.rounded((double) hits[i] / positives);
            }
            return given.attrs().getText("ap_type").equals("integral")
                    ? integral(precision, recall)
                    : elevenPoints(precision, recall);
        }

        /** How many are marked among the detections with the highest scores. */
        private static int[] sums(List<Detection> detections) {
            List<Detection> sorted = new ArrayList<>(detections);
            sorted.sort(Comparator.comparingDouble((Detection each) -> -each.score()));
            int[] sums = new int[sorted.size()];
            int sum = 0;
            for (int i = 0; i < sums.length; i++) {
                sum += sorted.get(i).isRight() ? 1 : 0;
                sums[i] = sum;
            }
            return sums;
        }

        /** The area below the precision over the recall, summed in float32. */
        private static double integral(double[] precision, double[] recall) {
            float sum = 0;
            float before = 0;
            for (int i = 0; i < recall.length; i++) {
                double step = Math.abs(recall[i] - before);
                sum = (float) (sum + (step > 1e-6 ? precision[i] * step : 0));
                before = (float) recall[i];
            }
            return sum;
        }

        /** The mean over recalls of 0, 0.1, …, 1 of the best precision with such a recall or a higher one. */
        private static double elevenPoints(double[] precision, double[] recall) {
            double sum = 0;
            for (int point = 0; point <= 10; point++) {
                double best = 0;
                for (int i = 0; i < recall.length; i++) {
                    best = recall[i] >= point / 10.0 ? Math.max(best, precision[i]) : best;
                }
                sum += best / 11;
            }
            return sum;
        }
    }
}
