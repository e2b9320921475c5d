package io.seriatim.graph.ops.linalg;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Dims;
import io.seriatim.graph.ops.linalg.MatrixSteps.Size;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Triangle;
import io.seriatim.tensor.linalg.Matrix;
import io.seriatim.tensor.linalg.RectangularLu;
import java.util.Arrays;
import java.util.List;

/** Matrices as products of triangular ones, with exchanged rows. */
public final class LuOperations {
    private LuOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("lu").in("X").out("Out", "Pivots", "Infos").attr("pivots", true)
                .attr("scalar_infos", false).infer(LuOperations::lu)
                .lower(LuOperations::lu)
                .grad("lu_grad(X, Out, Pivots, Out@GRAD) -> X@GRAD", l -> {
                    Operand out = l.in("Out");
                    l.out("X@GRAD", MatrixSteps.runAs(l, Size.of(out), in -> {
                        Matrix permutation = RectangularLu.permutation(in.get(0).rows(), elements(in.get(2)));
                        return RectangularLu.gradient(in.get(0), permutation, in.get(1));
                    }, (steps, in) -> List.of(MatrixGradients.times(steps, permutation(steps, in.get(0), in.get(2)),
                            MatrixGradients.ofTriangles(steps, in.get(0), in.get(1)))), out, l.in("Out@GRAD"),
                            pivots(l, out.dtype())));
                }).register(registry);
        unpack(registry);
    }

    private static void lu(Inference inference) {
        MatrixSteps.requireMatrices(inference, "X");
        inference.require(inference.attrs().getBool("pivots"), "pivots must be true: rows are always exchanged");
        long[] dims = inference.dims("X");
        long[] leading = MatrixSteps.leading(dims);
        inference.same("X", "Out");
        inference.set("Pivots", DType.INT32, Dims.inserted(leading, leading.length, least(dims)));
        // Of one matrix, PaddlePaddle 2 announces no number and gives one; PaddlePaddle 3 gives a scalar.
        long[] one = {inference.isForRun() ? 1 : 0};
        boolean announced = leading.length == 0 && !inference.attrs().getBool("scalar_infos");
        inference.set("Infos", DType.INT32, announced ? one : leading);
    }

    private static long least(long[] dims) {
        long rows = dims[dims.length - 2];
        long columns = dims[dims.length - 1];
        return rows < 0 || columns < 0 ? -1 : Math.min(rows, columns);
    }

    private static void lu(Lowering l) {
        Operand x = l.in("X");
        long steps = Math.min(x.dim(-2), x.dim(-1));
        List<Operand> parts = MatrixSteps.runAll(l, List.of(Size.of(x), new Size(1, steps), new Size(1, 1)), in -> {
            RectangularLu lu = RectangularLu.of(in.getFirst());
            double[] pivots = Arrays.stream(lu.pivots()).asDoubleStream().toArray();
            return List.of(lu.factors(), new Matrix(1, pivots.length, pivots),
                    new Matrix(1, 1, new double[]{lu.zeroPivot()}));
        }, x);
        l.out("Out", parts.get(0));
        l.out("Pivots", parts.get(1).squeeze(-2));
        l.out("Infos", parts.get(2).reshape(l.outType("Infos", 0).dims()));
    }

    private static double[] elements(Matrix row) {
        double[] values = new double[row.columns()];
        row.copyTo(values, 0);
        return values;
    }

    /** The permutation of the rows of matrices. */
    private static Operand permutation(Lowering l, Operand matrices, Operand pivots) {
        int rows = Math.toIntExact(matrices.dim(-2));
        return MatrixSteps.run(l, new Size(rows, rows),
                in -> RectangularLu.permutation(rows, elements(in.getFirst())), pivots);
    }

    /** As rows of numbers, which hold indexes exactly. */
    private static Operand pivots(Lowering l, DType dtype) {
        Operand pivots = l.cast(l.in("Pivots"), dtype);
        return pivots.unsqueeze(pivots.rank() - 1);
    }

    private static void unpack(Operations registry) {
        Operation.define("lu_unpack").in("X", "Pivots").out("Pmat", "L", "U").attr("unpack_ludata", true)
                .attr("unpack_pivots", true).infer(inference -> {
                    MatrixSteps.requireMatrices(inference, "X");
                    long[] dims = inference.dims("X");
                    long[] leading = MatrixSteps.leading(dims);
                    long rows = dims[dims.length - 2];
                    long columns = dims[dims.length - 1];
                    long[] pivots = inference.dims("Pivots");
                    inference.require(inference.dtype("Pivots") == DType.INT32 && pivots.length == dims.length - 1
                            && (pivots[leading.length] < 0 || least(dims) < 0 || pivots[leading.length] == least(dims)),
                            "Pivots must be int32, with %d numbers for each matrix of %s, but are %s %s", least(dims),
                            Numbers.text(dims), inference.dtype("Pivots"), Numbers.text(pivots));
                    // What is not unpacked has no dimensions.
                    boolean permutation = inference.attrs().getBool("unpack_pivots");
                    boolean factors = inference.attrs().getBool("unpack_ludata");
                    long[] none = {};
                    DType dtype = inference.dtype("X");
                    // Before a run, Paddle announces the shape of X for all of them.
                    boolean run = inference.isForRun();
                    long[] square = run ? MatrixSteps.dims(leading, rows, rows) : dims;
                    long[] lower = run ? MatrixSteps.dims(leading, rows, least(dims)) : dims;
                    long[] upper = run ? MatrixSteps.dims(leading, least(dims), columns) : dims;
                    inference.set("Pmat", dtype, permutation ? square : none);
                    inference.set("L", dtype, factors ? lower : none);
                    inference.set("U", dtype, factors ? upper : none);
                }).lower(LuOperations::unpack)
                .grad("lu_unpack_grad(X, Pivots, L, U, Pmat, L@GRAD, U@GRAD) -> X@GRAD", LuOperations::unpackGradient)
                .register(registry);
    }

    private static void unpack(Lowering l) {
        Operand x = l.in("X");
        long least = Math.min(x.dim(-2), x.dim(-1));
        if (l.wants("Pmat") && l.attrs().getBool("unpack_pivots")) {
            l.out("Pmat", permutation(l, x, pivots(l, x.dtype())));
        } else {
            l.out("Pmat", zeros(l, "Pmat"));
        }
        boolean factors = l.attrs().getBool("unpack_ludata");
        if (l.wants("L")) {
            Operand lower = l.run(new Triangle(false, -1), x.slice(-1, 0, least));
            l.out("L", factors ? l.binary(Binary.Function.ADD, lower, ones(l, lower)) : zeros(l, "L"));
        }
        l.out("U", factors ? l.run(new Triangle(true, 0), x.slice(-2, 0, least)) : zeros(l, "U"));
    }

    private static Operand zeros(Lowering l, String slot) {
        return l.fill(0, l.outType(slot, 0).spec());
    }

    /** Ones in the diagonal. */
    private static Operand ones(Lowering l, Operand like) {
        TensorSpec matrix = TensorSpec.of(like.dtype(), like.dim(-2), like.dim(-1));
        return l.run(new Triangle(true, 0), l.run(new Triangle(false, 0), l.fill(1, matrix)));
    }

    /** Each factor's triangle of the gradient. */
    private static void unpackGradient(Lowering l) {
        Operand x = l.in("X");
        long least = Math.min(x.dim(-2), x.dim(-1));
        Operand both = l.fill(0, x.spec().rowMajor());
        l.into(Copy.PLAIN, List.of(l.run(new Triangle(false, -1), l.in("L@GRAD"))), List.of(both.slice(-1, 0, least)));
        Operand upper = both.slice(-2, 0, least);
        l.into(Binary.of(Binary.Function.ADD), List.of(upper, l.run(new Triangle(true, 0), l.in("U@GRAD"))),
                List.of(upper));
        l.out("X@GRAD", both);
    }
}
