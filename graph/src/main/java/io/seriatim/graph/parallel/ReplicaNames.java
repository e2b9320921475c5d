package io.seriatim.graph.parallel;

import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The names of a program's variables at each replica. */
final class ReplicaNames {
    private final Replicas replicas;
    private final Map<String, Sharing> sharing = new HashMap<>();
    private final Set<String> updated = new HashSet<>();

    /** The replicas among which a variable is shared. */
    private enum Sharing {
        ALL, PLACE, NONE
    }

    ReplicaNames(Block block, List<OpDesc> ops, Set<String> splitFeeds, Replicas replicas) {
        this.replicas = replicas;
        Set<String> computed = new HashSet<>();
        for (OpDesc op : ops) {
            (Replication.isUpdate(op) ? updated : computed).addAll(op.outputNames());
        }
        for (OpDesc op : ops) {
            op.inputNames()
                    .forEach(name -> sharing.computeIfAbsent(name, each -> sharing(block, each, computed, splitFeeds)));
            op.outputNames()
                    .forEach(name -> sharing.computeIfAbsent(name, each -> sharing(block, each, computed, splitFeeds)));
        }
        splitFeeds.forEach(name -> sharing.put(name, Sharing.NONE));
        requireNoWayBack(block, ops, computed);
    }

    private Sharing sharing(Block block, String name, Set<String> computed, Set<String> splitFeeds) {
        if (name.equals(GradientRule.EMPTY)) {
            return Sharing.ALL;
        }
        if (computed.contains(name) || splitFeeds.contains(name)) {
            return Sharing.NONE;
        }
        if (updated.contains(name)) {
            return Sharing.PLACE;
        }
        VarDesc desc = block.find(name);
        VarType.TensorType tensor = desc == null ? null : desc.type().tensorType();
        boolean isLarge = desc != null && desc.isPersistable() && tensor != null
                && tensor.dims().stream().reduce(1L, (a, b) -> a * b) != 1;
        return isLarge ? Sharing.PLACE : Sharing.ALL;
    }

    /** A variable that both write has one copy for forward and backward, and another for the optimizer. */
    private void requireNoWayBack(Block block, List<OpDesc> ops, Set<String> computed) {
        Set<String> back = new HashSet<>();
        for (OpDesc op : ops) {
            boolean isUpdate = Replication.isUpdate(op);
            for (String name : op.inputNames()) {
                if (!isUpdate && back.contains(name)) {
                    throw new IllegalArgumentException("Operation '" + op.type() + "' reads '" + name
                            + "' behind the optimizer that has overwritten it; give the optimizer's result a name "
                            + "of its own");
                }
            }
            for (String name : op.outputNames()) {
                VarDesc desc = block.find(name);
                if (isUpdate && computed.contains(name) && !(desc != null && desc.isPersistable())) {
                    back.add(name);
                } else {
                    back.remove(name);
                }
            }
        }
    }

    /** The variable's name at a replica. */
    String of(String name, int replica) {
        return switch (sharing.getOrDefault(name, Sharing.ALL)) {
            case ALL -> name;
            case PLACE -> name + replicas.suffix(replicas.leader(replica));
            case NONE -> name + replicas.suffix(replica);
        };
    }

    /** Whether each replica has one. */
    boolean isOfReplica(String name) {
        return sharing.get(name) == Sharing.NONE;
    }

    /** Whether the optimizer writes it. */
    boolean isUpdated(String name) {
        return updated.contains(name);
    }
}
