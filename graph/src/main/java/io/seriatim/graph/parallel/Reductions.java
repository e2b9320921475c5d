package io.seriatim.graph.parallel;

import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;

/**
 * The variables that are reduced, and their owners: variables that forward or backward writes and the optimizer reads,
 * mostly gradients. Each is reduced after the last operation that writes it.
 *
 * @param behind
 *            names, by the number of the operation behind which they are reduced
 * @param owners
 *            the replica that adds up each
 */
record Reductions(Map<Integer, List<String>> behind, Map<String, Integer> owners) {
    static Reductions of(List<OpDesc> ops, Block block, Replicas replicas) {
        Map<Integer, List<String>> behind = new HashMap<>();
        Map<String, Long> bytes = new LinkedHashMap<>();
        Map<String, Integer> writers = new HashMap<>();
        Map<String, OpDesc> accumulating = new HashMap<>();
        for (int i = 0; i < ops.size(); i++) {
            OpDesc op = ops.get(i);
            boolean isUpdate = Replication.isUpdate(op);
            if (isUpdate) {
                for (String name : new LinkedHashSet<>(BlockAccesses.read(op, block.program()))) {
                    OpDesc accumulates = accumulating.get(name);
                    if (accumulates != null) {
                        throw new IllegalArgumentException("Operation '" + accumulates.type()
                                + "' of backward writes '" + name + "', which outlives runs and which '" + op.type()
                                + "' of the optimizer reads: each place would accumulate on its own. Average gradients "
                                + "that are temporary, or train on one place");
                    }
                    Integer writer = writers.remove(name);
                    if (writer != null) {
                        behind.computeIfAbsent(writer, _ -> new ArrayList<>()).add(name);
                        bytes.put(name, bytes(op, block.get(name)));
                    }
                }
            }
            for (String name : BlockAccesses.written(op, block.program())) {
                VarDesc desc = block.find(name);
                boolean isTemporary = desc != null && !desc.isPersistable();
                if (!isUpdate && isTemporary) {
                    writers.put(name, i);
                } else {
                    writers.remove(name);
                    if (!isUpdate && desc != null && (Roles.of(op) & Roles.BACKWARD) != 0) {
                        accumulating.put(name, op);
                    } else {
                        accumulating.remove(name);
                    }
                }
            }
        }
        return new Reductions(behind, GradientOwners.of(bytes, replicas.leaders()));
    }

    private static long bytes(OpDesc reader, VarDesc desc) {
        VarType.TensorType type = desc.type().tensorType();
        if (type == null || !type.dtype().isFloating()) {
            throw new IllegalArgumentException(
                    "What the optimizer is given is averaged over the places, so it is of a floating type, but '"
                            + desc.name() + "', which '" + reader.type() + "' reads, is " + desc.type());
        }
        return type.dims().stream().reduce((long) type.dtype().bytes(), (a, b) -> a * Math.max(1, b));
    }

    List<String> behind(int operation) {
        return behind.getOrDefault(operation, List.of());
    }

    int owner(String name) {
        return owners.getOrDefault(name, 0);
    }
}
