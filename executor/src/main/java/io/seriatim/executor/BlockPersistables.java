package io.seriatim.executor;

import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import java.util.ArrayList;
import java.util.List;

/**
 * Moves the declarations of persistable variables from nested blocks to the global block. Such a variable is in the
 * scope, wherever it is declared; declared in the global block, it is one for value numbering and for the order of
 * runs, too.
 */
final class BlockPersistables {
    private BlockPersistables() {
    }

    /** Returns the program itself if no nested block declares a persistable variable that can be moved. */
    static Program moved(Program program) {
        if (program.blocks().stream().allMatch(block -> movable(block).isEmpty())) {
            return program;
        }
        Program moved = program.copy();
        for (Block block : moved.blocks()) {
            for (VarDesc desc : movable(block)) {
                block.remove(desc.name());
                if (moved.global().var(desc.name()) == null) {
                    moved.global().put(desc);
                }
            }
        }
        return moved;
    }

    private static List<VarDesc> movable(Block block) {
        List<VarDesc> movable = new ArrayList<>();
        for (VarDesc desc : block.index() == 0 ? List.<VarDesc>of() : block.vars()) {
            if (desc.isPersistable() && !isHidden(block, desc.name())) {
                movable.add(desc);
            }
        }
        return movable;
    }

    /** Whether an enclosing block has a temporary variable of the same name, which is another one. */
    private static boolean isHidden(Block block, String name) {
        for (Block outer = block; outer.index() > 0;) {
            outer = outer.program().block(outer.parent());
            VarDesc desc = outer.var(name);
            if (desc != null && !desc.isPersistable()) {
                return true;
            }
        }
        return false;
    }
}
