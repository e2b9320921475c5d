package io.seriatim.engine;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A template that each push copies. The copies share the variables, but each has links of its own. */
final class Prepared extends Preparation {
    private volatile @Nullable Operation template;

    Prepared(Operation template) {
        super(template.core, template.name);
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

    @Override
    void checkNotDeleted() {
        template();
    }

    @Override
    void addTo(List<Prepared> ops) {
        ops.add(new Prepared(template()));
    }

    /** Returns the description that each push copies. */
    Operation template() {
        Operation t = template;
        if (t == null) {
            throw deleted("operation");
        }
        return t;
    }

    /** Returns the operation of one push. */
    Operation copy() {
        return new Operation(template());
    }
}
