package io.seriatim.graph.ops.linalg;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.Step;
import io.seriatim.graph.ops.common.Dims;
import io.seriatim.graph.ops.linalg.MatrixSteps.Size;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.linalg.Matrix;
import io.seriatim.tensor.linalg.SingularValueDecomposition;
import io.seriatim.tensor.linalg.SymmetricEigendecomposition;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Eigenvalues of symmetric matrices, singular values, and ranks. Signs of vectors are free: they may differ from those
 * of other libraries.
 */
public final class SpectrumOperations {
    private SpectrumOperations() {
    }

    public static void register(Operations registry) {
        symmetric(registry);
        symmetricValues(registry);
        singular(registry);
        rank(registry);
    }

    private static boolean isUpper(Attrs attrs) {
        return attrs.getText("UPLO").equals("U");
    }

    private static void symmetric(Inference inference) {
        MatrixSteps.requireSquare(inference, "X");
        String half = inference.attrs().getText("UPLO");
        inference.require(half.equals("L") || half.equals("U"),
                "UPLO must be L or U, for the triangle that is read, but is '%s'", half);
        long[] dims = inference.dims("X");
        inference.set("Eigenvalues", inference.dtype("X"), Arrays.copyOf(dims, dims.length - 1));
        inference.same("X", "Eigenvectors");
    }

    private static void symmetric(Lowering l) {
        boolean upper = isUpper(l.attrs());
        Operand x = l.in("X");
        List<Operand> both = MatrixSteps.runAll(l, List.of(new Size(1, x.dim(-1)), Size.of(x)), in -> {
            SymmetricEigendecomposition eigen = SymmetricEigendecomposition.of(in.getFirst(), upper);
            return List.of(row(eigen.values()), eigen.vectors());
        }, function -> new Step.Differentiable(function, SpectrumOperations::ofSymmetric), x);
        l.out("Eigenvalues", both.get(0).squeeze(x.rank() - 2));
        l.out("Eigenvectors", both.get(1));
    }

    private static List<@Nullable Operand> ofSymmetric(Lowering l, List<Operand> in, List<Operand> out,
            List<@Nullable Operand> gradients) {
        Operand ofValues = gradients.get(0);
        Operand ofVectors = gradients.get(1);
        return List.of(MatrixGradients.ofSymmetric(l, out.get(1),
                ofVectors == null ? l.fill(0, out.get(1).spec()) : ofVectors, out.get(0),
                ofValues == null ? l.fill(0, out.get(0).spec()) : ofValues));
    }

    private static Matrix row(double... values) {
        return new Matrix(1, values.length, values);
    }

    private static double[] elements(Matrix row) {
        double[] values = new double[row.columns()];
        row.copyTo(values, 0);
        return values;
    }

    private static Operand rows(Lowering l, String slot) {
        return l.in(slot).unsqueeze(l.in(slot).rank() - 1);
    }

    private static void symmetric(Operations registry) {
        Operation.define("eigh").in("X").out("Eigenvalues", "Eigenvectors").attr("UPLO", "L")
                .infer(SpectrumOperations::symmetric)
                .lower(SpectrumOperations::symmetric)
                .grad("eigh_grad(Eigenvalues, Eigenvalues@GRAD, Eigenvectors, Eigenvectors@GRAD) -> X@GRAD",
                        inference -> inference.same("Eigenvectors", "X@GRAD"), l -> {
                            Operand vectors = l.in("Eigenvectors");
                            l.out("X@GRAD",
                                    MatrixSteps.runAs(l, Size.of(vectors),
                                            in -> ofSymmetric(in.get(0), in.get(1), in.get(2), in.get(3)),
                                            (steps, in) -> List.of(MatrixGradients.ofSymmetric(steps, in.get(0),
                                                    in.get(1), in.get(2), in.get(3))),
                                            vectors, l.in("Eigenvectors@GRAD"), rows(l, "Eigenvalues"),
                                            rows(l, "Eigenvalues@GRAD")));
                        })
                .register(registry);
    }

    /**
     * The symmetric part of V · (Vᵀ·dV / differences of eigenvalues, with their gradients as diagonal) · Vᵀ (Giles: An
     * extended collection of matrix derivative results, 2008, 3.1).
     */
    private static Matrix ofSymmetric(Matrix vectors, Matrix ofVectors, Matrix values, Matrix ofValues) {
        Matrix inner = vectors.transposed().times(ofVectors);
        for (int i = 0; i < inner.rows(); i++) {
            for (int j = 0; j < inner.rows(); j++) {
                double difference = values.at(0, j) - values.at(0, i);
                inner.set(i, j, i == j ? ofValues.at(0, i) : ratio(inner.at(i, j), difference));
            }
        }
        Matrix result = vectors.times(inner).times(vectors.transposed());
        return result.plus(result.transposed()).scaled(0.5);
    }

    /** The quotient, and 0 for 0 / 0: equal eigenvalues are harmless if their vectors have no gradient. */
    private static double ratio(double numerator, double denominator) {
        return numerator == 0 ? 0 : numerator / denominator;
    }

    private static void symmetricValues(Operations registry) {
        Operation.define("eigvalsh").in("X").out("Eigenvalues", "Eigenvectors").attr("UPLO", "L").attr("is_test", false)
                .infer(SpectrumOperations::symmetric).lower(SpectrumOperations::symmetric)
                .grad("eigvalsh_grad(Eigenvalues@GRAD, Eigenvectors) -> X@GRAD",
                        inference -> inference.same("Eigenvectors", "X@GRAD"),
                        l -> {
                            Operand vectors = l.in("Eigenvectors");
                            l.out("X@GRAD", MatrixSteps.runAs(l, Size.of(vectors),
                                    in -> in.get(0).scaledColumns(elements(in.get(1))).times(in.get(0).transposed()),
                                    (steps, in) -> List.of(
                                            MatrixGradients.ofValues(steps, in.get(0), in.get(1))),
                                    vectors,
                                    rows(l, "Eigenvalues@GRAD")));
                        })
                .register(registry);
    }

    private static void singular(Operations registry) {
        Operation.define("svd").in("X").out("U", "S", "VH").attr("full_matrices", false).infer(inference -> {
            MatrixSteps.requireMatrices(inference, "X");
            long[] dims = inference.dims("X");
            long[] leading = MatrixSteps.leading(dims);
            long rows = dims[dims.length - 2];
            long columns = dims[dims.length - 1];
            long least = rows < 0 || columns < 0 ? -1 : Math.min(rows, columns);
            boolean full = inference.attrs().getBool("full_matrices");
            inference.set("U", inference.dtype("X"), MatrixSteps.dims(leading, rows, full ? rows : least));
            inference.set("S", inference.dtype("X"), Dims.inserted(leading, leading.length, least));
            inference.set("VH", inference.dtype("X"), MatrixSteps.dims(leading, full ? columns : least, columns));
        }).lower(l -> {
            boolean full = l.attrs().getBool("full_matrices");
            Operand x = l.in("X");
            long rows = x.dim(-2);
            long columns = x.dim(-1);
            long least = Math.min(rows, columns);
            List<Size> sizes = List.of(new Size(rows, full ? rows : least), new Size(1, least),
                    new Size(full ? columns : least, columns));
            List<Operand> parts = MatrixSteps.runAll(l, sizes, in -> {
                SingularValueDecomposition svd = SingularValueDecomposition.of(in.getFirst(), full);
                return List.of(svd.left(), row(svd.values()), svd.right().transposed());
            }, x);
            l.out("U", parts.get(0));
            l.out("S", parts.get(1).squeeze(x.rank() - 2));
            l.out("VH", parts.get(2));
        }).grad("svd_grad(S, S@GRAD, U, U@GRAD, VH, VH@GRAD, X) -> X@GRAD",
                l -> l.out("X@GRAD",
                        MatrixSteps.runAs(l, Size.of(l.in("X")), SpectrumOperations::ofSingular,
                                (steps, in) -> List.of(MatrixGradients.ofSingular(steps, in)), rows(l, "S"),
                                rows(l, "S@GRAD"), l.in("U"), l.in("U@GRAD"), l.in("VH"), l.in("VH@GRAD"))))
                .register(registry);
    }

    /** The gradients of vectors beyond the singular values are not taken into account, as in Paddle. */
    private static Matrix ofSingular(List<Matrix> in) {
        double[] s = elements(in.get(0));
        Matrix u = in.get(2).firstColumns(s.length);
        Matrix ofU = in.get(3).firstColumns(s.length);
        Matrix v = in.get(4).transposed().firstColumns(s.length);
        Matrix ofV = in.get(5).transposed().firstColumns(s.length);
        Matrix inner = turned(u, ofU, s).scaledColumns(s)
                .plus(turned(v, ofV, s).transposed().scaledColumns(s).transposed());
        for (int i = 0; i < s.length; i++) {
            inner.add(i, i, in.get(1).at(0, i));
        }
        Matrix result = u.times(inner).plus(outside(u, ofU, s)).times(v.transposed());
        return result.plus(u.times(outside(v, ofV, s).transposed()));
    }

    /**
     * (wᵀ·dw − dwᵀ·w) / differences of squared singular values (Townsend: Differentiating the singular value
     * decomposition, 2016).
     */
    private static Matrix turned(Matrix vectors, Matrix gradient, double... s) {
        Matrix product = vectors.transposed().times(gradient);
        Matrix result = product.minus(product.transposed());
        for (int i = 0; i < s.length; i++) {
            for (int j = 0; j < s.length; j++) {
                result.set(i, j, i == j ? 0 : ratio(result.at(i, j), (s[j] - s[i]) * (s[j] + s[i])));
            }
        }
        return result;
    }

    /**
     * The part of a gradient that is orthogonal to all vectors, divided by the singular values; zero if the vectors
     * span the whole space.
     */
    private static Matrix outside(Matrix vectors, Matrix gradient, double... s) {
        if (vectors.rows() == vectors.columns()) {
            return new Matrix(vectors.rows(), s.length);
        }
        Matrix rest = gradient.minus(vectors.times(vectors.transposed().times(gradient)));
        return rest.scaledColumns(Arrays.stream(s).map(value -> 1 / value).toArray());
    }

    /** How many singular values are above a tolerance; of symmetric matrices, how many absolute eigenvalues. */
    private static void rank(Operations registry) {
        Operation.define("matrix_rank").in("X", "TolTensor?").out("Out").attr("tol", 0f).attr("hermitian", false)
                .attr("use_default_tol", true).attr("dtype", DataTypes.number(DType.INT32)).infer(inference -> {
                    // PaddlePaddle 3 has int64, PaddlePaddle 2 int32.
                    DType dtype = DataTypes.dtype(inference.attrs().getInt("dtype"));
                    MatrixSteps.requireMatrices(inference, "X");
                    if (inference.attrs().getBool("hermitian")) {
                        MatrixSteps.requireSquare(inference, "X");
                    }
                    long[] leading = MatrixSteps.leading(inference.dims("X"));
                    boolean given = inference.has("TolTensor");
                    inference.require(!given || inference.dtype("TolTensor").isFloating(),
                            "TolTensor must be of a floating-point type");
                    inference.set("Out", dtype,
                            given ? inference.broadcast(leading, inference.dims("TolTensor")) : leading);
                }).lower(l -> {
                    Operand x = l.in("X");
                    boolean hermitian = l.attrs().getBool("hermitian");
                    boolean byDefault = l.attrs().getBool("use_default_tol");
                    double precision = x.dtype() == DType.FLOAT32 ? Math.ulp(1f) : Math.ulp(1d);
                    double relative = byDefault ? precision * Math.max(x.dim(-2), x.dim(-1)) : 0;
                    Operand tolerance = l.has("TolTensor")
                            ? l.cast(l.in("TolTensor"), x.dtype())
                            : l.number(x.dtype(), byDefault ? 0 : l.attrs().getFloat("tol"));
                    Operand each = tolerance.unsqueeze(tolerance.rank()).unsqueeze(tolerance.rank() + 1);
                    Operand rank = MatrixSteps.run(l, new Size(1, 1),
                            in -> row(rank(in.get(0), in.get(1).at(0, 0), relative, hermitian)),
                            x,
                            each);
                    l.out("Out", l.cast(rank, l.outType("Out", 0).dtype()).reshape(l.outType("Out", 0).dims()));
                }).register(registry);
    }

    private static double rank(Matrix x, double absolute, double relative, boolean hermitian) {
        double[] values = hermitian
                ? SymmetricEigendecomposition.of(x, false).values()
                : SingularValueDecomposition.of(x, false).values();
        double[] sizes = Arrays.stream(values).map(Math::abs).toArray();
        double tolerance = Math.max(absolute, relative * Arrays.stream(sizes).max().orElse(0));
        return Arrays.stream(sizes).filter(size -> size > tolerance).count();
    }
}
