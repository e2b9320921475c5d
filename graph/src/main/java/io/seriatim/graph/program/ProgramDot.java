package io.seriatim.graph.program;

import io.seriatim.graph.util.Printable;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Set;

/** Programs for Graphviz. */
final class ProgramDot {
    private ProgramDot() {
    }

    static String of(Program program) {
        StringBuilder dot = new StringBuilder(
                "digraph program {\n  rankdir=TB;\n  node [fontname=\"Helvetica\", fontsize=10];\n");
        for (Block block : program.blocks()) {
            dot.append(String.format(Locale.ROOT, "  subgraph cluster_%d {%n    label=\"block %d\";%n", block.index(),
                    block.index()));
            Set<String> used = new LinkedHashSet<>();
            for (int i = 0; i < block.ops().size(); i++) {
                operation(dot, block, i, used);
            }
            used.forEach(name -> variable(dot, block, name));
            dot.append("  }\n");
        }
        return dot.append("}\n").toString();
    }

    private static void operation(StringBuilder dot, Block block, int index, Set<String> used) {
        OpDesc op = block.ops().get(index);
        String id = "op_" + block.index() + "_" + index;
        dot.append("    ").append(id).append(" [shape=box, label=").append(quoted(Printable.of(op.type())))
                .append("];\n");
        op.inputs().forEach((slot, names) -> names.forEach(name -> {
            used.add(name);
            dot.append("    ").append(node(block, name)).append(" -> ").append(id).append(" [label=")
                    .append(quoted(Printable.of(slot)))
                    .append("];\n");
        }));
        op.outputs().forEach((slot, names) -> names.forEach(name -> {
            used.add(name);
            dot.append("    ").append(id).append(" -> ").append(node(block, name)).append(" [label=")
                    .append(quoted(Printable.of(slot)))
                    .append("];\n");
        }));
    }

    private static void variable(StringBuilder dot, Block block, String name) {
        VarDesc desc = block.find(name);
        String label = desc == null ? Printable.of(name) : Printable.of(name) + "\n" + ProgramText.type(desc.type());
        boolean kept = desc != null && desc.isPersistable();
        dot.append("    ").append(node(block, name)).append(" [shape=ellipse, label=").append(quoted(label))
                .append(kept ? ", style=filled, fillcolor=lightgrey" : "").append("];\n");
    }

    private static String node(Block block, String name) {
        Block owner = block.owner(name);
        return quoted("var " + (owner == null ? block.index() : owner.index()) + " " + Printable.of(name));
    }

    private static String quoted(String text) {
        return '"' + Printable.lines(text).replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + '"';
    }
}
