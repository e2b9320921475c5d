package io.seriatim.tensor.array;

import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Where;
import java.util.List;

/** The part of an {@link NDArray} with arithmetic and comparisons of two arrays, also in place. */
abstract sealed class ArrayArithmetic extends ArrayState permits ArrayFunctions {
    ArrayArithmetic(NDArrays home, Storage storage, Tensor tensor, List<NDArray> targets) {
        super(home, storage, tensor, targets);
    }

    /**
     * Computes x + y.
     *
     * @param y
     *            an array whose shape broadcasts with this one's
     * @return an array of the broadcast shape
     */
    public NDArray add(NDArray y) {
        return apply("add", Binary.of(Binary.Function.ADD), y);
    }

    /**
     * Computes x + y.
     *
     * @param y
     *            a number, converted to this array's type
     * @return an array of the same shape
     */
    public NDArray add(double y) {
        return add(number(y));
    }

    /**
     * Computes x − y.
     *
     * @param y
     *            an array whose shape broadcasts with this one's
     * @return an array of the broadcast shape
     */
    public NDArray subtract(NDArray y) {
        return apply("subtract", Binary.of(Binary.Function.SUBTRACT), y);
    }

    /**
     * Computes x − y.
     *
     * @param y
     *            a number, converted to this array's type
     * @return an array of the same shape
     */
    public NDArray subtract(double y) {
        return subtract(number(y));
    }

    /**
     * Computes x · y.
     *
     * @param y
     *            an array whose shape broadcasts with this one's
     * @return an array of the broadcast shape
     */
    public NDArray multiply(NDArray y) {
        return apply("multiply", Binary.of(Binary.Function.MULTIPLY), y);
    }

    /**
     * Computes x · y.
     *
     * @param y
     *            a number, converted to this array's type
     * @return an array of the same shape
     */
    public NDArray multiply(double y) {
        return multiply(number(y));
    }

    /**
     * Computes x / y.
     *
     * @param y
     *            an array whose shape broadcasts with this one's
     * @return an array of the broadcast shape
     */
    public NDArray divide(NDArray y) {
        return apply("divide", Binary.of(Binary.Function.DIVIDE), y);
    }

    /**
     * Computes x / y.
     *
     * @param y
     *            a number, converted to this array's type
     * @return an array of the same shape
     */
    public NDArray divide(double y) {
        return divide(number(y));
    }

    /**
     * Computes the larger of x and y.
     *
     * @param y
     *            an array whose shape broadcasts with this one's
     * @return an array of the broadcast shape
     */
    public NDArray maximum(NDArray y) {
        return apply("maximum", Binary.of(Binary.Function.MAXIMUM), y);
    }

    /**
     * Computes the larger of x and y.
     *
     * @param y
     *            a number, converted to this array's type
     * @return an array of the same shape
     */
    public NDArray maximum(double y) {
        return maximum(number(y));
    }

    /**
     * Computes the smaller of x and y.
     *
     * @param y
     *            an array whose shape broadcasts with this one's
     * @return an array of the broadcast shape
     */
    public NDArray minimum(NDArray y) {
        return apply("minimum", Binary.of(Binary.Function.MINIMUM), y);
    }

    /**
     * Computes the smaller of x and y.
     *
     * @param y
     *            a number, converted to this array's type
     * @return an array of the same shape
     */
    public NDArray minimum(double y) {
        return minimum(number(y));
    }

    /**
     * Computes x to the power of y.
     *
     * @param y
     *            an array whose shape broadcasts with this one's
     * @return an array of the broadcast shape
     */
    public NDArray power(NDArray y) {
        return apply("power", Binary.of(Binary.Function.POWER), y);
    }

    /**
     * Computes x to the power of y.
     *
     * @param y
     *            a number, converted to this array's type
     * @return an array of the same shape
     */
    public NDArray power(double y) {
        return power(number(y));
    }

    /**
     * Computes x &lt; y, as bool.
     *
     * @param y
     *            an array whose shape broadcasts with this one's
     * @return an array of the broadcast shape
     */
    public NDArray less(NDArray y) {
        return apply("less", Binary.of(Binary.Function.LESS), y);
    }

    /**
     * Computes x &gt; y, as bool.
     *
     * @param y
     *            an array whose shape broadcasts with this one's
     * @return an array of the broadcast shape
     */
    public NDArray greater(NDArray y) {
        return apply("greater", Binary.of(Binary.Function.GREATER), y);
    }

    /**
     * Computes x = y, as bool.
     *
     * @param y
     *            an array whose shape broadcasts with this one's
     * @return an array of the broadcast shape
     */
    public NDArray equal(NDArray y) {
        return apply("equal", Binary.of(Binary.Function.EQUAL), y);
    }

    /**
     * Selects elements of x where this array, which is bool, is true, else of y.
     *
     * @param x
     *            the elements where this array is true
     * @param y
     *            the elements elsewhere
     * @return an array of the broadcast shape
     */
    public NDArray where(NDArray x, NDArray y) {
        return apply("where", new Where(), x, y);
    }

    private NDArray assign(String operation) {
        requireNoTarget(operation);
        return into(self());
    }

    /**
     * Computes this += y in place.
     *
     * @param y
     *            an array that broadcasts to this one
     * @return this
     */
    public NDArray addAssign(NDArray y) {
        return assign("addAssign").add(y);
    }

    /**
     * Computes this += y in place.
     *
     * @param y
     *            a number
     * @return this
     */
    public NDArray addAssign(double y) {
        return assign("addAssign").add(y);
    }

    /**
     * Computes this −= y in place.
     *
     * @param y
     *            an array that broadcasts to this one
     * @return this
     */
    public NDArray subtractAssign(NDArray y) {
        return assign("subtractAssign").subtract(y);
    }

    /**
     * Computes this −= y in place.
     *
     * @param y
     *            a number
     * @return this
     */
    public NDArray subtractAssign(double y) {
        return assign("subtractAssign").subtract(y);
    }

    /**
     * Computes this *= y in place.
     *
     * @param y
     *            an array that broadcasts to this one
     * @return this
     */
    public NDArray multiplyAssign(NDArray y) {
        return assign("multiplyAssign").multiply(y);
    }

    /**
     * Computes this *= y in place.
     *
     * @param y
     *            a number
     * @return this
     */
    public NDArray multiplyAssign(double y) {
        return assign("multiplyAssign").multiply(y);
    }

    /**
     * Computes this /= y in place.
     *
     * @param y
     *            an array that broadcasts to this one
     * @return this
     */
    public NDArray divideAssign(NDArray y) {
        return assign("divideAssign").divide(y);
    }

    /**
     * Computes this /= y in place.
     *
     * @param y
     *            a number
     * @return this
     */
    public NDArray divideAssign(double y) {
        return assign("divideAssign").divide(y);
    }
}
