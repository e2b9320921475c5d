package io.seriatim.graph.dialect;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.Slot;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The operations of a block while some of them are replaced by others. */
final class Steps {
    private static final String PREFIX = "rewritten_";

    private final Block block;
    private final Names names;
    private final List<OpDesc> ops = new ArrayList<>();

    /** Names of new variables, which no variable of the program has. */
    static final class Names {
        private final Set<String> taken = new HashSet<>();
        private int next;

        Names(Collection<Block> blocks) {
            blocks.forEach(block -> block.vars().forEach(desc -> taken.add(desc.name())));
        }

        String fresh() {
            String name;
            do {
                name = PREFIX + next++;
            } while (!taken.add(name));
            return name;
        }
    }

    Steps(Block block, Names names) {
        this.block = block;
        this.names = names;
    }

    List<OpDesc> ops() {
        return ops;
    }

    /** Appends an operation as it is. */
    void keep(OpDesc op) {
        ops.add(op);
    }

    /** Appends an operation as it is, and declares its results, which may be new variables. */
    void keepAndDeclare(OpDesc op) {
        keepAndDeclare(op, Appender.complete(op, Roles.FORWARD));
    }

    private void keepAndDeclare(OpDesc op, OpDesc complete) {
        Appender.declare(block, op, Appender.infer(block, complete));
        ops.add(op);
    }

    /** The declared type of a variable that is a dense tensor. */
    VarType.TensorType tensor(String variable) {
        return block.get(variable).tensor();
    }

    /** The declared type of a variable; null if it is not declared, or is no tensor. */
    VarType.@Nullable TensorType known(String variable) {
        VarDesc desc = block.find(variable);
        return desc == null ? null : desc.type().tensorType();
    }

    String fresh() {
        return names.fresh();
    }

    /** A new variable of a type. */
    String declare(VarType type) {
        String name = fresh();
        block.put(VarDesc.of(name, type));
        return name;
    }

    /** The operations of a new block below this one. */
    Steps child() {
        return new Steps(block.program().addBlock(block.index(), null), names);
    }

    /**
     * Appends a loop over the operations of a block below this one.
     *
     * @param again
     *            the variable that says whether another step follows; a step writes it
     * @param written
     *            the other variables of this block that a step writes
     */
    void loop(Steps body, String again, List<String> written) {
        Set<String> read = new LinkedHashSet<>();
        body.ops.forEach(op -> op.inputNames().stream().filter(name -> body.block.var(name) == null)
                .forEach(read::add));
        read.addAll(written);
        read.remove(again);
        List<String> results = new ArrayList<>(written);
        results.add(again);
        body.block.setOps(body.ops);
        ops.add(OpDesc.of("while").in("X", List.copyOf(read)).in("Condition", again).out("Out", results)
                .out("StepScopes", declare(new VarType.Other(VarType.STEP_SCOPES)))
                .attr("sub_block", new Attribute.BlockRef(body.block.index())).attr("is_test", false).build());
    }

    Step op(String type) {
        return new Step(type);
    }

    /** An operation that is being appended. */
    final class Step {
        private final String type;
        private final OpDesc.Builder op;
        private final Set<String> given = new HashSet<>();

        private Step(String type) {
            this.type = type;
            this.op = OpDesc.of(type);
        }

        Step in(String slot, String... variables) {
            op.in(slot, variables);
            return this;
        }

        Step in(String slot, List<String> variables) {
            op.in(slot, variables);
            return this;
        }

        Step attr(String name, Object value) {
            op.attr(name, value);
            return this;
        }

        /** Appends it, with a new variable for its result. */
        String out(String slot) {
            String name = fresh();
            into(slot, name);
            return name;
        }

        /** Appends it, with a variable for its result, and new ones for other results that it must have. */
        void into(String slot, String variable) {
            op.out(slot, variable);
            given.add(slot);
            for (Slot each : Operations.system().get(type).outputs()) {
                if (!each.optional() && !each.list() && given.add(each.name())) {
                    op.out(each.name(), fresh());
                }
            }
            OpDesc complete = Appender.complete(op.build(), Roles.FORWARD);
            keepAndDeclare(complete, complete);
        }
    }

    /** An operation with all results that the system requires, wanted or not. */
    OpDesc whole(OpDesc op, TargetSchema schema) {
        Map<String, List<String>> outputs = new LinkedHashMap<>(op.outputs());
        for (String slot : schema.required(op.type())) {
            if (outputs.getOrDefault(slot, List.of()).isEmpty() && Operations.system().find(op.type()) != null) {
                outputs.put(slot, List.of(fresh()));
            }
        }
        if (outputs.equals(op.outputs())) {
            return op;
        }
        OpDesc whole = op.with(op.inputs(), outputs);
        for (String slot : schema.required(op.type())) {
            if (op.output(slot).isEmpty() && !whole.output(slot).isEmpty()) {
                block.put(VarDesc.of(whole.output(slot).getFirst(), VarType.dense(DType.FLOAT32, -1)));
            }
        }
        return whole;
    }

    /** An operation of one operand. */
    String unary(String type, String x) {
        return op(type).in("X", x).out("Out");
    }

    /** An operand times a factor, plus a number. */
    Step linear(String x, float scale, float bias) {
        return op("scale").in("X", x).attr("scale", scale).attr("bias", bias).attr("bias_after_scale", true);
    }

    /** An operation of two operands with broadcasting. */
    String binary(String type, String x, String y) {
        return op(type).in("X", x).in("Y", y).attr("axis", -1).out("Out");
    }

    /** Whole numbers of 32 bits. */
    String ints(int... values) {
        return op("assign_value").attr("shape", new int[]{values.length}).attr("dtype", 2)
                .attr("int32_values", values).out("Out");
    }

    /** A variable in another element type. */
    String cast(String x, DType dtype) {
        return tensor(x).dtype() == dtype
                ? x
                : op("cast").in("X", x).attr("in_dtype", tensor(x).dataType())
                        .attr("out_dtype", DataTypes.number(dtype)).out("Out");
    }

    String reshape(String x, int... shape) {
        return op("reshape2").in("X", x).attr("shape", shape).out("Out");
    }

    /** The lengths of some axes, which follow each other. */
    String lengths(String x, int from, int to) {
        return op("slice").in("Input", op("shape").in("Input", x).out("Out")).attr("axes", new int[]{0})
                .attr("starts", new int[]{from}).attr("ends", new int[]{to}).out("Out");
    }
}
