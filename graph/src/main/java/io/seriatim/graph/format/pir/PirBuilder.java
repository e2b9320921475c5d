package io.seriatim.graph.format.pir;

import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The operations of a block that is being written, and the values of its variables. */
final class PirBuilder {
    private final Numbers numbers;
    private final Map<String, Long> values;
    private final Map<String, VarType> types;
    /** The type of each value, of a list that of its first element. */
    private final Map<Long, VarType> ofValues;
    private final List<PirOp> ops = new ArrayList<>();

    /** Numbers of values, each once in a file. */
    private static final class Numbers {
        private long values;
        private long arguments;
    }

    PirBuilder() {
        this(new Numbers(), new HashMap<>(), new HashMap<>(), new HashMap<>());
    }

    private PirBuilder(Numbers numbers, Map<String, Long> values, Map<String, VarType> types,
            Map<Long, VarType> ofValues) {
        this.numbers = numbers;
        this.ofValues = ofValues;
        this.values = values;
        this.types = types;
    }

    /** The operations of a block inside, which sees the values that there are now. */
    PirBuilder inside() {
        return new PirBuilder(numbers, new HashMap<>(values), new HashMap<>(types), new HashMap<>(ofValues));
    }

    List<PirOp> ops() {
        return ops;
    }

    long number() {
        return ++numbers.values;
    }

    long argument() {
        return --numbers.arguments;
    }

    boolean has(String variable) {
        return values.containsKey(variable);
    }

    /** The number of a variable's value. */
    long value(String variable) {
        Long value = values.get(variable);
        if (value == null) {
            throw new IllegalArgumentException("Variable '" + variable
                    + "' is read before anything writes it, which PIR cannot express");
        }
        return value;
    }

    VarType type(String variable) {
        VarType type = types.get(variable);
        if (type == null) {
            throw new IllegalArgumentException("Variable '" + variable + "' has no known type");
        }
        return type;
    }

    void bind(String variable, long number, VarType type) {
        values.put(variable, number);
        types.put(variable, type);
        ofValues.put(number, type);
    }

    /** The type of a value, of a list that of its first element; null if it is not known. */
    @Nullable
    VarType type(long number) {
        return ofValues.get(number);
    }

    /** Adds an operation with one result. */
    long add(String kind, List<PirOp.Given> attributes, List<Long> operands, @Nullable VarType result) {
        long number = number();
        add(new PirOp(kind, attributes, operands, List.of(PirOp.Result.of(number, result)), List.of()));
        return number;
    }

    void add(PirOp op) {
        ops.add(op);
        for (PirOp.Result result : op.results()) {
            VarType type = result.types().isEmpty() ? null : result.types().getFirst();
            if (type != null) {
                ofValues.put(result.number(), type);
            }
        }
    }

    /** A constant of one element. */
    long full(Object value, DType dtype, long... dims) {
        List<Object> shape = new ArrayList<>();
        for (long dim : dims) {
            shape.add(dim);
        }
        return add("1.full", List.of(new PirOp.Given("shape", PirTable.INTS, shape),
                new PirOp.Given("value", "f64", value), dtype(dtype), new PirOp.Given("place", "place", "cpu")),
                List.of(), VarType.dense(dtype, dims));
    }

    /** A list of whole numbers. */
    long ints(List<?> value) {
        return add("1.full_int_array", List.of(new PirOp.Given("value", "i64[]", value), dtype(DType.INT64),
                new PirOp.Given("place", "place", "cpu")), List.of(), VarType.dense(DType.INT64, value.size()));
    }

    static PirOp.Given dtype(DType dtype) {
        return new PirOp.Given("dtype", "dtype", (long) DataTypes.number(dtype));
    }

    /** Several variables as one value. */
    long combine(List<String> variables) {
        List<Long> operands = variables.stream().map(this::value).toList();
        List<@Nullable VarType> all = new ArrayList<>(variables.stream().map(this::type).toList());
        long number = number();
        add(new PirOp("0.combine", List.of(), operands, List.of(new PirOp.Result(number, all, true)), List.of()));
        return number;
    }

    /** A value as another element type. */
    long cast(long value, VarType.TensorType from, DType to) {
        if (from.dataType() == DataTypes.number(to)) {
            return value;
        }
        return add("1.cast", List.of(dtype(to)), List.of(value), VarType.dense(to, from.shape()));
    }
}
