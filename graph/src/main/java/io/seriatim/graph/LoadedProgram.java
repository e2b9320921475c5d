package io.seriatim.graph;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.autodiff.ControlGradients;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.Slot;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.graph.util.UniqueNames;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A program for inference, made one that can be trained further: floating-point parameters are trained, and operations
 * have their form for training.
 */
final class LoadedProgram {
    /** The operations whose attribute is_test chooses between training and inference and means nothing else. */
    private static final Set<String> WITH_TEST = Set.of("batch_norm", "sync_batch_norm", "dropout", "dropout_nd", "rnn",
            "lstm", "while", "rrelu");
    private static final Set<String> BATCH_NORMS = Set.of("batch_norm", "sync_batch_norm");
    private static final List<String> STATISTICS = List.of("Mean", "Variance");
    private static final String IS_TEST = "is_test";

    private final InferenceModel model;
    private final Program program;
    private final UniqueNames names = new UniqueNames();
    private final Map<String, Tensor> values = new LinkedHashMap<>();
    /** What only gradients read. */
    private final Set<String> statistics = new HashSet<>();
    private final Set<String> runningStatistics = new HashSet<>();
    /** What operations read, but not as running statistics. */
    private final Set<String> readOtherwise = new HashSet<>();

    private LoadedProgram(InferenceModel model) {
        this.model = model;
        program = model.program().copy();
        values.putAll(model.parameters());
        for (Block block : program.blocks()) {
            block.vars().forEach(desc -> names.reserve(desc.name()));
        }
    }

    static LoadedProgram of(InferenceModel model) {
        LoadedProgram loaded = new LoadedProgram(model);
        loaded.writeOnce();
        loaded.findReads();
        for (Block block : loaded.program.blocks()) {
            List<OpDesc> ops = block.ops();
            for (int i = 0; i < ops.size(); i++) {
                OpDesc op = Appender.complete(ops.get(i), Roles.FORWARD);
                block.set(i, loaded.withIntermediates(block, loaded.forTraining(block, op)));
            }
        }
        loaded.markParameters();
        return loaded;
    }

    Program program() {
        return program;
    }

    /** Knows the names of the program's variables, so that it gives others. */
    UniqueNames names() {
        return names;
    }

    /** The values of the persistable variables, by name. */
    Map<String, Tensor> values() {
        return values;
    }

    /** Variables through which no gradient flows, whatever they are computed from. */
    Set<String> statistics() {
        return statistics;
    }

    /**
     * Gives each value of a temporary variable a variable of its own, because gradients read the inputs of operations
     * after others have run. The last value keeps the name. Variables of inner blocks keep their names, and so do lists
     * of tensors, of which an operation writes an element.
     */
    private void writeOnce() {
        Block global = program.global();
        Map<String, Integer> remaining = new HashMap<>();
        global.ops().forEach(op -> op.outputNames().stream().distinct()
                .forEach(name -> remaining.merge(name, 1, Integer::sum)));
        Set<String> fixed = fixed(global);
        Map<String, String> current = new HashMap<>();
        for (int i = 0; i < global.ops().size(); i++) {
            OpDesc op = global.ops().get(i);
            Map<String, List<String>> inputs = renamed(op.inputs(), current);
            for (String name : Set.copyOf(op.outputNames())) {
                VarDesc desc = global.var(name);
                int after = remaining.merge(name, -1, Integer::sum);
                if (desc != null && !fixed.contains(name) && (after > 0 || current.containsKey(name))) {
                    String version = after == 0 ? name : names.next(name);
                    current.put(name, version);
                    global.put(desc.named(version));
                }
            }
            global.set(i, op.with(inputs, renamed(op.outputs(), current)));
        }
    }

    private Set<String> fixed(Block global) {
        Set<String> fixed = new HashSet<>(model.feeds());
        global.vars().stream().filter(desc -> desc.isPersistable() || desc.type() instanceof VarType.TensorArray)
                .forEach(desc -> fixed.add(desc.name()));
        for (Block block : program.blocks()) {
            for (OpDesc op : block.ops()) {
                if (block.index() != global.index() || ControlGradients.block(op) >= 0) {
                    fixed.addAll(op.inputNames());
                    fixed.addAll(op.outputNames());
                }
            }
        }
        return fixed;
    }

    private static Map<String, List<String>> renamed(Map<String, List<String>> slots, Map<String, String> names) {
        Map<String, List<String>> renamed = new LinkedHashMap<>();
        slots.forEach((slot, variables) -> renamed.put(slot,
                variables.stream().map(name -> names.getOrDefault(name, name)).toList()));
        return renamed;
    }

    private void findReads() {
        for (Block block : program.blocks()) {
            for (OpDesc op : block.ops()) {
                op.inputs().forEach((slot, variables) -> {
                    if (!BATCH_NORMS.contains(op.type()) || !STATISTICS.contains(slot)) {
                        readOtherwise.addAll(variables);
                    }
                });
            }
        }
    }

    private OpDesc forTraining(Block block, OpDesc op) {
        boolean tests = WITH_TEST.contains(op.type()) && op.attribute(IS_TEST) instanceof Attribute.Bool(boolean test)
                && test;
        if (!tests) {
            return op;
        }
        return BATCH_NORMS.contains(op.type()) ? batchNorm(block, op) : op.with(IS_TEST, false);
    }

    /** Statistics that are parameters become running statistics; others are computed, and stay what is used. */
    private OpDesc batchNorm(Block block, OpDesc op) {
        List<String> given = STATISTICS.stream().flatMap(slot -> op.input(slot).stream()).toList();
        if (given.size() != 2 || given.get(0).equals(given.get(1)) || !values.keySet().containsAll(given)) {
            return op;
        }
        String mean = running(block, given.get(0));
        String variance = running(block, given.get(1));
        Map<String, List<String>> inputs = new LinkedHashMap<>(op.inputs());
        inputs.put("Mean", List.of(mean));
        inputs.put("Variance", List.of(variance));
        Map<String, List<String>> outputs = new LinkedHashMap<>(op.outputs());
        outputs.put("MeanOut", List.of(mean));
        outputs.put("VarianceOut", List.of(variance));
        return op.with(inputs, outputs).with(IS_TEST, false).with("trainable_statistics", false);
    }

    /** Files may store equal statistics of several operations once; in training each has its own. */
    private String running(Block block, String name) {
        if (!readOtherwise.contains(name) && runningStatistics.add(name)) {
            return name;
        }
        String own = names.next(name);
        program.global().put(block.get(name).named(own));
        Tensor value = values.get(name);
        if (value != null) {
            values.put(own, value);
        }
        return own;
    }

    /** Adds the outputs that only gradients read, which programs for inference leave out. */
    private OpDesc withIntermediates(Block block, OpDesc op) {
        Operation schema = Operations.system().find(op.type());
        if (schema == null || schema.gradient() == null) {
            return op;
        }
        Map<String, List<String>> outputs = new LinkedHashMap<>(op.outputs());
        List<String> added = new ArrayList<>();
        for (Slot slot : schema.outputs()) {
            if (slot.intermediate() && op.output(slot.name()).isEmpty()) {
                List<String> own = new ArrayList<>();
                for (int i = slot.list() ? operands(schema, op) : 1; i > 0; i--) {
                    own.add(names.next(op.type() + "." + slot.name()));
                }
                outputs.put(slot.name(), own);
                added.addAll(own);
            }
            if (slot.intermediate()) {
                statistics.addAll(outputs.getOrDefault(slot.name(), List.of()));
            }
        }
        if (added.isEmpty()) {
            return op;
        }
        OpDesc whole = op.with(op.inputs(), outputs);
        Map<String, List<@Nullable ArgType>> types = Appender.infer(block, whole);
        outputs.forEach((slot, variables) -> {
            List<@Nullable ArgType> inferred = types.getOrDefault(slot, List.of());
            for (int i = 0; i < variables.size(); i++) {
                if (added.contains(variables.get(i))) {
                    ArgType type = i < inferred.size() ? inferred.get(i) : null;
                    // A type that is not inferred is that of what the operation keeps for its gradient.
                    block.put(VarDesc.of(variables.get(i),
                            type == null ? VarType.dense(DType.UINT8) : type.varType()));
                }
            }
        });
        return whole;
    }

    /** The number of operands of which an operation takes any number: a list that it keeps has one for each. */
    private static int operands(Operation schema, OpDesc op) {
        return schema.inputs().stream().filter(Slot::list).mapToInt(slot -> op.input(slot.name()).size()).findFirst()
                .orElse(0);
    }

    private void markParameters() {
        Set<String> written = new HashSet<>();
        program.blocks().forEach(block -> block.ops().forEach(op -> written.addAll(op.outputNames())));
        for (Block block : program.blocks()) {
            for (VarDesc desc : List.copyOf(block.vars())) {
                boolean fed = block.index() == 0 && model.feeds().contains(desc.name())
                        && desc.type() instanceof VarType.Dense;
                Boolean checked = fed ? Boolean.TRUE : desc.needCheckFeed();
                boolean trained = block.index() == 0 && desc.isPersistable() && values.containsKey(desc.name())
                        && !written.contains(desc.name()) && isTrainable(desc);
                block.put(trained
                        ? new VarDesc(desc.name(), desc.type(), true, checked, true, false)
                        : new VarDesc(desc.name(), desc.type(), desc.persistable(), checked, null, true));
            }
        }
    }

    /** Whether a variable holds floating-point numbers, and not only one without dimensions, which is a constant. */
    private static boolean isTrainable(VarDesc desc) {
        VarType.TensorType type = desc.type().tensorType();
        return desc.type() instanceof VarType.Dense && type != null && DataTypes.find(type.dataType()) != null
                && type.dtype().isFloating() && !type.dims().isEmpty();
    }
}
