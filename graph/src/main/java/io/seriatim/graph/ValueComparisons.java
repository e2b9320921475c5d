package io.seriatim.graph;

/** The part of a {@link Value} with comparisons and the logic of booleans. */
abstract sealed class ValueComparisons extends ValueArithmetic permits ValueFunctions {
    ValueComparisons(Graph graph, String name) {
        super(graph, name);
    }

    /**
     * Where this is equal to another.
     *
     * @param other
     *            the other operand
     * @return bool, of the shape of both together
     */
    public Value equalTo(Value other) {
        return binary("equal", other).attr("force_cpu", false).sugar().one("Out");
    }

    /**
     * Where this is equal to a number.
     *
     * @param number
     *            the other operand
     * @return bool, of this shape
     */
    public Value equalTo(double number) {
        return equalTo(graph().constantOperand(dtype(), number));
    }

    /**
     * Where this differs from another.
     *
     * @param other
     *            the other operand
     * @return bool, of the shape of both together
     */
    public Value notEqualTo(Value other) {
        return binary("not_equal", other).attr("force_cpu", false).sugar().one("Out");
    }

    /**
     * Where this differs from a number.
     *
     * @param number
     *            the other operand
     * @return bool, of this shape
     */
    public Value notEqualTo(double number) {
        return notEqualTo(graph().constantOperand(dtype(), number));
    }

    /**
     * Where this is less than another.
     *
     * @param other
     *            the other operand
     * @return bool, of the shape of both together
     */
    public Value lessThan(Value other) {
        return binary("less_than", other).attr("force_cpu", false).sugar().one("Out");
    }

    /**
     * Where this is less than a number.
     *
     * @param number
     *            the other operand
     * @return bool, of this shape
     */
    public Value lessThan(double number) {
        return lessThan(graph().constantOperand(dtype(), number));
    }

    /**
     * Where this is not more than another.
     *
     * @param other
     *            the other operand
     * @return bool, of the shape of both together
     */
    public Value atMost(Value other) {
        return binary("less_equal", other).attr("force_cpu", false).sugar().one("Out");
    }

    /**
     * Where this is not more than a number.
     *
     * @param number
     *            the other operand
     * @return bool, of this shape
     */
    public Value atMost(double number) {
        return atMost(graph().constantOperand(dtype(), number));
    }

    /**
     * Where this is more than another.
     *
     * @param other
     *            the other operand
     * @return bool, of the shape of both together
     */
    public Value greaterThan(Value other) {
        return binary("greater_than", other).attr("force_cpu", false).sugar().one("Out");
    }

    /**
     * Where this is more than a number.
     *
     * @param number
     *            the other operand
     * @return bool, of this shape
     */
    public Value greaterThan(double number) {
        return greaterThan(graph().constantOperand(dtype(), number));
    }

    /**
     * Where this is not less than another.
     *
     * @param other
     *            the other operand
     * @return bool, of the shape of both together
     */
    public Value atLeast(Value other) {
        return binary("greater_equal", other).attr("force_cpu", false).sugar().one("Out");
    }

    /**
     * Where this is not less than a number.
     *
     * @param number
     *            the other operand
     * @return bool, of this shape
     */
    public Value atLeast(double number) {
        return atLeast(graph().constantOperand(dtype(), number));
    }

    /**
     * Where this and another hold.
     *
     * @param other
     *            the other operand
     * @return bool, of the shape of both together
     */
    public Value and(Value other) {
        return graph().op("logical_and").in("X", self()).in("Y", other).one("Out");
    }

    /**
     * Where this or another holds.
     *
     * @param other
     *            the other operand
     * @return bool, of the shape of both together
     */
    public Value or(Value other) {
        return graph().op("logical_or").in("X", self()).in("Y", other).one("Out");
    }

    /**
     * Where either this or another holds.
     *
     * @param other
     *            the other operand
     * @return bool, of the shape of both together
     */
    public Value xor(Value other) {
        return graph().op("logical_xor").in("X", self()).in("Y", other).one("Out");
    }

    /**
     * Where this does not hold.
     *
     * @return bool, of this shape
     */
    public Value not() {
        return graph().op("logical_not").in("X", self()).one("Out");
    }

    /**
     * Whether x is neither infinite nor NaN.
     *
     * @return bool, of this shape
     */
    public Value isFinite() {
        return graph().op("isfinite_v2").in("X", self()).one("Out");
    }

    /**
     * Whether x is not a number.
     *
     * @return bool, of this shape
     */
    public Value isNan() {
        return graph().op("isnan_v2").in("X", self()).one("Out");
    }

    /**
     * Whether x is infinite.
     *
     * @return bool, of this shape
     */
    public Value isInfinite() {
        return graph().op("isinf_v2").in("X", self()).one("Out");
    }
}
