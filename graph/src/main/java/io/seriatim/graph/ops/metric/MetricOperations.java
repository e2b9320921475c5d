package io.seriatim.graph.ops.metric;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Reduction;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Accuracy of a batch, and the area under the curve of a classifier over many batches. */
public final class MetricOperations {
    private MetricOperations() {
    }

    /**
     * The area under a classifier's curve, out of how many samples of each class have which probability. Paddle names
     * the attribute curve and does not read it on a processor: the curve is always the receiver's operating
     * characteristic.
     */
    public static void register(Operations registry) {
        Operation.define("auc").in("Predict", "Label", "StatPos", "StatNeg", "InsTagWeight?")
                .out("AUC", "StatPosOut", "StatNegOut")
                .attr("curve", "ROC").attr("num_thresholds", 8191).attr("slide_steps", 1).infer(inference -> {
                    samples(inference);
                    Buckets buckets = Buckets.of(inference.attrs());
                    inference.require(buckets.thresholds() >= 1, "num_thresholds must be 1 or more, but is %d",
                            buckets.thresholds());
                    inference.require(buckets.window() >= 0, "slide_steps must be 0 or more, but is %d",
                            buckets.window());
                    buckets(inference, "StatPos", buckets);
                    buckets(inference, "StatNeg", buckets);
                    inference.set("AUC", DType.FLOAT64);
                }).lower(l -> {
                    Buckets buckets = Buckets.of(l.attrs());
                    Operand area = l.output("AUC");
                    Operand positive = l.mutable("StatPos", "StatPosOut");
                    Operand negative = l.mutable("StatNeg", "StatNegOut");
                    l.call("auc", buckets::update,
                            Arrays.asList(l.in("Predict"), l.in("Label"), l.optional("InsTagWeight")),
                            List.of(area, positive, negative));
                }).register(registry);
        accuracy(registry);
    }

    private static void samples(Inference inference) {
        DType dtype = inference.dtype("Predict");
        long[] dims = inference.dims("Predict");
        inference.require((dtype == DType.FLOAT32 || dtype == DType.FLOAT64) && dims.length == 2,
                "Predict must have the shape [samples, classes] and be float32 or float64, but is %s %s", dtype,
                Numbers.text(dims));
        inference.require(dims[1] != 0, "Predict needs a class");
        DType label = inference.dtype("Label");
        inference.require(label == DType.INT32 || label == DType.INT64, "Label must be int32 or int64, but is %s",
                label);
        long labels = Inference.size(inference.dims("Label"));
        inference.require(labels < 0 || dims[0] < 0 || labels == dims[0],
                "there must be a label for each of the %d samples, but are %d",
                dims[0], labels);
    }

    private static void buckets(Inference inference, String slot, Buckets buckets) {
        long size = Inference.size(inference.dims(slot));
        inference.require(inference.dtype(slot) == DType.INT64 && (size < 0 || size == buckets.size()),
                "%s must be int64 with %d elements, but is %s with %d", slot, buckets.size(), inference.dtype(slot),
                size);
        inference.same(slot, slot + "Out");
    }

    /**
     * Counts of samples by probability. Without a window, one count for each range. With a window of some batches, the
     * counts of each of them, then their sums, then how many batches there were: the newest takes the place of the
     * oldest.
     */
    private record Buckets(int thresholds, int window) {
        static Buckets of(Attrs attrs) {
            return new Buckets(attrs.getInt("num_thresholds"), attrs.getInt("slide_steps"));
        }

        long size() {
            return window == 0 ? thresholds + 1L : (window + 1L) * (thresholds + 1L) + 1;
        }

        void update(List<@Nullable Tensor> in, List<@Nullable Tensor> out) {
            Tensor predict = tensor(in.get(0));
            Tensor weight = in.get(2);
            boolean fake = weight != null && weight.toDoubleArray()[0] == 0;
            long[] positive = tensor(out.get(1)).toLongArray();
            long[] negative = tensor(out.get(2)).toLongArray();
            int place = window == 0 ? 0 : Math.toIntExact(positive[positive.length - 1] % window) * (thresholds + 1);
            if (window > 0) {
                leave(positive, place);
                leave(negative, place);
            }
            if (window > 0 || !fake) {
                count(predict, tensor(in.get(1)).toLongArray(), positive, negative, place);
            }
            if (window > 0) {
                enter(positive, place, fake);
                enter(negative, place, fake);
            }
            Elements.write(positive, tensor(out.get(1)));
            Elements.write(negative, tensor(out.get(2)));
            Elements.write(new double[]{area(positive, negative)}, tensor(out.get(0)));
        }

        /** The oldest batch is no longer part of the sums. */
        private void leave(long[] counts, int place) {
            for (int i = 0; i <= thresholds; i++) {
                counts[sums() + i] -= counts[place + i];
                counts[place + i] = 0;
            }
        }

        /**
         * As in Paddle, a batch of weight 0 is not added to the sums, but its counts are stored, and subtracted from
         * the sums when they are replaced.
         */
        private void enter(long[] counts, int place, boolean fake) {
            for (int i = 0; i <= thresholds && !fake; i++) {
                counts[sums() + i] += counts[place + i];
            }
            counts[counts.length - 1]++;
        }

        private int sums() {
            return window * (thresholds + 1);
        }

        /** The last class is the one whose probability counts. Labels below 0 are of neither kind. */
        private void count(Tensor predict, long[] labels, long[] positive, long[] negative, int place) {
            double[] probabilities = predict.toDoubleArray();
            int classes = Math.toIntExact(predict.shape().dim(1));
            for (int i = 0; i < labels.length; i++) {
                double probability = probabilities[(i + 1) * classes - 1];
                if (!(probability >= 0 && probability <= 1)) {
                    throw new IllegalArgumentException(
                            "Operation 'auc': probabilities in Predict must be from 0 to 1, but that of sample " + i
                                    + " is "
                                    + probability);
                }
                // In the type of Predict, so that a probability at the end of a range is counted where Paddle counts
                // it.
                double range = predict.dtype() == DType.FLOAT32
                        ? (float) probability * thresholds
                        : probability * thresholds;
                if (labels[i] >= 0) {
                    (labels[i] > 0 ? positive : negative)[place + (int) range]++;
                }
            }
        }

        /** Of trapezoids, from the highest probability on. */
        private double area(long[] positive, long[] negative) {
            double area = 0;
            double above = 0;
            double beside = 0;
            for (int i = sums() + thresholds; i >= sums(); i--) {
                area += negative[i] * (2 * above + positive[i]) / 2;
                above += positive[i];
                beside += negative[i];
            }
            return above > 0 && beside > 0 ? area / above / beside : area;
        }

        private static Tensor tensor(@Nullable Tensor tensor) {
            return Objects.requireNonNull(tensor);
        }
    }

    private static void accuracy(Operations registry) {
        Operation.define("accuracy").in("Out", "Indices", "Label").out("Accuracy", "Correct", "Total")
                .infer(inference -> {
                    long[] indices = inference.dims("Indices");
                    long[] label = inference.dims("Label");
                    inference.require(inference.dtype("Out").isFloating(),
                            "Out must be of floating-point numbers, but is %s",
                            inference.dtype("Out"));
                    inference.require(
                            !inference.dtype("Indices").isFloating() && !inference.dtype("Label").isFloating(),
                            "Indices and Label must be whole numbers, but are %s and %s", inference.dtype("Indices"),
                            inference.dtype("Label"));
                    inference.require(indices.length == 2 && label.length == 2 && (label[1] == 1 || label[1] < 0),
                            "Indices must be [n, k] and Label [n, 1], but are %s and %s", Numbers.text(indices),
                            Numbers.text(label));
                    inference.require(indices[0] < 0 || label[0] < 0 || indices[0] == label[0],
                            "Indices and Label must have one length, but have %d and %d", indices[0], label[0]);
                    inference.set("Accuracy", DType.FLOAT32);
                    inference.set("Correct", DType.INT32);
                    inference.set("Total", DType.INT32);
                }).lower(l -> {
                    Operand indices = l.cast(l.in("Indices"), DType.INT64);
                    Operand hits = l.binary(Binary.Function.EQUAL, indices, l.cast(l.in("Label"), DType.INT64));
                    Operand rows = l.run(new Reduction(Reduction.Function.ANY, List.of(1), false), hits);
                    Operand correct = l.run(new Reduction(Reduction.Function.SUM, List.of(), false),
                            l.cast(rows, DType.INT32));
                    long count = indices.dim(0);
                    l.out("Correct", correct);
                    l.out("Total", l.number(DType.INT32, (double) count));
                    l.out("Accuracy",
                            l.binary(Binary.Function.DIVIDE, l.cast(correct, DType.FLOAT32),
                                    l.number(DType.FLOAT32, (double) Math.max(1, count))));
                }).register(registry);
    }
}
