package io.seriatim.graph;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.util.Ranges;
import io.seriatim.graph.util.UniqueNames;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;

/** The part of a {@link Graph} that makes tensors and joins them. */
abstract sealed class GraphTensors permits GraphLayers {
    /**
     * Any operation.
     *
     * @param type
     *            its type, one of those in docs/operations.md or of a provider of one's own
     * @return takes slots and attributes
     */
    public abstract GraphOp op(String type);

    abstract UniqueNames names();

    abstract Block block();

    abstract int role();

    abstract Value value(String name);

    /**
     * A tensor of one value.
     *
     * @param dtype
     *            its elements' type
     * @param value
     *            of each element; a whole number unless the type is a floating-point one
     * @param dims
     *            its dimensions, all of them known; none for a tensor without dimensions
     * @return the tensor
     */
    public Value full(DType dtype, double value, long... dims) {
        checkDims("A tensor of one value", dims);
        checkValue(dtype, value);
        names().next("fill_constant");
        return op("fill_constant").attr("shape", dims).attr("dtype", DataTypes.number(dtype))
                .attr("value", (float) value)
                .attr("str_value", text(dtype, value)).one("Out");
    }

    private static void checkValue(DType dtype, double value) {
        if (dtype.isFloating()) {
            if (dtype != DType.FLOAT64) {
                Ranges.float32("A value of " + dtype, value);
            }
        } else if (value != Math.rint(value) || Double.isInfinite(value)) {
            throw new IllegalArgumentException("A value of " + dtype + " is a whole number, but is " + value
                    + ": round it, or cast what it is used with to a floating-point type");
        }
    }

    private static String text(DType dtype, double value) {
        return dtype.isFloating() ? Initializers.text(value) : new BigDecimal(value).toBigInteger().toString();
    }

    /** Only variables that are fed may have unknown dimensions. */
    private static void checkDims(String what, long... dims) {
        if (Arrays.stream(dims).anyMatch(dim -> dim < 0)) {
            throw new IllegalArgumentException(what + " has dimensions from 0 on, but they are " + Arrays.toString(dims)
                    + ": take those of another variable with its shapeTensor(), and op(...)");
        }
    }

    /** A constant as Paddle's operators make them for the other operand of a comparison or power. */
    Value constantOperand(DType dtype, double value) {
        String name = names().next("tmp");
        checkValue(dtype, value);
        OpDesc.Builder op = OpDesc.of("fill_constant").out("Out", name).attr("shape", new long[0])
                .attr("dtype", DataTypes.number(dtype)).attr("value", (float) value);
        if ((float) value != value) {
            // A number that float32 cannot hold is given as text.
            op.attr("str_value", text(dtype, value));
        }
        Appender.append(block(), op.build(), role());
        block().put(block().get(name).stopping(true));
        return value(name);
    }

    /**
     * Given values.
     *
     * @param values
     *            float32, float64, int32, int64 or bool
     * @return a tensor of them
     */
    public Value constant(Tensor values) {
        OpDesc op = Initializers.operation(new Initializer.Assign(values), "constant", values.dtype(),
                values.shape().dims(), 0);
        GraphOp added = op("assign_value");
        op.attributes().forEach(each -> added.attr(each.name(), each.value()));
        return added.one("Out");
    }

    /**
     * Numbers from a start to an end, without it.
     *
     * @param dtype
     *            their type
     * @param start
     *            the first
     * @param end
     *            after the last
     * @param step
     *            from one to the next
     * @return one dimension
     */
    public Value range(DType dtype, double start, double end, double step) {
        if (step == 0 || dtype == DType.BOOL || !Double.isFinite(step)) {
            throw new IllegalArgumentException(
                    "Numbers of a range are apart, and of a type that has numbers, but are " + dtype + " by " + step);
        }
        return op("range").in("Start", full(dtype, start, 1)).in("End", full(dtype, end, 1))
                .in("Step", full(dtype, step, 1)).one("Out");
    }

    /**
     * One tensor after the other.
     *
     * @param axis
     *            along which dimension, from −rank
     * @param parts
     *            alike in all other dimensions
     * @return all together
     */
    public Value concat(int axis, Value... parts) {
        return op("concat").in("X", parts).attr("axis", axis).one("Out");
    }

    /**
     * Tensors along a new dimension.
     *
     * @param axis
     *            where it is in the result, from −rank − 1
     * @param parts
     *            of one shape
     * @return all together
     */
    public Value stack(int axis, Value... parts) {
        return op("stack").in("X", parts).attr("axis", axis).one("Y");
    }

    /**
     * The sum of several.
     *
     * @param parts
     *            of one shape
     * @return the sum
     */
    public Value addAll(Value... parts) {
        return op("sum").key("add_n").in("X", parts).one("Out");
    }

    /**
     * Chooses by element.
     *
     * @param condition
     *            bool
     * @param x
     *            where it holds
     * @param y
     *            elsewhere
     * @return of the shape of all three together
     */
    public Value where(Value condition, Value x, Value y) {
        return op("where").in("Condition", condition).in("X", x).in("Y", y).one("Out");
    }

    /**
     * A grid of coordinates.
     *
     * @param axes
     *            the coordinates of each dimension, one dimension each
     * @return for each dimension the coordinates of all points
     */
    public List<Value> meshgrid(Value... axes) {
        return op("meshgrid").in("X", axes).list("Out", axes.length);
    }

    /**
     * Random numbers, evenly from a bound, included, to another.
     *
     * @param dtype
     *            float32 or float64
     * @param low
     *            the lower bound
     * @param high
     *            the upper bound
     * @param dims
     *            dimensions
     * @return new ones in each run
     */
    public Value uniform(DType dtype, double low, double high, long... dims) {
        checkDims("A tensor of random numbers", dims);
        if (!(low <= high)) {
            throw new IllegalArgumentException(
                    "Random numbers are from a bound to one that is not below it, but from " + low + " to " + high);
        }
        return op("uniform_random").attr("shape", dims).attr("dtype", DataTypes.number(dtype)).attr("min", (float) low)
                .attr("max", (float) high)
                .attr("seed", 0).one("Out");
    }

    /**
     * Normal random numbers.
     *
     * @param dtype
     *            float32 or float64
     * @param mean
     *            their mean
     * @param deviation
     *            their standard deviation
     * @param dims
     *            dimensions
     * @return new ones in each run
     */
    public Value normal(DType dtype, double mean, double deviation, long... dims) {
        checkDims("A tensor of random numbers", dims);
        Ranges.notNegative("A standard deviation", deviation);
        return op("gaussian_random").attr("shape", dims).attr("dtype", DataTypes.number(dtype))
                .attr("mean", (float) mean)
                .attr("std", (float) deviation).attr("seed", 0).one("Out");
    }
}
