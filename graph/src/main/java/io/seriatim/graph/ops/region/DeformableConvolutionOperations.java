package io.seriatim.graph.ops.region;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.network.BilinearSamples;
import io.seriatim.tensor.computation.network.BilinearSamplesGradImages;
import io.seriatim.tensor.computation.network.BilinearSamplesGradPlaces;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Convolutions whose elements are moved by offsets and, in the second version, multiplied by a mask (Zhu et al.:
 * Deformable ConvNets v2, 2018). The samples of an image are the columns of a matrix, which is multiplied by the
 * weights.
 */
public final class DeformableConvolutionOperations {
    /** The elements of the samples that are in memory at once, unless an image has more. */
    private static final long MOST_ELEMENTS = 1 << 24;

    private DeformableConvolutionOperations() {
    }

    public static void register(Operations registry) {
        define(registry, "deformable_conv", true);
        define(registry, "deformable_conv_v1", false);
    }

    private static void define(Operations registry, String type, boolean masked) {
        Operation.Builder forward = Operation.define(type).in("Input", "Offset", "Filter").out("Output").sharesNoLod();
        if (masked) {
            forward.in("Mask");
        }
        forward.attr("strides", new int[]{1, 1}).attr("paddings", new int[]{0, 0})
                .attr("dilations", new int[]{1, 1}).attr("deformable_groups", 1).attr("groups", 1)
                .attr("im2col_step", 64).infer(inference -> infer(inference, masked))
                .lower(DeformableConvolutionOperations::forward)
                .grad(type + "_grad(Filter, Input" + (masked ? ", Mask" : "")
                        + ", Offset, Output@GRAD) -> Filter@GRAD, "
                        + "Input@GRAD" + (masked ? ", Mask@GRAD" : "") + ", Offset@GRAD",
                        DeformableConvolutionOperations::backward)
                .register(registry);
    }

    private static int[] pair(Inference inference, String attribute, int least) {
        int[] pair = inference.attrs().getInts(attribute);
        inference.require(pair.length == 2 && pair[0] >= least && pair[1] >= least,
                "the attribute '%s' must be two numbers from %d on, but is %s", attribute, least,
                Numbers.text(pair));
        return pair;
    }

    private static void infer(Inference inference, boolean masked) {
        long[] x = inference.dims("Input");
        long[] w = inference.dims("Filter");
        inference.require(x.length == 4 && w.length == 4,
                "Input and Filter must have four dimensions, but are %s and %s", Numbers.text(x),
                Numbers.text(w));
        inference.require(inference.dtype("Input").isFloating(), "Input must be of a floating-point type, but is %s",
                inference.dtype("Input"));
        int groups = Regions.positive(inference, "groups");
        int deformable = Regions.positive(inference, "deformable_groups");
        Regions.positive(inference, "im2col_step");
        inference.require(x[1] < 0 || w[1] < 0 || x[1] == w[1] * groups,
                "Input's channels (%d) must be the groups (%d) times dimension 1 of Filter (%d)", x[1], groups, w[1]);
        inference.require(w[0] < 0 || (w[0] > 0 && w[0] % groups == 0),
                "dimension 0 of Filter (%d) must be a multiple of the groups (%d)", w[0], groups);
        inference.require(x[1] < 0 || x[1] % deformable == 0,
                "Input's channels (%d) must be a multiple of the deformable_groups (%d)", x[1], deformable);
        int[] strides = pair(inference, "strides", 1);
        int[] paddings = pair(inference, "paddings", 0);
        int[] dilations = pair(inference, "dilations", 1);
        long[] out = {x[0], w[0], -1, -1};
        for (int i = 0; i < 2; i++) {
            long extent = w[2 + i] < 0 ? -1 : dilations[i] * (w[2 + i] - 1) + 1;
            if (x[2 + i] >= 0 && extent >= 0) {
                out[2 + i] = Math.floorDiv(x[2 + i] + 2L * paddings[i] - extent, (long) strides[i]) + 1;
                inference.require(w[2 + i] > 0 && x[2 + i] > 0 && out[2 + i] > 0,
                        "a kernel of %d does not fit into the spatial dimension %d with its padding and dilation",
                        w[2 + i], x[2 + i]);
            }
        }
        long elements = w[2] < 0 || w[3] < 0 ? -1 : Math.multiplyExact(w[2] * w[3], (long) deformable);
        check(inference, "Offset", new long[]{x[0], elements < 0 ? -1 : 2 * elements, out[2], out[3]});
        if (masked) {
            check(inference, "Mask", new long[]{x[0], elements, out[2], out[3]});
        }
        for (String slot : List.of("Filter", "Offset", masked ? "Mask" : "Offset")) {
            inference.require(inference.dtype(slot) == inference.dtype("Input"),
                    "%s must have the type of Input, %s, but is %s", slot, inference.dtype("Input"),
                    inference.dtype(slot));
        }
        inference.set("Output", inference.dtype("Input"), out);
    }

    private static void check(Inference inference, String slot, long[] expected) {
        long[] dims = inference.dims(slot);
        boolean fits = dims.length == expected.length;
        for (int i = 0; fits && i < dims.length; i++) {
            fits = dims[i] < 0 || expected[i] < 0 || dims[i] == expected[i];
        }
        inference.require(fits, "%s must be %s, but is %s", slot, Numbers.text(expected), Numbers.text(dims));
    }

    /** Some of the images, and how they are convolved. Images and their offsets are divided into deformable groups. */
    private static final class Part {
        private final Lowering l;
        private final long images;
        private final Operand x;
        private final Operand places;
        private final @Nullable Operand mask;
        private final Operand weights;
        private final long outHeight;
        private final long outWidth;

        Part(Lowering l, long from, long to) {
            this.l = l;
            images = to - from;
            Attrs attrs = l.attrs();
            long deformable = attrs.getInt("deformable_groups");
            Operand input = l.in("Input").slice(0, from, to);
            x = l.reshape(input, images * deformable, input.dim(1) / deformable, input.dim(2), input.dim(3));
            Operand filter = l.in("Filter");
            long groups = attrs.getInt("groups");
            weights = filter.reshape(1, groups, filter.dim(0) / groups, filter.shape().slice(1, 4).size());
            Operand offset = l.in("Offset").slice(0, from, to);
            outHeight = offset.dim(2);
            outWidth = offset.dim(3);
            long elements = filter.dim(2) * filter.dim(3);
            Operand offsets = l.reshape(offset, images * deformable, elements, 2, results()).transpose(0, 2, 1, 3);
            places = l.binary(Binary.Function.ADD, offsets, grid(attrs, filter.dim(2), filter.dim(3)))
                    .reshape(images * deformable, 2, elements * results());
            mask = l.has("Mask")
                    ? l.reshape(l.in("Mask").slice(0, from, to), images * deformable, elements * results())
                    : null;
        }

        private long results() {
            return outHeight * outWidth;
        }

        /** The places of the elements of a kernel without offsets, [2, elements, results]. */
        private Operand grid(Attrs attrs, long height, long width) {
            int[] strides = attrs.getInts("strides");
            int[] paddings = attrs.getInts("paddings");
            int[] dilations = attrs.getInts("dilations");
            double[] grid = new double[WorkingMemory.length(2 * height * width, results())];
            int half = grid.length / 2;
            for (int i = 0; i < half; i++) {
                long result = i % results();
                long element = i / results();
                grid[i] = result / outWidth * strides[0] - paddings[0] + element / width * dilations[0];
                grid[half + i] = result % outWidth * strides[1] - paddings[1] + element % width * dilations[1];
            }
            return l.constant(Tensor.of(x.dtype(), grid, 2, height * width, results()));
        }

        /** The samples, [images, groups, rows of the weights, results]. */
        Operand columns() {
            return l.run(new BilinearSamples(), x, places, mask).reshape(images, weights.dim(1), weights.dim(3),
                    results());
        }

        /** Results or their gradients as matrices. */
        Operand matrices(Operand results) {
            return l.reshape(results, images, weights.dim(1), weights.dim(2), results());
        }

        /** The gradients of the samples, [images · deformable groups, channels, samples]. */
        Operand columnsGradient(Operand dout) {
            Operand gradient = l.run(new MatMul(true, false, false, List.of()), weights, dout);
            return gradient.reshape(x.dim(0), x.dim(1), places.dim(2));
        }

        void intoInput(Operand gradient, Operand to) {
            l.into(new BilinearSamplesGradImages(List.of(x.dim(2), x.dim(3))), Arrays.asList(places, mask, gradient),
                    List.of(to.reshape(x.shape().dims())));
        }

        void intoOffset(Operand gradient, @Nullable Operand offsetTo, @Nullable Operand maskTo) {
            Operand moved = offsetTo == null ? null : l.temporary(places.spec());
            Operand weighted = maskTo == null
                    ? null
                    : maskTo.reshape(places.dim(0), places.dim(2));
            l.into(new BilinearSamplesGradPlaces(), Arrays.asList(x, places, mask, gradient),
                    Arrays.asList(moved, weighted));
            if (moved != null && offsetTo != null) {
                long elements = places.dim(2) / results();
                l.into(Copy.PLAIN,
                        List.of(moved.reshape(places.dim(0), 2, elements, results()).transpose(0, 2, 1, 3)),
                        List.of(offsetTo.reshape(places.dim(0), elements, 2, results())));
            }
        }
    }

    /** How many images are treated at once. */
    private static long step(Lowering l) {
        Operand offset = l.in("Offset");
        long each = offset.shape().slice(1, 4).size() / 2 / l.attrs().getInt("deformable_groups")
                * l.in("Input").dim(1);
        return Math.clamp(MOST_ELEMENTS / Math.max(each, 1), 1, Math.max(offset.dim(0), 1));
    }

    private static void forward(Lowering l) {
        long batch = l.in("Input").dim(0);
        long step = step(l);
        Operand out = l.output("Output");
        for (long from = 0; from < batch; from += step) {
            long to = Math.min(batch, from + step);
            Part part = new Part(l, from, to);
            l.into(MatMul.PLAIN, List.of(part.weights, part.columns()), List.of(part.matrices(out.slice(0, from, to))));
        }
    }

    private static void backward(Lowering l) {
        long batch = l.in("Input").dim(0);
        long step = step(l);
        Operand weights = null;
        for (long from = 0; from < batch; from += step) {
            long to = Math.min(batch, from + step);
            Part part = new Part(l, from, to);
            Operand dout = part.matrices(l.in("Output@GRAD").slice(0, from, to));
            if (l.wants("Filter@GRAD")) {
                Operand each = l.run(new MatMul(false, true, false, List.of()), dout, part.columns());
                Operand sum = l.run(new Reduction(Reduction.Function.SUM, List.of(0), false), each);
                weights = weights == null ? sum : l.binary(Binary.Function.ADD, weights, sum);
            }
            Operand offset = part(l, "Offset@GRAD", from, to);
            Operand mask = part(l, "Mask@GRAD", from, to);
            if (l.wants("Input@GRAD") || offset != null || mask != null) {
                Operand gradient = part.columnsGradient(dout);
                if (l.wants("Input@GRAD")) {
                    part.intoInput(gradient, l.output("Input@GRAD").slice(0, from, to));
                }
                if (offset != null || mask != null) {
                    part.intoOffset(gradient, offset, mask);
                }
            }
        }
        if (l.wants("Filter@GRAD")) {
            l.out("Filter@GRAD", weights == null
                    ? l.fill(0, l.outType("Filter@GRAD", 0).spec())
                    : weights.reshape(l.outType("Filter@GRAD", 0).dims()));
        }
    }

    private static @Nullable Operand part(Lowering l, String slot, long from, long to) {
        return l.wants(slot) ? l.output(slot).slice(0, from, to) : null;
    }
}
