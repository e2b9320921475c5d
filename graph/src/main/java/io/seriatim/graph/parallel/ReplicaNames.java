package io.seriatim.graph.parallel;

import io.seriatim.graph.autodiff.Backward;
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
import java.util.stream.Stream;

/** The names of a program's variables at each replica. */
final class ReplicaNames {
    private final Replicas replicas;
    private final Map<String, Sharing> sharing = new HashMap<>();
    private final Set<String> updated = new HashSet<>();
    /** What operations outside of blocks name. */
    private final Set<String> outside = new HashSet<>();

    /** The replicas among which a variable is shared. */
    private enum Sharing {
        ALL, PLACE, NONE
    }

    ReplicaNames(Block block, List<OpDesc> ops, Set<String> splitFeeds, Replicas replicas) {
        this.replicas = replicas;
        Set<String> computed = new HashSet<>();
        for (OpDesc op : ops) {
            (Replication.isUpdate(op) ? updated : computed).addAll(BlockAccesses.written(op, block.program()));
        }
        for (OpDesc op : ops) {
            outside.addAll(op.inputNames());
            outside.addAll(op.outputNames());
        }
        for (OpDesc op : ops) {
            Stream.of(BlockAccesses.read(op, block.program()), BlockAccesses.written(op, block.program()))
                    .flatMap(List::stream)
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
        String forward = Backward.forward(name);
        // A block of a gradient is given gradients that no operation writes under these names.
        boolean isOfBlock = desc == null && !outside.contains(name);
        if (isOfBlock || (!forward.equals(name) && computed.contains(forward))) {
            return Sharing.NONE;
        }
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
            for (String name : BlockAccesses.read(op, block.program())) {
                if (!isUpdate && back.contains(name)) {
                    throw new IllegalArgumentException("Operation '" + op.type() + "' reads '" + name
                            + "' behind the optimizer that has overwritten it; give the optimizer's result a name "
                            + "of its own");
                }
            }
            for (String name : BlockAccesses.written(op, block.program())) {
                VarDesc desc = block.find(name);
                if (isUpdate && computed.contains(name) && !(desc != null && desc.isPersistable())) {
                    back.add(name);
                } else {
                    back.remove(name);
                }
            }
        }
    }

    /**
     * The variable's name at a replica. That of a gradient is made from that of its variable, since operations that run
     * blocks find the one by the other.
     */
    String of(String name, int replica) {
        return switch (sharing.getOrDefault(name, Sharing.ALL)) {
            case ALL -> name;
            case PLACE -> suffixed(name, replicas.suffix(replicas.leader(replica)));
            case NONE -> own(name, replica);
        };
    }

    private String own(String name, int replica) {
        String suffix = replicas.suffix(replica);
        if (!name.contains(GradientRule.SUFFIX)) {
            return name + suffix;
        }
        int leader = replicas.leader(replica);
        return switch (sharing.getOrDefault(Backward.forward(name), Sharing.NONE)) {
            case NONE -> suffixed(name, suffix);
            // Where replicas share the variable, its name does not tell their gradients apart.
            case PLACE -> suffixed(name, replicas.suffix(leader)) + (leader == replica ? "" : suffix);
            case ALL -> name + suffix;
        };
    }

    /** A name with a suffix, which goes before that of gradients. */
    static String suffixed(String name, String suffix) {
        int at = name.indexOf(GradientRule.SUFFIX);
        return at < 0 ? name + suffix : name.substring(0, at) + suffix + name.substring(at);
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
