package io.seriatim.graph.ops.image;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Dims;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.GatherGrad;
import io.seriatim.tensor.computation.Pad;
import java.util.Arrays;
import java.util.List;

/** Images as columns of patches, and channels that move to places and back. */
public final class PatchOperations {
    private PatchOperations() {
    }

    public static void register(Operations registry) {
        unfold(registry);
        fold(registry);
        unshuffle(registry);
        channels(registry, Operation.define("channel_shuffle").attr("data_format", "NCHW"), "channel_shuffle",
                "groups");
        channels(registry, Operation.define("shuffle_channel"), "shuffle_channel", "group");
    }

    /**
     * Patches of an image of some height and width: window sizes, strides and dilations of both axes, and padding
     * above, left, below and right.
     */
    private static final class Patches {
        private final long height;
        private final long width;
        private final int[] kernel;
        private final int[] strides;
        private final int[] padding;
        private final int[] dilations;

        Patches(Attrs attrs, long height, long width) {
            this.height = height;
            this.width = width;
            int[] given = attrs.getInts("paddings");
            padding = given.length == 2 ? new int[]{given[0], given[1], given[0], given[1]} : given;
            kernel = attrs.getInts("kernel_sizes");
            strides = attrs.getInts("strides");
            dilations = attrs.getInts("dilations");
        }

        void check(Inference inference) {
            boolean two = kernel.length == 2 && strides.length == 2 && dilations.length == 2 && padding.length == 4;
            inference.require(two,
                    "kernel_sizes, strides and dilations must be of two numbers, and paddings of two or four");
            for (int[] each : List.of(kernel, strides, dilations)) {
                inference.require(each[0] > 0 && each[1] > 0,
                        "kernel_sizes, strides and dilations must be from 1 on, but some are %s",
                        Numbers.text(each));
            }
            inference.require(Arrays.stream(padding).allMatch(each -> each >= 0),
                    "paddings must be from 0 on, but are %s",
                    Numbers.text(padding));
            inference.require(height < 0 || rows() > 0, "a patch does not fit into the height %d", height);
            inference.require(width < 0 || columns() > 0, "a patch does not fit into the width %d", width);
        }

        private long paddedHeight() {
            return height + padding[0] + padding[2];
        }

        private long paddedWidth() {
            return width + padding[1] + padding[3];
        }

        long rows() {
            return places(paddedHeight(), 0);
        }

        long columns() {
            return places(paddedWidth(), 1);
        }

        private long places(long length, int axis) {
            return Math.floorDiv(length - ((long) dilations[axis] * (kernel[axis] - 1) + 1), (long) strides[axis]) + 1;
        }

        long size() {
            return (long) kernel[0] * kernel[1];
        }

        /** For each element of a patch and each patch, its place in the padded image. */
        Operand places(Lowering l) {
            long rows = rows();
            long columns = columns();
            long[] places = new long[WorkingMemory.length(size(), Math.multiplyExact(rows, columns))];
            int at = 0;
            for (long i = 0; i < kernel[0]; i++) {
                for (long j = 0; j < kernel[1]; j++) {
                    for (long row = 0; row < rows; row++) {
                        for (long column = 0; column < columns; column++) {
                            places[at++] = (row * strides[0] + i * dilations[0]) * paddedWidth() + column * strides[1]
                                    + j * dilations[1];
                        }
                    }
                }
            }
            return l.constant(Tensor.of(places, size(), rows * columns));
        }

        /** Of [batch, channels, height, width]: [batch, channels · size, patches]. */
        Operand cut(Lowering l, Operand x) {
            Operand padded = l.run(new Pad(List.of(0L, 0L, (long) padding[0], (long) padding[1]),
                    List.of(0L, 0L, (long) padding[2], (long) padding[3]), Pad.Mode.CONSTANT, 0), x);
            Operand flat = padded.reshape(x.dim(0), x.dim(1), paddedHeight() * paddedWidth());
            return l.run(new Gather(2, Gather.NO_PADDING), flat, places(l)).reshape(x.dim(0), x.dim(1) * size(),
                    rows() * columns());
        }

        /**
         * The sum of patches where they overlap: of [batch, channels · size, patches] [batch, channels, height, width].
         */
        Operand join(Lowering l, Operand patches) {
            long batch = patches.dim(0);
            long channels = patches.dim(1) / size();
            Operand split = l.reshape(patches, batch, channels, size(), rows() * columns());
            GatherGrad sum = new GatherGrad(new Gather(2, Gather.NO_PADDING),
                    List.of(batch, channels, paddedHeight() * paddedWidth()));
            Operand padded = l.run(sum, split, places(l)).reshape(batch, channels, paddedHeight(), paddedWidth());
            return padded.slice(2, padding[0], padding[0] + height).slice(3, padding[1], padding[1] + width);
        }
    }

    private static Operation.Builder windows(String type) {
        return Operation.define(type).in("X").out("Y").required("kernel_sizes", Attribute.Ints.class)
                .required("strides", Attribute.Ints.class).required("paddings", Attribute.Ints.class)
                .required("dilations", Attribute.Ints.class);
    }

    private static void unfold(Operations registry) {
        Operation.Builder forward = windows("unfold");
        String gradient = "unfold_grad(X, Y@GRAD) -> X@GRAD";
        forward.gradOperation(gradient, null).shapesOnly("X").lower(l -> {
            TensorSpec x = l.outType("X@GRAD", 0).spec();
            l.out("X@GRAD", new Patches(l.attrs(), x.shape().dim(2), x.shape().dim(3)).join(l, l.in("Y@GRAD")));
        }).register(registry);
        forward.infer(inference -> {
            long[] x = inference.dims("X");
            inference.require(x.length == 4, "X must have four dimensions, but has %d", x.length);
            Patches patches = new Patches(inference.attrs(), x[2], x[3]);
            patches.check(inference);
            long count = x[2] < 0 || x[3] < 0 ? -1 : patches.rows() * patches.columns();
            inference.require(count * patches.size() <= Integer.MAX_VALUE / 16, "%d patches are too many", count);
            inference.set("Y", inference.dtype("X"), x[0], Dims.times(x[1], patches.size()), count);
        }).lower(l -> l.out("Y", new Patches(l.attrs(), l.in("X").dim(2), l.in("X").dim(3)).cut(l, l.in("X"))))
                .grad(gradient)
                .register(registry);
    }

    private static Patches ofOutput(Attrs attrs) {
        int[] sizes = attrs.getInts("output_sizes");
        return new Patches(attrs, sizes[0], sizes[1]);
    }

    private static void fold(Operations registry) {
        windows("fold").required("output_sizes", Attribute.Ints.class).infer(inference -> {
            long[] x = inference.dims("X");
            int[] sizes = inference.attrs().getInts("output_sizes");
            inference.require(x.length == 3 && sizes.length == 2 && sizes[0] > 0 && sizes[1] > 0,
                    "X must be [batch, channels of patches, patches] and output_sizes of two numbers, but they are "
                            + "%s and %s",
                    Numbers.text(x), Numbers.text(sizes));
            Patches patches = ofOutput(inference.attrs());
            patches.check(inference);
            inference.require(x[1] < 0 || x[1] % patches.size() == 0,
                    "%d must be a multiple of the %d elements of a patch", x[1],
                    patches.size());
            inference.require(x[2] < 0 || x[2] == patches.rows() * patches.columns(),
                    "X has %d patches, but %d fit into output_sizes",
                    x[2], patches.rows() * patches.columns());
            inference.set("Y", inference.dtype("X"), x[0], x[1] < 0 ? -1 : x[1] / patches.size(), sizes[0], sizes[1]);
        }).lower(l -> l.out("Y", ofOutput(l.attrs()).join(l, l.in("X"))))
                .grad("fold_grad(X, Y@GRAD) -> X@GRAD",
                        l -> l.out("X@GRAD", ofOutput(l.attrs()).cut(l, l.in("Y@GRAD"))))
                .register(registry);
    }

    private static boolean channelsLast(Attrs attrs) {
        return attrs.has("data_format") && attrs.getText("data_format").equals("NHWC");
    }

    private static void requireImage(Inference inference, String slot) {
        String format = inference.attrs().has("data_format") ? inference.attrs().getText("data_format") : "NCHW";
        inference.require(List.of("NCHW", "NHWC").contains(format), "data_format must be NCHW or NHWC, but is %s",
                format);
        inference.require(inference.dims(slot).length == 4, "%s must have four dimensions, but has %d", slot,
                inference.dims(slot).length);
    }

    private static void unshuffle(Operations registry) {
        Operation.define("pixel_unshuffle").in("X").out("Out").attr("downscale_factor", 1).attr("data_format", "NCHW")
                .infer(inference -> {
                    requireImage(inference, "X");
                    long factor = inference.attrs().getInt("downscale_factor");
                    inference.require(factor > 0 && factor <= 1 << 15,
                            "downscale_factor must be from 1 to 32768, but is %d", factor);
                    long[] dims = inference.dims("X");
                    int height = channelsLast(inference.attrs()) ? 1 : 2;
                    int channel = height == 1 ? 3 : 1;
                    for (int i = height; i < height + 2; i++) {
                        inference.require(dims[i] < 0 || dims[i] % factor == 0,
                                "dimension %d of X must be a multiple of %d, but is %d", i, factor,
                                dims[i]);
                        dims[i] = dims[i] < 0 ? -1 : dims[i] / factor;
                    }
                    dims[channel] = Dims.times(dims[channel], factor * factor);
                    inference.set("Out", inference.dtype("X"), dims);
                }).lower(l -> {
                    int[] order = channelsLast(l.attrs()) ? new int[]{0, 3, 1, 2} : new int[]{0, 1, 2, 3};
                    Operand x = l.copy(l.in("X").transpose(order));
                    long factor = l.attrs().getInt("downscale_factor");
                    Operand split = x.reshape(x.dim(0), x.dim(1), x.dim(2) / factor, factor, x.dim(3) / factor, factor)
                            .transpose(0, 1, 3, 5, 2, 4);
                    Operand out = l.copy(split).reshape(x.dim(0), x.dim(1) * factor * factor, x.dim(2) / factor,
                            x.dim(3) / factor);
                    l.out("Out", channelsLast(l.attrs()) ? out.transpose(0, 2, 3, 1) : out);
                }).grad("pixel_unshuffle_grad(Out@GRAD) -> X@GRAD", inference -> {
                    requireImage(inference, "Out@GRAD");
                    long factor = inference.attrs().getInt("downscale_factor");
                    long[] dims = inference.dims("Out@GRAD");
                    int height = channelsLast(inference.attrs()) ? 1 : 2;
                    int channel = height == 1 ? 3 : 1;
                    dims[height] = Dims.times(dims[height], factor);
                    dims[height + 1] = Dims.times(dims[height + 1], factor);
                    dims[channel] = dims[channel] < 0 ? -1 : dims[channel] / (factor * factor);
                    inference.set("X@GRAD", inference.dtype("Out@GRAD"), dims);
                }, l -> {
                    int[] order = channelsLast(l.attrs()) ? new int[]{0, 3, 1, 2} : new int[]{0, 1, 2, 3};
                    Operand dout = l.copy(l.in("Out@GRAD").transpose(order));
                    long factor = l.attrs().getInt("downscale_factor");
                    long channels = dout.dim(1) / (factor * factor);
                    Operand split = dout.reshape(dout.dim(0), channels, factor, factor, dout.dim(2), dout.dim(3))
                            .transpose(0, 1, 4, 2, 5, 3);
                    Operand dx = l.copy(split).reshape(dout.dim(0), channels, dout.dim(2) * factor,
                            dout.dim(3) * factor);
                    l.out("X@GRAD", channelsLast(l.attrs()) ? dx.transpose(0, 2, 3, 1) : dx);
                }).register(registry);
    }

    /** Channels are in groups; afterwards come the first ones of all groups, then the second ones. */
    private static void channels(Operations registry, Operation.Builder operation, String type, String groups) {
        operation.in("X").out("Out").sharesNoLod().attr(groups, 1).infer(inference -> {
            requireImage(inference, "X");
            long channels = inference.dims("X")[channelsLast(inference.attrs()) ? 3 : 1];
            int count = inference.attrs().getInt(groups);
            inference.require(count > 0 && (channels < 0 || channels % count == 0),
                    "the %d channels must be a multiple of %s, %d",
                    channels,
                    groups, count);
            inference.same("X", "Out");
        }).lower(l -> l.out("Out", exchanged(l, l.in("X"), l.attrs().getInt(groups), true)))
                .grad(type + "_grad(Out@GRAD) -> X@GRAD", inference -> inference.same("Out@GRAD", "X@GRAD"),
                        l -> l.out("X@GRAD", exchanged(l, l.in("Out@GRAD"), l.attrs().getInt(groups), false)))
                .register(registry);
    }

    private static Operand exchanged(Lowering l, Operand x, long groups, boolean forward) {
        int axis = channelsLast(l.attrs()) ? 3 : 1;
        long[] dims = x.shape().dims();
        long each = dims[axis] / groups;
        long[] split = Dims.inserted(dims, axis + 1, forward ? each : groups);
        split[axis] = forward ? groups : each;
        int[] order = {0, 1, 2, 3, 4};
        order[axis] = axis + 1;
        order[axis + 1] = axis;
        return l.copy(l.reshape(x, split).transpose(order)).reshape(dims);
    }
}
