package io.seriatim.graph.interpret;

import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/** The index of each variable in the environments of a loop's steps, so that these need no map each. Immutable. */
final class StepLayout {
    private final Map<String, Integer> indices = new HashMap<>();

    private StepLayout() {
    }

    /** Returns that of the steps of a block: all variables that the block and its gradient name. */
    static StepLayout of(Block block) {
        StepLayout layout = new StepLayout();
        layout.add(block);
        for (Block other : block.program().blocks()) {
            if (other.forward() == block.index()) {
                layout.add(other);
            }
        }
        return layout;
    }

    private void add(Block block) {
        block.vars().forEach(variable -> add(variable.name()));
        for (OpDesc op : block.ops()) {
            add(op.inputNames());
            add(op.outputNames());
        }
    }

    private void add(Collection<String> names) {
        names.forEach(this::add);
    }

    private void add(String name) {
        indices.putIfAbsent(name, indices.size());
    }

    /** Returns the index of a variable; −1 if the blocks do not name it. */
    int index(String name) {
        return indices.getOrDefault(name, -1);
    }

    int size() {
        return indices.size();
    }

    Collection<String> names() {
        return indices.keySet();
    }
}
