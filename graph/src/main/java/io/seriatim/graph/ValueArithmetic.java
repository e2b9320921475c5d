package io.seriatim.graph;

import io.seriatim.graph.util.Ranges;

/** The part of a {@link Value} with arithmetic. */
abstract sealed class ValueArithmetic extends ValueDescription permits ValueComparisons {
    ValueArithmetic(Graph graph, String name) {
        super(graph, name);
    }

    GraphOp binary(String type, Value other) {
        return graph().op(type).in("X", self()).in("Y", other).attr("axis", -1);
    }

    private Value scaled(double scale, double bias) {
        if (!dtype().isFloating()) {
            Ranges.whole("A factor", dtype().toString(), scale);
            Ranges.whole("A summand", dtype().toString(), bias);
        }
        return graph().op("scale").sugar().in("X", self()).attr("scale", Ranges.float32("A factor", scale))
                .attr("bias", Ranges.float32("A summand", bias))
                .attr("bias_after_scale", true)
                .one("Out");
    }

    /** The difference, named as Paddle names that of its losses. */
    Value minusNamed(Value other) {
        return binary("elementwise_sub", other).bare().one("Out");
    }

    /**
     * The sum with another, which broadcasts.
     *
     * @param other
     *            the other operand
     * @return of the shape of both together
     */
    public Value plus(Value other) {
        return binary("elementwise_add", other).sugar().one("Out");
    }

    /**
     * The difference to another, which broadcasts.
     *
     * @param other
     *            the other operand
     * @return of the shape of both together
     */
    public Value minus(Value other) {
        return binary("elementwise_sub", other).sugar().one("Out");
    }

    /**
     * The product with another, which broadcasts.
     *
     * @param other
     *            the other operand
     * @return of the shape of both together
     */
    public Value times(Value other) {
        return binary("elementwise_mul", other).sugar().one("Out");
    }

    /**
     * The quotient by another, which broadcasts; of whole numbers it is cut towards 0.
     *
     * @param other
     *            the other operand
     * @return of the shape of both together
     */
    public Value dividedBy(Value other) {
        return binary("elementwise_div", other).sugar().one("Out");
    }

    /**
     * To the power of another, which broadcasts.
     *
     * @param other
     *            the other operand
     * @return of the shape of both together
     */
    public Value pow(Value other) {
        return binary("elementwise_pow", other).sugar().one("Out");
    }

    /**
     * The rest of a division by another, which broadcasts; it has the sign of the other.
     *
     * @param other
     *            the other operand
     * @return of the shape of both together
     */
    public Value mod(Value other) {
        return binary("elementwise_mod", other).sugar().one("Out");
    }

    /**
     * The largest whole number up to the quotient by another, which broadcasts.
     *
     * @param other
     *            the other operand
     * @return of the shape of both together
     */
    public Value floorDividedBy(Value other) {
        return binary("elementwise_floordiv", other).sugar().one("Out");
    }

    /**
     * The larger of this and another.
     *
     * @param other
     *            the other operand
     * @return of the shape of both together
     */
    public Value max(Value other) {
        return binary("elementwise_max", other).bare().one("Out");
    }

    /**
     * The smaller of this and another.
     *
     * @param other
     *            the other operand
     * @return of the shape of both together
     */
    public Value min(Value other) {
        return binary("elementwise_min", other).bare().one("Out");
    }

    /**
     * The sum with a number.
     *
     * @param number
     *            is added
     * @return of this shape
     */
    public Value plus(double number) {
        return scaled(1, number);
    }

    /**
     * The difference to a number.
     *
     * @param number
     *            is subtracted
     * @return of this shape
     */
    public Value minus(double number) {
        return scaled(1, -number);
    }

    /**
     * The product with a number.
     *
     * @param number
     *            the factor
     * @return of this shape
     */
    public Value times(double number) {
        return scaled(number, 0);
    }

    /**
     * The quotient by a number, for floating-point types: the product with 1/number.
     *
     * @param number
     *            the divisor
     * @return of this shape
     */
    public Value dividedBy(double number) {
        if (!dtype().isFloating()) {
            throw new IllegalArgumentException("'" + name() + "' is " + type() + ", and its quotient by " + number
                    + " need not be whole: cast it before, or take floorDividedBy(...)");
        }
        return scaled(1 / number, 0);
    }

    /**
     * With the other sign.
     *
     * @return of this shape
     */
    public Value negate() {
        return scaled(-1, 0);
    }

    /**
     * To a power.
     *
     * @param exponent
     *            the power
     * @return of this shape
     */
    public Value pow(double exponent) {
        if (!dtype().isFloating()) {
            Ranges.whole("An exponent", dtype().toString(), exponent);
        }
        return graph().op("pow").in("X", self()).attr("factor", Ranges.float32("An exponent", exponent)).one("Out");
    }
}
