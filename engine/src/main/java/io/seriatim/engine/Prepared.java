package io.seriatim.engine;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A template that each push copies. The copies share the variables, but each has links of its own. */
final class Prepared implements PreparedOp {
    final EngineCore core;
    private final String name;
    private volatile @Nullable Operation template;

    Prepared(Operation template) {
        core = template.core;
        name = template.name;
        this.template = template;
    }

    @Override
    public void push() {
        Operation op = copy();
        op.core.pushes.push(op);
    }

    @Override
    public void push(int priority) {
        Operation op = copy();
        op.priority = priority;
        op.core.pushes.push(op);
    }

    @Override
    public void push(Lane lane, int priority) {
        Operation op = copy();
        op.lane = Objects.requireNonNull(lane, "lane");
        op.priority = priority;
        op.core.pushes.push(op);
    }

    @Override
    public void delete() {
        template = null;
    }

    /** Throws if the operation has been deleted. */
    void checkNotDeleted() {
        template();
    }

    private Operation template() {
        Operation t = template;
        if (t == null) {
            throw new IllegalStateException(
                    "operation '" + name + "' has been deleted: prepare it anew to push it again");
        }
        return t;
    }

    /** Returns the operation of one push. */
    Operation copy() {
        return new Operation(template());
    }
}
