package io.seriatim.graph.format.pir;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.dialect.PaddleForms;
import io.seriatim.graph.dialect.TargetSchema;
import io.seriatim.graph.dialect.TypesOfPaddle;
import io.seriatim.graph.dialect.Uses;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.format.pir.PirOperation.AbsentOperand;
import io.seriatim.graph.format.pir.PirOperation.AttributeOperand;
import io.seriatim.graph.format.pir.PirOperation.SlotOperand;
import io.seriatim.graph.format.pir.PirOperation.StateOperand;
import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.AttributeSpec;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Writes a program as PIR: each assignment of a variable becomes a value of its own, attributes that PIR passes as
 * values become operations, blocks become regions.
 */
final class PirWriter {
    /** Paddle refuses a file of parameters that is empty: without any, there is one that nothing reads. */
    static final String NO_PARAMETERS = "no_parameters";

    private final Program program;
    private final Set<String> fetches;
    private final PirControlWriter control = new PirControlWriter(this);
    private final PirSpecialWriter special = new PirSpecialWriter(this);
    private final Set<String> unknown = new TreeSet<>();
    /** The results of operations that cannot be written. */
    private final Map<String, VarType> placeholders = new LinkedHashMap<>();

    private PirWriter(Program program, List<String> fetches) {
        this.program = program;
        this.fetches = Set.copyOf(fetches);
    }

    /**
     * A program of PIR.
     *
     * @param parameters
     *            in the byte order of their names
     * @param ops
     *            in order
     */
    record Written(List<PirOp.Parameter> parameters, List<PirOp> ops) {
    }

    static Written write(InferenceModel model) {
        Program program = PaddleForms.of(model.program(), model.fetches(),
                PaddleForms.constants(model.parameters(), model.feeds()),
                TargetSchema.paddle3());
        TypesOfPaddle.require(program);
        return new PirWriter(program, model.fetches()).written(model);
    }

    private Written written(InferenceModel model) {
        PirBuilder builder = new PirBuilder();
        List<PirOp.Parameter> parameters = new ArrayList<>();
        for (VarDesc desc : program.persistables()) {
            // A variable of both kinds always has the value that is fed.
            boolean isFed = model.feeds().contains(desc.name());
            if (!isFed && (parameters.isEmpty() || !parameters.getLast().name().equals(desc.name()))) {
                parameters.add(new PirOp.Parameter(desc.name(), builder.number(), dense(desc), desc.stopsGradient()));
                builder.bind(desc.name(), parameters.getLast().number(), dense(desc));
            }
        }
        if (parameters.isEmpty()) {
            parameters.add(new PirOp.Parameter(NO_PARAMETERS, builder.number(), VarType.dense(DType.FLOAT32, 1), true));
        }
        for (String feed : model.feeds()) {
            feed(builder, program.global().get(feed));
        }
        Map<String, Long> given = new HashMap<>();
        parameters.forEach(each -> given.put(each.name(), each.number()));
        model.feeds().forEach(name -> given.put(name, builder.value(name)));
        block(builder, program.global());
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException("PaddlePaddle 3 has no counterpart of "
                    + (unknown.size() == 1 ? "an operation" : unknown.size() + " kinds of operations")
                    + " of the model: " + String.join("; ", unknown)
                    + ". Other formats may have counterparts: try .onnx or .pdmodel");
        }
        for (int i = 0; i < model.fetches().size(); i++) {
            String fetch = model.fetches().get(i);
            Long first = given.get(fetch);
            String name = first == null || first == builder.value(fetch) ? fetch : free(fetch);
            builder.add("1.fetch", List.of(new PirOp.Given("name", "str", name),
                    new PirOp.Given("col", "i32", (long) i)), List.of(builder.value(fetch)), builder.type(fetch));
        }
        return new Written(parameters, builder.ops());
    }

    /** A name for what is fetched of a variable that was fed, or is a parameter, and was overwritten. */
    private String free(String fetch) {
        String name = fetch + "@fetch";
        for (int i = 0; program.global().var(name) != null; i++) {
            name = fetch + "@fetch_" + i;
        }
        return name;
    }

    private static VarType dense(VarDesc desc) {
        if (!(desc.type() instanceof VarType.Dense(VarType.TensorType tensor, Integer _))) {
            throw new IllegalArgumentException("A value of PIR is a tensor, but '" + desc.name() + "' is " + desc);
        }
        return new VarType.Dense(tensor, null);
    }

    private static void feed(PirBuilder builder, VarDesc desc) {
        VarType type = dense(desc);
        List<Object> shape = new ArrayList<>(desc.tensor().dims());
        long number = builder.add("1.data", List.of(new PirOp.Given("name", "str", desc.name()),
                new PirOp.Given("shape", PirTable.INTS, shape), PirBuilder.dtype(desc.tensor().dtype()),
                new PirOp.Given("place", "place", "undefined")), List.of(), type);
        builder.bind(desc.name(), number, type);
    }

    /** Writes the operations of a block. */
    void block(PirBuilder builder, Block block) {
        for (OpDesc op : block.ops()) {
            infer(block, op);
            int before = builder.ops().size();
            write(builder, block, op);
            List<PirOp> written = builder.ops();
            for (int i = before; i < written.size(); i++) {
                problems(builder, written.get(i)).forEach(problem -> refuse(block, op, problem));
            }
        }
    }

    /** What PaddlePaddle does not have of an operation, in its own words. */
    private static List<String> problems(PirBuilder builder, PirOp op) {
        TargetSchema target = TargetSchema.paddle3();
        String type = PirOperations.plain(op.kind());
        if (!target.has(type)) {
            // Control flow, constants and lists have no schema.
            return PirTable.get().named(type) == null ? List.of() : List.of("no kernel runs it in programs");
        }
        Map<String, List<TargetSchema.Operand>> operands = new LinkedHashMap<>();
        for (int i = 0; i < op.operands().size(); i++) {
            long number = op.operands().get(i);
            operands.put(String.valueOf(i), List.of(Uses.operand(String.valueOf(number), builder.type(number))));
        }
        Map<String, TargetSchema.Value> attributes = new LinkedHashMap<>();
        for (PirOp.Given each : op.attributes()) {
            if (target.hasAttribute(type, each.name())) {
                attributes.put(each.name(), new TargetSchema.Value(each.kind(),
                        each.value() instanceof String text ? text : null));
            }
        }
        return target.problems(new TargetSchema.Use(type, 0, operands, null, attributes));
    }

    private void write(PirBuilder builder, Block block, OpDesc op) {
        if (control.write(builder, block, op) || special.write(builder, block, op)) {
            return;
        }
        Operation schema = Operations.system().find(op.type());
        if (schema == null) {
            refuse(block, op, "");
            return;
        }
        String reason = "";
        PirOperation chosen = null;
        for (PirOperation candidate : PirTable.get().ofType(op.type())) {
            String refusal = PirMatch.refusal(candidate, op, schema);
            if (refusal == null) {
                chosen = candidate;
            } else {
                reason = refusal;
            }
        }
        if (chosen == null) {
            refuse(block, op, reason);
        } else {
            write(builder, block, op, chosen, schema);
        }
    }

    /** Remembers an operation that cannot be written; what is behind it is examined, too. */
    void refuse(Block block, OpDesc op, String reason) {
        unknown.add("'" + op.type() + "'" + (reason.isEmpty() ? "" : " (" + reason + ")"));
        for (String name : op.outputNames()) {
            VarDesc desc = block.find(name);
            if (desc != null) {
                placeholders.put(name, desc.type());
            }
        }
    }

    /** The number of a variable's value; any for the result of an operation that cannot be written. */
    long value(PirBuilder builder, String variable) {
        return !builder.has(variable) && placeholders.containsKey(variable) ? 0 : builder.value(variable);
    }

    /** Types of variables from programs of other formats may be vague: PIR's must not be. */
    private void infer(Block block, OpDesc op) {
        try {
            Map<String, List<@Nullable ArgType>> types = Appender.infer(block, op);
            op.outputs().forEach((slot, names) -> {
                List<@Nullable ArgType> inferred = types.getOrDefault(slot, List.of());
                for (int i = 0; i < names.size() && i < inferred.size(); i++) {
                    ArgType type = inferred.get(i);
                    Block owner = block.owner(names.get(i));
                    if (type != null && owner != null) {
                        VarDesc desc = owner.get(names.get(i));
                        owner.put(desc.with(sharper(desc.type(), type)));
                    }
                }
            });
        } catch (IllegalArgumentException _) {
            // A run would refuse it, or only a run can know it: the declared types stand.
        }
    }

    /** The inferred type, with the declared dimensions where those are known and the inferred are not. */
    private static VarType sharper(VarType declared, ArgType inferred) {
        VarType type = inferred.varType();
        VarType.TensorType old = declared.tensorType();
        VarType.TensorType now = type.tensorType();
        if (old == null || now == null || old.dims().size() != now.dims().size() || type.kind() != declared.kind()) {
            return type;
        }
        List<Long> dims = new ArrayList<>();
        for (int i = 0; i < now.dims().size(); i++) {
            dims.add(now.dims().get(i) < 0 ? old.dims().get(i) : now.dims().get(i));
        }
        return type.with(new VarType.TensorType(now.dataType(), dims));
    }

    private void write(PirBuilder builder, Block block, OpDesc op, PirOperation as, Operation schema) {
        List<Long> operands = new ArrayList<>();
        for (PirOperation.Operand operand : as.operands()) {
            operands.add(switch (operand) {
                case AbsentOperand _ -> 0L;
                case StateOperand(String dtype) -> builder.full(0L,
                        DataTypes.dtype(Objects.requireNonNull(PirTypes.number(dtype))), 1);
                case SlotOperand(String slot, boolean list) -> {
                    List<String> variables = op.input(slot);
                    yield variables.isEmpty()
                            ? 0L
                            : list ? builder.combine(variables) : value(builder, variables.getFirst());
                }
                case AttributeOperand attribute -> attribute(builder, op, attribute, schema);
            });
        }
        List<PirOp.Given> attributes = new ArrayList<>();
        for (PirOperation.Parameter parameter : as.parameters()) {
            attributes.add(new PirOp.Given(parameter.name(), parameter.kind(),
                    parameter(block, op, parameter, schema)));
        }
        results(builder, block, op, as, operands, attributes);
    }

    private static Object parameter(Block block, OpDesc op, PirOperation.Parameter parameter, Operation schema) {
        String name = parameter.attribute();
        Object value = name == null ? null : isOfAll(op, name) ? List.of() : PirMatch.value(op, name, schema);
        if (value == null && parameter.kind().equals("dtype")) {
            VarDesc out = block.find(op.outputNames().getFirst());
            VarType.TensorType tensor = out == null ? null : out.type().tensorType();
            return tensor == null ? -1L : (Object) Long.valueOf(tensor.dataType());
        }
        if (name == null && PirMatch.value(op, "bit_length", schema) instanceof Long bits
                && (parameter.name().equals("qmin") || parameter.name().equals("qmax"))) {
            long most = (1L << (bits - 1)) - 1;
            return parameter.name().equals("qmax") ? most : (Object) (-most - 1);
        }
        if (parameter.kind().equals("place")) {
            return parameter.byDefault() == null ? "undefined" : parameter.byDefault();
        }
        if (parameter.kind().equals("scalar") && schema.attribute("str_value") != null) {
            return PirSpecialWriter.number(op);
        }
        if (value == null) {
            value = PirLiterals.value(String.valueOf(parameter.byDefault()));
        }
        return parameter.kind().endsWith("[]") && !(value instanceof List) ? List.of(value) : value;
    }

    /** Whether an attribute has axes that do not count, since all of them are reduced. */
    private static boolean isOfAll(OpDesc op, @Nullable String attribute) {
        return "dim".equals(attribute)
                && op.attribute("reduce_all") instanceof Attribute.Bool(boolean whole) && whole;
    }

    private long attribute(PirBuilder builder, OpDesc op, AttributeOperand operand, Operation schema) {
        if (operand.tensors() != null && !op.input(operand.tensors()).isEmpty()) {
            return builder.combine(op.input(operand.tensors()));
        }
        if (operand.tensor() != null && !op.input(operand.tensor()).isEmpty()) {
            return value(builder, op.input(operand.tensor()).getFirst());
        }
        Object value = operand.attribute() == null ? null : PirMatch.value(op, operand.attribute(), schema);
        if (operand.isInts()) {
            boolean all = isOfAll(op, operand.attribute());
            return builder
                    .ints(all || value == null ? List.of() : value instanceof List<?> list ? list : List.of(value));
        }
        DType dtype = switch (operand.filled()) {
            case "int32" -> DType.INT32;
            case "int64" -> DType.INT64;
            case "float64" -> DType.FLOAT64;
            case "bool" -> DType.BOOL;
            default -> DType.FLOAT32;
        };
        Object number = value instanceof String text ? (Object) Double.valueOf(text) : value;
        return builder.full(number == null ? (Object) 0L : number, dtype, 1);
    }

    private static void results(PirBuilder builder, Block block, OpDesc op, PirOperation as, List<Long> operands,
            List<PirOp.Given> attributes) {
        List<PirOp.Result> results = new ArrayList<>();
        Map<String, Long> lists = new LinkedHashMap<>();
        Map<String, PirOp.Result> bound = new LinkedHashMap<>();
        for (PirOperation.Result result : as.results()) {
            List<String> variables = result.slot() == null ? List.of() : op.output(result.slot());
            if (variables.isEmpty() && isOfAbsent(as, result, operands)) {
                results.add(PirOp.Result.of(builder.number(), null));
            } else if (result.list()) {
                long number = builder.number();
                List<@Nullable VarType> types = new ArrayList<>();
                variables.forEach(name -> types.add(type(block, name)));
                results.add(new PirOp.Result(number, types, true));
                lists.put(String.valueOf(result.slot()), number);
            } else if (variables.isEmpty()) {
                // What only a gradient reads is often left out of programs, but not of PIR's.
                results.add(PirOp.Result.of(builder.number(), VarType.dense(DType.FLOAT32, -1)));
            } else {
                PirOp.Result one = PirOp.Result.of(builder.number(), type(block, variables.getFirst()));
                results.add(one);
                bound.put(variables.getFirst(), one);
            }
        }
        builder.add(new PirOp("1." + as.name(), attributes, operands, results, List.of()));
        bound.forEach((name, result) -> builder.bind(name, result.number(), type(block, name)));
        lists.forEach((slot, number) -> split(builder, block, op.output(slot), number));
    }

    /** Whether a result takes the place of an operand that is absent: then it has no type, as in PIR's own files. */
    private static boolean isOfAbsent(PirOperation as, PirOperation.Result result, List<Long> operands) {
        String slot = result.slot();
        for (int i = 0; i < operands.size(); i++) {
            if (operands.get(i) != 0) {
                continue;
            }
            boolean ofResult = switch (as.operands().get(i)) {
                case SlotOperand(String operand, boolean _) -> slot != null
                        && (slot.equals(operand + "Out") || slot.equals("Out" + operand)
                                || (operand.startsWith("In") && slot.equals("Out" + operand.substring(2))));
                case AbsentOperand _ -> slot == null && as.name().endsWith("_");
                default -> false;
            };
            if (ofResult) {
                return true;
            }
        }
        return false;
    }

    private static void split(PirBuilder builder, Block block, List<String> variables, long list) {
        if (variables.isEmpty()) {
            return;
        }
        List<PirOp.Result> results = new ArrayList<>();
        for (String name : variables) {
            results.add(PirOp.Result.of(builder.number(), type(block, name)));
        }
        builder.add(new PirOp("0.split", List.of(), List.of(list), results, List.of()));
        for (int i = 0; i < variables.size(); i++) {
            builder.bind(variables.get(i), results.get(i).number(), type(block, variables.get(i)));
        }
    }

    /** The type of a variable as PIR has it. */
    static VarType type(Block block, String name) {
        VarType type = block.get(name).type();
        return type instanceof VarType.Dense(VarType.TensorType tensor, Integer _)
                ? new VarType.Dense(tensor, null)
                : type;
    }

    /** Whether a variable is fetched, or read by another operation than the one that is given. */
    boolean isWanted(String variable, OpDesc besides) {
        return fetches.contains(variable) || program.blocks().stream().flatMap(block -> block.ops().stream())
                .anyMatch(op -> !op.equals(besides) && op.inputNames().contains(variable));
    }

    Program program() {
        return program;
    }

    /** The value of an attribute of an operation, or its default. */
    static @Nullable Attribute attribute(OpDesc op, String name, Operation schema) {
        Attribute given = op.attribute(name);
        AttributeSpec spec = schema.attribute(name);
        return given != null || spec == null ? given : spec.byDefault();
    }
}
