package io.seriatim.engine.dependency;

import io.seriatim.engine.Lane;
import io.seriatim.engine.PreparedOp;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A template that each push copies. The copies share the variables, but each has links of its own. */
public final class Prepared implements PreparedOp {
    public final Owner core;
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
        op.core.push(op);
    }

    @Override
    public void push(int priority) {
        Operation op = copy();
        op.priority = priority;
        op.core.push(op);
    }

    @Override
    public void push(Lane lane, int priority) {
        Operation op = copy();
        op.lane = Objects.requireNonNull(lane, "lane");
        op.priority = priority;
        op.core.push(op);
    }

    @Override
    public void delete() {
        template = null;
    }

    /** Throws if the operation has been deleted. */
    public void checkNotDeleted() {
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
    public Operation copy() {
        return new Operation(template());
    }
}
