package io.seriatim.graph.program;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Programs for evaluation. */
final class Prune {
    private Prune() {
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
                if (desc.name().contains(VarDesc.GRADIENT_SUFFIX) && !used.contains(desc.name())) {
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
        boolean has = op.attribute("is_test") != null || OperationTypes.system().hasAttribute(op.type(), "is_test");
        OpDesc changed = has ? op.with("is_test", true) : op;
        if (changed.type().endsWith("batch_norm") && changed.outputs().containsKey("ReserveSpace")) {
            Map<String, List<String>> outputs = new LinkedHashMap<>(changed.outputs());
            outputs.remove("ReserveSpace");
            changed = changed.with(changed.inputs(), outputs);
        }
        return changed;
    }
}
