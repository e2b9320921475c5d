package io.seriatim.graph.ops.shape;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Dims;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Shape;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The same elements with other dimensions, or with the dimensions in another order. */
public final class ShapeOperations {
    private ShapeOperations() {
    }

    public static void register(Operations registry) {
        reshape(registry);
        flatten(registry);
        squeeze(registry);
        unsqueeze(registry);
        transpose(registry);
        flattenToMatrix(registry);
    }

    private static void reshape(Operations registry) {
        String signature = "reshape2_grad(Out@GRAD, XShape) -> X@GRAD";
        Operation.Builder reshape = Operation.define("reshape2").in("X", "Shape?", "ShapeTensor*?")
                .out("Out", "XShape~")
                .attr("shape", new int[0]).attr("use_quantizer", false).values("Shape", "ShapeTensor")
                .shapeArithmetic().infer(ShapeOperations::reshaped)
                .lower(l -> reshape(l, "X", "Out")).grad(signature);
        restoring(reshape, signature).grad("reshape2_grad_grad(DOut=Out@GRAD, DDX=X@GRAD@GRAD) -> DDOut=Out@GRAD@GRAD")
                .register(registry);
        reshape.register(registry);
        Operation.define("reshape2_grad_grad").in("DOut", "DDX").out("DDOut").shapesOnly("DOut")
                .infer(inference -> inference.same("DOut", "DDOut")).lower(l -> reshape(l, "DDX", "DDOut"))
                .register(registry);
    }

    private static void flatten(Operations registry) {
        String signature = "flatten_contiguous_range_grad(Out@GRAD, XShape) -> X@GRAD";
        Operation.Builder flatten = Operation.define("flatten_contiguous_range").in("X").out("Out", "XShape~")
                .attr("start_axis", 1)
                .attr("stop_axis", 1).infer(ShapeOperations::flattened).lower(l -> reshape(l, "X", "Out"))
                .grad(signature);
        restoring(flatten, signature).register(registry);
        flatten.register(registry);
    }

    private static void squeeze(Operations registry) {
        String signature = "squeeze2_grad(Out@GRAD, XShape) -> X@GRAD";
        Operation.Builder squeeze = Operation.define("squeeze2").in("X").out("Out", "XShape~").attr("axes", new int[0])
                .shapeArithmetic().infer(ShapeOperations::squeezed).lower(l -> reshape(l, "X", "Out")).grad(signature);
        restoring(squeeze, signature).grad(forwardAgain("squeeze2")).register(registry);
        squeeze.register(registry);
    }

    private static void unsqueeze(Operations registry) {
        String signature = "unsqueeze2_grad(AxesTensor, AxesTensorList, Out@GRAD, XShape) -> X@GRAD";
        Operation.Builder unsqueeze = Operation.define("unsqueeze2").in("X", "AxesTensor?", "AxesTensorList*?")
                .out("Out", "XShape~")
                .attr("axes", new int[0]).values("AxesTensor", "AxesTensorList").shapeArithmetic()
                .infer(ShapeOperations::unsqueezed)
                .lower(l -> reshape(l, "X", "Out")).grad(signature);
        restoring(unsqueeze, signature).shapesOnly("AxesTensor", "AxesTensorList")
                .grad(forwardAgain("unsqueeze2", "AxesTensor", "AxesTensorList")).register(registry);
        unsqueeze.register(registry);
    }

    private static void transpose(Operations registry) {
        String signature = "transpose2_grad(Out@GRAD, XShape) -> X@GRAD";
        Operation.Builder transpose = Operation.define("transpose2").in("X").out("Out", "XShape~")
                .required("axis", Attribute.Ints.class).infer(ShapeOperations::transposed)
                .lower(l -> l.out("Out", l.in("X").transpose(order(l.attrs())))).grad(signature);
        transpose.gradOperation(signature, Dims::gradientLikeXShape).shapesOnly("XShape")
                .lower(l -> l.out("X@GRAD", l.in("Out@GRAD").transpose(inverse(order(l.attrs())))))
                .grad(forwardAgain("transpose2"))
                .register(registry);
        transpose.register(registry);
    }

    /** A gradient that gives back the dimensions of X. */
    private static Operation.Builder restoring(Operation.Builder forward, String signature) {
        return forward.gradOperation(signature, Dims::gradientLikeXShape).shapesOnly("XShape")
                .lower(l -> reshape(l, "Out@GRAD", "X@GRAD"));
    }

    /** The gradient of a gradient is the forward operation, which writes the same XShape once more. */
    private static GradientRule forwardAgain(String type, String... kept) {
        return (gradient, wanted) -> {
            Map<String, List<String>> in = new TreeMap<>();
            for (String slot : kept) {
                in.put(slot, gradient.input(slot));
            }
            in.put("X", gradient.output("X@GRAD").stream().map(GradientRule::gradient).toList());
            List<String> out = gradient.input("Out@GRAD").stream().filter(wanted).map(GradientRule::gradient).toList();
            return List.of(new OpDesc(type, in, Map.of("Out", out, "XShape", gradient.input("XShape")),
                    gradient.attributes(), null));
        };
    }

    static void reshape(Lowering l, String in, String out) {
        l.out(out, l.reshape(l.in(in), l.outType(out, 0).dims()));
    }

    static void reshaped(Inference inference) {
        Dims.rememberX(inference);
        long[] wanted = Dims.given(inference, "ShapeTensor", "Shape", "shape");
        long[] announced = inference.attrs().getLongs("shape");
        if (wanted != null) {
            inference.set("Out", inference.dtype("X"), inferred(inference, "X", wanted));
        } else if (inference.has("ShapeTensor")) {
            inference.set("Out", inference.dtype("X"), copied(inference, inference.dims("X"), announced));
        } else if (announced.length > 0 && Arrays.stream(announced).filter(dim -> dim == -1).count() <= 1) {
            inference.set("Out", inference.dtype("X"), inferred(inference, "X", announced));
        } else {
            inference.set("Out", inference.dtype("X"), Dims.unknown(Dims.count(inference, "Shape")));
        }
    }

    /** 0 stands for the dimension of X in the same place. */
    private static long[] copied(Inference inference, long[] x, long[] wanted) {
        long[] dims = wanted.clone();
        for (int i = 0; i < dims.length; i++) {
            inference.require(dims[i] >= -1,
                    "the shape %s must hold dimensions, 0 for that of X, or -1 for one to be inferred",
                    Numbers.text(wanted));
            if (dims[i] == 0) {
                inference.require(i < x.length, "the shape %s takes dimension %d of X, which has %d",
                        Numbers.text(wanted), i, x.length);
                dims[i] = x[i];
            }
        }
        return dims;
    }

    /** The shape that an input gets when it is reshaped: one dimension may be −1, for what is left. */
    static long[] inferred(Inference inference, String slot, long[] wanted) {
        long[] dims = copied(inference, inference.dims(slot), wanted);
        long size = Inference.size(inference.dims(slot));
        long known = 1;
        int unknown = -1;
        for (int i = 0; i < dims.length; i++) {
            if (wanted[i] == -1) {
                inference.require(unknown < 0, "the shape %s may hold one -1", Numbers.text(wanted));
                unknown = i;
            } else {
                known = Dims.times(known, dims[i]);
            }
        }
        if (size < 0 || known < 0) {
            return dims;
        }
        if (unknown >= 0) {
            inference.require(known > 0 ? size % known == 0 : size == 0, "%d elements do not fit into the shape %s",
                    size,
                    Numbers.text(wanted));
            dims[unknown] = known > 0 ? size / known : 0;
        }
        inference.require(unknown >= 0 || known == size, "%d elements do not fit into the shape %s", size,
                Numbers.text(wanted));
        return dims;
    }

    private static void flattened(Inference inference) {
        Dims.rememberX(inference);
        long[] x = inference.dims("X");
        int start = inference.axis("X", inference.attrs().getLong("start_axis"));
        int stop = inference.axis("X", inference.attrs().getLong("stop_axis"));
        inference.require(start <= stop, "start_axis %d must not be after stop_axis %d", start, stop);
        if (x.length == 0) {
            inference.set("Out", inference.dtype("X"), 1);
            return;
        }
        long[] dims = Arrays.copyOf(x, x.length - (stop - start));
        System.arraycopy(x, stop + 1, dims, start + 1, x.length - stop - 1);
        dims[start] = Arrays.stream(x, start, stop + 1).reduce(1, Dims::times);
        inference.set("Out", inference.dtype("X"), dims);
    }

    /** Axes of another length than 1 stay; one that is not known is taken for 1 if it is named. */
    private static void squeezed(Inference inference) {
        Dims.rememberX(inference);
        long[] x = inference.dims("X");
        boolean[] gone = new boolean[x.length];
        long[] axes = inference.attrs().getLongs("axes");
        for (int axis : Dims.axes(inference, "X", axes)) {
            if (x.length > 0) {
                gone[axis] = x[axis] == 1 || x[axis] < 0;
            }
        }
        for (int i = 0; axes.length == 0 && i < x.length; i++) {
            gone[i] = x[i] == 1;
        }
        inference.set("Out", inference.dtype("X"), Dims.without(x, gone));
    }

    private static void unsqueezed(Inference inference) {
        Dims.rememberX(inference);
        long[] dims = inference.dims("X");
        long[] axes = Dims.given(inference, "AxesTensorList", "AxesTensor", "axes");
        if (axes == null) {
            int more = inference.has("AxesTensorList")
                    ? inference.count("AxesTensorList")
                    : Dims.count(inference, "AxesTensor");
            inference.set("Out", inference.dtype("X"), Dims.unknown(dims.length + more));
            return;
        }
        inference.require(dims.length + axes.length <= Shape.MAX_RANK,
                "Out would have %d dimensions, but a tensor has at most %d", (long) dims.length + axes.length,
                Shape.MAX_RANK);
        for (long axis : axes) {
            inference.require(axis >= -dims.length - 1 && axis <= dims.length,
                    "an axis to be inserted into %d dimensions must be from %d to %d, but is %d", dims.length,
                    -dims.length - 1,
                    dims.length,
                    axis);
            dims = Dims.inserted(dims, (int) (axis < 0 ? axis + dims.length + 1 : axis), 1);
        }
        inference.set("Out", inference.dtype("X"), dims);
    }

    static void transposed(Inference inference) {
        Dims.rememberX(inference);
        long[] x = inference.dims("X");
        long[] axis = inference.attrs().getLongs("axis");
        inference.require(axis.length == x.length, "axis %s must name each of the %d dimensions of X",
                Numbers.text(axis), x.length);
        int[] order = Dims.axes(inference, "X", axis);
        inference.require(Arrays.stream(order).distinct().count() == x.length, "axis %s must name each dimension once",
                Numbers.text(axis));
        inference.set("Out", inference.dtype("X"), Arrays.stream(order).mapToLong(i -> x[i]).toArray());
    }

    static int[] order(Attrs attrs) {
        int[] axis = attrs.getInts("axis");
        return Arrays.stream(axis).map(i -> Math.floorMod(i, axis.length)).toArray();
    }

    static int[] inverse(int[] order) {
        int[] inverse = new int[order.length];
        for (int i = 0; i < order.length; i++) {
            inverse[order[i]] = i;
        }
        return inverse;
    }

    private static void flattenToMatrix(Operations registry) {
        String gradient = "flatten2_grad(XShape, Out@GRAD) -> X@GRAD";
        Operation.Builder forward = Operation.define("flatten2").in("X").out("Out", "XShape~").attr("axis", 1);
        forward.gradOperation(gradient, Dims::gradientLikeXShape)
                .lower(l -> l.out("X@GRAD", l.reshape(l.in("Out@GRAD"), l.outType("X@GRAD", 0).dims())))
                .register(registry);
        forward.infer(inference -> {
            long[] dims = inference.dims("X");
            int axis = inference.attrs().getInt("axis");
            inference.require(axis >= 0 && axis <= dims.length, "axis must be from 0 to %d, but is %d", dims.length,
                    axis);
            inference.set("Out", inference.dtype("X"), Inference.size(Arrays.copyOf(dims, axis)),
                    Inference.size(Arrays.copyOfRange(dims, axis, dims.length)));
            Dims.rememberX(inference);
        }).lower(l -> l.out("Out", l.reshape(l.in("X"), l.outType("Out", 0).dims()))).grad(gradient).register(registry);
    }
}
