package io.seriatim.graph.ops.linalg;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.ComplexNumbers;
import io.seriatim.graph.ops.common.Term;
import io.seriatim.graph.ops.elementwise.PairOperations;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Reduction;
import java.util.Arrays;
import java.util.List;

/** Products of vectors: dot, cross, a matrix with a vector, and sums with a product. */
public final class VectorOperations {
    /** Paddle's value for the first dimension of length 3. */
    private static final int FIRST_OF_THREE = 9;

    private VectorOperations() {
    }

    public static void register(Operations registry) {
        dot(registry);
        cross(registry);
        product(registry);
        sumOfProducts(registry);
    }

    private static void dot(Operations registry) {
        Operation.define("dot").in("X", "Y").out("Out").infer(inference -> {
            long[] x = inference.dims("X");
            PairOperations.requireOneType(inference, "X", "Y");
            inference.require((x.length == 1 || x.length == 2) && PairOperations.sameShape(x, inference.dims("Y")),
                    "X and Y must be vectors or matrices of one shape, but are %s and %s", Numbers.text(x),
                    Numbers.text(inference.dims("Y")));
            inference.set("Out", inference.dtype("X"), Arrays.copyOf(x, x.length - 1));
        }).lower(l -> l.out("Out", l.run(new Reduction(Reduction.Function.SUM, List.of(l.in("X").rank() - 1), false),
                Term.of(l, "X").times(Term.of(l, "Y")).operand())))
                .grad("dot_grad(X, Y, Out@GRAD) -> X@GRAD, Y@GRAD", l -> {
                    Operand dout = l.in("Out@GRAD");
                    Term each = new Term(l, dout.unsqueeze(dout.rank()));
                    PairOperations.back(l, "X", each.times(conjugate(l, "Y")));
                    PairOperations.back(l, "Y", each.times(conjugate(l, "X")));
                }).register(registry);
    }

    private static Term conjugate(Lowering l, String slot) {
        return new Term(l, ComplexNumbers.conjugate(l, l.in(slot)));
    }

    private static void cross(Operations registry) {
        Operation.define("cross").in("X", "Y").out("Out").attr("dim", FIRST_OF_THREE).infer(inference -> {
            long[] x = inference.dims("X");
            PairOperations.requireOneType(inference, "X", "Y");
            inference.require(PairOperations.sameShape(x, inference.dims("Y")),
                    "X and Y must have one shape, but are %s and %s",
                    Numbers.text(x),
                    Numbers.text(inference.dims("Y")));
            int dim = inference.attrs().getInt("dim");
            if (dim == FIRST_OF_THREE) {
                inference.require(Arrays.stream(x).anyMatch(length -> length == 3 || length < 0),
                        "no dimension of X has length 3, as %s",
                        Numbers.text(x));
            } else {
                long length = x[inference.axis("X", dim)];
                inference.require(length == 3 || length < 0, "dimension %d of X must have length 3, but has %d", dim,
                        length);
            }
            inference.same("X", "Out");
        }).lower(l -> cross(l, "X", "Y", "Out")).grad("cross_grad(X, Y, Out@GRAD) -> X@GRAD, Y@GRAD", l -> {
            cross(l, "Y", "Out@GRAD", "X@GRAD");
            cross(l, "Out@GRAD", "X", "Y@GRAD");
        }).register(registry);
    }

    /** Each number of the result is made of the two others of both vectors. */
    private static void cross(Lowering l, String first, String second, String to) {
        if (!l.wants(to)) {
            return;
        }
        Operand a = l.in(first);
        Operand b = l.in(second);
        int dim = l.attrs().getInt("dim");
        int axis = dim == FIRST_OF_THREE
                ? Arrays.stream(a.shape().dims()).boxed().toList().indexOf(3L)
                : a.shape().axis(dim);
        Operand out = l.output(to);
        for (int i = 0; i < 3; i++) {
            int next = (i + 1) % 3;
            int last = (i + 2) % 3;
            Operand plus = l.binary(Binary.Function.MULTIPLY, a.select(axis, next), b.select(axis, last));
            Operand minus = l.binary(Binary.Function.MULTIPLY, a.select(axis, last), b.select(axis, next));
            l.into(Binary.of(Binary.Function.SUBTRACT), List.of(plus, minus), List.of(out.select(axis, i)));
        }
    }

    private static void product(Operations registry) {
        Operation.define("mv").in("X", "Vec").out("Out").infer(inference -> {
            long[] x = inference.dims("X");
            long[] vector = inference.dims("Vec");
            PairOperations.requireOneType(inference, "X", "Vec");
            inference.require(x.length == 2 && vector.length == 1 && (x[1] < 0 || vector[0] < 0 || x[1] == vector[0]),
                    "X must be a matrix and Vec a vector of its width, but they are %s and %s", Numbers.text(x),
                    Numbers.text(vector));
            inference.set("Out", inference.dtype("X"), x[0]);
        }).lower(l -> l.out("Out", l.run(matMul(false, false), l.in("X"), l.in("Vec"))))
                .grad("mv_grad(X, Vec, Out@GRAD) -> X@GRAD, Vec@GRAD", l -> {
                    Operand dout = l.in("Out@GRAD");
                    if (l.wants("X@GRAD")) {
                        l.out("X@GRAD", l.binary(Binary.Function.MULTIPLY, dout.unsqueeze(1), l.in("Vec")));
                    }
                    if (l.wants("Vec@GRAD")) {
                        l.out("Vec@GRAD", l.run(matMul(true, false), l.in("X"), dout));
                    }
                }).register(registry);
    }

    private static MatMul matMul(boolean transposeX, boolean transposeY) {
        return new MatMul(transposeX, transposeY, false, List.of());
    }

    private static void sumOfProducts(Operations registry) {
        Operation.define("addmm").in("Input", "X", "Y").out("Out").attr("Alpha", 1f).attr("Beta", 1f)
                .infer(inference -> {
                    long[] x = inference.dims("X");
                    long[] y = inference.dims("Y");
                    PairOperations.requireOneType(inference, "X", "Y");
                    PairOperations.requireOneType(inference, "X", "Input");
                    inference.require(x.length == 2 && y.length == 2 && (x[1] < 0 || y[0] < 0 || x[1] == y[0]),
                            "X and Y must be matrices that can be multiplied, but are %s and %s", Numbers.text(x),
                            Numbers.text(y));
                    long[] out = {x[0], y[1]};
                    inference.require(PairOperations.sameShape(inference.broadcast(inference.dims("Input"), out), out),
                            "Input must broadcast to %s, but is %s",
                            Numbers.text(out), Numbers.text(inference.dims("Input")));
                    inference.set("Out", inference.dtype("X"), out);
                }).lower(l -> {
                    Operand product = l.run(matMul(false, false), l.in("X"), l.in("Y"));
                    Term.of(l, "Input").linear(l.attrs().getFloat("Beta"), 0)
                            .plus(new Term(l, product).linear(l.attrs().getFloat("Alpha"), 0))
                            .to("Out");
                }).grad("addmm_grad(Input, X, Y, Out@GRAD) -> Input@GRAD, X@GRAD, Y@GRAD", l -> {
                    Term dout = Term.of(l, "Out@GRAD");
                    float alpha = l.attrs().getFloat("Alpha");
                    PairOperations.back(l, "Input", dout.linear(l.attrs().getFloat("Beta"), 0));
                    if (l.wants("X@GRAD")) {
                        new Term(l, l.run(matMul(false, true), dout.operand(), l.in("Y"))).linear(alpha, 0)
                                .to("X@GRAD");
                    }
                    if (l.wants("Y@GRAD")) {
                        new Term(l, l.run(matMul(true, false), l.in("X"), dout.operand())).linear(alpha, 0)
                                .to("Y@GRAD");
                    }
                }).register(registry);
    }
}
