package io.seriatim.onnx.write.operators;

import io.seriatim.onnx.emit.OpWriters;
import io.seriatim.onnx.emit.WrittenOp;
import io.seriatim.tensor.DType;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

/** Reductions, products of matrices, and what orders elements. */
public final class ReductionWriters {
    private ReductionWriters() {
    }

    /** Adds the writers. */
    public static void register(OpWriters all) {
        all.add("reduce_sum", op -> op.out("Out", sum(op, op.in("X"))));
        all.add("reduce_mean", op -> op.out("Out", reduced(op, "ReduceMean", op.in("X"))));
        all.add("reduce_max", op -> op.out("Out", reduced(op, "ReduceMax", op.in("X"))));
        all.add("reduce_min", op -> op.out("Out", reduced(op, "ReduceMin", op.in("X"))));
        all.add("reduce_prod", op -> op.out("Out", reduced(op, "ReduceProd", op.in("X"))));
        all.add("reduce_any", op -> logical(op, "ReduceMax"));
        all.add("reduce_all", op -> logical(op, "ReduceMin"));
        all.add("mean", op -> op.out("Out", op.node("ReduceMean", Map.of("keepdims", 0), op.in("X"))));
        all.add("logsumexp", ReductionWriters::logSumExp);
        all.add("p_norm", ReductionWriters::norm);
        all.add("arg_max", op -> position(op, "ArgMax"));
        all.add("arg_min", op -> position(op, "ArgMin"));
        all.add("top_k", op -> top(op, -1, true));
        all.add("top_k_v2", op -> top(op, op.attrs().getInt("axis"), op.attrs().getBool("largest")));
        all.add("argsort", ReductionWriters::sort);
        all.add("cumsum", ReductionWriters::cumulativeSum);
        all.add("softmax", op -> op.out("Out", alongAxis(op, "Softmax")));
        all.add("log_softmax", op -> op.out("Out", alongAxis(op, "LogSoftmax")));
        all.add("matmul_v2", op -> op.out("Out", op.node("MatMul",
                transposed(op, "X", op.attrs().getBool("trans_x")),
                transposed(op, "Y", op.attrs().getBool("trans_y")))));
        all.add("matmul", ReductionWriters::matmul);
        all.add("mul", ReductionWriters::mul);
        all.add("bmm", op -> op.out("Out", op.node("MatMul", op.in("X"), op.in("Y"))));
        all.add("mv", op -> op.out("Out", op.node("MatMul", op.in("X"), op.in("Vec"))));
        all.add("dot", op -> op.out("Out", op.node("ReduceSum", Map.of("keepdims", 0),
                op.node("Mul", op.in("X"), op.in("Y")), op.ints(-1))));
        all.add("addmm", ReductionWriters::addmm);
    }

    private static String alongAxis(WrittenOp op, String node) {
        return op.rank("X") == 0
                ? op.node("Reshape", op.node(node, op.node("Reshape", op.in("X"), op.ints(1))), op.ints())
                : op.node(node, Map.of("axis", op.attrs().getInt("axis")), op.in("X"));
    }

    private static long[] axes(WrittenOp op) {
        if (op.has("AxisTensor") || op.has("AxisTensorList")) {
            throw op.error("computes its axes, which is not written");
        }
        int rank = op.rank("X");
        long[] dim = op.attrs().getLongs("dim");
        return op.attrs().getBool("reduce_all") || dim.length == 0 || rank == 0
                ? LongStream.range(0, rank).toArray()
                : LongStream.of(dim).map(each -> op.axis(each, rank)).toArray();
    }

    private static String reduced(WrittenOp op, String node, String x) {
        String value = op.attrs().getInt("out_dtype") < 0 ? x : op.cast(x, op.attrs().getDType("out_dtype"));
        return reduce(op, node, value, axes(op), op.attrs().getBool("keep_dim"));
    }

    /** Axes are an operand from version 18 on. */
    static String reduce(WrittenOp op, String node, String x, long[] axes, boolean keep) {
        if (axes.length == 0) {
            return op.node("Identity", x);
        }
        return op.opset() >= 18
                ? op.node(node, Map.of("keepdims", keep ? 1 : 0), x, op.ints(axes))
                : op.node(node, Map.of("keepdims", keep ? 1 : 0, "axes", axes), x);
    }

    private static String sum(WrittenOp op, String x) {
        long[] axes = axes(op);
        String value = op.dtype("X") == op.outType("Out") ? x : op.cast(x, op.outType("Out"));
        return axes.length == 0
                ? op.node("Identity", value)
                : op.node("ReduceSum", Map.of("keepdims", op.attrs().getBool("keep_dim") ? 1 : 0), value,
                        op.ints(axes));
    }

    private static void logical(WrittenOp op, String node) {
        op.out("Out", op.cast(reduced(op, node, op.cast(op.in("X"), DType.INT32)), DType.BOOL));
    }

    private static void logSumExp(WrittenOp op) {
        int rank = op.rank("X");
        long[] dim = op.attrs().getLongs("axis");
        long[] axes = op.attrs().getBool("reduce_all") || dim.length == 0 || rank == 0
                ? LongStream.range(0, rank).toArray()
                : LongStream.of(dim).map(each -> op.axis(each, rank)).toArray();
        op.out("Out", reduce(op, "ReduceLogSumExp", op.in("X"), axes, op.attrs().getBool("keepdim")));
    }

    private static void norm(WrittenOp op) {
        float order = op.attrs().getFloat("porder");
        int rank = op.rank("X");
        boolean all = op.attrs().getBool("asvector");
        long[] axes = all
                ? LongStream.range(0, rank).toArray()
                : new long[]{op.axis(op.attrs().getInt("axis"), rank)};
        boolean keep = op.attrs().getBool("keepdim");
        String size = op.node("Abs", op.in("X"));
        if (Float.isInfinite(order)) {
            op.out("Out", reduce(op, order > 0 ? "ReduceMax" : "ReduceMin", size, axes, keep));
        } else if (order == 1 || order == 2) {
            op.out("Out", reduce(op, order == 1 ? "ReduceL1" : "ReduceL2", op.in("X"), axes, keep));
        } else if (order == 0) {
            throw op.error("counts elements (porder 0), which is not written");
        } else {
            String powers = op.node("Pow", size, ElementwiseWriters.number(op, order));
            String sum = op.node("ReduceSum", Map.of("keepdims", keep ? 1 : 0), powers, op.ints(axes));
            op.out("Out", op.node("Pow", sum, ElementwiseWriters.number(op, 1 / (double) order)));
        }
    }

    private static void position(WrittenOp op, String node) {
        boolean flat = op.attrs().getBool("flatten") || op.rank("X") == 0;
        boolean keep = op.attrs().getBool("keepdims");
        String x = flat ? op.node("Reshape", op.in("X"), op.ints(-1)) : op.in("X");
        String at = op.node(node,
                Map.of("axis", flat ? 0 : op.attrs().getLong("axis"), "keepdims", keep && !flat ? 1 : 0), x);
        if (flat && keep) {
            long[] ones = new long[op.rank("X")];
            Arrays.fill(ones, 1);
            at = op.node("Reshape", at, op.ints(ones));
        }
        at = op.rank("X") == 0 ? op.node("Reshape", at, op.ints()) : at;
        op.out("Out", op.outType("Out") == DType.INT64 ? at : op.cast(at, op.outType("Out")));
    }

    private static void top(WrittenOp op, int axis, boolean largest) {
        if (op.rank("X") == 0) {
            throw op.error("orders a number, which ONNX does not do");
        }
        String k = op.has("K") ? op.int64s(op.in("K")) : op.ints(op.attrs().getInt("k"));
        List<String> found = op.nodes("TopK", 2, Map.of("axis", axis, "largest", largest ? 1 : 0, "sorted", 1),
                List.of(op.in("X"), k));
        op.out("Out", found.get(0));
        op.out("Indices", found.get(1));
    }

    private static void sort(WrittenOp op) {
        if (op.rank("X") == 0) {
            throw op.error("orders a number, which ONNX does not do");
        }
        int axis = op.axis(op.attrs().getInt("axis"), op.rank("X"));
        String length = op.node("Slice", op.node("Shape", op.in("X")), op.ints(axis), op.ints(axis + 1L));
        List<String> found = op.nodes("TopK", 2, Map.of("axis", axis, "largest",
                op.attrs().getBool("descending") ? 1 : 0, "sorted", 1), List.of(op.in("X"), length));
        op.out("Out", found.get(0));
        op.out("Indices", found.get(1));
    }

    private static void cumulativeSum(WrittenOp op) {
        if (op.rank("X") == 0 && !op.attrs().getBool("flatten")) {
            // Paddle adds up nothing, also where the element itself does not count.
            op.out("Out", op.node("Identity", op.in("X")));
            return;
        }
        boolean flat = op.attrs().getBool("flatten");
        String x = flat ? op.node("Reshape", op.in("X"), op.ints(-1)) : op.in("X");
        String sum = op.node("CumSum", Map.of("exclusive", op.attrs().getBool("exclusive") ? 1 : 0, "reverse",
                op.attrs().getBool("reverse") ? 1 : 0), x,
                op.scalar(DType.INT64, flat ? 0 : op.attrs().getInt("axis")));
        op.out("Out", sum);
    }

    private static String transposed(WrittenOp op, String slot, boolean transposed) {
        int rank = op.rank(slot);
        if (!transposed || rank < 2) {
            return op.in(slot);
        }
        long[] axes = LongStream.range(0, rank).toArray();
        axes[rank - 1] = rank - 2L;
        axes[rank - 2] = rank - 1L;
        return op.node("Transpose", Map.of("perm", axes), op.in(slot));
    }

    private static void matmul(WrittenOp op) {
        boolean vector = op.rank("X") < 2 || op.rank("Y") < 2;
        long[] made = op.outDims("Out");
        if (op.attrs().getInt("head_number") > 1) {
            throw op.error("divides heads in a way that ONNX does not have");
        }
        if (vector && LongStream.of(made).filter(each -> each < 0).count() > 1) {
            throw op.error("multiplies a vector, and several lengths of the result are unknown: use matmul_v2");
        }
        // A vector is a row on the left and a column on the right, and is transposed as such.
        String x = op.rank("X") == 1
                ? op.node("Unsqueeze", op.in("X"), op.ints(op.attrs().getBool("transpose_X") ? 1 : 0))
                : transposed(op, "X", op.attrs().getBool("transpose_X"));
        String y = op.rank("Y") == 1
                ? op.node("Unsqueeze", op.in("Y"), op.ints(op.attrs().getBool("transpose_Y") ? 0 : 1))
                : transposed(op, "Y", op.attrs().getBool("transpose_Y"));
        if (op.rank("X") > 2 && op.rank("Y") > 2 && op.rank("X") != op.rank("Y")) {
            // As many matrices, whose batch has other dimensions.
            String batch = op.node("Slice", op.node("Shape", op.in("X")), op.ints(0), op.ints(-2));
            String matrix = op.node("Slice", op.node("Shape", y), op.ints(-2), op.ints(Long.MAX_VALUE));
            y = op.node("Reshape", y, op.node("Concat", Map.of("axis", 0), batch, matrix));
        }
        String product = op.node("MatMul", x, y);
        float alpha = op.attrs().getFloat("alpha");
        String scaled = alpha == 1 ? product : op.node("Mul", product, ElementwiseWriters.number(op, alpha));
        op.out("Out", vector ? op.node("Reshape", scaled, op.ints(made)) : scaled);
    }

    /** Both operands are matrices, whose rows and columns may have several axes. */
    private static void mul(WrittenOp op) {
        int left = op.attrs().getInt("x_num_col_dims");
        int right = op.attrs().getInt("y_num_col_dims");
        String x = op.rank("X") == 2 && left == 1
                ? op.in("X")
                : op.node("Flatten", Map.of("axis", left), op.in("X"));
        String y = op.rank("Y") == 2 && right == 1
                ? op.in("Y")
                : op.node("Flatten", Map.of("axis", right), op.in("Y"));
        String product = op.node("MatMul", x, y);
        if (op.rank("X") != 2 || left != 1 || op.rank("Y") != 2 || right != 1) {
            String rows = op.node("Slice", op.node("Shape", op.in("X")), op.ints(0), op.ints(left));
            String columns = op.node("Slice", op.node("Shape", op.in("Y")), op.ints(right), op.ints(op.rank("Y")));
            product = op.node("Reshape", product, op.node("Concat", Map.of("axis", 0), rows, columns));
        }
        op.out("Out", product);
    }

    private static void addmm(WrittenOp op) {
        op.out("Out", op.node("Gemm", Map.of("alpha", op.attrs().getFloat("Alpha"), "beta",
                op.attrs().getFloat("Beta")), op.in("X"), op.in("Y"), op.in("Input")));
    }
}
