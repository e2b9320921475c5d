package io.seriatim.tensor.array;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.network.Softmax;
import java.util.List;

/** The part of an {@link NDArray} with functions of its elements. */
abstract sealed class ArrayFunctions extends ArrayArithmetic permits ArrayReductions {
    ArrayFunctions(NDArrays home, Storage storage, Tensor tensor, List<NDArray> targets) {
        super(home, storage, tensor, targets);
    }

    /**
     * Computes −x of each element.
     *
     * @return an array of the same shape
     */
    public NDArray negate() {
        return apply("negate", Unary.of(Unary.Function.NEGATE));
    }

    /**
     * Computes |x| of each element.
     *
     * @return an array of the same shape
     */
    public NDArray abs() {
        return apply("abs", Unary.of(Unary.Function.ABS));
    }

    /**
     * Computes eˣ of each element.
     *
     * @return an array of the same shape
     */
    public NDArray exp() {
        return apply("exp", Unary.of(Unary.Function.EXP));
    }

    /**
     * Computes ln x of each element.
     *
     * @return an array of the same shape
     */
    public NDArray log() {
        return apply("log", Unary.of(Unary.Function.LOG));
    }

    /**
     * Computes √x of each element.
     *
     * @return an array of the same shape
     */
    public NDArray sqrt() {
        return apply("sqrt", Unary.of(Unary.Function.SQRT));
    }

    /**
     * Computes x² of each element.
     *
     * @return an array of the same shape
     */
    public NDArray square() {
        return apply("square", Unary.of(Unary.Function.SQUARE));
    }

    /**
     * Computes 1 / x of each element.
     *
     * @return an array of the same shape
     */
    public NDArray reciprocal() {
        return apply("reciprocal", Unary.of(Unary.Function.RECIPROCAL));
    }

    /**
     * Computes sin x of each element.
     *
     * @return an array of the same shape
     */
    public NDArray sin() {
        return apply("sin", Unary.of(Unary.Function.SIN));
    }

    /**
     * Computes cos x of each element.
     *
     * @return an array of the same shape
     */
    public NDArray cos() {
        return apply("cos", Unary.of(Unary.Function.COS));
    }

    /**
     * Computes tanh x of each element.
     *
     * @return an array of the same shape
     */
    public NDArray tanh() {
        return apply("tanh", Unary.of(Unary.Function.TANH));
    }

    /**
     * Computes 1 / (1 + e⁻ˣ) of each element.
     *
     * @return an array of the same shape
     */
    public NDArray sigmoid() {
        return apply("sigmoid", Unary.of(Unary.Function.SIGMOID));
    }

    /**
     * Computes max(x, 0) of each element.
     *
     * @return an array of the same shape
     */
    public NDArray relu() {
        return apply("relu", Unary.of(Unary.Function.RELU));
    }

    /**
     * Computes x · Φ(x), with the normal distribution function Φ of each element.
     *
     * @return an array of the same shape
     */
    public NDArray gelu() {
        return apply("gelu", Unary.of(Unary.Function.GELU_ERF));
    }

    /**
     * Computes ⌊x⌋ of each element.
     *
     * @return an array of the same shape
     */
    public NDArray floor() {
        return apply("floor", Unary.of(Unary.Function.FLOOR));
    }

    /**
     * Computes −1, 0 or 1 of each element.
     *
     * @return an array of the same shape
     */
    public NDArray sign() {
        return apply("sign", Unary.of(Unary.Function.SIGN));
    }

    /**
     * The softmax along an axis.
     *
     * @param axis
     *            from −rank
     * @return an array of the same shape
     */
    public NDArray softmax(int axis) {
        return apply("softmax", new Softmax(axis, false));
    }

    /**
     * The logarithm of the softmax along an axis.
     *
     * @param axis
     *            from −rank
     * @return an array of the same shape
     */
    public NDArray logSoftmax(int axis) {
        return apply("logSoftmax", new Softmax(axis, true));
    }

    /**
     * Converts the elements.
     *
     * @param type
     *            the new type
     * @return an array of the same shape
     */
    public NDArray cast(DType type) {
        return apply("cast", new Copy(type));
    }
}
