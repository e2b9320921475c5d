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
 * the bit. Products and convolutions in float32 of dequantized levels, {@code (cast(x) − a) · scale}, with stored
 * weights become sums of levels times both scales, which are rounded once where the original rounds each product. The
 * sums of weights are tasks that depend only on parameters, so that a plan computes them once.
 */
public final class IntegerSums {
    private static final String PRODUCT = "matmul_v2";
    private static final Set<String> CONVOLUTIONS = Set.of("conv2d", "depthwise_conv2d");
    /** The steps of QuantizeLinear and DequantizeLinear, and constants. */
    private static final Set<String> OF_STORED = Set.of("cast", "elementwise_div", "elementwise_mul", "elementwise_add",
            "elementwise_sub", "onnx_round", "clip", "reshape2", "unsqueeze2", "fill_constant", "assign_value");
    private static final Set<String> ATTRIBUTES = Set.of("strides", "paddings", "padding_algorithm", "dilations",
            "groups", "data_format");

    private final Block block;
    private final List<OpDesc> ops = new ArrayList<>();
    /** The operation that writes a variable; absent if there are several. */
    private final Map<String, OpDesc> writers = new HashMap<>();
    private final Set<String> writtenOften = new HashSet<>();
    /** Whether variables that operations write depend on stored ones only. */
    private final Map<String, Boolean> stored = new HashMap<>();

    /**
     * Levels of 8 bits, their zero point, which is left out if it is 0, and their scale if they are dequantized; a line
     * is read as an image of one row.
     */
    private record Levels(String levels, @Nullable String zero, @Nullable String scale, boolean line) {
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
            boolean replaced = switch (op.type()) {
                case PRODUCT -> product(op);
                case "cast" -> sums(op);
                default -> CONVOLUTIONS.contains(op.type()) && convolution(op, op, DType.FLOAT32);
            };
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
        DType wide = has(result, DType.INT32) ? DType.INT32 : DType.FLOAT32;
        if (op.input("X").size() != 1 || op.input("Y").size() != 1 || is(op, "trans_x") || !has(result, wide)) {
            return false;
        }
        Levels x = operand(op.input("X").getFirst(), wide);
        Levels y = operand(op.input("Y").getFirst(), wide);
        boolean transposed = is(op, "trans_y");
        if (x == null || y == null || rank(x.levels()) < 2 || rank(y.levels()) < 2
                || !isOne(x.zero(), 1, rank(x.levels())) || !isOne(x.scale(), 0, rank(x.levels()))
                || (transposed && rank(y.levels()) != 2) || !isOfColumns(y.zero(), y, transposed)
                || !isOfColumns(y.scale(), y, transposed) || (y.scale() != null && !isStored(y.levels()))) {
            return false;
        }
        long inner = dims(y.levels()).get(rank(y.levels()) - (transposed ? 1 : 2));
        boolean shifted = has(y.levels(), DType.UINT8);
        if (x.zero() != null && (y.zero() != null || shifted) && inner < 0) {
            return false;
        }
        IntegerSteps steps = new IntegerSteps(block, ops, op);
        String signed = steps.signed(y.levels());
        String weights = transposed ? steps.transposed(signed) : signed;
        String xZero = x.zero() == null ? null : steps.cast(x.zero(), DType.INT32);
        String yZero = y.zero() == null ? null : row(steps, steps.cast(y.zero(), DType.INT32), transposed);
        String zero = shifted ? steps.signedZero(yZero) : yZero;
        List<String> less = new ArrayList<>();
        if (xZero != null) {
            less.add(steps.times(steps.sum(weights, 2), xZero));
        }
        if (zero != null) {
            String rows = steps.sum(x.levels(), 1);
            String left = xZero == null ? rows : steps.minus(rows, steps.linear(xZero, inner, 0));
            less.add(steps.times(left, zero));
        }
        OpDesc.Builder product = OpDesc.of("integer_matmul").in("X", x.levels()).in("Y", weights);
        if (x.scale() == null || y.scale() == null) {
            steps.finish(product, "Out", result, less);
            return true;
        }
        String sums = steps.variable(DType.INT32, steps.dims(result));
        steps.finish(product, "Out", sums, less);
        steps.scale(sums, steps.times(row(steps, y.scale(), transposed), x.scale()), result);
        return true;
    }

    /** A column of numbers, one for each row of a matrix that is read transposed, as a row. */
    private String row(IntegerSteps steps, String numbers, boolean transposed) {
        return transposed && rank(numbers) == 2 ? steps.reshape(numbers, dims(numbers).getFirst()) : numbers;
    }

    /** Whether there are no numbers, a single one, or one for each column of the weights. */
    private boolean isOfColumns(@Nullable String numbers, Levels weights, boolean transposed) {
        if (!transposed || numbers == null) {
            return isOne(numbers, 2, rank(weights.levels()));
        }
        return isOne(numbers, 0, 2) || (rank(numbers) == 2 && dims(numbers).getFirst() > 0
                && dims(numbers).get(1) == 1);
    }

    /**
     * Whether weights are stored, or computed from stored ones element by element, as those are which were quantized
     * twice because several products share them.
     */
    private boolean isStored(String weights) {
        VarDesc desc = block.find(weights);
        OpDesc op = onlyWriter(weights);
        if (op == null) {
            return desc != null && desc.isPersistable() && !writers.containsKey(weights);
        }
        Boolean known = stored.get(weights);
        if (known == null) {
            known = OF_STORED.contains(op.type()) && op.inputNames().stream().allMatch(this::isStored);
            stored.put(weights, known);
        }
        return known;
    }

    /** Replaces the cast of a convolution's sums. */
    private boolean sums(OpDesc op) {
        OpDesc of = onlyWriter(op.input("X").getFirst());
        if (of != null && isOfRows(of, "squeeze2")) {
            of = onlyWriter(of.input("X").getFirst());
        }
        return has(op.output("Out").getFirst(), DType.INT32) && of != null && CONVOLUTIONS.contains(of.type())
                && convolution(op, of, DType.FLOAT64);
    }

    /** Replaces a convolution, or an operation that reads its sums. */
    private boolean convolution(OpDesc op, OpDesc of, DType wide) {
        if (of.input("Input").size() != 1 || of.input("Filter").size() != 1
                || !has(of.output("Output").getFirst(), wide)) {
            return false;
        }
        Levels x = image(of.input("Input").getFirst(), wide);
        Levels w = image(of.input("Filter").getFirst(), wide);
        if (x == null || w == null || x.line() != w.line() || rank(x.levels()) != (x.line() ? 3 : 4)
                || dims(w.levels()).stream().anyMatch(dim -> dim < 0)
                || !isOne(x.zero(), 0, 4) || !isOne(x.scale(), 0, 4) || !isOfFilters(w.zero())
                || !isOfFilters(w.scale()) || (w.scale() != null && !isStored(w.levels()))
                || (x.zero() != null && !isKnown(of, x.levels()))) {
            return false;
        }
        IntegerSteps steps = new IntegerSteps(block, ops, op);
        String signed = steps.signed(w.levels());
        String weights = w.line() ? steps.unsqueezed(signed) : signed;
        String image = x.line() ? steps.unsqueezed(x.levels()) : x.levels();
        String zero = w.zero() == null ? null : steps.cast(w.zero(), DType.INT32);
        if (has(w.levels(), DType.UINT8)) {
            zero = steps.signedZero(zero);
        }
        List<String> less = less(steps, of, new Levels(image, x.zero(), x.scale(), false), weights, zero);
        OpDesc.Builder made = like(of, image, weights);
        String result = op.outputs().values().iterator().next().getFirst();
        if (x.scale() == null || w.scale() == null) {
            if (rank(result) == rank(image)) {
                steps.finish(made, "Output", result, less);
            } else {
                String rows = steps.variable(DType.INT32, steps.dims(of.output("Output").getFirst()));
                steps.finish(made, "Output", rows, less);
                steps.squeeze(rows, result);
            }
            return true;
        }
        String sums = steps.variable(DType.INT32, steps.dims(result));
        steps.finish(made, "Output", sums, less);
        steps.scale(sums, steps.times(image(steps, w.scale()), x.scale()), result);
        return true;
    }

    /** The operand of a convolution, which may be of lines, null for another one. */
    private @Nullable Levels image(String name, DType wide) {
        OpDesc op = onlyWriter(name);
        if (op == null || !isOfRows(op, "unsqueeze2")) {
            return operand(name, wide);
        }
        Levels line = operand(op.input("X").getFirst(), wide);
        return line == null ? null : new Levels(line.levels(), line.zero(), line.scale(), true);
    }

    /** Whether an operation adds or removes the rows of images, of which there is one. */
    private boolean isOfRows(OpDesc op, String type) {
        return op.type().equals(type) && op.input("X").size() == 1
                && op.attribute("axes") instanceof Attribute.Ints(var axes) && axes.equals(List.of(2))
                && rank(type.equals("squeeze2") ? op.input("X").getFirst() : op.output("Out").getFirst()) == 4;
    }

    /** What is subtracted from sums of levels. A window has no level in the padding, and no zero point either. */
    private List<String> less(IntegerSteps steps, OpDesc of, Levels x, String weights, @Nullable String zero) {
        String xZero = x.zero() == null ? null : steps.cast(x.zero(), DType.INT32);
        List<String> less = new ArrayList<>();
        long[] filters = steps.dims(weights);
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
            less.add(steps.times(left, image(steps, zero)));
        }
        return less;
    }

    /** Numbers of filters as those of channels. */
    private String image(IntegerSteps steps, String numbers) {
        return rank(numbers) >= 3 ? steps.reshape(numbers, 1, dims(numbers).getFirst(), 1, 1) : numbers;
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
        return !isPadded(convolution) || dims(image).subList(1, rank(image)).stream().allMatch(dim -> dim >= 0);
    }

    /** Levels in whole numbers, or dequantized ones in float32, null for others. */
    private @Nullable Levels operand(String name, DType wide) {
        OpDesc op = onlyWriter(name);
        if (wide != DType.FLOAT32) {
            return levels(name, wide);
        }
        if (op == null || !op.type().equals("elementwise_mul") || !has(name, wide)
                || writtenOften.contains(op.input("Y").getFirst()) || !has(op.input("Y").getFirst(), wide)) {
            return null;
        }
        Levels levels = levels(op.input("X").getFirst(), wide);
        return levels == null ? null : new Levels(levels.levels(), levels.zero(), op.input("Y").getFirst(), false);
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
        return has(levels, DType.INT8) || has(levels, DType.UINT8) ? new Levels(levels, zero, null, false) : null;
    }

    /**
     * Whether there is no variable, or one of up to so many dimensions with one number, or with a length of 1 in a
     * dimension from the end.
     */
    private boolean isOne(@Nullable String name, int fromEnd, int mostRank) {
        if (name == null) {
            return true;
        }
        List<Long> dims = dims(name);
        boolean single = dims.stream().allMatch(dim -> dim == 1);
        int at = dims.size() - fromEnd;
        boolean broadcast = fromEnd > 0 && dims.stream().allMatch(dim -> dim > 0)
                && (at < 0 ? fromEnd == 2 : dims.get(at) == 1);
        return dims.size() <= mostRank && (single || broadcast);
    }

    private boolean isOfFilters(@Nullable String name) {
        if (isOne(name, 0, 4)) {
            return true;
        }
        List<Long> dims = name == null ? List.of() : dims(name);
        return dims.size() >= 3 && dims.getFirst() > 0
                && dims.subList(1, dims.size()).stream().allMatch(dim -> dim == 1);
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
