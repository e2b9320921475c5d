package io.seriatim.graph;

import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.util.Ranges;
import io.seriatim.tensor.DType;

/** The part of a {@link Value} with functions of single elements, activations, and casts. */
abstract sealed class ValueFunctions extends ValueComparisons permits ValueReductions {
    ValueFunctions(Graph graph, String name) {
        super(graph, name);
    }

    /**
     * max(x, 0).
     *
     * @return of this shape
     */
    public Value relu() {
        return graph().op("relu").in("X", self()).one("Out");
    }

    /**
     * x, at least 0 and at most 6.
     *
     * @return of this shape
     */
    public Value relu6() {
        return graph().op("relu6").in("X", self()).one("Out");
    }

    /**
     * 1 / (1 + e⁻ˣ).
     *
     * @return of this shape
     */
    public Value sigmoid() {
        return graph().op("sigmoid").in("X", self()).one("Out");
    }

    /**
     * tanh x.
     *
     * @return of this shape
     */
    public Value tanh() {
        return graph().op("tanh").in("X", self()).one("Out");
    }

    /**
     * x · sigmoid(x).
     *
     * @return of this shape
     */
    public Value silu() {
        return graph().op("silu").in("X", self()).one("Out");
    }

    /**
     * x · sigmoid(x), under the name that older programs use.
     *
     * @return of this shape
     */
    public Value swish() {
        return graph().op("swish").in("X", self()).one("Out");
    }

    /**
     * x/6 + 1/2, at least 0 and at most 1.
     *
     * @return of this shape
     */
    public Value hardSigmoid() {
        return graph().op("hard_sigmoid").in("X", self()).attr("slope", 1 / 6f).attr("offset", 0.5f).one("Out");
    }

    /**
     * x/6 · (x + 3, at least 0 and at most 6).
     *
     * @return of this shape
     */
    public Value hardSwish() {
        return graph().op("hard_swish").in("X", self()).one("Out");
    }

    /**
     * ln(1 + eˣ).
     *
     * @return of this shape
     */
    public Value softplus() {
        return graph().op("softplus").in("X", self()).one("Out");
    }

    /**
     * x · tanh(ln(1 + eˣ)) (Misra, 2020).
     *
     * @return of this shape
     */
    public Value mish() {
        return graph().op("mish").in("X", self()).one("Out");
    }

    /**
     * eˣ.
     *
     * @return of this shape
     */
    public Value exp() {
        return graph().op("exp").in("X", self()).one("Out");
    }

    /**
     * ln x.
     *
     * @return of this shape
     */
    public Value log() {
        return graph().op("log").in("X", self()).one("Out");
    }

    /**
     * √x.
     *
     * @return of this shape
     */
    public Value sqrt() {
        return graph().op("sqrt").in("X", self()).one("Out");
    }

    /**
     * 1/√x.
     *
     * @return of this shape
     */
    public Value rsqrt() {
        return graph().op("rsqrt").in("X", self()).one("Out");
    }

    /**
     * x².
     *
     * @return of this shape
     */
    public Value square() {
        return graph().op("square").in("X", self()).one("Out");
    }

    /**
     * |x|.
     *
     * @return of this shape
     */
    public Value abs() {
        return graph().op("abs").in("X", self()).one("Out");
    }

    /**
     * 1/x.
     *
     * @return of this shape
     */
    public Value reciprocal() {
        return graph().op("reciprocal").in("X", self()).one("Out");
    }

    /**
     * sin x.
     *
     * @return of this shape
     */
    public Value sin() {
        return graph().op("sin").in("X", self()).one("Out");
    }

    /**
     * cos x.
     *
     * @return of this shape
     */
    public Value cos() {
        return graph().op("cos").in("X", self()).one("Out");
    }

    /**
     * The largest whole number up to x.
     *
     * @return of this shape
     */
    public Value floor() {
        return graph().op("floor").in("X", self()).one("Out");
    }

    /**
     * The smallest whole number from x.
     *
     * @return of this shape
     */
    public Value ceil() {
        return graph().op("ceil").in("X", self()).one("Out");
    }

    /**
     * The nearest whole number; halves go away from 0.
     *
     * @return of this shape
     */
    public Value round() {
        return graph().op("round").in("X", self()).one("Out");
    }

    /**
     * −1, 0 or 1.
     *
     * @return of this shape
     */
    public Value sign() {
        return graph().op("sign").in("X", self()).one("Out");
    }

    /**
     * The error function.
     *
     * @return of this shape
     */
    public Value erf() {
        return graph().op("erf").in("X", self()).one("Out");
    }

    /**
     * Zeros of this shape.
     *
     * @return of this shape
     */
    public Value zerosLike() {
        return graph().op("fill_zeros_like").in("X", self()).one("Out");
    }

    /**
     * x · Φ(x), with the normal distribution Φ (Hendrycks, Gimpel, 2016).
     *
     * @return of this shape
     */
    public Value gelu() {
        return graph().op("gelu").in("X", self()).attr("approximate", false).one("Out");
    }

    /**
     * x, or slope · x below 0.
     *
     * @param slope
     *            the factor of values below 0
     * @return of this shape
     */
    public Value leakyRelu(double slope) {
        return graph().op("leaky_relu").in("X", self()).attr("alpha", (float) slope).one("Out");
    }

    /**
     * x, or alpha · (eˣ − 1) below 0 (Clevert et al., 2016).
     *
     * @param alpha
     *            the factor below 0
     * @return of this shape
     */
    public Value elu(double alpha) {
        return graph().op("elu").in("X", self()).attr("alpha", (float) alpha).one("Out");
    }

    /**
     * x, within bounds.
     *
     * @param min
     *            at least
     * @param max
     *            at most, not below the other bound
     * @return of this shape
     */
    public Value clip(double min, double max) {
        if (!dtype().isFloating()) {
            Ranges.whole("A bound", dtype().toString(), min);
            Ranges.whole("A bound", dtype().toString(), max);
        }
        return graph().op("clip").in("X", self()).attr("min", (float) min).attr("max", (float) max).one("Out");
    }

    /**
     * Softmax along a dimension.
     *
     * @param axis
     *            from −rank
     * @return of this shape
     */
    public Value softmax(int axis) {
        return graph().op("softmax").in("X", self()).attr("axis", axis).one("Out");
    }

    /**
     * The logarithm of the softmax along a dimension.
     *
     * @param axis
     *            from −rank
     * @return of this shape
     */
    public Value logSoftmax(int axis) {
        return graph().op("log_softmax").in("X", self()).attr("axis", axis).one("Out");
    }

    /**
     * With another element type.
     *
     * @param dtype
     *            the type
     * @return of this shape
     */
    public Value cast(DType dtype) {
        return graph().op("cast").in("X", self()).attr("in_dtype", DataTypes.number(dtype()))
                .attr("out_dtype", DataTypes.number(dtype))
                .one("Out");
    }

    /**
     * Ones of this shape.
     *
     * @return of this shape and type
     */
    public Value onesLike() {
        return graph().op("fill_any_like").key("ones_like").in("X", self()).attr("value", 1f)
                .attr("dtype", type().dataType()).one("Out");
    }
}
