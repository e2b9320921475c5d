package io.seriatim.graph.ops.linalg;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.Step;
import io.seriatim.graph.ops.common.Dims;
import io.seriatim.graph.ops.linalg.MatrixSteps.Size;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.linalg.CholeskyDecomposition;
import io.seriatim.tensor.linalg.LuDecomposition;
import io.seriatim.tensor.linalg.Matrix;
import io.seriatim.tensor.linalg.TriangularSystem;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;

/** Inverses, determinants, powers and Cholesky's factors of square matrices. */
public final class InverseOperations {
    private static final Size NUMBER = new Size(1, 1);

    private InverseOperations() {
    }

    public static void register(Operations registry) {
        inverse(registry);
        determinant(registry);
        logarithm(registry);
        power(registry);
        cholesky(registry);
    }

    private static void inverse(Operations registry) {
        Operation.define("inverse").in("Input").out("Output").infer(inference -> {
            MatrixSteps.requireSquare(inference, "Input");
            inference.same("Input", "Output");
        }).lower(l -> l.out("Output", MatrixGradients.inverse(l, l.in("Input"))))
                .grad("inverse_grad(Output, Output@GRAD) -> Input@GRAD",
                        l -> l.out("Input@GRAD",
                                each(l, in -> ofInverse(in.get(0), in.get(1)),
                                        (steps, in) -> List.of(
                                                MatrixGradients.ofGiven(steps, in.get(0), in.get(1))),
                                        l.in("Output"), l.in("Output@GRAD"))))
                .register(registry);
    }

    private static Operand each(Lowering l, Function<List<Matrix>, Matrix> rule, Operand... from) {
        return MatrixSteps.run(l, Size.of(from[0]), rule, from);
    }

    private static Operand each(Lowering l, Function<List<Matrix>, Matrix> rule, Step.Equivalent steps,
            Operand... from) {
        return MatrixSteps.runAs(l, Size.of(from[0]), rule, steps, from);
    }

    /** The gradient of a matrix whose inverse is given, with the inverse's gradient. */
    private static Matrix ofInverse(Matrix inverse, Matrix gradient) {
        Matrix transposed = inverse.transposed();
        return transposed.times(gradient).times(transposed).scaled(-1);
    }

    private static void determinant(Operations registry) {
        Operation.define("determinant").in("Input").out("Out").infer(inference -> {
            MatrixSteps.requireSquare(inference, "Input");
            inference.set("Out", inference.dtype("Input"), MatrixSteps.leading(inference.dims("Input")));
        }).lower(l -> {
            Operand value = MatrixSteps.run(l, NUMBER, in -> number(LuDecomposition.of(in.getFirst()).determinant()),
                    l.in("Input"));
            l.out("Out", value.reshape(l.outType("Out", 0).dims()));
        }).grad("determinant_grad(Input, Out, Out@GRAD) -> Input@GRAD",
                l -> l.out("Input@GRAD", inverses(l, l.in("Out@GRAD"), true))).register(registry);
    }

    private static Matrix number(double value) {
        return new Matrix(1, 1, new double[]{value});
    }

    /**
     * The gradients of determinants or of their logarithms: transposed inverses times a number. As in Paddle, singular
     * matrices have the gradient 0.
     */
    private static Operand inverses(Lowering l, Operand gradients, boolean timesDeterminant) {
        Operand numbers = gradients.unsqueeze(gradients.rank()).unsqueeze(gradients.rank() + 1);
        return each(l, in -> {
            LuDecomposition factors = LuDecomposition.of(in.get(0));
            if (factors.isSingular()) {
                return new Matrix(in.get(0).rows(), in.get(0).columns());
            }
            double factor = in.get(1).at(0, 0) * (timesDeterminant ? factors.determinant() : 1);
            return factors.inverse().transposed().scaled(factor);
        }, (steps, in) -> List.of(MatrixGradients.ofDeterminant(steps, in.get(0), in.get(1), timesDeterminant)),
                l.in("Input"), numbers);
    }

    /** The signs of determinants, then the logarithms of what they are without. */
    private static void logarithm(Operations registry) {
        Operation.define("slogdeterminant").in("Input").out("Out").infer(inference -> {
            MatrixSteps.requireSquare(inference, "Input");
            inference.set("Out", inference.dtype("Input"),
                    Dims.inserted(MatrixSteps.leading(inference.dims("Input")), 0, 2));
        }).lower(l -> {
            Operand both = MatrixSteps.run(l, new Size(1, 2), in -> {
                LuDecomposition factors = LuDecomposition.of(in.getFirst());
                return new Matrix(1, 2, new double[]{factors.sign(), factors.logAbsDeterminant()});
            }, l.in("Input"));
            Operand behind = both.squeeze(both.rank() - 2);
            int last = behind.rank() - 1;
            l.out("Out", behind.transpose(IntStream.rangeClosed(0, last).map(i -> i == 0 ? last : i - 1).toArray()));
        }).grad("slogdeterminant_grad(Input, Out, Out@GRAD) -> Input@GRAD",
                l -> l.out("Input@GRAD", inverses(l, l.in("Out@GRAD").select(0, 1), false))).register(registry);
    }

    private static void power(Operations registry) {
        Operation.define("matrix_power").in("X").out("Out").required("n", Attribute.Int.class).infer(inference -> {
            MatrixSteps.requireSquare(inference, "X");
            inference.same("X", "Out");
        }).lower(l -> {
            int n = l.attrs().getInt("n");
            l.out("Out",
                    each(l, in -> power(n < 0 ? LuDecomposition.of(in.getFirst()).inverse() : in.getFirst(),
                            Math.abs((long) n)), l.in("X")));
        }).grad("matrix_power_grad(Out, Out@GRAD, X) -> X@GRAD", l -> {
            int n = l.attrs().getInt("n");
            l.out("X@GRAD", each(l, in -> {
                Matrix base = n < 0 ? LuDecomposition.of(in.get(0)).inverse() : in.get(0);
                Matrix gradient = ofPower(base, in.get(1), Math.abs((long) n));
                return n < 0 ? ofInverse(base, gradient) : gradient;
            }, (steps, in) -> List.of(MatrixGradients.ofPower(steps, in.get(0), in.get(1), n)), l.in("X"),
                    l.in("Out@GRAD")));
        }).register(registry);
    }

    /** By squares, from the exponent's highest digit on. */
    private static Matrix power(Matrix base, long exponent) {
        Matrix result = Matrix.identity(base.rows());
        for (int digit = Long.SIZE - Long.numberOfLeadingZeros(exponent) - 1; digit >= 0; digit--) {
            result = result.times(result);
            result = (exponent >> digit & 1) == 0 ? result : result.times(base);
        }
        return result;
    }

    /** The sum of the products of base^i, gradient and base^(n − 1 − i), all transposed: by Horner's rule. */
    private static Matrix ofPower(Matrix base, Matrix gradient, long n) {
        Matrix factor = base.transposed();
        Matrix left = Matrix.identity(base.rows());
        Matrix sum = new Matrix(base.rows(), base.columns());
        for (long i = 0; i < n; i++) {
            sum = sum.times(factor).plus(left.times(gradient));
            left = left.times(factor);
        }
        return sum;
    }

    private static void cholesky(Operations registry) {
        Operation.define("cholesky").in("X").out("Out").attr("upper", false).infer(inference -> {
            MatrixSteps.requireSquare(inference, "X");
            inference.same("X", "Out");
        }).lower(l -> {
            boolean upper = l.attrs().getBool("upper");
            l.out("Out", each(l, in -> {
                Matrix x = in.getFirst();
                return upper
                        ? CholeskyDecomposition.lower(x.transposed()).transposed()
                        : CholeskyDecomposition.lower(x);
            }, l.in("X")));
        }).grad("cholesky_grad(Out, Out@GRAD) -> X@GRAD", l -> {
            boolean upper = l.attrs().getBool("upper");
            l.out("X@GRAD", each(l, in -> upper
                    ? ofCholesky(in.get(0).transposed(), in.get(1).transposed())
                    : ofCholesky(in.get(0), in.get(1)),
                    (steps, in) -> List.of(upper
                            ? MatrixGradients.ofCholesky(steps, MatrixGradients.transposed(in.get(0)),
                                    MatrixGradients.transposed(in.get(1)))
                            : MatrixGradients.ofCholesky(steps, in.get(0), in.get(1))),
                    l.in("Out"), l.in("Out@GRAD")));
        }).register(registry);
    }

    /**
     * Half of l⁻ᵀ · (p + pᵀ) · l⁻¹, p being the lower triangle of lᵀ · gradient with half of its diagonal (Murray:
     * Differentiation of the Cholesky decomposition, 2016).
     */
    private static Matrix ofCholesky(Matrix l, Matrix gradient) {
        Matrix transposed = l.transposed();
        Matrix p = transposed.times(gradient.triangle(false)).triangle(false);
        for (int i = 0; i < p.rows(); i++) {
            p.set(i, i, p.at(i, i) / 2);
        }
        Matrix both = p.plus(p.transposed()).scaled(0.5);
        Matrix left = TriangularSystem.solve(transposed, true, false, both);
        return TriangularSystem.solve(transposed, true, false, left.transposed());
    }
}
