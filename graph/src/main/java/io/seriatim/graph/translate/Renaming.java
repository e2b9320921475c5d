package io.seriatim.graph.translate;

import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** Renames variables of a whole program. */
final class Renaming {
    private Renaming() {
    }

    static void apply(Program program, Map<String, String> names) {
        UnaryOperator<String> renamed = name -> names.getOrDefault(name, name);
        for (Block block : program.blocks()) {
            List<VarDesc> vars = new ArrayList<>(block.vars());
            vars.forEach(desc -> block.remove(desc.name()));
            vars.forEach(desc -> block.put(desc.named(renamed.apply(desc.name()))));
            List<OpDesc> ops = new ArrayList<>();
            block.ops().forEach(op -> ops.add(op.renamed(renamed, renamed)));
            block.setOps(ops);
        }
    }
}
