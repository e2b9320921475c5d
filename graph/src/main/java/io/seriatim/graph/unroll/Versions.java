package io.seriatim.graph.unroll;

import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * The operations that replace those of a program's first block. Each writes a variable of its own, so that variables of
 * different iterations are different ones.
 */
final class Versions {
    private final Block global;
    private final List<OpDesc> ops = new ArrayList<>();
    /** Variables that were declared here; each is written once. */
    private final Set<String> fresh = new HashSet<>();
    private final Map<String, Integer> counts = new HashMap<>();
    private final Map<List<Object>, String> literals = new HashMap<>();

    /** What is undone if a loop turns out to need its block. */
    record Mark(int size, Set<String> fresh, Map<List<Object>, String> literals) {
    }

    Versions(Block global) {
        this.global = global;
    }

    List<OpDesc> ops() {
        return ops;
    }

    Mark mark() {
        return new Mark(ops.size(), Set.copyOf(fresh), Map.copyOf(literals));
    }

    void undo(Mark mark) {
        ops.subList(mark.size(), ops.size()).clear();
        fresh.removeIf(name -> {
            boolean added = !mark.fresh().contains(name);
            if (added) {
                global.remove(name);
            }
            return added;
        });
        literals.keySet().retainAll(mark.literals().keySet());
    }

    /** Whether a variable keeps its value until the program ends. */
    boolean isFresh(String name) {
        return fresh.contains(name);
    }

    /** Declares a variable of the type of another one. */
    String declare(String base, VarDesc like) {
        String name;
        do {
            name = base + "@STEP" + counts.merge(base, 1, Integer::sum);
        } while (global.var(name) != null);
        global.put(VarDesc.of(name, like.type()));
        fresh.add(name);
        return name;
    }

    /** A value that stays the same, whatever is written to variables of the program later. */
    Value kept(Value value) {
        String name = value.variable();
        if (value.literal() != null) {
            return name != null && fresh.contains(name) ? value : Value.of(value.literal());
        }
        return Value.of(copy(Objects.requireNonNull(name)));
    }

    private String copy(String name) {
        VarDesc like = global.var(name);
        if (like == null || !(like.type() instanceof VarType.Dense)) {
            throw new NeedsBlockException();
        }
        if (fresh.contains(name)) {
            return name;
        }
        String copy = declare(like.name(), like);
        ops.add(OpDesc.of("assign").in("X", name).out("Out", copy).build());
        return copy;
    }

    /** The variable that has a value. */
    String variable(Value value) {
        String name = value.variable();
        return name == null ? literal(Objects.requireNonNull(value.literal())) : name;
    }

    /** Gives a variable a value that stays the same. */
    void give(String name, Value value, Variables variables) {
        if (!variables.isFirst()) {
            variables.write(name, value);
            return;
        }
        String from = variable(value);
        ops.add(OpDesc.of("assign").in("X", from).out("Out", name).build());
        variables.write(name, new Value(from, value.literal()));
    }

    /** A variable with some elements. */
    private String literal(Tensor value) {
        List<Object> key = List.of(value.dtype(), Arrays.toString(value.shape().dims()),
                Arrays.toString(value.toLongArray()));
        String known = literals.get(key);
        if (known == null) {
            known = declare("literal",
                    VarDesc.of("literal", VarType.dense(value.dtype(), value.shape().dims())));
            ops.add(operation(known, value));
            literals.put(key, known);
        }
        return known;
    }

    private static OpDesc operation(String name, Tensor value) {
        long[] dims = value.shape().dims();
        long[] elements = value.toLongArray();
        int dtype = DataTypes.number(value.dtype());
        if (elements.length == 1) {
            return OpDesc.of("fill_constant").out("Out", name).attr("shape", dims).attr("dtype", dtype)
                    .attr("value", (float) elements[0]).attr("str_value", Long.toString(elements[0])).build();
        }
        OpDesc.Builder op = OpDesc.of("assign_value").out("Out", name).attr("shape", ints(dims)).attr("dtype", dtype);
        if (value.dtype() == DType.INT64) {
            return op.attr("int64_values", elements).build();
        }
        return op.attr(value.dtype() == DType.INT32 ? "int32_values" : "bool_values", ints(elements)).build();
    }

    private static int[] ints(long[] values) {
        return Arrays.stream(values).mapToInt(Math::toIntExact).toArray();
    }
}
