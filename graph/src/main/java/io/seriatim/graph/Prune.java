package io.seriatim.graph;

import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Parts of programs: what is needed for some results, or for evaluation. */
final class Prune {
    private Prune() {
    }

    static Program toTargets(Program program, List<String> feeds, List<String> targets) {
        Program pruned = program.copy();
        Block global = pruned.global();
        for (String target : targets) {
            global.get(target);
        }
        Set<String> needed = new HashSet<>(targets);
        Set<String> given = new HashSet<>(feeds);
        List<OpDesc> kept = new ArrayList<>();
        for (int i = global.ops().size() - 1; i >= 0; i--) {
            OpDesc op = global.ops().get(i);
            if (op.outputNames().stream().anyMatch(name -> needed.contains(name) && !given.contains(name))) {
                kept.add(op);
                needed.addAll(op.inputNames());
                blocksOf(op).forEach(index -> needed.addAll(readFromOutside(pruned, index)));
            }
        }
        Collections.reverse(kept);
        global.setOps(kept);
        return withoutUnused(pruned, targets);
    }

    private static List<Integer> blocksOf(OpDesc op) {
        return op.attributes().stream().flatMap(each -> each.value().blocks().stream()).toList();
    }

    private static Set<String> readFromOutside(Program program, int index) {
        Block block = program.block(index);
        Set<String> names = new LinkedHashSet<>();
        for (OpDesc op : block.ops()) {
            op.inputNames().stream().filter(name -> block.var(name) == null).forEach(names::add);
            // What a block writes outside itself is often a loop's variable, whose first value it needs.
            op.outputNames().stream().filter(name -> block.var(name) == null).forEach(names::add);
            blocksOf(op).forEach(inner -> names.addAll(readFromOutside(program, inner)));
        }
        return names;
    }

    private static Program withoutUnused(Program program, List<String> targets) {
        Set<String> used = new HashSet<>(targets);
        program.blocks().forEach(block -> block.ops().forEach(op -> {
            used.addAll(op.inputNames());
            used.addAll(op.outputNames());
        }));
        Block global = program.global();
        for (VarDesc desc : List.copyOf(global.vars())) {
            if (!used.contains(desc.name())) {
                global.remove(desc.name());
            }
        }
        return program;
    }

    static Program forTest(Program program) {
        Program test = program.copy();
        for (Block block : test.blocks()) {
            block.setOps(block.ops().stream().filter(op -> !Roles.isTraining(op)).map(Prune::forInference).toList());
        }
        withoutGradientBlocks(test);
        Set<String> used = new HashSet<>();
        test.blocks().forEach(block -> block.ops().forEach(op -> {
            used.addAll(op.inputNames());
            used.addAll(op.outputNames());
        }));
        for (Block block : test.blocks()) {
            for (VarDesc desc : List.copyOf(block.vars())) {
                if (desc.name().contains(GradientRule.SUFFIX) && !used.contains(desc.name())) {
                    block.remove(desc.name());
                }
            }
        }
        return test;
    }

    private static void withoutGradientBlocks(Program program) {
        for (Block block : program.blocks()) {
            if (block.forward() != Block.NONE) {
                block.setOps(List.of());
                List.copyOf(block.vars()).forEach(desc -> block.remove(desc.name()));
            }
        }
    }

    private static OpDesc forInference(OpDesc op) {
        Operation schema = Operations.system().find(op.type());
        boolean has = op.attribute("is_test") != null || (schema != null && schema.attribute("is_test") != null);
        OpDesc changed = has ? op.with("is_test", true) : op;
        if (changed.type().equals("batch_norm") && changed.outputs().containsKey("ReserveSpace")) {
            java.util.Map<String, List<String>> outputs = new java.util.LinkedHashMap<>(changed.outputs());
            outputs.remove("ReserveSpace");
            changed = changed.with(changed.inputs(), outputs);
        }
        return changed;
    }
}
