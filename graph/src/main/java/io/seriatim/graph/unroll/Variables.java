package io.seriatim.graph.unroll;

import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The values of a block's variables: of the first block, of the first block while the iterations of a loop are written,
 * or of the body of a loop in an iteration.
 */
final class Variables {
    private final @Nullable Variables outer;
    private final Block block;
    private final Map<String, Value> values = new LinkedHashMap<>();

    private Variables(@Nullable Variables outer, Block block) {
        this.outer = outer;
        this.block = block;
    }

    static Variables first(Block global) {
        return new Variables(null, global);
    }

    /** The variables of an iteration, or those of the first block if that is given. */
    Variables inside(Block inner) {
        return new Variables(this, inner);
    }

    Block block() {
        return block;
    }

    /** Whether what is written is written by an operation of the first block. */
    boolean isFirst() {
        return outer == null;
    }

    private boolean isOfBody() {
        return outer != null && outer.block.index() != block.index();
    }

    Value value(String name) {
        Value own = values.get(name);
        if (own != null) {
            return own;
        }
        if (outer == null) {
            return Value.of(name);
        }
        if (isOfBody() && block.var(name) != null) {
            // It is read before it is written.
            throw new NeedsBlockException();
        }
        return outer.value(name);
    }

    /** The variable of the first block that has what another one has, and whose value stays the same if possible. */
    String latest(String name, Versions versions) {
        Value value = values.get(name);
        return value != null && value.variable() != null && versions.isFresh(value.variable())
                ? value.variable()
                : name;
    }

    void write(String name, Value value) {
        if (isOfBody() && block.var(name) == null && outer != null) {
            outer.write(name, value);
        } else {
            values.put(name, value);
        }
    }

    /** Makes unknown what a variable of the first block has. */
    void forget(String name) {
        values.remove(name);
    }

    Map<String, Value> written() {
        return values;
    }

    /** Whether a variable is one of the first block. */
    boolean isOfFirst(String name) {
        return outer == null || ((!isOfBody() || block.var(name) == null) && outer.isOfFirst(name));
    }

    boolean isTensor(String name) {
        VarDesc desc = block.find(name);
        return desc != null && desc.type() instanceof VarType.Dense;
    }

    boolean isTemporary(String name) {
        return isTensor(name) && !block.get(name).isPersistable();
    }
}
