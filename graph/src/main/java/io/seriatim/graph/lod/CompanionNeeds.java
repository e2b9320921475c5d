package io.seriatim.graph.lod;

import io.seriatim.graph.autodiff.Backward;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The variables whose offsets operations read, directly or by other variables that take them over. */
final class CompanionNeeds {
    private final Set<String> needed;
    /** Needed variables that blocks of control flow write for the blocks around them, and lists. */
    private final Set<String> changing;

    private CompanionNeeds(Set<String> needed, Set<String> changing) {
        this.needed = needed;
        this.changing = changing;
    }

    static CompanionNeeds of(Program program, Collection<String> fetched) {
        Map<String, Set<String>> sources = new HashMap<>();
        Deque<String> open = new ArrayDeque<>(fetched);
        for (Block block : program.blocks()) {
            for (OpDesc op : block.ops()) {
                sources(op).forEach((to, from) -> sources.computeIfAbsent(to, _ -> new LinkedHashSet<>()).addAll(from));
                Operation schema = Operations.system().find(op.type());
                if (schema != null) {
                    schema.lodInputs().forEach(slot -> open.addAll(op.input(slot)));
                }
            }
        }
        Set<String> needed = new HashSet<>();
        while (!open.isEmpty()) {
            String name = open.pop();
            if (!name.equals(GradientRule.EMPTY) && needed.add(name)) {
                open.addAll(sources.getOrDefault(name, Set.of()));
                if (name.contains(GradientRule.SUFFIX)) {
                    open.add(Backward.forward(name));
                }
            }
        }
        return new CompanionNeeds(needed, changing(program, needed));
    }

    private static Set<String> changing(Program program, Set<String> needed) {
        Set<String> changing = new HashSet<>();
        for (Block block : program.blocks()) {
            for (OpDesc op : block.ops()) {
                for (String name : op.outputNames()) {
                    if (needed.contains(name) && (isList(block, name)
                            || (block.index() > 0 && block.var(name) == null && block.find(name) != null))) {
                        changing.add(name);
                    }
                }
            }
        }
        return changing;
    }

    static boolean isList(Block block, String name) {
        VarDesc desc = block.find(name);
        return desc != null && desc.type() instanceof VarType.TensorArray;
    }

    boolean isNeeded(String name) {
        return needed.contains(name);
    }

    boolean isChanging(String name) {
        return changing.contains(name);
    }

    /** Needed variables of the blocks around that a block writes, itself or in blocks that its operations run. */
    List<String> carried(Block block) {
        Set<String> carried = new LinkedHashSet<>();
        for (OpDesc op : block.ops()) {
            op.outputNames().stream().filter(changing::contains).forEach(carried::add);
            op.attributes().forEach(each -> each.value().blocks()
                    .forEach(inner -> carried.addAll(carried(block.program().block(inner)))));
        }
        carried.removeIf(name -> block.var(name) != null);
        return new ArrayList<>(carried);
    }

    /** For each output of an operation that takes over offsets, the inputs whose offsets it may take over. */
    static Map<String, List<String>> sources(OpDesc op) {
        Operation schema = Operations.system().find(op.type());
        if (schema == null) {
            return Map.of();
        }
        Map<String, List<String>> sources = new LinkedHashMap<>();
        switch (op.type()) {
            case "write_to_array", "read_from_array", "select_input" ->
                op.outputNames().forEach(out -> sources.put(out, op.input("X")));
            default -> schema.lodShares().forEach((output, input) -> {
                List<String> from = op.input(input);
                List<String> to = op.output(output);
                for (int i = 0; i < to.size() && !from.isEmpty() && !schema.lodOutputs().contains(output); i++) {
                    sources.put(to.get(i), List.of(from.get(to.size() > 1 ? Math.min(i, from.size() - 1) : 0)));
                }
            });
        }
        return sources;
    }
}
