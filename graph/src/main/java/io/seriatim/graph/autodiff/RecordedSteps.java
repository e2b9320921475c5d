package io.seriatim.graph.autodiff;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the steps of one loop, or a branch, have computed, recorded in lists that work as stacks: each time that the
 * block runs it appends the variables that are asked for, at the place of a counter that is never set back during a
 * run of the program. What walks back through the steps in reverse order, as a gradient does, takes them from the end,
 * so that loops in loops need no more than one list for a variable.
 */
final class RecordedSteps {
    private final RecordedNames names;
    private final Program program;
    private final Block block;
    private final String counter;
    private final String base;
    private final String place;
    private final Map<String, String> before = new HashMap<>();
    private final Map<String, String> after = new HashMap<>();

    RecordedSteps(RecordedNames names, Block block) {
        this.names = names;
        this.program = block.program();
        this.block = block;
        Block parent = program.block(block.parent());
        VarType number = VarType.dense(DType.INT64, 1);
        counter = names.declare(program.global(), "steps", number, true);
        base = names.declare(parent, "steps.base", number, true);
        place = names.declare(block, "step", number, true);
        String next = names.declare(block, "step.next", number, true);
        names.first(OpDesc.of("fill_constant").out("Out", counter).attr("shape", new long[]{1}).attr("value", 0f)
                .attr("dtype", DataTypes.number(DType.INT64)).build());
        int at = parent.ops().indexOf(runner(block));
        parent.add(at, complete(OpDesc.of("assign").in("X", counter).out("Out", base).build()));
        block.add(0, complete(OpDesc.of("assign").in("X", counter).out("Out", place).build()));
        block.add(complete(RecordedNames.plus(place, 1, next)));
        block.add(complete(OpDesc.of("assign").in("X", next).out("Out", counter).build()));
        show(counter);
    }

    private static OpDesc complete(OpDesc op) {
        return Appender.complete(op, Roles.FORWARD);
    }

    /** The variable that counts the steps so far. */
    String counter() {
        return counter;
    }

    /** The variable, in the block that has the loop, with the value of the counter before the loop. */
    String base() {
        return base;
    }

    /** The list of the values that a variable has when a step begins. */
    String before(String name) {
        return before.computeIfAbsent(name, _ -> record(name, 1));
    }

    /** The list of the values that a variable has when a step ends. */
    String after(String name) {
        return after.computeIfAbsent(name, _ -> record(name, block.ops().size() - 2));
    }

    private String record(String name, int at) {
        VarDesc desc = block.get(name);
        VarType.TensorType type = desc.type().tensorType();
        if (!(desc.type() instanceof VarType.Dense) || type == null) {
            throw new IllegalArgumentException("The gradient of a gradient needs '" + name + "', which each step of "
                    + "the block " + block.index() + " makes, and which is no dense tensor: steps can be recorded of "
                    + "tensors only; make the list outside of the loop or branch");
        }
        VarType.TensorArray list = new VarType.TensorArray(type, null);
        boolean stops = desc.stopsGradient() || !type.dtype().isDifferentiable();
        String recorded = names.declare(program.global(), name + ".steps", list, stops);
        names.first(RecordedNames.emptyList(recorded, type));
        block.add(at, complete(OpDesc.of("array_put").in("X", name).in("I", place).out("Out", recorded).build()));
        show(recorded);
        return recorded;
    }

    /** A variable of the first block becomes one of all operations in whose blocks it is written. */
    private void show(String name) {
        for (Block each = block; each.index() != 0; each = program.block(each.parent())) {
            OpDesc op = runner(each);
            Block parent = program.block(each.parent());
            String read = op.type().equals("while") ? "X" : "Input";
            parent.set(parent.ops().indexOf(op), extended(op, read, name));
        }
    }

    private static OpDesc extended(OpDesc op, String slot, String name) {
        Map<String, List<String>> in = new LinkedHashMap<>(op.inputs());
        Map<String, List<String>> out = new LinkedHashMap<>(op.outputs());
        for (Map.Entry<Map<String, List<String>>, String> each : Map.of(in, slot, out, "Out").entrySet()) {
            List<String> all = new ArrayList<>(each.getKey().getOrDefault(each.getValue(), List.of()));
            if (!all.contains(name)) {
                all.add(name);
                each.getKey().put(each.getValue(), all);
            }
        }
        return op.with(in, out);
    }

    /** The loop or branch that runs a block. */
    static OpDesc runner(Block block) {
        OpDesc runner = find(block);
        if (runner == null || !Set.of("while", "conditional_block").contains(runner.type())) {
            throw new IllegalArgumentException("The gradient of the gradient of block " + block.index()
                    + " needs what its steps compute, which can be recorded for blocks that 'while' and "
                    + "'conditional_block' run, but not for one "
                    + (runner == null ? "that nothing runs" : "that '" + runner.type() + "' runs")
                    + ": move the loop or branch out of it");
        }
        return runner;
    }

    static @Nullable OpDesc find(Block block) {
        for (Block each : block.program().blocks()) {
            for (OpDesc op : each.ops()) {
                if (op.attribute("sub_block") instanceof Attribute.BlockRef(int index) && index == block.index()) {
                    return op;
                }
            }
        }
        return null;
    }
}
