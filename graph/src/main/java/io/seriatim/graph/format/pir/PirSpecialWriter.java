package io.seriatim.graph.format.pir;

import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Writes the operations that are not one operation of PIR. */
final class PirSpecialWriter {
    private final PirWriter writer;

    PirSpecialWriter(PirWriter writer) {
        this.writer = writer;
    }

    /** Writes an operation; false if it is none of these. */
    boolean write(PirBuilder builder, Block block, OpDesc op) {
        switch (op.type()) {
            case "fill_constant" -> {
                return fill(builder, block, op);
            }
            case "assign_value" -> assignValue(builder, block, op);
            case "flatten2" -> flatten(builder, block, op);
            // Halves to even are round there, and those away from 0 were rewritten.
            case "onnx_round" -> bind(builder, block, op, builder.add("1.round",
                    List.of(new PirOp.Given("decimals", "i32", 0L)),
                    List.of(writer.value(builder, op.input("X").getFirst())), out(block, op)));
            case "matmul" -> {
                if (!isLegacy(builder, op)) {
                    writer.refuse(block, op, "PaddlePaddle 3 has no transposed vectors and no batches of unlike ranks, "
                            + "and lengths that are open cannot be given others: use matmul_v2");
                    return true;
                }
                return aligned(builder, block, op);
            }
            case "merged_momentum" -> writer.refuse(block, op, "PaddlePaddle 3 runs it for no program: use momentum");
            case "strided_slice" -> {
                if (!endsBackwards(op)) {
                    return false;
                }
                writer.refuse(block, op, "backwards on an axis of open length, whose end only a run knows");
            }
            case "stft" -> {
                if (!Boolean.FALSE.equals(value(op, "onesided"))) {
                    return false;
                }
                writer.refuse(block, op, "with onesided = false, which PaddlePaddle 3 runs for no program");
            }
            case "share_data" -> one(builder, block, op, "1.assign", "X");
            case "lod_array_length" -> length(builder, block, op);
            case "write_to_array" -> arrayWrite(builder, block, op);
            case "read_from_array" -> one(builder, block, op, "1.array_read", "X", "I");
            case "tensor_array_to_tensor" -> {
                List<List<Long>> shapes = written(block, op.input("X").getFirst());
                if (shapes.size() > 1) {
                    writer.refuse(block, op, "PaddlePaddle 3 joins elements of one shape only, but those of '"
                            + op.input("X").getFirst() + "' have " + shapes + ": use concat");
                } else if (joinsOpen(block, op)) {
                    writer.refuse(block, op, "PaddlePaddle 3 joins elements of one shape only, but those of '"
                            + op.input("X").getFirst() + "' have open lengths on axis " + value(op, "axis")
                            + ", which may differ: use concat, or give their sizes");
                } else {
                    arrayToTensor(builder, block, op);
                }
            }
            default -> {
                return aligned(builder, block, op);
            }
        }
        return true;
    }

    /** Whether a slice ends backwards at a place that is counted from an end that is not known. */
    private static boolean endsBackwards(OpDesc op) {
        List<?> strides = value(op, "strides") instanceof List<?> list ? list : List.of();
        List<?> ends = value(op, "ends") instanceof List<?> list ? list : List.of();
        boolean computed = !op.input("EndsTensor").isEmpty() || !op.input("EndsTensorList").isEmpty();
        for (int i = 0; i < strides.size(); i++) {
            boolean back = PirConstants.whole(strides.get(i)) < 0;
            boolean open = i < ends.size() && PirConstants.whole(ends.get(i)) < 0
                    && PirConstants.whole(ends.get(i)) != -Integer.MAX_VALUE;
            if (back && (computed || open)) {
                return true;
            }
        }
        return false;
    }

    /** Whether PaddlePaddle 3 takes the operands of the old product. */
    private static boolean isLegacy(PirBuilder builder, OpDesc op) {
        VarType.TensorType x = builder.type(op.input("X").getFirst()).tensorType();
        VarType.TensorType y = builder.type(op.input("Y").getFirst()).tensorType();
        if (x == null || y == null) {
            return true;
        }
        int left = x.dims().size();
        int right = y.dims().size();
        return !(left == 1 && Boolean.TRUE.equals(value(op, "transpose_X")))
                && !(right == 1 && Boolean.TRUE.equals(value(op, "transpose_Y")))
                && !(left > 2 && right > 2 && left != right);
    }

    private static @Nullable Object value(OpDesc op, String name) {
        Operation schema = Operations.system().get(op.type());
        return PirMatch.value(op, name, schema);
    }

    private void one(PirBuilder builder, Block block, OpDesc op, String kind, String... slots) {
        List<Long> operands = new ArrayList<>();
        for (String slot : slots) {
            operands.add(writer.value(builder, op.input(slot).getFirst()));
        }
        bind(builder, block, op, builder.add(kind, List.of(), operands, out(block, op)));
    }

    private static VarType out(Block block, OpDesc op) {
        return PirWriter.type(block, op.output("Out").getFirst());
    }

    private static void bind(PirBuilder builder, Block block, OpDesc op, long number) {
        builder.bind(op.output("Out").getFirst(), number, out(block, op));
    }

    private static boolean fill(PirBuilder builder, Block block, OpDesc op) {
        if (!op.inputNames().isEmpty()) {
            if (!op.input("ValueTensor").isEmpty()) {
                return false;
            }
            DType dtype = DataTypes.dtype((int) PirConstants.whole(Objects.requireNonNull(value(op, "dtype"))));
            long value = builder.full(number(op), dtype, 1);
            long shape = op.input("ShapeTensor").isEmpty()
                    ? builder.combine(op.input("ShapeTensorList"))
                    : builder.value(op.input("ShapeTensor").getFirst());
            bind(builder, block, op, builder.add("1.full_with_tensor", List.of(PirBuilder.dtype(dtype)),
                    List.of(value, shape), out(block, op)));
            return true;
        }
        DType dtype = DataTypes.dtype((int) PirConstants.whole(Objects.requireNonNull(value(op, "dtype"))));
        List<?> shape = value(op, "shape") instanceof List<?> list ? list : List.of();
        bind(builder, block, op, builder.full(number(op), dtype,
                shape.stream().mapToLong(PirConstants::whole).toArray()));
        return true;
    }

    /** The value of fill_constant, whose text is more exact than its number. */
    static Object number(OpDesc op) {
        if (value(op, "str_value") instanceof String text && !text.isBlank()) {
            return switch (text.strip()) {
                case "inf" -> Double.POSITIVE_INFINITY;
                case "-inf" -> Double.NEGATIVE_INFINITY;
                case "nan" -> Double.NaN;
                case "true", "True" -> true;
                case "false", "False" -> false;
                default -> Double.valueOf(text.strip());
            };
        }
        Object value = value(op, "value");
        return value == null ? (Object) 0L : value;
    }

    private static void assignValue(PirBuilder builder, Block block, OpDesc op) {
        List<?> values = List.of();
        for (String name : List.of("bool_values", "int32_values", "int64_values", "fp32_values", "fp64_values")) {
            if (value(op, name) instanceof List<?> list && !list.isEmpty()) {
                values = list;
            }
        }
        DType dtype = DataTypes.dtype((int) PirConstants.whole(Objects.requireNonNull(value(op, "dtype"))));
        List<Object> scalars = new ArrayList<>();
        for (Object each : values) {
            scalars.add(dtype == DType.BOOL ? (Object) (PirConstants.whole(each) != 0) : each);
        }
        bind(builder, block, op, builder.add("1.assign_value",
                List.of(new PirOp.Given("shape", "i32[]", Objects.requireNonNull(value(op, "shape"))),
                        PirBuilder.dtype(dtype), new PirOp.Given("values", "scalar[]", scalars),
                        new PirOp.Given("place", "place", "undefined")),
                List.of(), out(block, op)));
    }

    /** PIR merges one range of dimensions, flatten2 those before an axis and those from it on. */
    private void flatten(PirBuilder builder, Block block, OpDesc op) {
        String from = op.input("X").getFirst();
        VarType.TensorType x = PirWriter.type(block, from).tensorType();
        VarType.TensorType out = out(block, op).tensorType();
        long axis = PirConstants.whole(Objects.requireNonNull(value(op, "axis")));
        if (x == null || out == null || out.dims().size() != 2 || axis < 0 || axis > x.dims().size()) {
            writer.refuse(block, op, "axis " + axis + " of dimensions that are not known");
            return;
        }
        int at = (int) axis;
        int rank = x.dims().size();
        List<Long> dims = new ArrayList<>(x.dims().subList(0, at));
        dims.add(out.dims().getLast());
        long matrix = merged(builder, writer.value(builder, from), at, rank,
                new VarType.Dense(new VarType.TensorType(out.dataType(), dims), null));
        bind(builder, block, op, at == 1 ? matrix : merged(builder, matrix, 0, at, out(block, op)));
    }

    /** Makes one dimension of those from {@code start} to before {@code end}, of which there may be none. */
    private static long merged(PirBuilder builder, long value, int start, int end, VarType type) {
        return start == end
                ? builder.add("1.unsqueeze", List.of(), List.of(value, builder.ints(List.of((long) start))), type)
                : builder.add("1.flatten",
                        List.of(new PirOp.Given("start_axis", "i32", (long) start),
                                new PirOp.Given("stop_axis", "i32", (long) end - 1)),
                        List.of(value), type);
    }

    private void length(PirBuilder builder, Block block, OpDesc op) {
        requireArray(builder, block, op.input("X").getFirst());
        one(builder, block, op, "1.array_length", "X");
    }

    private void requireArray(PirBuilder builder, Block block, String list) {
        if (!builder.has(list)) {
            VarType type = PirWriter.type(block, list);
            builder.bind(list, createArray(builder, type), type);
        }
    }

    static long createArray(PirBuilder builder, VarType type) {
        VarType.TensorType tensor = type.tensorType();
        return builder.add("1.create_array", List.of(new PirOp.Given("dtype", "dtype",
                tensor == null ? -1L : (Object) (long) tensor.dataType())), List.of(), type);
    }

    private void arrayWrite(PirBuilder builder, Block block, OpDesc op) {
        String list = op.output("Out").getFirst();
        requireArray(builder, block, list);
        builder.add("1.array_write_", List.of(), List.of(builder.value(list),
                writer.value(builder, op.input("X").getFirst()), writer.value(builder, op.input("I").getFirst())),
                PirWriter.type(block, list));
    }

    /** Whether elements are joined along an axis on which several variables may have different lengths. */
    private static boolean joinsOpen(Block block, OpDesc op) {
        String array = op.input("X").getFirst();
        int axis = (int) PirConstants.whole(Objects.requireNonNull(value(op, "axis")));
        List<VarDesc> elements = block.ops().stream()
                .filter(each -> each.type().equals("write_to_array") && each.output("Out").contains(array))
                .map(each -> each.input("X").getFirst()).distinct().map(block::find).filter(Objects::nonNull).toList();
        return Boolean.FALSE.equals(value(op, "use_stack")) && elements.size() > 1
                && elements.stream().map(each -> each.tensor().dims()).anyMatch(dims -> {
                    int at = axis < 0 ? axis + dims.size() : axis;
                    return at >= 0 && at < dims.size() && dims.get(at) < 0;
                });
    }

    /** The different shapes, as far as they are known, that a block writes to a list. */
    private static List<List<Long>> written(Block block, String array) {
        return block.ops().stream().filter(op -> op.type().equals("write_to_array") && op.output("Out").contains(array))
                .map(op -> block.find(op.input("X").getFirst())).filter(Objects::nonNull)
                .map(desc -> desc.tensor().dims()).filter(dims -> dims.stream().noneMatch(each -> each < 0)).distinct()
                .toList();
    }

    private void arrayToTensor(PirBuilder builder, Block block, OpDesc op) {
        List<PirOp.Result> results = new ArrayList<>();
        for (String slot : List.of("Out", "OutIndex")) {
            results.add(PirOp.Result.of(builder.number(), op.output(slot).isEmpty()
                    ? VarType.dense(DType.INT32, -1)
                    : PirWriter.type(block, op.output(slot).getFirst())));
        }
        builder.add(new PirOp("1.array_to_tensor",
                List.of(new PirOp.Given("axis", "i32", Objects.requireNonNull(value(op, "axis"))),
                        new PirOp.Given("use_stack", "bool", Objects.requireNonNull(value(op, "use_stack")))),
                List.of(writer.value(builder, op.input("X").getFirst())), results, List.of()));
        builder.bind(op.output("Out").getFirst(), results.getFirst().number(), out(block, op));
        if (!op.output("OutIndex").isEmpty()) {
            String index = op.output("OutIndex").getFirst();
            builder.bind(index, results.get(1).number(), PirWriter.type(block, index));
        }
    }

    /** An operation of two operands whose second begins at an axis of the first: it is given more dimensions. */
    private boolean aligned(PirBuilder builder, Block block, OpDesc op) {
        Operation schema = Operations.system().find(op.type());
        if (schema == null || op.input("Y").size() != 1 || op.input("X").size() != 1
                || !(op.attribute("axis") instanceof Attribute.Int(int axis)) || axis == -1
                || !(op.type().startsWith("elementwise_") || PirTable.get().ofType(op.type()).stream()
                        .anyMatch(each -> each.parameters().isEmpty() && each.operands().size() == 2))) {
            return false;
        }
        List<PirOperation> as = PirTable.get().ofType(op.type());
        if (as.isEmpty()) {
            return false;
        }
        VarType.TensorType x = builder.type(op.input("X").getFirst()).tensorType();
        VarType.TensorType y = builder.type(op.input("Y").getFirst()).tensorType();
        if (x == null || y == null) {
            return false;
        }
        long first = builder.value(op.input("X").getFirst());
        long second = builder.value(op.input("Y").getFirst());
        if (x.dims().size() < y.dims().size()) {
            first = along(builder, first, x, axis, y.dims().size());
        } else {
            second = along(builder, second, y, axis, x.dims().size());
        }
        bind(builder, block, op, builder.add("1." + as.getFirst().name(), List.of(), List.of(first, second),
                out(block, op)));
        return true;
    }

    /** A value whose dimensions begin at an axis of a longer one, so that they end with it. */
    private static long along(PirBuilder builder, long value, VarType.TensorType type, int axis, int rank) {
        int length = type.dims().size();
        int at = axis < 0 ? axis + rank : axis;
        if (at < 0 || length == 0 || at + length == rank) {
            return value;
        }
        // Ones at the end do not count; a dimension that only a run knows is that of the operand.
        int kept = Math.min(length, rank - at);
        List<Long> shape = new ArrayList<>();
        List<Long> dims = new ArrayList<>();
        for (int i = 0; i < kept; i++) {
            shape.add(type.dims().get(i) < 0 ? (Long) 0L : type.dims().get(i));
            dims.add(type.dims().get(i));
        }
        for (int i = kept; i < rank - at; i++) {
            shape.add(1L);
            dims.add(1L);
        }
        return builder.add("1.reshape", List.of(), List.of(value, builder.ints(shape)),
                new VarType.Dense(new VarType.TensorType(type.dataType(), dims), null));
    }
}
