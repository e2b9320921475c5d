package io.seriatim.graph.ops.common;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Conjugate;

/**
 * What operations need for complex operands. The gradient of a complex variable z = x + iy is, as in Paddle, the
 * gradient of x plus i times that of y: what a variable is multiplied with in a product is conjugated in its gradient.
 */
public final class ComplexNumbers {
    private ComplexNumbers() {
    }

    /** The type of a result of both: if one is complex, so is the result, with the wider parts. */
    public static DType promoted(DType x, DType y) {
        if (!x.isComplex() && !y.isComplex()) {
            return x;
        }
        boolean wide = x.real() == DType.FLOAT64 || y.real() == DType.FLOAT64;
        return wide ? DType.COMPLEX128 : DType.COMPLEX64;
    }

    /** Requires that two operands have one type, or that one is complex. */
    public static DType promoted(Inference inference, DType x, DType y) {
        boolean mixed = (x.isComplex() || y.isComplex()) && x.isDifferentiable() && y.isDifferentiable();
        inference.require(x == y || mixed, "X and Y must have one type, but are %s and %s: cast one of them", x, y);
        return promoted(x, y);
    }

    /** The conjugate of complex numbers; real ones are their own. */
    public static Operand conjugate(Lowering l, Operand operand) {
        return operand.dtype().isComplex() ? l.run(new Conjugate(), operand) : operand;
    }

    /** The product of an incoming gradient with the conjugate of a factor. */
    public static Operand timesConjugate(Lowering l, Operand gradient, Operand factor) {
        return binary(l, Binary.Function.MULTIPLY, gradient, conjugate(l, factor));
    }

    /** A function of two operands, of which one may be complex and the other real. */
    public static Operand binary(Lowering l, Binary.Function function, Operand x, Operand y) {
        DType dtype = promoted(x.dtype(), y.dtype());
        return x.dtype() == y.dtype()
                ? l.binary(function, x, y)
                : l.binary(function, l.cast(x, dtype), l.cast(y, dtype));
    }

    /** The real type of the parts of a slot's numbers, which must be of a floating-point type or complex. */
    public static DType parts(Inference inference, String slot) {
        DType dtype = inference.dtype(slot);
        inference.require(dtype == DType.FLOAT32 || dtype == DType.FLOAT64 || dtype.isComplex(),
                "%s must be float32, float64, complex64 or complex128, but is %s", slot, dtype);
        return dtype.real();
    }

    /** The complex type whose parts are of a type. */
    public static DType of(DType part) {
        return part == DType.FLOAT64 || part == DType.COMPLEX128 ? DType.COMPLEX128 : DType.COMPLEX64;
    }

    /** Requires that a slot holds complex numbers. */
    public static DType require(Inference inference, String slot) {
        DType dtype = inference.dtype(slot);
        inference.require(dtype.isComplex(), "%s must be complex64 or complex128, but is %s: cast it", slot, dtype);
        return dtype;
    }
}
