package io.seriatim.graph.ops.elementwise;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.numerics.ComplexElementary;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Functions of complex numbers, computed one by one in double precision. */
final class ComplexFunctions {
    private ComplexFunctions() {
    }

    /** A slope of one number. */
    @FunctionalInterface
    interface Slope {
        /** Writes real and imaginary part of the slope. */
        void at(double re, double im, double[] to);
    }

    /** Sets Out to a function of X if that is complex; otherwise does nothing and returns false. */
    static boolean map(Lowering l, ComplexElementary function) {
        Operand x = l.in("X");
        if (!x.dtype().isComplex()) {
            return false;
        }
        Operand y = l.temporary(x.spec().rowMajor());
        l.callWithComplex(l.type(), (in, out) -> {
            double[] parts = parts(in, 0);
            double[] to = new double[2];
            for (int i = 0; i < parts.length; i += 2) {
                function.apply(parts[i], parts[i + 1], to);
                parts[i] = to[0];
                parts[i + 1] = to[1];
            }
            write(parts, out);
        }, List.of(x), List.of(y));
        l.out("Out", y);
        return true;
    }

    /** Sets X@GRAD to Out@GRAD times the conjugate of a slope if it is complex; otherwise returns false. */
    static boolean combine(Lowering l, String slot, Slope slope) {
        Operand point = l.in(slot);
        if (!point.dtype().isComplex()) {
            return false;
        }
        Operand result = l.temporary(point.spec().rowMajor());
        l.callWithComplex(l.type(), (in, out) -> {
            double[] parts = parts(in, 0);
            double[] dy = parts(in, 1);
            double[] to = new double[2];
            for (int i = 0; i < parts.length; i += 2) {
                slope.at(parts[i], parts[i + 1], to);
                parts[i] = dy[i] * to[0] + dy[i + 1] * to[1];
                parts[i + 1] = dy[i + 1] * to[0] - dy[i] * to[1];
            }
            write(parts, out);
        }, List.of(point, l.in("Out@GRAD")), List.of(result));
        l.out("X@GRAD", result);
        return true;
    }

    private static double[] parts(List<@Nullable Tensor> tensors, int at) {
        return Objects.requireNonNull(tensors.get(at)).asReal().toDoubleArray();
    }

    private static void write(double[] parts, List<@Nullable Tensor> to) {
        Elements.write(parts, Objects.requireNonNull(to.getFirst()).asReal());
    }
}
