package io.seriatim.graph.differentiate;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.ComplexNumber;
import io.seriatim.tensor.computation.ComplexPart;
import io.seriatim.tensor.computation.Conjugate;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Fourier;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.GatherGrad;
import io.seriatim.tensor.computation.GatherNd;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Pad;
import io.seriatim.tensor.computation.PutAlongAxis;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Scatter;
import io.seriatim.tensor.computation.ScatterNd;
import io.seriatim.tensor.computation.TakeAlongAxis;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.Where;
import io.seriatim.tensor.kernel.Computation;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;

/**
 * Complex numbers. As in PaddlePaddle, the gradient of a complex number has the gradients of its parts as parts, so
 * that a factor's is the product's times the conjugate of the other factor.
 */
final class ComplexRules {
    private static final Set<Class<?>> MOVING = Set.of(ComplexNumber.class, ComplexPart.class, Conjugate.class,
            Copy.class, Fourier.class, Gather.class, GatherGrad.class, GatherNd.class, MatMul.class, Pad.class,
            PutAlongAxis.class, Scatter.class, ScatterNd.class, TakeAlongAxis.class, Where.class);

    private ComplexRules() {
    }

    static void register() {
        Rules.rule(ComplexNumber.class, (_, d) -> {
            d.give(0, d.l().run(new ComplexPart(ComplexPart.Function.REAL), d.gradient()));
            d.give(1, d.l().run(new ComplexPart(ComplexPart.Function.IMAGINARY), d.gradient()));
        });
        Rules.rule(ComplexPart.class, ComplexRules::part);
        Rules.rule(Conjugate.class, (conjugate, d) -> d.give(0, d.l().run(conjugate, d.gradient())));
        Rules.rule(Fourier.class, ComplexRules::fourier);
    }

    /** Whether the rule of a computation is right for complex numbers, too. */
    static boolean isKnown(Computation computation) {
        return switch (computation) {
            case Binary binary -> Set.of(Binary.Function.ADD, Binary.Function.SUBTRACT, Binary.Function.MULTIPLY)
                    .contains(binary.function());
            case Unary unary -> unary.function() == Unary.Function.NEGATE;
            case Reduction reduction -> reduction.function() == Reduction.Function.SUM;
            default -> MOVING.contains(computation.getClass());
        };
    }

    static Operand conjugate(Lowering l, Operand operand) {
        return operand.dtype().isComplex() ? l.run(new Conjugate(), operand) : operand;
    }

    private static void part(ComplexPart part, Derivative d) {
        Lowering l = d.l();
        Operand zero = l.number(d.gradient().dtype(), 0);
        d.give(0, switch (part.function()) {
            case REAL -> l.run(new ComplexNumber(), d.gradient(), zero);
            case IMAGINARY -> l.run(new ComplexNumber(), zero, d.gradient());
            case MAGNITUDE, ANGLE -> throw new IllegalArgumentException(
                    "There is no rule for the gradient of a complex number's " + part.function()
                            + "; define the lowering of the gradient");
        });
    }

    /** The transform with the exponent's other sign; of half a transform, the other half is added to the first. */
    private static void fourier(Fourier fourier, Derivative d) {
        Lowering l = d.l();
        Operand gradient = d.gradient();
        int axis = gradient.shape().axis(fourier.axis());
        long length = fourier.length();
        d.give(0, switch (fourier.kind()) {
            case COMPLEX -> l.run(turned(fourier, Fourier.Kind.COMPLEX), gradient);
            case FROM_REAL -> l.run(new ComplexPart(ComplexPart.Function.REAL),
                    l.run(turned(fourier, Fourier.Kind.COMPLEX), padded(l, gradient, axis, length)));
            case TO_REAL -> {
                Operand half = l.run(turned(fourier, Fourier.Kind.FROM_REAL), gradient);
                double[] counts = new double[Math.toIntExact(Fourier.half(length))];
                Arrays.fill(counts, 2);
                counts[0] = 1;
                counts[counts.length - 1] = length % 2 == 0 ? 1 : counts[counts.length - 1];
                long[] dims = new long[half.rank()];
                Arrays.fill(dims, 1);
                dims[axis] = counts.length;
                DType real = half.dtype().real();
                Operand factors = l.cast(l.constant(Tensor.of(real, counts, dims)), half.dtype());
                yield padded(l, l.binary(Binary.Function.MULTIPLY, half, factors), axis, d.like(0).dim(axis));
            }
        });
    }

    private static Fourier turned(Fourier fourier, Fourier.Kind kind) {
        return new Fourier(kind, fourier.axis(), fourier.length(), !fourier.inverse(), fourier.scale());
    }

    private static Operand padded(Lowering l, Operand operand, int axis, long length) {
        if (operand.dim(axis) == length) {
            return operand;
        }
        List<Long> none = Collections.nCopies(operand.rank(), 0L);
        Long[] after = none.toArray(Long[]::new);
        after[axis] = length - operand.dim(axis);
        return l.run(new Pad(none, List.of(after), Pad.Mode.CONSTANT, 0), operand);
    }
}
