package io.seriatim.graph.ops.image;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.ops.common.StandardOrder;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Reduction;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;

/**
 * Functions of the channels of images: a scale and a bias for each, products of the channels of two layers, and masks
 * of the largest elements.
 */
public final class ChannelOperations {
    private ChannelOperations() {
    }

    public static void register(Operations registry) {
        affine(registry);
        products(registry);
        focus(registry);
    }

    private static void affine(Operations registry) {
        Operation.define("affine_channel").in("X", "Scale", "Bias").out("Out").attr("data_layout", "AnyLayout")
                .infer(inference -> {
                    long[] x = inference.dims("X");
                    inference.require(x.length >= 2, "X needs at least two dimensions, but is %s", Numbers.text(x));
                    long channels = x[inference.attrs().getText("data_layout").equals("NCHW") ? 1 : x.length - 1];
                    for (String slot : List.of("Scale", "Bias")) {
                        long[] dims = inference.dims(slot);
                        inference.require(
                                dims.length == 1 && (dims[0] < 0 || channels < 0 || dims[0] == channels),
                                "%s must have a number for each of %d channels, but is %s", slot, channels,
                                Numbers.text(dims));
                        inference.require(inference.dtype(slot) == inference.dtype("X"),
                                "%s must have the type of X, %s, but is %s", slot, inference.dtype("X"),
                                inference.dtype(slot));
                    }
                    inference.same("X", "Out");
                }).lower(l -> {
                    Operand scaled = l.binary(Binary.Function.MULTIPLY, l.in("X"), channels(l, "Scale"));
                    l.out("Out", l.binary(Binary.Function.ADD, scaled, channels(l, "Bias")));
                })
                .grad("affine_channel_grad(Out@GRAD, Scale, X) -> Bias@GRAD, Scale@GRAD, X@GRAD", inference -> {
                    inference.same("X", "X@GRAD");
                    inference.same("Scale", "Scale@GRAD");
                    inference.same("Scale", "Bias@GRAD");
                }, l -> {
                    Operand dout = l.in("Out@GRAD");
                    if (l.wants("X@GRAD")) {
                        l.out("X@GRAD", l.binary(Binary.Function.MULTIPLY, dout, channels(l, "Scale")));
                    }
                    if (l.wants("Scale@GRAD")) {
                        l.out("Scale@GRAD", sums(l, l.binary(Binary.Function.MULTIPLY, dout, l.in("X"))));
                    }
                    if (l.wants("Bias@GRAD")) {
                        l.out("Bias@GRAD", sums(l, dout));
                    }
                }).register(registry);
    }

    private static int axis(Lowering l, int rank) {
        return l.attrs().getText("data_layout").equals("NCHW") ? 1 : rank - 1;
    }

    /** A vector as it broadcasts to the images. */
    private static Operand channels(Lowering l, String slot) {
        Operand x = l.in("X");
        long[] dims = new long[x.rank() - axis(l, x.rank())];
        Arrays.fill(dims, 1);
        dims[0] = l.in(slot).dim(0);
        return l.in(slot).reshape(dims);
    }

    private static Operand sums(Lowering l, Operand x) {
        int axis = axis(l, x.rank());
        List<Integer> others = IntStream.range(0, x.rank()).filter(i -> i != axis).boxed().toList();
        return l.run(new Reduction(Reduction.Function.SUM, others, false), x);
    }

    /** The flow of solution procedure between two layers (Yim et al., 2017): the mean products of their channels. */
    private static void products(Operations registry) {
        Operation.define("fsp").in("X", "Y").out("Out").infer(inference -> {
            long[] x = inference.dims("X");
            long[] y = inference.dims("Y");
            boolean alike = x.length == 4 && y.length == 4;
            for (int i = 0; alike && i < 4; i++) {
                alike = i == 1 || x[i] < 0 || y[i] < 0 || x[i] == y[i];
            }
            inference.require(alike, "X and Y must have four dimensions that are alike but for the channels, "
                    + "but are %s and %s", Numbers.text(x), Numbers.text(y));
            inference.require(inference.dtype("X").isFloating() && inference.dtype("X") == inference.dtype("Y"),
                    "X and Y must have one floating-point type, but are %s and %s", inference.dtype("X"),
                    inference.dtype("Y"));
            inference.set("Out", inference.dtype("X"), x[0], x[1], y[1]);
        }).lower(l -> {
            Operand product = l.run(new MatMul(false, true, false, List.of()), flat(l, "X"), flat(l, "Y"));
            l.out("Out", mean(l, product));
        }).grad("fsp_grad(Out@GRAD, X, Y) -> X@GRAD, Y@GRAD", l -> {
            Operand dout = mean(l, l.in("Out@GRAD"));
            if (l.wants("X@GRAD")) {
                l.out("X@GRAD", l.run(MatMul.PLAIN, dout, flat(l, "Y")).reshape(l.in("X").shape().dims()));
            }
            if (l.wants("Y@GRAD")) {
                l.out("Y@GRAD", l.run(new MatMul(true, false, false, List.of()), dout, flat(l, "X"))
                        .reshape(l.in("Y").shape().dims()));
            }
        }).register(registry);
    }

    private static Operand flat(Lowering l, String slot) {
        Operand images = l.in(slot);
        return images.reshape(images.dim(0), images.dim(1), images.dim(2) * images.dim(3));
    }

    private static Operand mean(Lowering l, Operand products) {
        double factor = 1.0 / (l.in("X").dim(2) * l.in("X").dim(3));
        return l.binary(Binary.Function.MULTIPLY, products, l.number(products.dtype(), factor));
    }

    /**
     * For some channels, or rows, or columns, of images the mask of their largest elements, no two of which share one
     * of the other two coordinates.
     */
    private static void focus(Operations registry) {
        Operation.define("similarity_focus").in("X").out("Out").required("axis", Attribute.Int.class)
                .required("indexes", Attribute.Ints.class).infer(inference -> {
                    long[] x = inference.dims("X");
                    int axis = inference.attrs().getInt("axis");
                    int[] indexes = inference.attrs().getInts("indexes");
                    inference.require(x.length == 4, "X must have four dimensions, but is %s", Numbers.text(x));
                    inference.require(axis >= 1 && axis <= 3, "the attribute 'axis' must be 1, 2 or 3, but is %d",
                            axis);
                    inference.require(indexes.length > 0
                            && Arrays.stream(indexes).allMatch(i -> i >= 0 && (x[axis] < 0 || i < x[axis])),
                            "the attribute 'indexes' must be numbers from 0 to %d, but is %s", x[axis] - 1,
                            Numbers.text(indexes));
                    inference.same("X", "Out");
                }).lower(l -> {
                    Operand x = l.in("X");
                    Operand out = l.temporary(l.outType("Out", 0).spec());
                    int axis = l.attrs().getInt("axis");
                    int[] indexes = l.attrs().getInts("indexes");
                    l.call("similarity_focus", (in, results) -> {
                        double[] elements = Objects.requireNonNull(in.getFirst()).toDoubleArray();
                        double[] mask = new double[elements.length];
                        for (int n = 0; n < x.dim(0); n++) {
                            for (int index : indexes) {
                                focus(Plane.of(x.shape().dims(), n, axis, index), elements, mask);
                            }
                        }
                        Elements.write(mask, Objects.requireNonNull(results.getFirst()));
                    }, List.of(x), List.of(out));
                    l.out("Out", out);
                }).register(registry);
    }

    /** The elements of an image with one coordinate given. */
    private record Plane(int image, int index, int length, int step, int rows, int rowStep, int columns,
            int columnStep) {
        static Plane of(long[] dims, int n, int axis, int index) {
            int[] steps = {(int) (dims[1] * dims[2] * dims[3]), (int) (dims[2] * dims[3]), (int) dims[3], 1};
            int row = axis == 1 ? 2 : 1;
            int column = axis == 3 ? 2 : 3;
            return new Plane(n * steps[0], index, (int) dims[axis], steps[axis], (int) dims[row], steps[row],
                    (int) dims[column], steps[column]);
        }

        /** The first of the elements that share an element's row and column. */
        int line(int number) {
            return image + number / columns * rowStep + number % columns * columnStep;
        }

        int element(int number) {
            return line(number) + index * step;
        }
    }

    private static void focus(Plane plane, double[] elements, double[] mask) {
        double[] values = new double[plane.rows() * plane.columns()];
        Arrays.setAll(values, number -> elements[plane.element(number)]);
        int[] order = StandardOrder.indexes(values.length);
        new StandardOrder(order, values).sort();
        boolean[] rows = new boolean[plane.rows()];
        boolean[] columns = new boolean[plane.columns()];
        for (int number : order) {
            int row = number / plane.columns();
            int column = number % plane.columns();
            if (!rows[row] && !columns[column]) {
                rows[row] = true;
                columns[column] = true;
                for (int i = 0; i < plane.length(); i++) {
                    mask[plane.line(number) + i * plane.step()] = 1;
                }
            }
        }
    }
}
