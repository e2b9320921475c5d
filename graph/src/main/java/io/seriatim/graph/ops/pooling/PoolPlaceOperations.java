package io.seriatim.graph.ops.pooling;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.computation.PutAlongAxis;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** Maxima of windows, and where in the image each is. */
public final class PoolPlaceOperations {
    private PoolPlaceOperations() {
    }

    public static void register(Operations registry) {
        pool(registry, 2);
        pool(registry, 3);
    }

    /** Windows along one axis. */
    private record Windows(long length, long size, long stride, long padding, boolean adaptive) {
        static Windows of(Attrs attrs, long length, int axis) {
            if (attrs.getBool("global_pooling")) {
                // Adaptive windows are as many as the kernel is long, which is as long as the image.
                return new Windows(length, length, 1, 0, attrs.getBool("adaptive"));
            }
            return new Windows(length, attrs.getInts("ksize")[axis], attrs.getInts("strides")[axis],
                    attrs.getInts("paddings")[axis],
                    attrs.getBool("adaptive"));
        }

        long places() {
            return length < 0 ? -1 : adaptive ? size : Math.floorDiv(length + 2 * padding - size, stride) + 1;
        }

        int from(int place) {
            return (int) (adaptive ? place * length / size : Math.max(0, place * stride - padding));
        }

        int to(int place) {
            return (int) (adaptive
                    ? ((place + 1) * length + size - 1) / size
                    : Math.min(length, place * stride - padding + size));
        }
    }

    private static void pool(Operations registry, int spatial) {
        String type = "max_pool" + spatial + "d_with_index";
        int[] ones = new int[spatial];
        Arrays.fill(ones, 1);
        Operation.Builder forward = Operation.define(type).in("X").out("Out", "Mask")
                .required("ksize", Attribute.Ints.class)
                .attr("strides", ones).attr("paddings", new int[spatial]).attr("global_pooling", false)
                .attr("adaptive", false);
        String gradient = type + "_grad(X, Mask, Out@GRAD) -> X@GRAD";
        forward.gradOperation(gradient, null).shapesOnly("X").lower(l -> {
            long[] dims = l.outType("X@GRAD", 0).dims();
            Operand dout = l.in("Out@GRAD");
            long places = dout.shape().slice(2, dout.rank()).size();
            long elements = Shape.of(dims).slice(2, dims.length).size();
            Operand zeros = l.fill(0, l.outType("X@GRAD", 0).spec()).reshape(dims[0], dims[1], elements);
            l.out("X@GRAD", l.run(new PutAlongAxis(2, true), zeros, l.reshape(l.in("Mask"), dims[0], dims[1], places),
                    l.reshape(dout, dims[0], dims[1], places)).reshape(dims));
        }).register(registry);
        forward.infer(inference -> infer(inference, spatial)).lower(PoolPlaceOperations::pool).grad(gradient)
                .register(registry);
    }

    private static void infer(Inference inference, int spatial) {
        long[] x = inference.dims("X");
        Attrs attrs = inference.attrs();
        int[] kernel = attrs.getInts("ksize");
        int[] strides = attrs.getInts("strides");
        int[] paddings = attrs.getInts("paddings");
        inference.require(
                x.length == spatial + 2 && kernel.length == spatial && strides.length == spatial
                        && paddings.length == spatial,
                "X must have %d dimensions and ksize, strides and paddings %d numbers, but they are %s, %s, %s and %s",
                spatial + 2,
                spatial,
                Numbers.text(x), Numbers.text(kernel), Numbers.text(strides), Numbers.text(paddings));
        for (int i = 0; i < spatial; i++) {
            inference.require(kernel[i] > 0 && strides[i] > 0 && paddings[i] >= 0 && paddings[i] < kernel[i],
                    "ksize and strides must be from 1 on, and paddings from 0 to less than ksize, but are %d, %d "
                            + "and %d",
                    kernel[i],
                    strides[i], paddings[i]);
            boolean empty = x[2 + i] == 0;
            x[2 + i] = Windows.of(attrs, x[2 + i], i).places();
            inference.require(x[2 + i] == -1 || (x[2 + i] > 0 && !empty), "no window fits into spatial axis %d of X",
                    i);
        }
        inference.set("Out", inference.dtype("X"), x);
        inference.set("Mask", DType.INT32, x);
    }

    private static void pool(Lowering l) {
        Operand x = l.in("X");
        Operand values = l.temporary(l.outType("Out", 0).spec());
        Operand places = l.temporary(values.spec().with(DType.INT32));
        Image image = Image.of(l.attrs(), x.shape());
        l.call(l.type(), (in, out) -> {
            double[] images = Objects.requireNonNull(in.getFirst()).toDoubleArray();
            double[] largest = new double[WorkingMemory.length(values.shape().size())];
            long[] at = new long[largest.length];
            for (int i = 0; i < largest.length; i++) {
                int first = i / image.places() * image.elements();
                at[i] = image.largest(images, first, i % image.places());
                largest[i] = images[first + (int) at[i]];
            }
            Elements.write(largest, Objects.requireNonNull(out.get(0)));
            Elements.write(at, Objects.requireNonNull(out.get(1)));
        }, List.of(x), List.of(values, places));
        l.out("Out", values);
        l.out("Mask", places);
    }

    /** Windows along three axes; an image without depth has one plane. */
    private record Image(Windows planes, Windows rows, Windows columns) {
        static Image of(Attrs attrs, Shape x) {
            int last = x.rank() - 3;
            Windows planes = last == 1 ? new Windows(1, 1, 1, 0, false) : Windows.of(attrs, x.dim(2), 0);
            return new Image(planes, Windows.of(attrs, x.dim(-2), last - 1), Windows.of(attrs, x.dim(-1), last));
        }

        int elements() {
            return Math.toIntExact(planes.length() * rows.length() * columns.length());
        }

        int places() {
            return Math.toIntExact(planes.places() * rows.places() * columns.places());
        }

        /** The first of the largest elements of a window, by its number in the image. */
        int largest(double[] images, int first, int place) {
            int column = (int) (place % columns.places());
            int row = (int) (place / columns.places() % rows.places());
            int plane = (int) (place / columns.places() / rows.places());
            int best = -1;
            for (int d = planes.from(plane); d < planes.to(plane); d++) {
                for (int h = rows.from(row); h < rows.to(row); h++) {
                    for (int w = columns.from(column); w < columns.to(column); w++) {
                        int at = (int) ((d * rows.length() + h) * columns.length()) + w;
                        best = best < 0 || images[first + at] > images[first + best] ? at : best;
                    }
                }
            }
            return best;
        }
    }
}
