package io.seriatim.onnx.schema;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Shapes with the meaning of ONNX: 0 may be a length, and shapes broadcast in both directions. */
final class ReshapeSchemas {
    private ReshapeSchemas() {
    }

    static void register(Operations registry) {
        Operation.define("onnx_reshape").in("X", "Shape").out("Out").attr("allowzero", false)
                .attr("announced", new long[0]).values("Shape").shapeArithmetic().infer(ReshapeSchemas::reshaped)
                .lower(l -> l.out("Out", l.reshape(l.in("X"), l.outType("Out", 0).dims())))
                .grad("onnx_reshape_grad(X, Out@GRAD) -> X@GRAD",
                        l -> l.out("X@GRAD", l.reshape(l.in("Out@GRAD"), l.type("X", 0).dims())))
                .register(registry);
        Operation.define("onnx_unsqueeze").in("X", "Axes").out("Out").values("Axes").shapeArithmetic()
                .infer(ReshapeSchemas::inferUnsqueezed)
                .lower(l -> l.out("Out", l.reshape(l.in("X"), l.outType("Out", 0).dims())))
                .grad("onnx_unsqueeze_grad(X, Out@GRAD) -> X@GRAD",
                        l -> l.out("X@GRAD", l.reshape(l.in("Out@GRAD"), l.type("X", 0).dims())))
                .register(registry);
        Operation.define("onnx_expand").in("X", "Shape").out("Out").attr("announced", new long[0]).values("Shape")
                .shapeArithmetic().infer(ReshapeSchemas::expanded)
                .lower(l -> l.out("Out", l.expand(l.in("X"), l.output("Out").shape())))
                .grad("onnx_expand_grad(X, Shape, Out@GRAD) -> X@GRAD").register(registry);
    }

    private static void inferUnsqueezed(Inference inference) {
        long[] x = inference.dims("X");
        long[] axes = inference.values("Axes");
        long more = Inference.size(inference.dims("Axes"));
        inference.require(more >= 0 && more <= 64, "the number of axes must be known, and at most 64");
        long[] dims = new long[x.length + (int) more];
        Arrays.fill(dims, -1);
        if (axes != null) {
            Arrays.fill(dims, 0);
            for (long axis : axes) {
                inference.require(axis >= -dims.length && axis < dims.length,
                        "an axis of the %d of the result must be from %d to %d, but is %d", dims.length, -dims.length,
                        dims.length - 1, axis);
                int at = (int) (axis < 0 ? axis + dims.length : axis);
                inference.require(dims[at] == 0, "axis %d is inserted twice", at);
                dims[at] = 1;
            }
            int from = 0;
            for (int i = 0; i < dims.length; i++) {
                dims[i] = dims[i] == 1 ? 1 : x[from++];
            }
        }
        inference.set("Out", inference.dtype("X"), dims);
    }

    /** The wanted dimensions; what was announced while they are not known. */
    private static long[] wanted(Inference inference) {
        long @Nullable [] wanted = inference.values("Shape");
        if (wanted != null) {
            return wanted;
        }
        long[] announced = inference.attrs().getLongs("announced");
        if (announced.length > 0) {
            return announced;
        }
        long count = Inference.size(inference.dims("Shape"));
        inference.require(count >= 0 && count <= 64,
                "the number of dimensions must be known while the program is built, but Shape has %s",
                Numbers.text(inference.dims("Shape")));
        long[] unknown = new long[(int) count];
        Arrays.fill(unknown, -1);
        return unknown;
    }

    private static void reshaped(Inference inference) {
        long[] wanted = wanted(inference);
        long[] x = inference.dims("X");
        boolean isKnown = inference.values("Shape") != null;
        boolean zeros = inference.attrs().getBool("allowzero");
        long[] dims = wanted.clone();
        int rest = -1;
        long known = 1;
        for (int i = 0; i < dims.length; i++) {
            if (dims[i] == 0 && !zeros) {
                inference.require(i < x.length, "the shape %s takes dimension %d of X, which has %d",
                        Numbers.text(wanted), i, x.length);
                dims[i] = x[i];
            } else if (dims[i] == -1 && isKnown) {
                inference.require(rest < 0, "the shape %s may hold one -1", Numbers.text(wanted));
                rest = i;
                continue;
            }
            inference.require(dims[i] >= -1, "the shape %s must hold dimensions, or one -1", Numbers.text(wanted));
            known = known < 0 || dims[i] < 0 ? -1 : Math.multiplyExact(known, dims[i]);
        }
        long size = Inference.size(x);
        if (isKnown && known >= 0 && size >= 0) {
            inference.require(rest < 0 ? known == size : known > 0 ? size % known == 0 : size == 0,
                    "%d elements do not fit into the shape %s", size, Numbers.text(wanted));
            if (rest >= 0) {
                dims[rest] = known > 0 ? size / known : 0;
            }
        }
        inference.set("Out", inference.dtype("X"), dims);
    }

    private static void expanded(Inference inference) {
        long[] x = inference.dims("X");
        long[] wanted = wanted(inference);
        boolean isKnown = inference.values("Shape") != null;
        inference.require(!isKnown || Arrays.stream(wanted).allMatch(dim -> dim >= 0),
                "the shape %s must hold dimensions", Numbers.text(wanted));
        long[] dims = inference.broadcast(x, wanted);
        for (int i = 0; i < dims.length; i++) {
            int at = i - dims.length + x.length;
            int of = i - dims.length + wanted.length;
            // Each may be 1 in a run, so that the other decides.
            boolean unknown = at >= 0 && of >= 0 && (x[at] < 0 || wanted[of] < 0) && Math.max(x[at], wanted[of]) <= 1;
            dims[i] = unknown ? -1 : dims[i];
        }
        inference.set("Out", 0, ArgType.dense(inference.dtype("X"), dims));
    }
}
