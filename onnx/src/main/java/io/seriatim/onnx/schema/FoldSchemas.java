package io.seriatim.onnx.schema;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.program.Attribute;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** Images that are put together from blocks, whose sizes may be computed. Elements where blocks overlap are added. */
final class FoldSchemas {
    private FoldSchemas() {
    }

    static void register(Operations registry) {
        Operation.define("onnx_col2im").in("X", "Image", "Block").out("Out")
                .required("strides", Attribute.Int64s.class).required("pads", Attribute.Int64s.class)
                .required("dilations", Attribute.Int64s.class).values("Image", "Block")
                .infer(FoldSchemas::infer).lower(FoldSchemas::fold)
                .grad("onnx_col2im_grad(X, Image, Block, Out@GRAD) -> X@GRAD", FoldSchemas::gradient)
                .register(registry);
    }

    private static void infer(Inference inference) {
        long[] x = inference.dims("X");
        long[] image = inference.values("Image");
        long[] block = inference.values("Block");
        int axes = inference.attrs().getLongs("strides").length;
        long count = inference.dims("Image").length == 1 ? inference.dims("Image")[0] : -1;
        inference.require(x.length == 3 && axes >= 1 && (count == axes || count < 0)
                && (image == null || image.length == axes) && (block == null || block.length == axes)
                && inference.attrs().getLongs("dilations").length == axes
                && inference.attrs().getLongs("pads").length == 2 * axes,
                "X must have three dimensions, and Image, Block, strides, dilations and pads numbers for %d axes, but "
                        + "X is %s and Image %s",
                axes, Numbers.text(x), Numbers.text(image));
        long[] dims = new long[axes + 2];
        Arrays.fill(dims, -1);
        dims[0] = x[0];
        if (image != null) {
            System.arraycopy(image, 0, dims, 2, axes);
        }
        if (block != null) {
            inference.require(Arrays.stream(block).allMatch(each -> each >= 1), "blocks have sizes from 1 on, but "
                    + "these are %s", Numbers.text(block));
            long size = product(block);
            inference.require(x[1] < 0 || x[1] % size == 0, "each column has the elements of a block for each channel, "
                    + "but %d elements are not a multiple of %d", x[1], size);
            dims[1] = x[1] < 0 ? -1 : x[1] / size;
        }
        if (image != null && block != null) {
            long columns = product(new Places(inference.attrs(), image, block).counts());
            inference.require(Arrays.stream(image).allMatch(each -> each >= 0) && (x[2] < 0 || x[2] == columns),
                    "an image of %s has %d blocks of %s, but there are %d columns", Numbers.text(image), columns,
                    Numbers.text(block), x[2]);
        }
        inference.set("Out", inference.dtype("X"), dims);
    }

    private static long product(long[] numbers) {
        return Arrays.stream(numbers).reduce(1, Math::multiplyExact);
    }

    /** Where the elements of columns are in an image. */
    private static final class Places {
        private final long[] image;
        private final long[] block;
        private final long[] strides;
        private final long[] pads;
        private final long[] dilations;

        Places(Attrs attrs, long[] image, long[] block) {
            this.image = image;
            this.block = block;
            strides = attrs.getLongs("strides");
            pads = attrs.getLongs("pads");
            dilations = attrs.getLongs("dilations");
        }

        /** The number of blocks along each axis. */
        long[] counts() {
            long[] counts = new long[image.length];
            for (int i = 0; i < counts.length; i++) {
                long room = image[i] + pads[i] + pads[i + image.length] - dilations[i] * (block[i] - 1) - 1;
                counts[i] = room < 0 ? 0 : room / Math.max(1, strides[i]) + 1;
            }
            return counts;
        }

        /** For each element of a column and each column, the place in an image; −1 outside. */
        long[] all() {
            long[] counts = counts();
            int elements = Math.toIntExact(product(block));
            int columns = Math.toIntExact(product(counts));
            long[] places = new long[WorkingMemory.length(elements, columns)];
            for (int i = 0; i < places.length; i++) {
                long element = i / columns;
                long column = i % columns;
                long place = 0;
                long step = 1;
                for (int axis = image.length - 1; axis >= 0; axis--) {
                    long at = column % counts[axis] * strides[axis] + element % block[axis] * dilations[axis]
                            - pads[axis];
                    place = at < 0 || at >= image[axis] || place < 0 ? -1 : place + at * step;
                    step *= image[axis];
                    column /= counts[axis];
                    element /= block[axis];
                }
                places[i] = place;
            }
            return places;
        }
    }

    private static void fold(Lowering l) {
        long[] image = Objects.requireNonNull(l.values("Image"));
        Places places = new Places(l.attrs(), image, Objects.requireNonNull(l.values("Block")));
        int size = Math.toIntExact(product(image));
        int channels = Math.toIntExact(l.outType("Out", 0).dims()[0] * l.outType("Out", 0).dims()[1]);
        l.call("onnx_col2im", (in, out) -> {
            double[] columns = Tensors.doubles(in, 0);
            double[] sums = new double[WorkingMemory.length(channels, size)];
            long[] at = places.all();
            for (int i = 0; i < columns.length; i++) {
                long place = at[i % at.length];
                if (place >= 0) {
                    sums[(int) (i / at.length * (long) size + place)] += columns[i];
                }
            }
            Tensors.write(sums, out, 0);
        }, List.of(l.in("X")), List.of(l.output("Out")));
    }

    private static void gradient(Lowering l) {
        Attrs attrs = l.attrs();
        l.call("onnx_col2im_grad", (in, out) -> {
            long[] image = Tensors.longs(in, 0);
            long[] at = new Places(attrs, image, Tensors.longs(in, 1)).all();
            double[] gradient = Tensors.doubles(in, 2);
            long size = product(image);
            double[] columns = new double[WorkingMemory.length(gradient.length / Math.max(1, size), at.length)];
            for (int i = 0; i < columns.length; i++) {
                long place = at[i % at.length];
                columns[i] = place < 0 ? 0 : gradient[(int) (i / at.length * size + place)];
            }
            Tensors.write(columns, out, 0);
        }, List.of(l.in("Image"), l.in("Block"), l.in("Out@GRAD")), List.of(l.output("X@GRAD")));
    }
}
