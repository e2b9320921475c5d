package io.seriatim.graph.ops.normalisation;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Dims;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Weights divided by their largest singular value, as power iteration finds it: one of their dimensions are the rows of
 * a matrix, the others together its columns.
 */
public final class SpectralNormOperations {
    private SpectralNormOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("spectral_norm").in("Weight", "U", "V").out("Out").attr("dim", 0).attr("power_iters", 1)
                .attr("eps", 1e-12f)
                .infer(inference -> {
                    DType dtype = inference.dtype("Weight");
                    inference.require(dtype == DType.FLOAT32 || dtype == DType.FLOAT64,
                            "Weight must be float32 or float64, but is %s",
                            dtype);
                    long[] dims = inference.dims("Weight");
                    inference.require(dims.length >= 2, "Weight needs at least two dimensions, but has %d",
                            dims.length);
                    int iterations = inference.attrs().getInt("power_iters");
                    inference.require(iterations >= 0, "power_iters must be 0 or more, but is %d", iterations);
                    int axis = inference.axis("Weight", inference.attrs().getInt("dim"));
                    vector(inference, "U", dims[axis]);
                    vector(inference, "V", Inference.size(Dims.with(dims, axis, 1)));
                    inference.same("Weight", "Out");
                }).lower(l -> {
                    Norm norm = Norm.of(l);
                    l.out("Out", l.binary(Binary.Function.DIVIDE, l.in("Weight"), norm.value(l)));
                }).grad("spectral_norm_grad(U, V, Weight, Out@GRAD) -> Weight@GRAD", SpectralNormOperations::gradient)
                .register(registry);
    }

    private static void vector(Inference inference, String slot, long expected) {
        long size = Inference.size(inference.dims(slot));
        inference.require(inference.dtype(slot) == inference.dtype("Weight"),
                "%s must have the type of Weight, %s, but is %s", slot,
                inference.dtype("Weight"), inference.dtype(slot));
        inference.require(size < 0 || expected < 0 || size == expected, "%s must have %d elements, but has %d", slot,
                expected, size);
    }

    /** The vectors count as constants: the norm's slope is u · vᵀ. */
    private static void gradient(Lowering l) {
        Norm norm = Norm.of(l);
        Operand value = norm.value(l);
        Operand dout = l.in("Out@GRAD");
        Operand product = l.binary(Binary.Function.MULTIPLY, l.in("Weight"), dout);
        Operand sum = l.run(new Reduction(Reduction.Function.SUM, List.of(), false), product);
        Operand share = l.binary(Binary.Function.DIVIDE, sum, value);
        Operand slope = norm.restored(l.binary(Binary.Function.MULTIPLY, norm.u().unsqueeze(1), norm.v()));
        Operand rest = l.binary(Binary.Function.SUBTRACT, dout, l.binary(Binary.Function.MULTIPLY, slope, share));
        l.out("Weight@GRAD", l.binary(Binary.Function.DIVIDE, rest, value));
    }

    /** The result of power iteration. The initial vectors do not change. */
    private record Norm(Operand weight, Operand matrix, int axis, Operand u, Operand v) {
        static Norm of(Lowering l) {
            Operand weight = l.in("Weight");
            int axis = weight.shape().axis(l.attrs().getInt("dim"));
            int[] order = IntStream.range(0, weight.rank()).map(i -> i == 0 ? axis : i <= axis ? i - 1 : i).toArray();
            Operand matrix = l.reshape(weight.transpose(order), weight.dim(axis),
                    weight.shape().size() / weight.dim(axis));
            Operand u = l.reshape(l.in("U"), matrix.dim(0));
            Operand v = l.reshape(l.in("V"), matrix.dim(1));
            double epsilon = l.attrs().getFloat("eps");
            for (int i = 0; i < l.attrs().getInt("power_iters"); i++) {
                v = unit(l, l.run(new MatMul(true, false, false, List.of()), matrix, u), epsilon);
                u = unit(l, l.run(MatMul.PLAIN, matrix, v), epsilon);
            }
            return new Norm(weight, matrix, axis, u, v);
        }

        private static Operand unit(Lowering l, Operand x, double epsilon) {
            Operand squares = l.run(new Reduction(Reduction.Function.SUM_OF_SQUARES, List.of(), false), x);
            return l.binary(Binary.Function.DIVIDE, x, l.linear(l.unary(Unary.Function.SQRT, squares), 1, epsilon));
        }

        Operand value(Lowering l) {
            Operand terms = l.binary(Binary.Function.MULTIPLY, u, l.run(MatMul.PLAIN, matrix, v));
            return l.run(new Reduction(Reduction.Function.SUM, List.of(), false), terms);
        }

        /** A row-major matrix, with the dimensions of the weight in their order. */
        Operand restored(Operand ofMatrix) {
            long[] dims = IntStream.range(0, weight.rank())
                    .mapToLong(i -> weight.dim(i == 0 ? axis : i <= axis ? i - 1 : i)).toArray();
            int[] order = IntStream.range(0, weight.rank()).map(i -> i == axis ? 0 : i < axis ? i + 1 : i).toArray();
            return ofMatrix.reshape(dims).transpose(order);
        }
    }
}
