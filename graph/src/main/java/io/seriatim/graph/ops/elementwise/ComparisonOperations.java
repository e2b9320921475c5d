package io.seriatim.graph.ops.elementwise;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Alignment;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.Where;
import java.util.List;

/** Operations that tell or use truth values. */
public final class ComparisonOperations {
    private ComparisonOperations() {
    }

    public static void register(Operations registry) {
        comparison(registry, "equal", Binary.Function.EQUAL);
        comparison(registry, "not_equal", Binary.Function.NOT_EQUAL);
        comparison(registry, "less_than", Binary.Function.LESS);
        comparison(registry, "less_equal", Binary.Function.LESS_EQUAL);
        comparison(registry, "greater_than", Binary.Function.GREATER);
        comparison(registry, "greater_equal", Binary.Function.GREATER_EQUAL);
        logic(registry, "logical_and", Binary.Function.LOGICAL_AND);
        logic(registry, "logical_or", Binary.Function.LOGICAL_OR);
        logic(registry, "logical_xor", Binary.Function.LOGICAL_XOR);
        one(registry, "logical_not", Unary.Function.LOGICAL_NOT);
        one(registry, "isfinite_v2", Unary.Function.IS_FINITE);
        one(registry, "isnan_v2", Unary.Function.IS_NAN);
        one(registry, "isinf_v2", Unary.Function.IS_INF);
        any(registry, "isnan", Unary.Function.IS_NAN);
        any(registry, "isinf", Unary.Function.IS_INF);
        Operation.define("where").in("Condition", "X", "Y").out("Out").infer(ComparisonOperations::inferWhere)
                .lower(l -> l.out("Out", l.run(new Where(), l.in("Condition"), l.in("X"), l.in("Y"))))
                .grad("where_grad(Condition, X, Y, Out@GRAD) -> X@GRAD, Y@GRAD", ComparisonOperations::whereGradient)
                .register(registry);
    }

    private static void comparison(Operations registry, String type, Binary.Function function) {
        Operation.define(type).in("X", "Y").out("Out").attr("axis", -1).attr("force_cpu", false).infer(inference -> {
            requireOneType(inference);
            inference.set("Out", DType.BOOL, Alignment.broadcast(inference, inference.dims("X"), inference.dims("Y")));
        }).lower(l -> {
            int rank = l.output("Out").rank();
            l.out("Out", l.binary(function, Alignment.of(l, l.in("X"), rank), Alignment.of(l, l.in("Y"), rank)));
        }).register(registry);
    }

    private static void logic(Operations registry, String type, Binary.Function function) {
        Operation.define(type).in("X", "Y").out("Out").infer(inference -> {
            requireOneType(inference);
            inference.set("Out", DType.BOOL, inference.broadcast(inference.dims("X"), inference.dims("Y")));
        }).lower(l -> l.out("Out", l.binary(function, l.in("X"), l.in("Y")))).register(registry);
    }

    private static void requireOneType(Inference inference) {
        DType x = inference.dtype("X");
        DType y = inference.dtype("Y");
        inference.require(x == y, "X and Y must have one type, but are %s and %s: cast one of them", x, y);
    }

    private static void one(Operations registry, String type, Unary.Function function) {
        Operation.define(type).in("X").out("Out")
                .infer(inference -> inference.set("Out", DType.BOOL, inference.dims("X")))
                .lower(l -> l.out("Out", l.unary(function, l.in("X")))).register(registry);
    }

    /** Whether a test holds for any element. */
    private static void any(Operations registry, String type, Unary.Function function) {
        Operation.define(type).in("X").out("Out").infer(inference -> inference.set("Out", DType.BOOL, 1))
                .lower(l -> l.out("Out", l.run(new Reduction(Reduction.Function.ANY, List.of(), false),
                        l.unary(function, l.in("X"))).reshape(1)))
                .register(registry);
    }

    private static void inferWhere(Inference inference) {
        ArgType x = inference.in("X");
        ArgType y = inference.in("Y");
        inference.require(inference.dtype("Condition") == DType.BOOL, "Condition must be bool, but is %s",
                inference.dtype("Condition"));
        inference.require(x.dtype() == y.dtype(), "X and Y must have one type, but are %s and %s: cast one of them",
                x.dtype(), y.dtype());
        for (long[] other : new long[][]{inference.dims("Condition"), y.dims()}) {
            inference.require(fits(x.dims(), other),
                    "Condition, X and Y must have one shape, but %s is not %s: expand before",
                    Numbers.text(other), Numbers.text(x.dims()));
        }
        inference.set("Out", 0, x);
    }

    private static boolean fits(long[] a, long[] b) {
        boolean fits = a.length == b.length;
        for (int i = 0; fits && i < a.length; i++) {
            fits = a[i] == b[i] || a[i] < 0 || b[i] < 0;
        }
        return fits;
    }

    private static void whereGradient(Lowering l) {
        Operand condition = l.in("Condition");
        Operand dout = l.in("Out@GRAD");
        Operand zero = l.number(dout.dtype(), 0);
        if (l.wants("X@GRAD")) {
            l.out("X@GRAD", l.run(new Where(), condition, dout, zero));
        }
        if (l.wants("Y@GRAD")) {
            l.out("Y@GRAD", l.run(new Where(), condition, zero, dout));
        }
    }
}
