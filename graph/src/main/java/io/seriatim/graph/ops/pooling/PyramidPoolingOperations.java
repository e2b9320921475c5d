package io.seriatim.graph.ops.pooling;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.Step;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.program.Attribute;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * Spatial pyramid pooling (He et al., 2014): level p of an image has 2ᵖ bins along each axis; the elements of all
 * levels are one row.
 */
public final class PyramidPoolingOperations {
    /** A level has 4ᵖ bins: more of them than any image has elements. */
    private static final int MOST_LEVELS = 15;

    private PyramidPoolingOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("spp").in("X").out("Out").sharesNoLod().required("pyramid_height", Attribute.Int.class)
                .required("pooling_type", Attribute.Text.class).infer(PyramidPoolingOperations::infer)
                .lower(PyramidPoolingOperations::pool)
                .grad("spp_grad(Out, Out@GRAD, X) -> X@GRAD", PyramidPoolingOperations::gradient).register(registry);
    }

    private static void infer(Inference inference) {
        long[] x = inference.dims("X");
        int levels = inference.attrs().getInt("pyramid_height");
        String type = inference.attrs().getText("pooling_type");
        inference.require(x.length == 4, "X must have four dimensions, but is %s", Numbers.text(x));
        inference.require(x[2] != 0 && x[3] != 0, "the images of X must not be empty, but X is %s",
                Numbers.text(x));
        inference.require(inference.dtype("X").isFloating(), "X must be of a floating-point type, but is %s",
                inference.dtype("X"));
        inference.require(levels > 0 && levels <= MOST_LEVELS,
                "the attribute 'pyramid_height' must be from 1 to %d, but is %d", MOST_LEVELS, levels);
        inference.require(type.equals("max") || type.equals("avg"),
                "the attribute 'pooling_type' must be max or avg, but is '%s'", type);
        inference.set("Out", inference.dtype("X"), x[0], x[1] < 0 ? -1 : Math.multiplyExact(x[1], bins(levels)));
    }

    /** How many bins some levels have together. */
    private static long bins(int levels) {
        return ((1L << (2 * levels)) - 1) / 3;
    }

    /** The bins of a level along an axis. */
    private record Axis(int length, int size, int padding) {
        static Axis of(int length, int bins) {
            int size = Math.ceilDiv(length, bins);
            return new Axis(length, size, (size * bins - length + 1) / 2);
        }

        int from(int bin) {
            return Math.max(0, bin * size - padding);
        }

        int to(int bin) {
            return Math.min(length, (bin + 1) * size - padding);
        }
    }

    /** What is done with a bin: its number in the result, the image's first element, and its rows and columns. */
    @FunctionalInterface
    private interface BinWork {
        void bin(int result, int plane, int top, int bottom, int left, int right);
    }

    private static void each(Operand x, int levels, BinWork work) {
        int channels = Math.toIntExact(x.dim(1));
        int height = Math.toIntExact(x.dim(2));
        int width = Math.toIntExact(x.dim(3));
        int row = Math.toIntExact(channels * bins(levels));
        for (int level = 0; level < levels; level++) {
            int bins = 1 << level;
            Axis rows = Axis.of(height, bins);
            Axis columns = Axis.of(width, bins);
            for (int plane = 0; plane < x.dim(0) * channels; plane++) {
                int first = plane / channels * row + (int) bins(level) * channels
                        + plane % channels * bins * bins;
                for (int i = 0; i < bins * bins; i++) {
                    work.bin(first + i, plane * height * width, rows.from(i / bins), rows.to(i / bins),
                            columns.from(i % bins), columns.to(i % bins));
                }
            }
        }
    }

    private static void pool(Lowering l) {
        Operand x = l.in("X");
        Operand out = l.temporary(l.outType("Out", 0).spec());
        boolean largest = l.attrs().getText("pooling_type").equals("max");
        int levels = l.attrs().getInt("pyramid_height");
        int width = Math.toIntExact(x.dim(3));
        l.call("spp", (in, results) -> {
            double[] elements = Objects.requireNonNull(in.getFirst()).toDoubleArray();
            double[] pooled = new double[WorkingMemory.length(out.shape().size())];
            each(x, levels, (result, plane, top, bottom, left, right) -> {
                double value = largest ? -Float.MAX_VALUE : 0;
                for (int i = top; i < bottom; i++) {
                    for (int j = left; j < right; j++) {
                        double element = elements[plane + i * width + j];
                        value = largest ? Math.max(value, element) : value + element;
                    }
                }
                pooled[result] = largest ? value : value / ((double) (bottom - top) * (right - left));
            });
            Elements.write(pooled, Objects.requireNonNull(results.getFirst()));
        }, List.of(x), List.of(out));
        l.out("Out", out);
    }

    private static void gradient(Lowering l) {
        Operand x = l.in("X");
        Operand dx = l.temporary(l.outType("X@GRAD", 0).spec());
        boolean largest = l.attrs().getText("pooling_type").equals("max");
        int levels = l.attrs().getInt("pyramid_height");
        l.call("spp_grad", new Step.Differentiable(spread(x, levels, largest, false), (next, in, _, gradients) -> {
            Operand taken = next.temporary(in.get(2).spec());
            next.call("spp of the places of another", spread(x, levels, largest, true),
                    List.of(in.get(0), in.get(1), Objects.requireNonNull(gradients.getFirst())), List.of(taken));
            return Arrays.asList(null, null, taken);
        }), List.of(x, l.in("Out"), l.in("Out@GRAD")), List.of(dx));
        l.out("X@GRAD", dx);
    }

    /**
     * Spreads gradients over the elements of their bins; the gradient of a maximum goes to the first of the elements
     * that equal it. The gradient of that is linear too: it takes elements from where the gradients went.
     */
    private static Step.HostFunction spread(Operand x, int levels, boolean largest, boolean taken) {
        int width = Math.toIntExact(x.dim(3));
        return (in, results) -> {
            double[] elements = Objects.requireNonNull(in.get(0)).toDoubleArray();
            double[] pooled = Objects.requireNonNull(in.get(1)).toDoubleArray();
            double[] from = Objects.requireNonNull(in.get(2)).toDoubleArray();
            double[] sums = new double[taken ? pooled.length : elements.length];
            each(x, levels, (result, plane, top, bottom, left, right) -> {
                double share = largest ? 1 : 1 / ((double) (bottom - top) * (right - left));
                boolean open = true;
                for (int i = top; i < bottom && open; i++) {
                    for (int j = left; j < right && open; j++) {
                        int at = plane + i * width + j;
                        if (!largest || elements[at] == pooled[result]) {
                            sums[taken ? result : at] += share * from[taken ? at : result];
                            open = !largest;
                        }
                    }
                }
            });
            Elements.write(sums, Objects.requireNonNull(results.getFirst()));
        };
    }
}
