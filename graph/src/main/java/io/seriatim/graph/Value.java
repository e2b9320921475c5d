package io.seriatim.graph;

import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.graph.util.Ranges;
import io.seriatim.tensor.DType;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A variable of a {@link Graph}, and the operations on it: each adds one to the graph and gives its result. What does
 * not fit is an {@link IllegalArgumentException} that names the operation, its slots and their shapes. Numbers go into
 * the program as float32, of which 0.1 is not exactly 0.1 for a float64 variable either; for whole numbers only those
 * are taken that are exact. This class is long because it is the list of operations.
 */
public final class Value {
    private final Graph graph;
    private final String name;

    Value(Graph graph, String name) {
        this.graph = graph;
        this.name = name;
    }

    /**
     * The variable's name.
     *
     * @return as in the program
     */
    public String name() {
        return name;
    }

    /**
     * Type and dimensions.
     *
     * @return as far as they are known
     */
    public VarType.TensorType type() {
        return desc().tensor();
    }

    private VarDesc desc() {
        VarDesc desc = graph.block().find(name);
        return desc != null ? desc : graph.anywhere(name);
    }

    /**
     * The elements' type.
     *
     * @return the type
     */
    public DType dtype() {
        return type().dtype();
    }

    /**
     * The dimensions.
     *
     * @return −1 where unknown
     */
    public List<Long> shape() {
        return type().dims();
    }

    /**
     * How many dimensions.
     *
     * @return from 0
     */
    public int rank() {
        return shape().size();
    }

    /**
     * A dimension.
     *
     * @param axis
     *            from −rank
     * @return its length, −1 if unknown
     */
    public long dim(int axis) {
        int rank = rank();
        if (axis < -rank || axis >= rank) {
            throw new IllegalArgumentException(
                    "Variable '" + name + "' is " + type() + ": it has no dimension " + axis);
        }
        return shape().get(axis < 0 ? axis + rank : axis);
    }

    /**
     * Whether no gradient flows through it.
     *
     * @return true for what is fed, and what depends only on that
     */
    public boolean stopsGradient() {
        return desc().stopsGradient();
    }

    Graph graph() {
        return graph;
    }

    void check(Graph other) {
        if (graph != other) {
            throw new IllegalArgumentException(
                    "Variable '" + name + "' belongs to another network; a network uses its own variables only");
        }
    }

    /** What a branch or a step computes is there as long as it runs. */
    void checkVisible(Graph other) {
        check(other);
        if (graph.block().find(name) == null) {
            throw new IllegalArgumentException(
                    "'" + name + "' : " + type() + " belongs to a branch, loop or recurrent network that is complete;"
                            + " only what that returns can be used after it");
        }
    }

    private GraphOp binary(String type, Value other) {
        return graph.op(type).in("X", this).in("Y", other).attr("axis", -1);
    }

    private Value scaled(double scale, double bias) {
        if (!dtype().isFloating()) {
            Ranges.whole("A factor", dtype().toString(), scale);
            Ranges.whole("A summand", dtype().toString(), bias);
        }
        return graph.op("scale").sugar().in("X", this).attr("scale", Ranges.float32("A factor", scale))
                .attr("bias", Ranges.float32("A summand", bias))
                .attr("bias_after_scale", true)
                .one("Out");
    }

    /** The difference, named as Paddle names that of its losses. */
    Value minusNamed(Value other) {
        return binary("elementwise_sub", other).bare().one("Out");
    }

    private Value reduced(String type, String key, boolean keep, int... axes) {
        checkDistinct(axes);
        boolean logic = type.equals("reduce_all") || type.equals("reduce_any");
        Object dims = logic ? Arrays.stream(axes).asLongStream().toArray() : axes.clone();
        // Paddle's sum says false, and means all: it has no axes.
        boolean everything = axes.length == 0 && !type.equals("reduce_sum");
        return graph.op(type).key(key).in("X", this).attr("dim", dims).attr("keep_dim", keep)
                .attr("reduce_all", everything).one("Out");
    }

    private void checkDistinct(int[] axes) {
        int rank = rank();
        if (Arrays.stream(axes).map(axis -> axis < 0 ? axis + rank : axis).distinct().count() != axes.length) {
            throw new IllegalArgumentException(
                    "Each dimension is named once, but those of '" + name + "' as " + Arrays.toString(axes));
        }
    }

    /** Where Paddle, and with it what is inferred, counts dimensions from the wrong end. */
    private Value withDims(long[] dims) {
        Block block = graph.block();
        block.put(block.get(name).with(VarType.dense(dtype(), dims)));
        return this;
    }

    private GraphOp poolOp(String kind, int[] kernel, int[] strides, int[] paddings) {
        return graph.op("pool2d").in("X", this).attr("pooling_type", kind).attr("ksize", kernel)
                .attr("strides", strides)
                .attr("paddings", paddings)
                .attr("global_pooling", false).attr("ceil_mode", false).attr("exclusive", true).attr("adaptive", false)
                .attr("data_format", "NCHW").attr("padding_algorithm", "EXPLICIT");
    }

    private Value pool(String kind, int kernel, int stride, int padding) {
        return poolOp(kind, new int[]{kernel, kernel}, new int[]{stride, stride}, new int[]{padding, padding})
                .attr("use_cudnn", true)
                .one("Out");
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
            throw new IllegalArgumentException("'" + name + "' is " + type() + ", and its quotient by " + number
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
        return graph.op("pow").in("X", this).attr("factor", Ranges.float32("An exponent", exponent)).one("Out");
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
        return equalTo(graph.constantOperand(dtype(), number));
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
        return notEqualTo(graph.constantOperand(dtype(), number));
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
        return lessThan(graph.constantOperand(dtype(), number));
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
        return atMost(graph.constantOperand(dtype(), number));
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
        return greaterThan(graph.constantOperand(dtype(), number));
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
        return atLeast(graph.constantOperand(dtype(), number));
    }

    /**
     * Where this and another hold.
     *
     * @param other
     *            the other operand
     * @return bool, of the shape of both together
     */
    public Value and(Value other) {
        return graph.op("logical_and").in("X", this).in("Y", other).one("Out");
    }

    /**
     * Where this or another holds.
     *
     * @param other
     *            the other operand
     * @return bool, of the shape of both together
     */
    public Value or(Value other) {
        return graph.op("logical_or").in("X", this).in("Y", other).one("Out");
    }

    /**
     * Where either this or another holds.
     *
     * @param other
     *            the other operand
     * @return bool, of the shape of both together
     */
    public Value xor(Value other) {
        return graph.op("logical_xor").in("X", this).in("Y", other).one("Out");
    }

    /**
     * Where this does not hold.
     *
     * @return bool, of this shape
     */
    public Value not() {
        return graph.op("logical_not").in("X", this).one("Out");
    }

    /**
     * max(x, 0).
     *
     * @return of this shape
     */
    public Value relu() {
        return graph.op("relu").in("X", this).one("Out");
    }

    /**
     * x, at least 0 and at most 6.
     *
     * @return of this shape
     */
    public Value relu6() {
        return graph.op("relu6").in("X", this).one("Out");
    }

    /**
     * 1 / (1 + e⁻ˣ).
     *
     * @return of this shape
     */
    public Value sigmoid() {
        return graph.op("sigmoid").in("X", this).one("Out");
    }

    /**
     * tanh x.
     *
     * @return of this shape
     */
    public Value tanh() {
        return graph.op("tanh").in("X", this).one("Out");
    }

    /**
     * x · sigmoid(x).
     *
     * @return of this shape
     */
    public Value silu() {
        return graph.op("silu").in("X", this).one("Out");
    }

    /**
     * x · sigmoid(x), under the name that older programs use.
     *
     * @return of this shape
     */
    public Value swish() {
        return graph.op("swish").in("X", this).one("Out");
    }

    /**
     * x/6 + 1/2, at least 0 and at most 1.
     *
     * @return of this shape
     */
    public Value hardSigmoid() {
        return graph.op("hard_sigmoid").in("X", this).attr("slope", 1 / 6f).attr("offset", 0.5f).one("Out");
    }

    /**
     * x/6 · (x + 3, at least 0 and at most 6).
     *
     * @return of this shape
     */
    public Value hardSwish() {
        return graph.op("hard_swish").in("X", this).one("Out");
    }

    /**
     * ln(1 + eˣ).
     *
     * @return of this shape
     */
    public Value softplus() {
        return graph.op("softplus").in("X", this).one("Out");
    }

    /**
     * x · tanh(ln(1 + eˣ)) (Misra, 2020).
     *
     * @return of this shape
     */
    public Value mish() {
        return graph.op("mish").in("X", this).one("Out");
    }

    /**
     * eˣ.
     *
     * @return of this shape
     */
    public Value exp() {
        return graph.op("exp").in("X", this).one("Out");
    }

    /**
     * ln x.
     *
     * @return of this shape
     */
    public Value log() {
        return graph.op("log").in("X", this).one("Out");
    }

    /**
     * √x.
     *
     * @return of this shape
     */
    public Value sqrt() {
        return graph.op("sqrt").in("X", this).one("Out");
    }

    /**
     * 1/√x.
     *
     * @return of this shape
     */
    public Value rsqrt() {
        return graph.op("rsqrt").in("X", this).one("Out");
    }

    /**
     * x².
     *
     * @return of this shape
     */
    public Value square() {
        return graph.op("square").in("X", this).one("Out");
    }

    /**
     * |x|.
     *
     * @return of this shape
     */
    public Value abs() {
        return graph.op("abs").in("X", this).one("Out");
    }

    /**
     * 1/x.
     *
     * @return of this shape
     */
    public Value reciprocal() {
        return graph.op("reciprocal").in("X", this).one("Out");
    }

    /**
     * sin x.
     *
     * @return of this shape
     */
    public Value sin() {
        return graph.op("sin").in("X", this).one("Out");
    }

    /**
     * cos x.
     *
     * @return of this shape
     */
    public Value cos() {
        return graph.op("cos").in("X", this).one("Out");
    }

    /**
     * The largest whole number up to x.
     *
     * @return of this shape
     */
    public Value floor() {
        return graph.op("floor").in("X", this).one("Out");
    }

    /**
     * The smallest whole number from x.
     *
     * @return of this shape
     */
    public Value ceil() {
        return graph.op("ceil").in("X", this).one("Out");
    }

    /**
     * The nearest whole number; halves go away from 0.
     *
     * @return of this shape
     */
    public Value round() {
        return graph.op("round").in("X", this).one("Out");
    }

    /**
     * −1, 0 or 1.
     *
     * @return of this shape
     */
    public Value sign() {
        return graph.op("sign").in("X", this).one("Out");
    }

    /**
     * The error function.
     *
     * @return of this shape
     */
    public Value erf() {
        return graph.op("erf").in("X", this).one("Out");
    }

    /**
     * Whether x is neither infinite nor NaN.
     *
     * @return bool, of this shape
     */
    public Value isFinite() {
        return graph.op("isfinite_v2").in("X", this).one("Out");
    }

    /**
     * Whether x is not a number.
     *
     * @return bool, of this shape
     */
    public Value isNan() {
        return graph.op("isnan_v2").in("X", this).one("Out");
    }

    /**
     * Whether x is infinite.
     *
     * @return bool, of this shape
     */
    public Value isInfinite() {
        return graph.op("isinf_v2").in("X", this).one("Out");
    }

    /**
     * Zeros of this shape.
     *
     * @return of this shape
     */
    public Value zerosLike() {
        return graph.op("fill_zeros_like").in("X", this).one("Out");
    }

    /**
     * x · Φ(x), with the normal distribution Φ (Hendrycks, Gimpel, 2016).
     *
     * @return of this shape
     */
    public Value gelu() {
        return graph.op("gelu").in("X", this).attr("approximate", false).one("Out");
    }

    /**
     * x, or slope · x below 0.
     *
     * @param slope
     *            the factor of values below 0
     * @return of this shape
     */
    public Value leakyRelu(double slope) {
        return graph.op("leaky_relu").in("X", this).attr("alpha", (float) slope).one("Out");
    }

    /**
     * x, or alpha · (eˣ − 1) below 0 (Clevert et al., 2016).
     *
     * @param alpha
     *            the factor below 0
     * @return of this shape
     */
    public Value elu(double alpha) {
        return graph.op("elu").in("X", this).attr("alpha", (float) alpha).one("Out");
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
        return graph.op("clip").in("X", this).attr("min", (float) min).attr("max", (float) max).one("Out");
    }

    /**
     * Softmax along a dimension.
     *
     * @param axis
     *            from −rank
     * @return of this shape
     */
    public Value softmax(int axis) {
        return graph.op("softmax").in("X", this).attr("axis", axis).one("Out");
    }

    /**
     * The logarithm of the softmax along a dimension.
     *
     * @param axis
     *            from −rank
     * @return of this shape
     */
    public Value logSoftmax(int axis) {
        return graph.op("log_softmax").in("X", this).attr("axis", axis).one("Out");
    }

    /**
     * With another element type.
     *
     * @param dtype
     *            the type
     * @return of this shape
     */
    public Value cast(DType dtype) {
        return graph.op("cast").in("X", this).attr("in_dtype", DataTypes.number(dtype()))
                .attr("out_dtype", DataTypes.number(dtype))
                .one("Out");
    }

    /**
     * Ones of this shape.
     *
     * @return of this shape and type
     */
    public Value onesLike() {
        return graph.op("fill_any_like").key("ones_like").in("X", this).attr("value", 1f)
                .attr("dtype", type().dataType()).one("Out");
    }

    /**
     * The sum over some dimensions, which go.
     *
     * @param axes
     *            from −rank; none for all
     * @return without those dimensions
     */
    public Value sum(int... axes) {
        return reduced("reduce_sum", "sum", false, axes);
    }

    /**
     * The sum over some dimensions, which stay with length 1.
     *
     * @param axes
     *            from −rank; none for all
     * @return with those dimensions of length 1
     */
    public Value sumKeeping(int... axes) {
        return reduced("reduce_sum", "sum", true, axes);
    }

    /**
     * The mean over some dimensions, which go.
     *
     * @param axes
     *            from −rank; none for all
     * @return without those dimensions
     */
    public Value mean(int... axes) {
        return reduced("reduce_mean", "mean", false, axes);
    }

    /**
     * The mean over some dimensions, which stay with length 1.
     *
     * @param axes
     *            from −rank; none for all
     * @return with those dimensions of length 1
     */
    public Value meanKeeping(int... axes) {
        return reduced("reduce_mean", "mean", true, axes);
    }

    /**
     * The largest over some dimensions, which go.
     *
     * @param axes
     *            from −rank; none for all
     * @return without those dimensions
     */
    public Value max(int... axes) {
        return reduced("reduce_max", "max", false, axes);
    }

    /**
     * The largest over some dimensions, which stay with length 1.
     *
     * @param axes
     *            from −rank; none for all
     * @return with those dimensions of length 1
     */
    public Value maxKeeping(int... axes) {
        return reduced("reduce_max", "max", true, axes);
    }

    /**
     * The smallest over some dimensions, which go.
     *
     * @param axes
     *            from −rank; none for all
     * @return without those dimensions
     */
    public Value min(int... axes) {
        return reduced("reduce_min", "min", false, axes);
    }

    /**
     * The smallest over some dimensions, which stay with length 1.
     *
     * @param axes
     *            from −rank; none for all
     * @return with those dimensions of length 1
     */
    public Value minKeeping(int... axes) {
        return reduced("reduce_min", "min", true, axes);
    }

    /**
     * The product over some dimensions, which go.
     *
     * @param axes
     *            from −rank; none for all
     * @return without those dimensions
     */
    public Value prod(int... axes) {
        return reduced("reduce_prod", "prod", false, axes);
    }

    /**
     * The product over some dimensions, which stay with length 1.
     *
     * @param axes
     *            from −rank; none for all
     * @return with those dimensions of length 1
     */
    public Value prodKeeping(int... axes) {
        return reduced("reduce_prod", "prod", true, axes);
    }

    /**
     * Whether all hold, over some dimensions, which go.
     *
     * @param axes
     *            from −rank; none for all
     * @return without those dimensions
     */
    public Value all(int... axes) {
        return reduced("reduce_all", "all", false, axes);
    }

    /**
     * Whether all hold, over some dimensions, which stay with length 1.
     *
     * @param axes
     *            from −rank; none for all
     * @return with those dimensions of length 1
     */
    public Value allKeeping(int... axes) {
        return reduced("reduce_all", "all", true, axes);
    }

    /**
     * Whether any holds, over some dimensions, which go.
     *
     * @param axes
     *            from −rank; none for all
     * @return without those dimensions
     */
    public Value any(int... axes) {
        return reduced("reduce_any", "any", false, axes);
    }

    /**
     * Whether any holds, over some dimensions, which stay with length 1.
     *
     * @param axes
     *            from −rank; none for all
     * @return with those dimensions of length 1
     */
    public Value anyKeeping(int... axes) {
        return reduced("reduce_any", "any", true, axes);
    }

    /**
     * ln Σ eˣ over a dimension, without overflow.
     *
     * @param axis
     *            from −rank
     * @return without that dimension
     */
    public Value logSumExp(int axis) {
        return graph.op("logsumexp").in("X", this).attr("axis", new int[]{axis}).attr("keepdim", false)
                .attr("reduce_all", false)
                .one("Out");
    }

    /**
     * (Σ |x|^order)^(1/order) over a dimension.
     *
     * @param order
     *            2 for the length, infinity for the largest |x|, 0 for how many are not 0
     * @param axis
     *            from −rank
     * @return without that dimension
     */
    public Value norm(double order, int axis) {
        return graph.op("p_norm").in("X", this).attr("porder", (float) order).attr("axis", axis).attr("keepdim", false)
                .attr("epsilon", 1e-12f).attr("asvector", false)
                .one("Out");
    }

    /**
     * Where the largest element along a dimension is.
     *
     * @param axis
     *            from −rank
     * @return int64, without that dimension
     */
    public Value argMax(int axis) {
        return graph.op("arg_max").in("X", this).attr("axis", (long) axis).attr("keepdims", false)
                .attr("flatten", false).attr("dtype", 3)
                .one("Out");
    }

    /**
     * Where the smallest element along a dimension is.
     *
     * @param axis
     *            from −rank
     * @return int64, without that dimension
     */
    public Value argMin(int axis) {
        return graph.op("arg_min").in("X", this).attr("axis", (long) axis).attr("keepdims", false)
                .attr("flatten", false).attr("dtype", 3)
                .one("Out");
    }

    /**
     * In order along a dimension.
     *
     * @param axis
     *            from −rank
     * @param descending
     *            whether the largest come first
     * @return the values, and where they were (int64)
     */
    public List<Value> sort(int axis, boolean descending) {
        return graph.op("argsort").in("X", this).attr("axis", axis).attr("descending", descending).all("Out",
                "Indices");
    }

    /**
     * The largest along a dimension, in order.
     *
     * @param k
     *            how many, from 1 to the dimension's length
     * @param axis
     *            from −rank
     * @return the values, and where they were (int64)
     */
    public List<Value> topK(int k, int axis) {
        return graph.op("top_k_v2").in("X", this).attr("k", k).attr("axis", axis).attr("largest", true)
                .attr("sorted", true).all("Out",
                        "Indices");
    }

    /**
     * The sums up to each element along a dimension.
     *
     * @param axis
     *            from −rank
     * @return of this shape
     */
    public Value cumSum(int axis) {
        return graph.op("cumsum").in("X", this).attr("axis", axis).one("Out");
    }

    /**
     * The same elements with other dimensions.
     *
     * @param dims
     *            −1 for one that follows from the others, 0 for this one's
     * @return a tensor of that shape
     */
    public Value reshape(int... dims) {
        return graph.op("reshape2").in("X", this).attr("shape", dims.clone()).all("Out", "XShape").getFirst();
    }

    /**
     * The dimensions in another order.
     *
     * @param axes
     *            for each dimension of the result, which one of this it is; each is there once
     * @return a tensor of that shape
     */
    public Value transpose(int... axes) {
        return graph.op("transpose2").key("transpose").in("X", this).attr("axis", axes.clone()).all("Out", "XShape")
                .getFirst();
    }

    /**
     * All dimensions from one on as one.
     *
     * @param from
     *            the first of them
     * @return a tensor of that shape
     */
    public Value flatten(int from) {
        return graph.op("flatten_contiguous_range").key("flatten").in("X", this).attr("start_axis", from)
                .attr("stop_axis", rank() - 1)
                .all("Out", "XShape")
                .getFirst();
    }

    /**
     * Without some dimensions of length 1.
     *
     * @param axes
     *            from −rank; none for all of length 1. One whose length is not known stays at run time unless it is 1
     * @return a tensor of that shape
     */
    public Value squeeze(int... axes) {
        for (int axis : axes) {
            if (dim(axis) > 1) {
                throw new IllegalArgumentException(
                        "A dimension that goes has length 1, but dimension " + axis + " of '" + name + "' : " + type()
                                + " has not");
            }
        }
        return graph.op("squeeze2").in("X", this).attr("axes", axes.clone()).all("Out", "XShape").getFirst();
    }

    /**
     * With more dimensions, of length 1.
     *
     * @param axes
     *            where they are in the result, which has this rank and as many more; from −rank of the result
     * @return a tensor of that shape
     */
    public Value unsqueeze(int... axes) {
        return graph.op("unsqueeze2").in("X", this).attr("axes", axes.clone()).all("Out", "XShape").getFirst();
    }

    /**
     * A part of a dimension.
     *
     * @param axis
     *            from −rank
     * @param from
     *            the first index; negative from the end
     * @param to
     *            after the last; negative from the end; beyond the end for all
     * @return a tensor of that shape
     */
    public Value slice(int axis, int from, int to) {
        return graph.op("slice").in("Input", this).attr("axes", new int[]{axis}).attr("starts", new int[]{from})
                .attr("ends", new int[]{to})
                .attr("infer_flags", new int[]{1}).attr("decrease_axis", new int[0]).one("Out");
    }

    /**
     * One index of a dimension, which goes.
     *
     * @param axis
     *            from −rank
     * @param index
     *            negative from the end
     * @return one dimension less
     */
    public Value get(int axis, int index) {
        int end = index == -1 || index == Integer.MAX_VALUE ? Integer.MAX_VALUE : index + 1;
        return graph.op("slice").key(name + "_slice").bare().in("Input", this).attr("axes", new int[]{axis})
                .attr("starts", new int[]{index})
                .attr("ends", new int[]{end}).attr("infer_flags", new int[]{1}).attr("decrease_axis", new int[]{axis})
                .one("Out");
    }

    /**
     * Some dimensions backwards.
     *
     * @param axes
     *            which
     * @return of this shape
     */
    public Value flip(int... axes) {
        return graph.op("flip").in("X", this).attr("axis", axes.clone()).one("Out");
    }

    /**
     * Moved along a dimension; what leaves at one end comes in at the other.
     *
     * @param shift
     *            how far
     * @param axis
     *            from −rank
     * @return of this shape
     */
    public Value roll(long shift, long axis) {
        return graph.op("roll").in("X", this).attr("shifts", new long[]{shift}).attr("axis", new long[]{axis})
                .one("Out");
    }

    /**
     * In equal parts.
     *
     * @param count
     *            how many, a divisor of the dimension's length
     * @param axis
     *            from −rank
     * @return the parts
     */
    public List<Value> split(int count, int axis) {
        if (count < 1) {
            throw new IllegalArgumentException(
                    "There is at least 1 part, but '" + name + "' is to be split into " + count);
        }
        return graph.op("split").in("X", this).attr("num", count).attr("sections", new int[0]).attr("axis", axis)
                .list("Out", count);
    }

    /**
     * Each index of a dimension, which goes.
     *
     * @param axis
     *            from −rank; of known length
     * @return one for each index
     */
    public List<Value> unstack(int axis) {
        if (dim(axis) < 0) {
            throw new IllegalArgumentException("Dimension " + axis + " of '" + name + "' : " + type()
                    + " is not known, so that there is no telling how many parts there are; take get(...) for one");
        }
        int count = Math.toIntExact(dim(axis));
        return graph.op("unstack").in("X", this).attr("num", count).attr("axis", axis).list("Y", count);
    }

    /**
     * Dimensions of length 1 repeated.
     *
     * @param dims
     *            of the result, at least as many as this has; −1 for this one's
     * @return a tensor of that shape
     */
    public Value expand(int... dims) {
        int added = dims.length - rank();
        for (int i = 0; i < dims.length; i++) {
            if (dims[i] < -1 || (dims[i] == -1 && i < added)) {
                throw new IllegalArgumentException(
                        "The dimensions of an expansion are from 0 on, or -1 for those of '" + name + "' : " + type()
                                + ", but are " + Arrays.toString(dims));
            }
        }
        if (added < 0) {
            throw new IllegalArgumentException(
                    "'" + name + "' : " + type() + " expands to at least as many dimensions, but not to "
                            + Arrays.toString(dims));
        }
        Value expanded = graph.op("expand_v2").key("expand").in("X", this).attr("shape", dims.clone()).one("Out");
        return added == 0
                ? expanded
                : expanded.withDims(IntStream.range(0, dims.length)
                        .mapToLong(axis -> dims[axis] == -1 ? dim(axis - added) : dims[axis]).toArray());
    }

    /**
     * Repeated.
     *
     * @param times
     *            how often in each dimension
     * @return a tensor of that shape
     */
    public Value tile(int... times) {
        if (times.length == 0) {
            throw new IllegalArgumentException(
                    "'" + name + "' is repeated a number of times in each dimension; give those numbers");
        }
        return graph.op("tile").in("X", this).attr("repeat_times", times.clone()).one("Out");
    }

    /**
     * Slices at indices.
     *
     * @param indices
     *            int32 or int64, one dimension
     * @param axis
     *            along which dimension, from −rank
     * @return a slice for each index
     */
    public Value gather(Value indices, int axis) {
        return graph.op("gather").in("X", this).in("Index", indices).attr("axis", axis).one("Out");
    }

    /**
     * Slices at index tuples.
     *
     * @param indices
     *            int32 or int64, [..., k]
     * @return a slice for each tuple
     */
    public Value gatherNd(Value indices) {
        return graph.op("gather_nd").in("X", this).in("Index", indices).one("Out");
    }

    /**
     * One element for each index, along a dimension.
     *
     * @param indices
     *            int32 or int64, of this rank
     * @param axis
     *            along which dimension, from −rank
     * @return of the shape of the indices
     */
    public Value takeAlongAxis(Value indices, int axis) {
        return graph.op("take_along_axis").in("Input", this).in("Index", indices).attr("Axis", axis).one("Result");
    }

    /**
     * The elements where a mask holds.
     *
     * @param mask
     *            bool, of this shape or one that broadcasts to it
     * @return one dimension, whose length depends on the values
     */
    public Value maskedSelect(Value mask) {
        return graph.op("masked_select").in("X", this).in("Mask", mask).one("Y");
    }

    /**
     * Ones at these indices (int32 or int64, from 0 to below the number of classes), zeros elsewhere.
     *
     * @param classes
     *            the length of the added dimension
     * @return float32, of one dimension more
     */
    public Value oneHot(int classes) {
        return graph.op("one_hot_v2").key("one_hot").in("X", this).attr("depth", classes).attr("dtype", 5)
                .attr("allow_out_of_range", false)
                .one("Out");
    }

    /**
     * One triangle of matrices, the rest cleared.
     *
     * @param lower
     *            which
     * @param diagonal
     *            where it ends; 0 for the main one
     * @return of this shape
     */
    public Value triangle(boolean lower, int diagonal) {
        return graph.op("tril_triu").in("X", this).attr("lower", lower).attr("diagonal", diagonal).one("Out");
    }

    /**
     * The matrix product.
     *
     * @param other
     *            [..., k, n]
     * @return [..., m, n]
     */
    public Value matmul(Value other) {
        return matmul(other, false, false);
    }

    /**
     * The matrix product.
     *
     * @param other
     *            [..., k, n]
     * @param transposeThis
     *            whether the last two dimensions of this are exchanged
     * @param transposeOther
     *            whether those of the other are
     * @return [..., m, n]
     */
    public Value matmul(Value other, boolean transposeThis, boolean transposeOther) {
        return graph.op("matmul_v2").in("X", this).in("Y", other).attr("trans_x", transposeThis)
                .attr("trans_y", transposeOther).one("Out");
    }

    /**
     * The largest of each window.
     *
     * @param kernel
     *            height and width of the window
     * @param stride
     *            from one to the next
     * @param padding
     *            at each border
     * @return [n, channels, height', width']
     */
    public Value maxPool2d(int kernel, int stride, int padding) {
        return pool("max", kernel, stride, padding);
    }

    /**
     * The mean of each window, padding left out.
     *
     * @param kernel
     *            height and width of the window
     * @param stride
     *            from one to the next
     * @param padding
     *            at each border
     * @return [n, channels, height', width']
     */
    public Value averagePool2d(int kernel, int stride, int padding) {
        return pool("avg", kernel, stride, padding);
    }

    /**
     * The means of as many windows as asked for.
     *
     * @param height
     *            of the result
     * @param width
     *            of the result
     * @return [n, channels, height, width]
     */
    public Value adaptiveAveragePool2d(int height, int width) {
        return poolOp("avg", new int[]{height, width}, new int[]{1, 1}, new int[]{0, 0}).attr("adaptive", true)
                .one("Out");
    }

    /**
     * The mean of each channel.
     *
     * @return [n, channels, 1, 1]
     */
    public Value globalAveragePool2d() {
        return adaptiveAveragePool2d(1, 1);
    }

    /**
     * The dimensions as a tensor, for operations that take them at run time.
     *
     * @return int32 [rank]
     */
    public Value shapeTensor() {
        return graph.op("shape").in("Input", this).one("Out");
    }

    /**
     * No gradient flows through this variable from now on.
     *
     * @return this
     */
    public Value stopGradient() {
        Block owner = graph.block().owner(name);
        if (owner != null) {
            owner.put(owner.get(name).stopping(true));
            graph.flow().stop(name);
        }
        return this;
    }

    /**
     * A gradient flows through this variable from now on: what is fed has none otherwise.
     *
     * @return this
     */
    public Value wantGradient() {
        Block owner = graph.block().owner(name);
        if (owner != null) {
            owner.put(owner.get(name).stopping(false));
            graph.flow().want(name);
        }
        return this;
    }

    /**
     * A copy.
     *
     * @return of this shape
     */
    public Value assign() {
        return graph.op("assign").in("X", this).one("Out");
    }

    /**
     * Adds to this variable itself, which must be a number of one element.
     *
     * @param step
     *            what is added
     * @return this
     */
    public Value increment(double step) {
        if (shape().stream().anyMatch(dim -> dim != 1)) {
            throw new IllegalArgumentException(
                    "What is incremented has one element, but '" + name + "' is " + type() + "; take plus(...)");
        }
        if (dtype() == DType.BOOL) {
            throw new IllegalArgumentException("What is incremented is a number, but '" + name + "' is " + type());
        }
        if (!dtype().isFloating()) {
            Ranges.whole("A step", dtype().toString(), step);
        }
        graph.op("increment").in("X", this).attr("step", (float) step).to("Out", this).append();
        return this;
    }

    /**
     * Prints this variable at each run.
     *
     * @param message
     *            goes before it
     * @return this variable
     */
    public Value print(String message) {
        return graph.op("print").in("In", this).attr("first_n", -1).attr("message", message).attr("summarize", 20)
                .one("Out");
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Value value && graph == value.graph && name.equals(value.name);
    }

    @Override
    public int hashCode() {
        return name.hashCode();
    }

    @Override
    public String toString() {
        return name + " : " + type();
    }
}
