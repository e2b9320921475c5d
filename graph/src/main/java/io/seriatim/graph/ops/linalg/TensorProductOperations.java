package io.seriatim.graph.ops.linalg;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.ComplexNumbers;
import io.seriatim.graph.ops.common.Dims;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Reduction;
import java.util.ArrayList;
import java.util.List;

/** Kronecker products, and bilinear forms. */
public final class TensorProductOperations {
    private TensorProductOperations() {
    }

    public static void register(Operations registry) {
        kron(registry);
        bilinear(registry);
    }

    private static void kron(Operations registry) {
        Operation.define("kron").in("X", "Y").out("Out").infer(inference -> {
            long[] x = inference.dims("X");
            long[] y = inference.dims("Y");
            long[] out = new long[Math.max(x.length, y.length)];
            for (int i = 0; i < out.length; i++) {
                long a = dim(x, i - out.length + x.length);
                long b = dim(y, i - out.length + y.length);
                out[i] = a < 0 || b < 0 ? -1 : Dims.times(a, b);
            }
            inference.set("Out", ComplexNumbers.promoted(inference, inference.dtype("X"), inference.dtype("Y")), out);
        }).lower(l -> {
            int rank = Math.max(l.in("X").rank(), l.in("Y").rank());
            Operand product = ComplexNumbers.binary(l, Binary.Function.MULTIPLY, spread(l.in("X"), rank, 1),
                    spread(l.in("Y"), rank, 0));
            l.out("Out", product.reshape(l.outType("Out", 0).dims()));
        }).grad("kron_grad(X, Y, Out@GRAD) -> X@GRAD, Y@GRAD", l -> {
            kronGradient(l, "X", "Y", 1);
            kronGradient(l, "Y", "X", 0);
        }).register(registry);
    }

    private static long dim(long[] dims, int axis) {
        return axis < 0 ? 1 : dims[axis];
    }

    /** With an axis of length 1 for each axis of the other operand, before or after each of its own. */
    private static Operand spread(Operand operand, int rank, int after) {
        Operand result = operand;
        for (int i = operand.rank(); i < rank; i++) {
            result = result.unsqueeze(0);
        }
        for (int i = 0; i < rank; i++) {
            result = result.unsqueeze(2 * i + after);
        }
        return result;
    }

    private static void kronGradient(Lowering l, String slot, String other, int after) {
        if (!l.wants(slot + "@GRAD")) {
            return;
        }
        Operand x = l.in("X");
        Operand y = l.in("Y");
        int rank = Math.max(x.rank(), y.rank());
        long[] dims = new long[2 * rank];
        List<Integer> axes = new ArrayList<>();
        for (int i = 0; i < rank; i++) {
            dims[2 * i] = dim(x.shape().dims(), i - rank + x.rank());
            dims[2 * i + 1] = dim(y.shape().dims(), i - rank + y.rank());
            axes.add(2 * i + after);
        }
        Operand product = ComplexNumbers.timesConjugate(l, l.reshape(l.in("Out@GRAD"), dims),
                spread(l.in(other), rank, 1 - after));
        Operand sum = axes.isEmpty() ? product : l.run(new Reduction(Reduction.Function.SUM, axes, false), product);
        l.out(slot + "@GRAD", sum.reshape(l.in(slot).shape().dims()));
    }

    private static void bilinear(Operations registry) {
        Operation.define("bilinear_tensor_product").in("X", "Y", "Weight", "Bias?").out("Out")
                .infer(TensorProductOperations::bilinear).lower(TensorProductOperations::bilinear)
                .grad("bilinear_tensor_product_grad(X, Y, Weight, Out@GRAD) -> X@GRAD, Y@GRAD, Weight@GRAD, Bias@GRAD",
                        inference -> {
                            inference.same("X", "X@GRAD");
                            inference.same("Y", "Y@GRAD");
                            inference.same("Weight", "Weight@GRAD");
                            inference.set("Bias@GRAD", inference.dtype("Out@GRAD"), 1, inference.dims("Out@GRAD")[1]);
                        }, TensorProductOperations::bilinearGradient)
                .register(registry);
    }

    private static void bilinear(Inference inference) {
        long[] x = inference.dims("X");
        long[] y = inference.dims("Y");
        long[] weight = inference.dims("Weight");
        inference.require(inference.dtype("X").isFloating() && inference.dtype("X") == inference.dtype("Y")
                && inference.dtype("X") == inference.dtype("Weight"),
                "X, Y and Weight must be of one floating-point type, but are %s, %s and %s", inference.dtype("X"),
                inference.dtype("Y"), inference.dtype("Weight"));
        inference.require(x.length == 2 && y.length == 2 && weight.length == 3 && fits(x[0], y[0])
                && fits(x[1], weight[1]) && fits(y[1], weight[2]),
                "X must be [batch, m], Y [batch, n] and Weight [results, m, n], but they are %s, %s and %s",
                Numbers.text(x), Numbers.text(y), Numbers.text(weight));
        if (inference.has("Bias")) {
            long[] bias = inference.dims("Bias");
            inference.require(bias.length == 2 && fits(bias[0], 1) && fits(bias[1], weight[0]),
                    "Bias must be [1, %d], but is %s", weight[0], Numbers.text(bias));
        }
        inference.set("Out", inference.dtype("X"), x[0], weight[0]);
    }

    private static boolean fits(long a, long b) {
        return a < 0 || b < 0 || a == b;
    }

    /** x · W of each result, then the product with y. */
    private static void bilinear(Lowering l) {
        Operand x = l.in("X");
        Operand y = l.in("Y");
        Operand weight = l.in("Weight");
        long results = weight.dim(0);
        Operand flat = l.copy(weight.transpose(1, 0, 2)).reshape(weight.dim(1), results * weight.dim(2));
        Operand inner = l.run(MatMul.PLAIN, x, flat).reshape(x.dim(0), results, weight.dim(2));
        Operand out = l.run(MatMul.PLAIN, inner, y.unsqueeze(2)).reshape(x.dim(0), results);
        l.out("Out", l.has("Bias") ? l.binary(Binary.Function.ADD, out, l.in("Bias")) : out);
    }

    private static void bilinearGradient(Lowering l) {
        Operand x = l.in("X");
        Operand y = l.in("Y");
        Operand weight = l.in("Weight");
        Operand dout = l.in("Out@GRAD");
        long batch = x.dim(0);
        long m = x.dim(1);
        long n = y.dim(1);
        long results = weight.dim(0);
        if (l.wants("X@GRAD") || l.wants("Y@GRAD")) {
            Operand forms = l.run(MatMul.PLAIN, dout, l.reshape(weight, results, m * n)).reshape(batch, m, n);
            if (l.wants("X@GRAD")) {
                l.out("X@GRAD", l.run(MatMul.PLAIN, forms, y.unsqueeze(2)).reshape(batch, m));
            }
            if (l.wants("Y@GRAD")) {
                l.out("Y@GRAD", l.run(MatMul.PLAIN, x.unsqueeze(1), forms).reshape(batch, n));
            }
        }
        if (l.wants("Weight@GRAD")) {
            Operand pairs = l.binary(Binary.Function.MULTIPLY, x.unsqueeze(2), y.unsqueeze(1)).reshape(batch, m * n);
            Operand sums = l.run(new MatMul(true, false, false, List.of()), dout, pairs);
            l.out("Weight@GRAD", sums.reshape(Shape.of(results, m, n).dims()));
        }
        if (l.wants("Bias@GRAD")) {
            l.out("Bias@GRAD", l.run(new Reduction(Reduction.Function.SUM, List.of(0), true), dout));
        }
    }
}
