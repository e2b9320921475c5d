package io.seriatim.onnx.operators;

import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.OpAppender;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.node.Registry;
import io.seriatim.tensor.DType;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Reductions along axes, places of extremes, and sums and products of the elements so far. */
public final class ReductionOperators {
    /** The first versions in which axes are an operand. */
    private static final int SUM_OF_OPERAND = 13;
    private static final int OTHERS_OF_OPERAND = 18;

    private ReductionOperators() {
    }

    /** Adds the operators. */
    public static void register(Registry operators) {
        operators.one("ReduceSum", n -> reduce(n, "sum", SUM_OF_OPERAND));
        operators.one("ReduceMean", n -> reduce(n, "mean", OTHERS_OF_OPERAND));
        operators.one("ReduceMax", n -> reduce(n, "max", OTHERS_OF_OPERAND));
        operators.one("ReduceMin", n -> reduce(n, "min", OTHERS_OF_OPERAND));
        operators.one("ReduceProd", n -> reduce(n, "prod", OTHERS_OF_OPERAND));
        operators.one("ReduceL1", n -> reduce(n, "l1", OTHERS_OF_OPERAND));
        operators.one("ReduceL2", n -> reduce(n, "l2", OTHERS_OF_OPERAND));
        operators.one("ReduceLogSum", n -> reduce(n, "log_sum", OTHERS_OF_OPERAND));
        operators.one("ReduceLogSumExp", n -> reduce(n, "log_sum_exp", OTHERS_OF_OPERAND));
        operators.one("ReduceSumSquare", n -> reduce(n, "sum_square", OTHERS_OF_OPERAND));
        operators.one("ArgMax", n -> extreme(n, "arg_max"));
        operators.one("ArgMin", n -> extreme(n, "arg_min"));
        operators.one("CumSum", n -> soFar(n, "onnx_cumsum"));
        operators.one("CumProd", n -> soFar(n, "onnx_cumprod"));
    }

    /** Of floating-point numbers along axes that are known, those of Paddle; others are of a type of our own. */
    private static Ref reduce(Node node, String function, int ofOperand) {
        BlockBuilder block = node.block();
        Ref x = node.input(0);
        boolean keep = node.flag("keepdims", true);
        boolean noop = node.flag("noop_with_empty_axes", false);
        Ref given = node.version() < ofOperand ? null : node.maybe(1);
        long[] axes = given == null
                ? node.version() < ofOperand ? node.integers("axes") : new long[0]
                : node.integers(1);
        if (axes == null && given == null) {
            axes = new long[0];
        }
        if (axes != null && axes.length == 1 && x.rank() == 0 && (axes[0] == 0 || axes[0] == -1)) {
            // As in NumPy, the first and the last axis of a scalar are none.
            axes = new long[0];
            given = null;
        }
        if (axes == null || !x.dtype().isFloating() || Arrays.stream(x.dims()).anyMatch(dim -> dim == 0)
                || (axes.length == 0 && (noop || x.rank() == 0))) {
            OpAppender reduction = node.op("onnx_reduce").in("X", x).attr("function", function)
                    .attr("keepdims", keep).attr("noop_with_empty_axes", noop);
            if (axes == null && !keep && node.declaredRank() >= 0) {
                given = node.counted(1, Math.max(-1, x.rank() - node.declaredRank()));
            }
            return reduction.maybe("Axes", axes == null || axes.length == 0 ? given : block.integers(DType.INT64, axes))
                    .out("Out");
        }
        for (long axis : axes) {
            node.axis(axis, x.rank());
        }
        return switch (function) {
            case "l1" -> known(block, "reduce_sum", block.unary("abs", x), axes, keep);
            case "l2" -> block.unary("sqrt", known(block, "reduce_sum", block.unary("square", x), axes, keep));
            case "log_sum" -> block.unary("log", known(block, "reduce_sum", x, axes, keep));
            case "sum_square" -> known(block, "reduce_sum", block.unary("square", x), axes, keep);
            case "log_sum_exp" -> block.op("logsumexp").in("X", x).attr("axis", axes).attr("keepdim", keep)
                    .attr("reduce_all", axes.length == 0).out("Out");
            default -> known(block, "reduce_" + function, x, axes, keep);
        };
    }

    private static Ref known(BlockBuilder block, String operation, Ref x, long[] axes, boolean keep) {
        OpAppender reduction = block.op(operation).in("X", x).attr("keep_dim", keep).attr("reduce_all",
                axes.length == 0);
        return (axes.length == 0 ? reduction : reduction.attr("dim", axes)).out("Out");
    }

    /** The last of equal extremes is the first of the operand in reverse. */
    private static Ref extreme(Node node, String operation) {
        BlockBuilder block = node.block();
        Ref x = node.input(0);
        int axis = node.axis(node.integer("axis", 0), x.rank());
        boolean last = node.flag("select_last_index", false);
        Ref from = last ? block.op("flip").in("X", x).attr("axis", new int[]{axis}).out("Out") : x;
        Ref place = block.op(operation).in("X", from).attr("axis", axis).attr("keepdims", node.flag("keepdims", true))
                .attr("dtype", DType.INT64).out("Out");
        if (!last) {
            return place;
        }
        Ref most = x.rank() == 0
                ? block.scalar(DType.INT64, 0)
                : x.dim(axis) >= 0 ? block.scalar(DType.INT64, x.dim(axis) - 1.0) : lastIndex(block, x, axis);
        return ElementwiseOperators.apply(block, "elementwise_sub", most, place);
    }

    private static Ref lastIndex(BlockBuilder block, Ref x, int axis) {
        Ref length = block.op("slice").in("Input", block.shape(x)).attr("axes", new int[]{0})
                .attr("starts", new int[]{axis}).attr("ends", new int[]{axis + 1}).attr("decrease_axis", new int[]{0})
                .out("Out");
        return ElementwiseOperators.apply(block, "elementwise_sub", block.cast(length, DType.INT64),
                block.scalar(DType.INT64, 1));
    }

    /** Along an axis that is known, the sum is Paddle's. */
    private static Ref soFar(Node node, String operation) {
        Ref x = node.input(0);
        boolean exclusive = node.flag("exclusive", false);
        boolean reverse = node.flag("reverse", false);
        long @Nullable [] axis = node.integers(1);
        if (axis != null && axis.length == 1 && operation.equals("onnx_cumsum")) {
            return node.op("cumsum").in("X", x).attr("axis", node.axis(axis[0], x.rank()))
                    .attr("exclusive", exclusive).attr("reverse", reverse).out("Out");
        }
        return node.op(operation).in("X", x).in("Axis", node.input(1)).attr("exclusive", exclusive)
                .attr("reverse", reverse).out("Out");
    }
}
