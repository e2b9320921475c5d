package io.seriatim.graph.ops.linalg;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.ComplexNumbers;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.linalg.ComplexMatrix;
import io.seriatim.tensor.linalg.Eigendecomposition;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Eigenvalues and eigenvectors of any square matrices, real or complex. The gradient is that of real matrices: its
 * operation does not read the matrices, and so cannot tell which type its result has.
 */
public final class EigenOperations {
    private EigenOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("eig").in("X").out("Eigenvalues", "Eigenvectors").infer(inference -> {
            DType dtype = complex(inference);
            long[] dims = inference.dims("X");
            inference.set("Eigenvalues", dtype, Arrays.copyOf(dims, dims.length - 1));
            inference.set("Eigenvectors", dtype, dims);
        }).lower(l -> {
            List<Operand> both = decomposed(l, l.in("X"));
            l.out("Eigenvalues", both.get(0));
            l.out("Eigenvectors", both.get(1));
        }).grad("eig_grad(Eigenvalues, Eigenvectors, Eigenvalues@GRAD, Eigenvectors@GRAD) -> X@GRAD",
                inference -> inference.set("X@GRAD", 0,
                        inference.in("Eigenvectors").with(inference.dtype("Eigenvectors").real())),
                EigenOperations::gradient).register(registry);
        Operation.define("eigvals").in("X").out("Out").infer(inference -> {
            long[] dims = inference.dims("X");
            inference.set("Out", complex(inference), Arrays.copyOf(dims, dims.length - 1));
        }).lower(l -> {
            // The values are those of the transpose, which Paddle decomposes: they come in its order.
            Operand x = l.in("X");
            int[] axes = IntStream.range(0, x.rank()).toArray();
            axes[x.rank() - 1]--;
            axes[x.rank() - 2]++;
            l.out("Out", decomposed(l, l.copy(x.transpose(axes))).getFirst());
        }).register(registry);
    }

    private static DType complex(Inference inference) {
        DType dtype = ComplexNumbers.of(ComplexNumbers.parts(inference, "X"));
        long[] dims = inference.dims("X");
        int rank = dims.length;
        inference.require(rank >= 2 && (dims[rank - 1] < 0 || dims[rank - 2] < 0 || dims[rank - 1] == dims[rank - 2]),
                "X must have square matrices in its last two dimensions, but has the shape %s", Numbers.text(dims));
        return dtype;
    }

    private static List<Operand> decomposed(Lowering l, Operand matrices) {
        Operand x = l.cast(matrices, ComplexNumbers.of(matrices.dtype()));
        long[] dims = x.shape().dims();
        List<Operand> both = List.of(l.temporary(TensorSpec.of(x.dtype(), Arrays.copyOf(dims, dims.length - 1))),
                l.temporary(TensorSpec.of(x.dtype(), dims)));
        l.callWithComplex(l.type(), (in, out) -> each(l.type(), in, out, given -> {
            Eigendecomposition eigen = Eigendecomposition.of(given.getFirst());
            return List.of(eigen.values(), eigen.vectors());
        }), List.of(x), both);
        return both;
    }

    /** What is done to the matrices in one place of all inputs. */
    @FunctionalInterface
    private interface Rule {
        List<ComplexMatrix> apply(List<ComplexMatrix> matrices);
    }

    /** Applies a rule to each place. The first input or output that has vectors has them as rows. */
    private static void each(String type, List<@Nullable Tensor> in, List<@Nullable Tensor> out, Rule rule) {
        Tensor matrices = Objects.requireNonNull(in.getLast());
        int n = Math.toIntExact(matrices.shape().dim(-1));
        int count = n == 0 ? 0 : Math.toIntExact(matrices.shape().size() / n / n);
        List<double[]> read =
                in.stream().map(tensor -> Objects.requireNonNull(tensor).asReal().toDoubleArray()).toList();
        List<double[]> written = out.stream()
                .map(tensor -> new double[WorkingMemory.length(2 * Objects.requireNonNull(tensor).shape().size())])
                .toList();
        for (int place = 0; place < count; place++) {
            int at = place;
            List<ComplexMatrix> given = read.stream().map(values -> matrix(values, count, n, at)).toList();
            List<ComplexMatrix> results;
            try {
                results = rule.apply(given);
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("Operation '" + type + "', matrix " + place + " of " + count + ": "
                        + e.getMessage(), e);
            }
            for (int i = 0; i < results.size(); i++) {
                results.get(i).copyTo(written.get(i), place * written.get(i).length / count);
            }
        }
        for (int i = 0; i < written.size(); i++) {
            store(written.get(i), Objects.requireNonNull(out.get(i)).asReal());
        }
    }

    private static ComplexMatrix matrix(double[] values, int count, int n, int place) {
        int length = values.length / count;
        return ComplexMatrix.of(length / n / 2, n, values, place * length);
    }

    private static void store(double[] parts, Tensor to) {
        Elements.write(parts, to);
    }

    private static void gradient(Lowering l) {
        if (!l.wants("X@GRAD")) {
            return;
        }
        Operand vectors = l.in("Eigenvectors");
        Operand result = l.temporary(vectors.spec());
        l.callWithComplex("eig_grad", (in, out) -> each("eig_grad", in, out, matrices -> {
            requireReal(matrices.get(0), matrices.get(3));
            return List.of(Eigendecomposition.gradient(matrices.get(0), matrices.get(3), matrices.get(1),
                    matrices.get(2)));
        }), List.of(l.in("Eigenvalues"), l.in("Eigenvalues@GRAD"), l.in("Eigenvectors@GRAD"), vectors),
                List.of(result));
        l.out("X@GRAD", result);
    }

    /** The matrix that was decomposed, as values and vectors give it, must be real. */
    private static void requireReal(ComplexMatrix values, ComplexMatrix vectors) {
        int n = vectors.rows();
        ComplexMatrix scaled = new ComplexMatrix(n, n);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                scaled.set(i, j, vectors.re(i, j) * values.re(0, j) - vectors.im(i, j) * values.im(0, j),
                        vectors.re(i, j) * values.im(0, j) + vectors.im(i, j) * values.re(0, j));
            }
        }
        // A = V · Λ · V⁻¹, and so its adjoint is V⁻ᴴ · (V · Λ)ᴴ.
        ComplexMatrix matrix = vectors.adjoint().solve(scaled.adjoint());
        double real = IntStream.range(0, n * n).mapToDouble(i -> Math.abs(matrix.re(i / n, i % n))).max().orElse(0);
        double other = IntStream.range(0, n * n).mapToDouble(i -> Math.abs(matrix.im(i / n, i % n))).max().orElse(0);
        if (other > 1e-2 * real) {
            throw new IllegalArgumentException(
                    "the gradient of eig is known for real matrices only, but X was complex: use eigh for Hermitian "
                            + "ones, or stop the gradient");
        }
    }
}
