package io.seriatim.graph.ops.linalg;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Dims;
import io.seriatim.graph.ops.linalg.MatrixSteps.Size;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Triangle;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.linalg.LuDecomposition;
import io.seriatim.tensor.linalg.Matrix;
import io.seriatim.tensor.linalg.TriangularSystem;
import java.util.Arrays;
import java.util.List;

/** Systems of linear equations: with square, triangular and factorised matrices. */
public final class SolverOperations {
    private SolverOperations() {
    }

    public static void register(Operations registry) {
        solve(registry);
        triangular(registry);
        factorised(registry);
    }

    private static boolean isVector(Lowering l) {
        return isVector(l.in("X").shape().dims(), l.in("Y").shape().dims());
    }

    /** Whether Y is one right side instead of a matrix of them: a vector, or a vector for each matrix of X. */
    private static boolean isVector(long[] x, long[] y) {
        return y.length == 1 || Arrays.equals(y, Arrays.copyOf(x, x.length - 1));
    }

    private static Operand right(Lowering l, String slot) {
        return isVector(l) ? l.in(slot).unsqueeze(l.in(slot).rank()) : l.in(slot);
    }

    private static void solve(Operations registry) {
        Operation.define("solve").in("X", "Y").out("Out").infer(SolverOperations::solved).lower(l -> {
            Operand y = right(l, "Y");
            Operand x =
                    MatrixSteps.runAs(l, Size.of(y), in -> LuDecomposition.of(in.get(0)).solve(in.get(1)),
                            (steps, in) -> List.of(MatrixGradients.times(steps,
                                    MatrixGradients.inverse(steps, in.get(0)), in.get(1))),
                            l.in("X"), y);
            l.out("Out", isVector(l) ? x.squeeze(x.rank() - 1) : x);
        }).grad("solve_grad(Out, Out@GRAD, X, Y) -> X@GRAD, Y@GRAD", l -> {
            Operand dout = right(l, "Out@GRAD");
            Operand dy =
                    MatrixSteps.runAs(l, Size.of(dout),
                            in -> LuDecomposition.of(in.get(0).transposed()).solve(in.get(1)),
                            (steps, in) -> List.of(MatrixGradients.times(steps, MatrixGradients.transposed(
                                    MatrixGradients.inverse(steps, in.get(0))), in.get(1))),
                            l.in("X"), dout);
            if (l.wants("X@GRAD")) {
                Operand dx = MatrixSteps.runAs(l, Size.of(l.in("X")),
                        in -> in.get(0).times(in.get(1).transposed()).scaled(-1),
                        (steps, in) -> List.of(negativeProduct(steps, in.get(0), in.get(1))), dy, right(l, "Out"));
                l.out("X@GRAD", Dims.sumTo(l, dx, l.in("X").shape().dims()));
            }
            if (l.wants("Y@GRAD")) {
                l.out("Y@GRAD", Dims.sumTo(l, isVector(l) ? dy.squeeze(dy.rank() - 1) : dy, l.in("Y").shape().dims()));
            }
        }).register(registry);
    }

    /** −a · bᵀ. */
    private static Operand negativeProduct(Lowering l, Operand a, Operand b) {
        return l.unary(Unary.Function.NEGATE, MatrixGradients.times(l, a, MatrixGradients.transposed(b)));
    }

    private static void solved(Inference inference) {
        MatrixSteps.requireSquare(inference, "X");
        long[] x = inference.dims("X");
        long[] y = inference.dims("Y");
        inference.require(y.length >= 1 && inference.dtype("Y") == inference.dtype("X"),
                "Y must be a vector or matrices of the type of X");
        boolean vector = isVector(x, y);
        long rows = y[y.length - (vector ? 1 : 2)];
        requireRows(inference, x[x.length - 1], rows);
        long[] leading = inference.broadcast(MatrixSteps.leading(x),
                vector ? Arrays.copyOf(y, y.length - 1) : MatrixSteps.leading(y));
        long[] out = Dims.inserted(leading, leading.length, rows < 0 ? x[x.length - 1] : rows);
        inference.set("Out", inference.dtype("X"), vector ? out : Dims.inserted(out, out.length, y[y.length - 1]));
    }

    private static void requireRows(Inference inference, long columns, long rows) {
        inference.require(columns < 0 || rows < 0 || columns == rows,
                "the matrices have %d columns, but the right side has %d rows",
                columns, rows);
    }

    /** Y in triangular_solve, X in cholesky_solve. */
    private static void solved(Inference inference, String matrices, String right) {
        MatrixSteps.requireSquare(inference, matrices);
        MatrixSteps.requireMatrices(inference, right);
        inference.require(inference.dtype(matrices) == inference.dtype(right), "X and Y must have one type");
        long[] a = inference.dims(matrices);
        long[] b = inference.dims(right);
        requireRows(inference, a[a.length - 1], b[b.length - 2]);
        long[] leading = inference.broadcast(MatrixSteps.leading(a), MatrixSteps.leading(b));
        inference.set("Out", inference.dtype("X"), MatrixSteps.dims(leading, b[b.length - 2], b[b.length - 1]));
    }

    private static void triangular(Operations registry) {
        Operation.define("triangular_solve").in("X", "Y").out("Out").attr("upper", true).attr("transpose", false)
                .attr("unitriangular", false).infer(inference -> solved(inference, "X", "Y"))
                .lower(l -> l.out("Out", triangular(l, l.in("Y"), l.attrs().getBool("transpose"))))
                .grad("triangular_solve_grad(Out, Out@GRAD, X, Y) -> X@GRAD, Y@GRAD", l -> {
                    boolean upper = l.attrs().getBool("upper");
                    boolean transpose = l.attrs().getBool("transpose");
                    boolean unit = l.attrs().getBool("unitriangular");
                    Operand dy = triangular(l, l.in("Out@GRAD"), !transpose);
                    if (l.wants("X@GRAD")) {
                        Operand dx = MatrixSteps.runAs(l, Size.of(l.in("X")), in -> {
                            Matrix product = in.get(0).times(in.get(1).transposed()).scaled(-1);
                            Matrix triangle = (transpose ? product.transposed() : product).triangle(upper);
                            for (int i = 0; unit && i < triangle.rows(); i++) {
                                triangle.set(i, i, 0);
                            }
                            return triangle;
                        }, (steps, in) -> {
                            Operand product = negativeProduct(steps, in.get(0), in.get(1));
                            Operand turned = transpose ? MatrixGradients.transposed(product) : product;
                            return List.of(steps.run(new Triangle(upper, unit ? upper ? 1 : -1 : 0), turned));
                        }, dy, l.in("Out"));
                        l.out("X@GRAD", Dims.sumTo(l, dx, l.in("X").shape().dims()));
                    }
                    if (l.wants("Y@GRAD")) {
                        l.out("Y@GRAD", Dims.sumTo(l, dy, l.in("Y").shape().dims()));
                    }
                }).register(registry);
    }

    private static Operand triangular(Lowering l, Operand right, boolean transpose) {
        boolean upper = l.attrs().getBool("upper");
        boolean unit = l.attrs().getBool("unitriangular");
        return MatrixSteps.runAs(l, Size.of(right),
                in -> transpose
                        ? TriangularSystem.solve(in.get(0).transposed(), !upper, unit, in.get(1))
                        : TriangularSystem.solve(in.get(0), upper, unit, in.get(1)),
                (steps, in) -> {
                    Operand inverse = MatrixGradients.inverse(steps,
                            MatrixGradients.system(steps, in.get(0), upper, unit));
                    return List.of(MatrixGradients.times(steps,
                            transpose ? MatrixGradients.transposed(inverse) : inverse, in.get(1)));
                }, l.in("X"), right);
    }

    /** X is the right side, Y the triangle whose product with its transpose is the matrix. */
    private static void factorised(Operations registry) {
        Operation.define("cholesky_solve").in("X", "Y").out("Out").attr("upper", false)
                .infer(inference -> solved(inference, "Y", "X"))
                .lower(l -> l.out("Out", factorised(l, l.in("X"))))
                .grad("cholesky_solve_grad(Out, Out@GRAD, X, Y) -> X@GRAD, Y@GRAD", l -> {
                    boolean upper = l.attrs().getBool("upper");
                    Operand dx = factorised(l, l.in("Out@GRAD"));
                    if (l.wants("X@GRAD")) {
                        l.out("X@GRAD", Dims.sumTo(l, dx, l.in("X").shape().dims()));
                    }
                    if (l.wants("Y@GRAD")) {
                        Operand dy = MatrixSteps.runAs(l, Size.of(l.in("Y")), in -> {
                            Matrix half = in.get(0).times(in.get(1).transposed());
                            Matrix both = half.plus(half.transposed()).scaled(-1);
                            Matrix triangle = in.get(2).triangle(upper);
                            return (upper ? triangle.times(both) : both.times(triangle)).triangle(upper);
                        }, (steps, in) -> {
                            Operand half = negativeProduct(steps, in.get(0), in.get(1));
                            Operand both = steps.binary(Binary.Function.ADD, half, MatrixGradients.transposed(half));
                            Operand triangle = MatrixGradients.triangle(steps, in.get(2), upper);
                            Operand product = upper
                                    ? MatrixGradients.times(steps, triangle, both)
                                    : MatrixGradients.times(steps, both, triangle);
                            return List.of(MatrixGradients.triangle(steps, product, upper));
                        }, dx, l.in("Out"), l.in("Y"));
                        l.out("Y@GRAD", Dims.sumTo(l, dy, l.in("Y").shape().dims()));
                    }
                }).register(registry);
    }

    private static Operand factorised(Lowering l, Operand right) {
        boolean upper = l.attrs().getBool("upper");
        return MatrixSteps.runAs(l, Size.of(right), in -> {
            Matrix lower = upper ? in.get(0).transposed() : in.get(0);
            return TriangularSystem.solve(lower.transposed(), true, false,
                    TriangularSystem.solve(lower, false, false, in.get(1)));
        }, (steps, in) -> {
            Operand triangle = MatrixGradients.triangle(steps, in.get(0), upper);
            Operand turned = MatrixGradients.transposed(triangle);
            Operand product = upper
                    ? MatrixGradients.times(steps, turned, triangle)
                    : MatrixGradients.times(steps, triangle, turned);
            return List.of(MatrixGradients.times(steps, MatrixGradients.inverse(steps, product), in.get(1)));
        }, l.in("Y"), right);
    }
}
