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
import io.seriatim.tensor.linalg.Matrix;
import io.seriatim.tensor.linalg.SingularValueDecomposition;
import java.util.Arrays;
import java.util.List;

/**
 * Solutions of linear systems that have the least residual, and of these the least norm. The drivers are those of
 * LAPACK; all come down to singular values here, which are what they differ in: gels takes matrices to be of full rank.
 */
public final class LeastSquaresOperations {
    private LeastSquaresOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("lstsq").in("X", "Y").out("Solution", "Residuals?", "Rank", "SingularValues").attr("rcond", 0f)
                .attr("driver", "gels").infer(LeastSquaresOperations::infer).lower(LeastSquaresOperations::lower)
                .register(registry);
    }

    private static void infer(Inference inference) {
        MatrixSteps.requireMatrices(inference, "X");
        MatrixSteps.requireMatrices(inference, "Y");
        String driver = inference.attrs().getText("driver");
        inference.require(List.of("gels", "gelsy", "gelsd", "gelss").contains(driver),
                "driver must be gels, gelsy, gelsd or gelss, but is '%s'", driver);
        long[] x = inference.dims("X");
        long[] y = inference.dims("Y");
        DType dtype = inference.dtype("X");
        long[] leading = MatrixSteps.leading(x);
        inference.require(dtype == inference.dtype("Y") && x.length == y.length
                && Arrays.equals(leading, MatrixSteps.leading(y)) && x[x.length - 2] == y[y.length - 2],
                "X and Y must be of one type, with the same leading dimensions and rows, but are %s %s and %s %s",
                dtype,
                Numbers.text(x), inference.dtype("Y"), Numbers.text(y));
        long rows = x[x.length - 2];
        long columns = x[x.length - 1];
        // In a run, Paddle drops the leading dimensions if there is a single matrix.
        boolean single = inference.isForRun() && Inference.size(leading) == 1;
        inference.set("Solution", dtype,
                MatrixSteps.dims(single ? new long[0] : leading, columns, y[y.length - 1]));
        inference.set("Residuals", dtype, rows > columns
                ? Dims.inserted(leading, leading.length, y[y.length - 1])
                : new long[]{0});
        boolean rank = !inference.isForRun() || !driver.equals("gels");
        inference.set("Rank", DType.INT32, rank ? leading : new long[]{0});
        boolean values = !inference.isForRun() || driver.equals("gelsd") || driver.equals("gelss");
        inference.set("SingularValues", dtype,
                values ? Dims.inserted(leading, leading.length, Math.min(rows, columns)) : new long[]{0});
    }

    private static void lower(Lowering l) {
        Operand x = l.in("X");
        Operand y = l.in("Y");
        long least = Math.min(x.dim(-2), x.dim(-1));
        double given = l.attrs().getFloat("rcond");
        double precision = x.dtype() == DType.FLOAT32 ? Math.ulp(1f) : Math.ulp(1d);
        boolean full = l.attrs().getText("driver").equals("gels");
        double relative = full ? 0 : given < 0 ? precision : given;
        List<Size> sizes = List.of(new Size(x.dim(-1), y.dim(-1)), new Size(1, y.dim(-1)), new Size(1, 1),
                new Size(1, least));
        List<Operand> parts = MatrixSteps.runAll(l, sizes, in -> solve(in.get(0), in.get(1), relative), x, y);
        l.out("Solution", parts.get(0).reshape(l.outType("Solution", 0).dims()));
        put(l, "Residuals", parts.get(1));
        put(l, "Rank", parts.get(2));
        put(l, "SingularValues", parts.get(3));
    }

    /** What the driver does not compute has no elements. */
    private static void put(Lowering l, String slot, Operand value) {
        if (l.wants(slot)) {
            long[] dims = l.outType(slot, 0).dims();
            l.out(slot, dims.length == 1 && dims[0] == 0
                    ? l.fill(0, l.outType(slot, 0).spec())
                    : value.reshape(dims));
        }
    }

    /** The solution, the sums of squared residuals, the rank, and the singular values. */
    private static List<Matrix> solve(Matrix x, Matrix y, double relative) {
        SingularValueDecomposition svd = SingularValueDecomposition.of(x, false);
        double[] values = svd.values();
        double least = values.length == 0 ? 0 : relative * values[0];
        double[] inverses = Arrays.stream(values).map(value -> value > least ? 1 / value : 0).toArray();
        Matrix solution = svd.right().scaledColumns(inverses).times(svd.left().transposed().times(y));
        Matrix rest = x.times(solution).minus(y);
        Matrix squares = new Matrix(1, y.columns());
        for (int i = 0; i < rest.rows(); i++) {
            for (int j = 0; j < rest.columns(); j++) {
                squares.add(0, j, rest.at(i, j) * rest.at(i, j));
            }
        }
        double rank = Arrays.stream(inverses).filter(value -> value != 0).count();
        return List.of(solution, squares, new Matrix(1, 1, new double[]{rank}), new Matrix(1, values.length, values));
    }
}
