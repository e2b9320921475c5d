package io.seriatim.graph.ops.elementwise;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.ScatterNd;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** The sum of several tensors, of which some or all may be given by rows, and the difference of two. */
public final class SumOperations {
    private SumOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("sum").in("X*").out("Out").attr("use_mkldnn", false).attr("mkldnn_data_type", "float32")
                .infer(SumOperations::infer)
                .lower(SumOperations::lower)
                .grad((op, wanted) -> ScaleOperations.scaled(op.output("Out"), op.input("X"), wanted, 1))
                .register(registry);
        Operation.define("minus").in("X", "Y").out("Out").infer(SumOperations::inferDifference)
                .lower(l -> l.out("Out", l.binary(Binary.Function.SUBTRACT, l.in("X"), l.in("Y"))))
                .grad((op, wanted) -> {
                    List<OpDesc> gradients = new ArrayList<>(
                            ScaleOperations.scaled(op.output("Out"), op.input("X"), wanted, 1));
                    gradients.addAll(ScaleOperations.scaled(op.output("Out"), op.input("Y"), wanted, -1));
                    return gradients;
                }).register(registry);
    }

    private static void inferDifference(Inference inference) {
        ArgType x = inference.in("X");
        ArgType y = inference.in("Y");
        inference.require(x.dtype() == y.dtype() && x.dtype() != DType.BOOL,
                "X and Y must be numbers of one type, but are %s and %s", x.dtype(), y.dtype());
        long[] a = x.dims();
        long[] b = y.dims();
        boolean alike = a.length == b.length;
        for (int i = 0; alike && i < a.length; i++) {
            alike = a[i] == b[i] || a[i] < 0 || b[i] < 0;
        }
        inference.require(alike, "X and Y must have one shape, but have %s and %s", Numbers.text(a),
                Numbers.text(b));
        inference.same("X", "Out");
    }

    private static void infer(Inference inference) {
        ArgType sum = inference.in("X");
        inference.require(sum.dtype() != DType.BOOL, "truth values have no sum: cast them");
        for (int i = 0; i < inference.count("X"); i++) {
            ArgType x = inference.in("X", i);
            // Arrays are the gradients of arrays.
            inference.require((x.kind() == ArgType.Kind.ARRAY) == (sum.kind() == ArgType.Kind.ARRAY),
                    "X must be tensors or rows of tensors, or else only arrays, but place %d is %s", i, x);
            inference.require(x.dtype() == sum.dtype(), "all of X must have one type, but place %d is %s", i,
                    x.dtype());
            if (i > 0 && sum.kind() != ArgType.Kind.ARRAY) {
                sum = together(inference, sum, x, i);
            }
        }
        inference.set("Out", 0, sum);
    }

    private static ArgType together(Inference inference, ArgType sum, ArgType x, int place) {
        long[] dims = sum.dims();
        long[] others = x.dims();
        boolean alike = dims.length == others.length;
        for (int j = 0; alike && j < dims.length; j++) {
            alike = dims[j] == others[j] || dims[j] < 0 || others[j] < 0;
        }
        inference.require(alike, "all of X must have one shape, but place %d is %s beside %s", place, x, sum);
        if (sum.kind() == ArgType.Kind.DENSE || x.kind() == ArgType.Kind.DENSE) {
            return ArgType.dense(sum.dtype(), dims);
        }
        boolean known = sum.rowCount() >= 0 && x.rowCount() >= 0;
        return ArgType.rows(sum.dtype(), known ? Math.addExact(sum.rowCount(), x.rowCount()) : -1, dims);
    }

    private static void lower(Lowering l) {
        if (l.outType("Out", 0).kind() == ArgType.Kind.ROWS) {
            concatenate(l);
            return;
        }
        int[] dense = places(l, ArgType.Kind.DENSE);
        int[] rows = places(l, ArgType.Kind.ROWS);
        Operand sum = l.in("X", dense[0]);
        for (int i = 1; i < dense.length; i++) {
            sum = l.binary(Binary.Function.ADD, sum, l.in("X", dense[i]));
        }
        for (int place : rows) {
            sum = l.run(new ScatterNd(ScatterNd.Function.ADD), sum, l.rowIndexes("X", place).unsqueeze(1),
                    l.in("X", place));
        }
        l.out("Out", sum);
    }

    private static int[] places(Lowering l, ArgType.Kind kind) {
        return IntStream.range(0, l.count("X")).filter(i -> l.type("X", i).kind() == kind).toArray();
    }

    /** Rows that occur several times stay so. */
    private static void concatenate(Lowering l) {
        long from = 0;
        for (int i = 0; i < l.count("X"); i++) {
            Operand values = l.in("X", i);
            long to = from + values.dim(0);
            l.into(Copy.PLAIN, List.of(values), List.of(l.output("Out").slice(0, from, to)));
            l.into(Copy.PLAIN, List.of(l.rowIndexes("X", i)), List.of(l.outputRowIndexes("Out").slice(0, from, to)));
            from = to;
        }
    }
}
