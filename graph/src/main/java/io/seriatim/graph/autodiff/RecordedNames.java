package io.seriatim.graph.autodiff;

import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import java.util.ArrayList;
import java.util.List;

/** Fresh variables of a program, and operations that begin it. */
final class RecordedNames {
    private final Program program;
    private final List<OpDesc> first = new ArrayList<>();
    private int fresh;

    RecordedNames(Program program) {
        this.program = program;
    }

    /**
     * A name that no block has. It does not look like that of a gradient: what was a gradient is the value of an
     * ordinary variable from now on, and may have a gradient itself.
     */
    String fresh(String of) {
        int end = of.indexOf("@RECORDED");
        String stem = (end < 0 ? of : of.substring(0, end)).replace(GradientRule.SUFFIX, ".slope");
        String name;
        do {
            name = stem + "@RECORDED" + fresh++;
        } while (isTaken(name));
        return name;
    }

    private boolean isTaken(String name) {
        return program.blocks().stream().anyMatch(block -> block.var(name) != null);
    }

    String declare(Block block, String of, VarType type, boolean stops) {
        String name = fresh(of);
        block.put(VarDesc.of(name, type).stopping(stops));
        return name;
    }

    /** An operation that the program begins with. */
    void first(OpDesc op) {
        first.add(op);
    }

    List<OpDesc> first() {
        return first;
    }

    static OpDesc emptyList(String name, VarType.TensorType type) {
        return OpDesc.of("array_new").out("Out", name).attr("dtype", type.dataType()).attr("shape", type.shape())
                .build();
    }

    static OpDesc plus(String number, int more, String to) {
        return OpDesc.of("scale").in("X", number).out("Out", to).attr("scale", 1f).attr("bias", (float) more).build();
    }

    static OpDesc zeros(String like, String to) {
        return OpDesc.of("fill_any_like").in("X", like).out("Out", to).attr("value", 0f).attr("dtype", -1).build();
    }

    static OpDesc assign(String from, String to) {
        return OpDesc.of("assign").in("X", from).out("Out", to).build();
    }
}
