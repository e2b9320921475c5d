package io.seriatim.graph.quantization;

import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Replaces products of 8-bit levels that are widened before they are multiplied, as translated MatMulInteger,
 * ConvInteger, QLinearMatMul and QLinearConv of ONNX have them: {@code matmul_v2(cast(x) − a, cast(w) − b)} in int32
 * becomes {@code integer_matmul(x, w)} of the levels themselves, from which products of zero points and sums of levels
 * are subtracted: Σ(x − a)(w − b) = Σxw − a·Σw − b·(Σx − a·Σ1). A convolution in float64 whose result is cast to int32
 * becomes {@code integer_conv2d} in the same way. In int32, of which the last 32 bits are kept, both sides are equal to
 * the bit. The sums of weights are tasks that depend only on parameters, so that a plan computes them once.
 */
public final class IntegerSums {
    private static final String PRODUCT = "matmul_v2";
    private static final Set<String> CONVOLUTIONS = Set.of("conv2d", "depthwise_conv2d");

    private static final Set<String> ATTRIBUTES = Set.of("strides", "paddings", "padding_algorithm", "dilations",
            "groups", "data_format");

    private final Block block;
    private final List<OpDesc> ops = new ArrayList<>();
    /** The operation that writes a variable; absent if there are several. */
    private final Map<String, OpDesc> writers = new HashMap<>();
    private final Set<String> writtenOften = new HashSet<>();

    /** Levels of 8 bits and their zero point, which is left out if it is 0. */
    private record Levels(String levels, @Nullable String zero) {
    }

    private IntegerSums(Block block) {
        this.block = block;
        Set<String> read = new HashSet<>();
        for (OpDesc op : block.ops()) {
            read.addAll(op.inputNames());
            for (String name : FakeQuantization.written(op)) {
                if (writers.put(name, op) != null || read.contains(name)) {
                    writtenOften.add(name);
                }
            }
        }
    }

    /**
     * Replaces what can be replaced in the global block.
     *
     * @param program
     *            is not changed
     * @return the program itself if nothing is replaced, otherwise a changed copy
     */
    public static Program of(Program program) {
        if (program.global().ops().stream().noneMatch(op -> op.type().equals(PRODUCT)
                || CONVOLUTIONS.contains(op.type()))) {
            return program;
        }
        Program copy = program.copy();
        return new IntegerSums(copy.global()).replace() ? copy : program;
    }

    private boolean replace() {
        boolean any = false;
        for (OpDesc op : block.ops()) {
            boolean replaced = op.type().equals(PRODUCT) ? product(op) : op.type().equals("cast") && convolution(op);
            any |= replaced;
            if (!replaced) {
                ops.add(op);
            }
        }
        if (any) {
            block.setOps(ops);
        }
        return any;
    }

    private boolean product(OpDesc op) {
        String result = op.output("Out").getFirst();
        if (op.input("X").size() != 1 || op.input("Y").size() != 1 || is(op, "trans_x") || is(op, "trans_y")
                || !has(result, DType.INT32)) {
            return false;
        }
        Levels x = levels(op.input("X").getFirst(), DType.INT32);
        Levels y = levels(op.input("Y").getFirst(), DType.INT32);
        if (x == null || y == null || rank(x.levels()) < 2 || rank(y.levels()) < 2
                || !(x.zero() == null || isOne(x.zero(), 1, rank(x.levels())))
                || !(y.zero() == null || isOne(y.zero(), 2, rank(y.levels())))) {
            return false;
        }
        long inner = dims(y.levels()).get(rank(y.levels()) - 2);
        boolean shifted = has(y.levels(), DType.UINT8);
        if (x.zero() != null && (y.zero() != null || shifted) && inner < 0) {
            return false;
        }
        IntegerSteps steps = new IntegerSteps(block, ops, op);
        String weights = steps.signed(y.levels());
        String zero = shifted ? steps.signedZero(y.zero()) : y.zero();
        List<String> less = new ArrayList<>();
        if (x.zero() != null) {
            less.add(steps.times(steps.sum(weights, 2), x.zero()));
        }
        if (zero != null) {
            String rows = steps.sum(x.levels(), 1);
            String left = x.zero() == null ? rows : steps.minus(rows, steps.linear(x.zero(), inner, 0));
            less.add(steps.times(left, zero));
        }
        steps.finish(OpDesc.of("integer_matmul").in("X", x.levels()).in("Y", weights), "Out", result, less);
        return true;
    }

    /** Replaces the cast of a convolution's sums. */
    private boolean convolution(OpDesc op) {
        OpDesc of = onlyWriter(op.input("X").getFirst());
        String result = op.output("Out").getFirst();
        if (!has(result, DType.INT32) || of == null || !CONVOLUTIONS.contains(of.type())
                || of.input("Input").size() != 1 || of.input("Filter").size() != 1) {
            return false;
        }
        Levels x = levels(of.input("Input").getFirst(), DType.FLOAT64);
        Levels w = levels(of.input("Filter").getFirst(), DType.FLOAT64);
        if (x == null || w == null || rank(x.levels()) != 4 || dims(w.levels()).stream().anyMatch(dim -> dim < 0)
                || !(x.zero() == null || isOne(x.zero(), 0, 4))
                || !(w.zero() == null || isOne(w.zero(), 0, 4) || isOfFilters(w.zero()))
                || (x.zero() != null && !isKnown(of, x.levels()))) {
            return false;
        }
        IntegerSteps steps = new IntegerSteps(block, ops, op);
        String weights = steps.signed(w.levels());
        String zero = w.zero() == null ? null : steps.cast(w.zero(), DType.INT32);
        if (has(w.levels(), DType.UINT8)) {
            zero = steps.signedZero(zero);
        }
        // What a window has in the padding is no level, and has no zero point either.
        String xZero = x.zero() == null ? null : steps.cast(x.zero(), DType.INT32);
        List<String> less = new ArrayList<>();
        long[] filters = steps.dims(w.levels());
        if (xZero != null) {
            String sums = isPadded(of)
                    ? sums(steps, of, ones(steps, x.levels()), weights)
                    : steps.reshape(steps.sum(weights, 1, 2, 3), 1, filters[0], 1, 1);
            less.add(steps.times(sums, xZero));
        }
        if (zero != null) {
            boolean one = !(of.attribute("groups") instanceof Attribute.Int(int groups)) || groups == 1;
            String all = steps.fill(DType.INT8, 1, one ? 1 : filters[0], filters[1], filters[2], filters[3]);
            String left = sums(steps, of, x.levels(), all);
            if (xZero != null) {
                left = steps.minus(left, steps.times(sums(steps, of, ones(steps, x.levels()), all), xZero));
            }
            less.add(steps.times(left, rank(zero) == 4 ? steps.reshape(zero, 1, dims(zero).getFirst(), 1, 1) : zero));
        }
        steps.finish(like(of, x.levels(), weights), "Output", result, less);
        return true;
    }

    private static String ones(IntegerSteps steps, String image) {
        long[] dims = steps.dims(image);
        return steps.fill(steps.dtype(image), 1, 1, dims[1], dims[2], dims[3]);
    }

    /** The sums of a convolution of other levels. */
    private String sums(IntegerSteps steps, OpDesc like, String image, String weights) {
        long[] dims = steps.dims(like.output("Output").getFirst()).clone();
        dims[0] = steps.dims(image)[0];
        dims[1] = steps.dims(weights)[0];
        String out = steps.variable(DType.INT32, dims);
        steps.add(like(like, image, weights).out("Output", out));
        return out;
    }

    private static OpDesc.Builder like(OpDesc convolution, String image, String weights) {
        OpDesc.Builder made = OpDesc.of("integer_conv2d").in("Input", image).in("Filter", weights);
        for (Attribute.Named each : convolution.attributes()) {
            if (ATTRIBUTES.contains(each.name())) {
                made.attr(each.name(), each.value());
            }
        }
        return made;
    }

    private static boolean isPadded(OpDesc convolution) {
        return !(convolution.attribute("padding_algorithm") instanceof Attribute.Text(String algorithm)
                && (algorithm.equals("VALID") || (algorithm.equals("EXPLICIT")
                        && convolution.attribute("paddings") instanceof Attribute.Ints(var paddings)
                        && paddings.stream().allMatch(padding -> padding == 0))));
    }

    /** Whether the sums of the weights do not depend on a length that is unknown. */
    private boolean isKnown(OpDesc convolution, String image) {
        return !isPadded(convolution) || dims(image).subList(1, 4).stream().allMatch(dim -> dim >= 0);
    }

    /** The levels that a variable of a wider type holds, null if it holds others. */
    private @Nullable Levels levels(String wide, DType dtype) {
        OpDesc op = onlyWriter(wide);
        if (op == null || !has(wide, dtype)) {
            return null;
        }
        String zero = null;
        if (op.type().equals("elementwise_sub")) {
            zero = op.input("Y").getFirst();
            if (writtenOften.contains(zero) || !has(zero, dtype)) {
                return null;
            }
            op = onlyWriter(op.input("X").getFirst());
        }
        if (op == null || !op.type().equals("cast") || writtenOften.contains(op.input("X").getFirst())) {
            return null;
        }
        String levels = op.input("X").getFirst();
        return has(levels, DType.INT8) || has(levels, DType.UINT8) ? new Levels(levels, zero) : null;
    }

    /** Whether a variable of up to so many dimensions has one number, or a length of 1 in a dimension from the end. */
    private boolean isOne(String name, int fromEnd, int mostRank) {
        List<Long> dims = dims(name);
        boolean single = dims.stream().allMatch(dim -> dim == 1);
        int at = dims.size() - fromEnd;
        boolean broadcast = fromEnd > 0 && dims.stream().allMatch(dim -> dim > 0)
                && (at < 0 ? fromEnd == 2 : dims.get(at) == 1);
        return dims.size() <= mostRank && (single || broadcast);
    }

    private boolean isOfFilters(String name) {
        List<Long> dims = dims(name);
        return dims.size() == 4 && dims.getFirst() > 0 && dims.subList(1, 4).stream().allMatch(dim -> dim == 1);
    }

    private int rank(String name) {
        return dims(name).size();
    }

    private List<Long> dims(String name) {
        return block.get(name).tensor().dims();
    }

    private @Nullable OpDesc onlyWriter(String name) {
        return writtenOften.contains(name) ? null : writers.get(name);
    }

    private boolean has(String name, DType dtype) {
        VarDesc desc = block.find(name);
        return desc != null && desc.type() instanceof VarType.Dense dense && dense.tensor().dtype() == dtype;
    }

    private static boolean is(OpDesc op, String attribute) {
        return op.attribute(attribute) instanceof Attribute.Bool(boolean set) && set;
    }
}
