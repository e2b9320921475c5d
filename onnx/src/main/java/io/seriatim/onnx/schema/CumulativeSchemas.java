package io.seriatim.onnx.schema;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Scan;
import java.util.List;
import java.util.Objects;

/** Sums and products of the elements so far, along an axis that a tensor gives. */
final class CumulativeSchemas {
    private CumulativeSchemas() {
    }

    static void register(Operations registry) {
        define("onnx_cumsum").lower(l -> {
            Operand x = l.in("X");
            int axis = axis(l);
            l.out("Out", l.run(new Scan(axis, l.attrs().getBool("exclusive"), l.attrs().getBool("reverse")), x));
        }).grad("onnx_cumsum_grad(X, Axis, Out@GRAD) -> X@GRAD").register(registry);
        define("onnx_cumprod").lower(CumulativeSchemas::products).register(registry);
    }

    private static Operation.Builder define(String type) {
        return Operation.define(type).in("X", "Axis").out("Out").attr("exclusive", false).attr("reverse", false)
                .values("Axis").infer(CumulativeSchemas::infer);
    }

    private static void infer(Inference inference) {
        inference.require(inference.dims("X").length > 0, "X needs at least one dimension");
        long[] axis = inference.values("Axis");
        if (axis != null) {
            inference.require(axis.length == 1, "Axis must be one number, but has %d", axis.length);
            inference.axis("X", axis[0]);
        }
        inference.same("X", "Out");
    }

    private static int axis(Lowering l) {
        return l.in("X").shape().axis((int) Objects.requireNonNull(l.values("Axis"))[0]);
    }

    private static void products(Lowering l) {
        Operand x = l.in("X");
        int axis = axis(l);
        int length = Math.toIntExact(x.dim(axis));
        int inner = Math.toIntExact(x.shape().slice(axis + 1, x.rank()).size());
        boolean exclusive = l.attrs().getBool("exclusive");
        boolean reverse = l.attrs().getBool("reverse");
        Operand result = l.temporary(x.spec().rowMajor());
        l.call("onnx_cumprod", (in, out) -> {
            Tensor from = Objects.requireNonNull(in.getFirst());
            Tensor to = Objects.requireNonNull(out.getFirst());
            if (from.dtype().isFloating()) {
                double[] values = from.toDoubleArray();
                double[] products = new double[values.length];
                for (int i = 0; i < values.length; i++) {
                    int at = reverse ? values.length - 1 - i : i;
                    int before = previous(at, length, inner, reverse);
                    double soFar = before < 0 ? 1 : exclusive ? products[before] * values[before] : products[before];
                    products[at] = exclusive ? soFar : soFar * values[at];
                }
                Results.write(products, to);
            } else {
                long[] values = from.toLongArray();
                long[] products = new long[values.length];
                for (int i = 0; i < values.length; i++) {
                    int at = reverse ? values.length - 1 - i : i;
                    int before = previous(at, length, inner, reverse);
                    long soFar = before < 0 ? 1 : exclusive ? products[before] * values[before] : products[before];
                    products[at] = exclusive ? soFar : soFar * values[at];
                }
                Results.write(products, to);
            }
        }, List.of(x), List.of(result));
        l.out("Out", result);
    }

    /** The element before one along the axis, or −1. */
    private static int previous(int at, int length, int inner, boolean reverse) {
        int index = at / inner % length;
        if (reverse) {
            return index == length - 1 ? -1 : at + inner;
        }
        return index == 0 ? -1 : at - inner;
    }
}
