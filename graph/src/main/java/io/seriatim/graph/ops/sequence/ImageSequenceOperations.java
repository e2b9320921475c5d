package io.seriatim.graph.ops.sequence;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.GatherGrad;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Images as sequences of their patches. */
public final class ImageSequenceOperations {
    private static final int[] STRIDES = {1, 1};
    private static final int[] NO_PADDING = {0, 0, 0, 0};

    private ImageSequenceOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("im2sequence").in("X", "Y?").out("Out").required("kernels", Attribute.Ints.class)
                .attr("strides", STRIDES).attr("paddings", NO_PADDING).attr("out_stride", STRIDES).makesLod("Out")
                .values("Y").refuse((_, attrs) -> Patches.refusal(attrs)).infer(ImageSequenceOperations::infer)
                .lower(ImageSequenceOperations::lower)
                .grad("im2sequence_grad(X, Out@GRAD) -> X@GRAD", ImageSequenceOperations::gradient)
                .register(registry);
    }

    /** Windows of an image; padding above, left, below and right. */
    private record Patches(List<Integer> kernel, List<Integer> strides, List<Integer> padding) {
        static @Nullable String refusal(Attrs attrs) {
            int[] padding = attrs.getInts("paddings");
            for (String name : List.of("kernels", "strides", "out_stride")) {
                int[] sizes = attrs.getInts(name);
                if (sizes.length != 2 || sizes[0] < 1 || sizes[1] < 1) {
                    return name + " must be two numbers of 1 or more, but is " + Arrays.toString(sizes);
                }
            }
            return padding.length == 4 && Arrays.stream(padding).allMatch(each -> each >= 0 && each <= 1 << 20)
                    ? null
                    : "paddings must be four numbers from 0 to 1048576, but is " + Arrays.toString(padding);
        }

        static Patches of(Attrs attrs) {
            return new Patches(list(attrs.getInts("kernels")), list(attrs.getInts("strides")),
                    list(attrs.getInts("paddings")));
        }

        private static List<Integer> list(int[] values) {
            return Arrays.stream(values).boxed().toList();
        }

        long size() {
            return (long) kernel.get(0) * kernel.get(1);
        }

        /** How many patches there are along an axis of some length. */
        long count(int axis, long length) {
            return Math.floorDiv(length + padding.get(axis) + padding.get(axis + 2) - kernel.get(axis),
                    (long) strides.get(axis)) + 1;
        }

        /**
         * For each element of each patch its place in an image.
         *
         * @param x
         *            [batch, channels, height, width]
         * @param rows
         *            of patches
         * @param columns
         *            of patches
         */
        long[] places(long[] x, long rows, long columns) {
            long[] places =
                    new long[WorkingMemory.length(Math.multiplyExact(rows, columns), Math.multiplyExact(x[1], size()))];
            int at = 0;
            for (long row = 0; row < rows; row++) {
                for (long column = 0; column < columns; column++) {
                    for (long channel = 0; channel < x[1]; channel++) {
                        for (long i = 0; i < kernel.get(0); i++) {
                            long h = row * strides.get(0) + i - padding.get(0);
                            for (long j = 0; j < kernel.get(1); j++) {
                                long w = column * strides.get(1) + j - padding.get(1);
                                places[at++] = h < 0 || h >= x[2] || w < 0 || w >= x[3]
                                        ? SequenceRows.NONE
                                        : (channel * x[2] + h) * x[3] + w;
                            }
                        }
                    }
                }
            }
            return places;
        }
    }

    private static void infer(Inference inference) {
        long[] x = inference.dims("X");
        inference.require(x.length == 4, "X must have the shape [batch, channels, height, width], but has %s",
                Numbers.text(x));
        Patches patches = Patches.of(inference.attrs());
        long width = x[1] < 0 ? -1 : x[1] * patches.size();
        if (!inference.isForRun()) {
            // With the real sizes of images, Paddle infers as if each had one patch.
            boolean known = x[2] >= 0 && x[3] >= 0;
            long count = inference.has("Y") ? 1 : known ? patches.count(0, x[2]) * patches.count(1, x[3]) : -1;
            inference.set("Out", inference.dtype("X"), x[0] < 0 || count < 0 ? -1 : x[0] * count, width);
            return;
        }
        long[] counts = new long[WorkingMemory.length(x[0])];
        long[] sizes = sizes(inference.values("Y"), x, inference.attrs());
        for (int i = 0; i < counts.length; i++) {
            long rows = patches.count(0, sizes[2 * i]);
            long columns = patches.count(1, sizes[2 * i + 1]);
            inference.require(rows > 0 && columns > 0 && rows <= Integer.MAX_VALUE && columns <= Integer.MAX_VALUE,
                    "a patch of kernels %s must fit into an image of %d by %d", patches.kernel(), sizes[2 * i],
                    sizes[2 * i + 1]);
            counts[i] = Math.multiplyExact(rows, columns);
        }
        Lod lod = Lod.ofLengths(counts);
        long total = Math.max(lod.rows(), 0);
        inference.require(Math.multiplyExact(total, Math.max(width, 1)) <= Integer.MAX_VALUE / 4,
                "%d patches of %d elements are too many", total, width);
        inference.set("Out", inference.dtype("X"), total, width);
        inference.setLod("Out", lod);
    }

    /** The height and width of each image, from its real size where that is given. */
    private static long[] sizes(long @Nullable [] real, long[] x, Attrs attrs) {
        int[] stride = attrs.getInts("out_stride");
        long[] sizes = new long[WorkingMemory.length(2 * x[0])];
        if (real != null && real.length != sizes.length) {
            throw new IllegalArgumentException("Operation 'im2sequence': Y must have the height and width of each of "
                    + "the " + x[0] + " images, but has " + real.length + " elements");
        }
        for (int i = 0; i < sizes.length; i++) {
            boolean scaled = real != null && x[0] > 1;
            sizes[i] = scaled ? Math.ceilDiv(Objects.requireNonNull(real)[i], (long) stride[i % 2]) : x[2 + i % 2];
        }
        return sizes;
    }

    private static void lower(Lowering l) {
        Operand x = l.in("X");
        long[] dims = x.shape().dims();
        Patches patches = Patches.of(l.attrs());
        long[] sizes = sizes(l.values("Y"), dims, l.attrs());
        long[] out = l.outType("Out", 0).dims();
        long[] counts = new long[WorkingMemory.length(dims[0])];
        long elements = dims[1] * dims[2] * dims[3];
        boolean alike = true;
        for (int i = 0; i < counts.length; i++) {
            counts[i] = patches.count(0, sizes[2 * i]) * patches.count(1, sizes[2 * i + 1]);
            alike &= sizes[2 * i] == sizes[0] && sizes[2 * i + 1] == sizes[1];
        }
        l.outLod("Out", Lod.ofLengths(counts));
        Operand images = x.reshape(dims[0], elements);
        if (alike && dims[0] > 0) {
            l.out("Out", l.run(new Gather(1, SequenceRows.NONE), images, places(l, patches, dims, sizes, 0))
                    .reshape(out));
            return;
        }
        Operand all = l.output("Out");
        long from = 0;
        for (int i = 0; i < counts.length; i++) {
            Operand part = l.run(new Gather(0, SequenceRows.NONE), images.select(0, i),
                    places(l, patches, dims, sizes, i)).reshape(counts[i], out[1]);
            l.into(Copy.PLAIN, List.of(part),
                    List.of(all.slice(0, from, from + counts[i])));
            from += counts[i];
        }
    }

    private static Operand places(Lowering l, Patches patches, long[] dims, long[] sizes, int image) {
        long[] places = patches.places(dims, patches.count(0, sizes[2 * image]),
                patches.count(1, sizes[2 * image + 1]));
        return l.constant(Tensor.of(places, places.length));
    }

    private static void gradient(Lowering l) {
        long[] dims = l.in("X").shape().dims();
        Patches patches = Patches.of(l.attrs());
        Operand gradient = l.in("Out@GRAD");
        long[] places = patches.places(dims, patches.count(0, dims[2]), patches.count(1, dims[3]));
        if (gradient.shape().size() != dims[0] * places.length) {
            throw new IllegalArgumentException("Operation 'im2sequence_grad': Out@GRAD must have a row for each patch "
                    + "of whole images, but is " + gradient.spec());
        }
        long elements = dims[1] * dims[2] * dims[3];
        l.out("X@GRAD", l.run(new GatherGrad(new Gather(1, SequenceRows.NONE), List.of(dims[0], elements)),
                l.reshape(gradient, dims[0], places.length), l.constant(Tensor.of(places, places.length)))
                .reshape(dims));
    }
}
