package io.seriatim.graph.quantization;

import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Adds operations on whole numbers in place of another operation; their results are new variables. */
final class IntegerSteps {
    private static final int SHIFT = 128;

    private final Block block;
    private final List<OpDesc> ops;
    private final OpDesc like;

    /**
     * Begins.
     *
     * @param ops
     *            the operations so far, to which others are added
     * @param like
     *            the operation that is replaced
     */
    IntegerSteps(Block block, List<OpDesc> ops, OpDesc like) {
        this.block = block;
        this.ops = ops;
        this.like = like;
    }

    long[] dims(String name) {
        return block.get(name).tensor().dims().stream().mapToLong(Long::longValue).toArray();
    }

    DType dtype(String name) {
        return block.get(name).tensor().dtype();
    }

    /** A new variable. */
    String variable(DType dtype, long... dims) {
        String name = Names.free(block, like.output(like.outputs().keySet().iterator().next()).getFirst() + "@LEVELS");
        block.put(VarDesc.of(name, VarType.dense(dtype, dims)));
        return name;
    }

    void add(OpDesc.Builder op) {
        ops.add(op.build().builtWith(like));
    }

    String cast(String x, DType to) {
        if (dtype(x) == to) {
            return x;
        }
        String out = variable(to, dims(x));
        add(OpDesc.of("cast").in("X", x).out("Out", out).attr("in_dtype", DataTypes.number(dtype(x)))
                .attr("out_dtype", DataTypes.number(to)));
        return out;
    }

    /** x · factor + addend. */
    String linear(String x, long factor, long addend) {
        String out = variable(dtype(x), dims(x));
        add(OpDesc.of("scale").in("X", x).out("Out", out).attr("scale", (float) factor).attr("bias", (float) addend)
                .attr("bias_after_scale", true));
        return out;
    }

    /** A tensor of one number. */
    String fill(DType dtype, long number, long... dims) {
        String out = variable(dtype, dims);
        add(OpDesc.of("fill_constant").out("Out", out).attr("shape", dims).attr("value", (float) number)
                .attr("dtype", DataTypes.number(dtype)));
        return out;
    }

    String reshape(String x, long... dims) {
        String out = variable(dtype(x), dims);
        add(OpDesc.of("reshape2").in("X", x).out("Out", out).attr("shape",
                Arrays.stream(dims).mapToInt(Math::toIntExact)
                        .toArray()));
        return out;
    }

    /** Lines as images of one row. */
    String unsqueezed(String x) {
        long[] dims = dims(x);
        String out = variable(dtype(x), dims[0], dims[1], 1, dims[2]);
        add(OpDesc.of("unsqueeze2").in("X", x).out("Out", out).attr("axes", new int[]{2}));
        return out;
    }

    /** Images of one row as lines. */
    void squeeze(String x, String result) {
        add(OpDesc.of("squeeze2").in("X", x).out("Out", result).attr("axes", new int[]{2}));
    }

    /** A transposed matrix. */
    String transposed(String x) {
        long[] dims = dims(x);
        String out = variable(dtype(x), dims[1], dims[0]);
        add(OpDesc.of("transpose2").in("X", x).out("Out", out).attr("axis", new int[]{1, 0}));
        return out;
    }

    /** Sums as floating-point numbers, times scales, become the result of the operation that is replaced. */
    void scale(String sums, String scales, String result) {
        add(OpDesc.of("elementwise_mul").in("X", cast(sums, DType.FLOAT32)).in("Y", scales).out("Out", result)
                .attr("axis", -1));
    }

    /** Levels as int8: 128 less if they are unsigned, since kernels read weights signed. */
    String signed(String levels) {
        return dtype(levels) == DType.INT8
                ? levels
                : cast(linear(cast(levels, DType.FLOAT32), 1, -SHIFT), DType.INT8);
    }

    /** The zero point, in int32, of weights that are 128 less: {@code zero} less 128. */
    String signedZero(@Nullable String zero) {
        return zero == null ? fill(DType.INT32, -SHIFT, 1) : linear(zero, 1, -SHIFT);
    }

    /** The sums of levels along axes from the last on, which stay with a length of 1. */
    String sum(String levels, int... fromEnd) {
        String wide = cast(levels, DType.INT32);
        long[] dims = dims(levels);
        int[] axes = Arrays.stream(fromEnd).map(axis -> dims.length - axis).toArray();
        Arrays.stream(axes).forEach(axis -> dims[axis] = 1);
        String out = variable(DType.INT32, dims);
        add(OpDesc.of("reduce_sum").in("X", wide).out("Out", out).attr("dim", axes).attr("keep_dim", true)
                .attr("out_dtype", DataTypes.number(DType.INT32)));
        return out;
    }

    String times(String x, String y) {
        return binary("elementwise_mul", x, y);
    }

    String minus(String x, String y) {
        return binary("elementwise_sub", x, y);
    }

    private String binary(String type, String x, String y) {
        String out = variable(dtype(x), broadcast(dims(x), dims(y)));
        add(OpDesc.of(type).in("X", x).in("Y", y).out("Out", out).attr("axis", -1));
        return out;
    }

    /** Unknown lengths stay unknown. */
    private static long[] broadcast(long[] x, long[] y) {
        long[] both = x.length >= y.length ? x.clone() : y.clone();
        long[] other = x.length >= y.length ? y : x;
        for (int i = 0; i < other.length; i++) {
            int at = both.length - other.length + i;
            both[at] = both[at] == 1 ? other[i] : both[at];
        }
        return both;
    }

    /** The product less some terms becomes the result of the operation that is replaced. */
    void finish(OpDesc.Builder product, String slot, String result, List<String> less) {
        String sums = less.isEmpty() ? result : variable(DType.INT32, dims(result));
        add(product.out(slot, sums));
        for (int i = 0; i < less.size(); i++) {
            boolean last = i == less.size() - 1;
            String next = last ? result : variable(DType.INT32, dims(result));
            add(OpDesc.of("elementwise_sub").in("X", sums).in("Y", less.get(i)).out("Out", next).attr("axis", -1));
            sums = next;
        }
    }
}
