package io.seriatim.graph.ops.linalg;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Step;
import io.seriatim.graph.ops.common.Dims;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.linalg.Matrix;
import io.seriatim.tensor.linalg.MatrixBatch;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Steps that compute matrix by matrix in double precision. The last two dimensions of tensors are those of matrices;
 * the leading dimensions broadcast.
 */
final class MatrixSteps {
    private MatrixSteps() {
    }

    /** The rows and columns of a result. */
    record Size(long rows, long columns) {
        static Size of(Operand matrices) {
            return new Size(matrices.dim(-2), matrices.dim(-1));
        }

        static Size of(ArgType matrices) {
            long[] dims = matrices.dims();
            return new Size(dims[dims.length - 2], dims[dims.length - 1]);
        }
    }

    /**
     * Adds a step with one result, [..., rows, columns], whose leading dimensions are those of the operands together.
     */
    static Operand run(Lowering l, Size size, Function<List<Matrix>, Matrix> rule, Operand... from) {
        return runAll(l, List.of(size), matrices -> List.of(rule.apply(matrices)), from).getFirst();
    }

    /** Adds a step with one result whose gradient is given. */
    static Operand run(Lowering l, Size size, Function<List<Matrix>, Matrix> rule, MatrixGradients.OfResult gradient,
            Operand... from) {
        return runAll(l, List.of(size), matrices -> List.of(rule.apply(matrices)),
                function -> new Step.Differentiable(function, gradient.gradients()), from).getFirst();
    }

    /** Adds a step with one result, and steps that are differentiated in its place. */
    static Operand runAs(Lowering l, Size size, Function<List<Matrix>, Matrix> rule, Step.Equivalent steps,
            Operand... from) {
        return runAll(l, List.of(size), matrices -> List.of(rule.apply(matrices)),
                function -> new Step.Expandable(function, steps), from).getFirst();
    }

    /** Adds a step with several results; all have the type of the first operand. */
    static List<Operand> runAll(Lowering l, List<Size> sizes, Function<List<Matrix>, List<Matrix>> rule,
            Operand... from) {
        return runAll(l, sizes, rule, function -> function, from);
    }

    /** Adds a step with several results; all have the type of the first operand. */
    static List<Operand> runAll(Lowering l, List<Size> sizes, Function<List<Matrix>, List<Matrix>> rule,
            UnaryOperator<Step.HostFunction> derived, Operand... from) {
        Shape batch = Shape.of();
        for (Operand each : from) {
            batch = batch.broadcast(each.shape().slice(0, each.rank() - 2));
        }
        List<Operand> inputs = new ArrayList<>();
        for (Operand each : from) {
            inputs.add(each.expand(matrices(batch, each.dim(-2), each.dim(-1))));
        }
        List<Operand> outputs = new ArrayList<>();
        for (Size size : sizes) {
            outputs.add(l.temporary(TensorSpec.of(from[0].dtype(), matrices(batch, size.rows(), size.columns()))));
        }
        int count = Math.toIntExact(batch.size());
        String type = l.type();
        l.call(type, derived.apply((in, out) -> each(type, count, rule, in, out)), inputs, outputs);
        return outputs;
    }

    private static Shape matrices(Shape batch, long rows, long columns) {
        long[] dims = Arrays.copyOf(batch.dims(), batch.rank() + 2);
        dims[batch.rank()] = rows;
        dims[batch.rank() + 1] = columns;
        return Shape.of(dims);
    }

    private static void each(String type, int count, Function<List<Matrix>, List<Matrix>> rule,
            List<@Nullable Tensor> in, List<@Nullable Tensor> out) {
        try {
            MatrixBatch.apply(count, present(in), present(out), rule);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("Operation '" + type + "', " + e.getMessage(), e);
        }
    }

    private static List<Tensor> present(List<@Nullable Tensor> tensors) {
        return tensors.stream().map(Objects::requireNonNull).toList();
    }

    /** Requires matrices of float32 or float64. */
    static void requireMatrices(Inference inference, String slot) {
        DType dtype = inference.dtype(slot);
        inference.require(dtype == DType.FLOAT32 || dtype == DType.FLOAT64, "%s must be float32 or float64, but is %s",
                slot, dtype);
        int rank = inference.dims(slot).length;
        inference.require(rank >= 2, "%s needs at least two dimensions, but has %d", slot, rank);
    }

    /** Requires square matrices. */
    static void requireSquare(Inference inference, String slot) {
        requireMatrices(inference, slot);
        long[] dims = inference.dims(slot);
        long rows = dims[dims.length - 2];
        long columns = dims[dims.length - 1];
        inference.require(rows < 0 || columns < 0 || rows == columns,
                "the matrices in %s must be square, but have %d rows and %d columns",
                slot, rows, columns);
    }

    /** The leading dimensions of matrices. */
    static long[] leading(long[] dims) {
        return Arrays.copyOf(dims, dims.length - 2);
    }

    /** The dimensions of matrices with leading dimensions. */
    static long[] dims(long[] leading, long rows, long columns) {
        return Dims.inserted(Dims.inserted(leading, leading.length, rows), leading.length + 1, columns);
    }
}
