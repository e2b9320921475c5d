package io.seriatim.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Operations that are pushed together again and again: as one operation with a {@link GraphRun} as its body, or one by
 * one where the graph could not keep what a push promises.
 */
final class PreparedGraph extends Preparation {
    /**
     * What is pushed.
     *
     * @param ops
     *            the operations in the order of the serial program
     * @param whole
     *            the operation that stands for all of them, or null if they are pushed one by one
     */
    private record Content(List<Prepared> ops, @Nullable Operation whole) {
    }

    private volatile @Nullable Content content;

    PreparedGraph(EngineCore core, String name, List<Prepared> ops) {
        super(core, name);
        content = new Content(List.copyOf(ops), isGraph(core, ops) ? whole(core, name, ops) : null);
    }

    private static boolean isGraph(EngineCore core, List<Prepared> ops) {
        if (ops.size() < 2 || !core.dispatcher.hasWorkers()) {
            return false;
        }
        Operation first = ops.get(0).template();
        for (Prepared each : ops) {
            Operation op = each.template();
            if (op.kind != OpKind.NORMAL || op.has(Operation.ASYNC_BODY) || op.priority != first.priority
                    || !op.lane.equals(first.lane)) {
                return false;
            }
        }
        return true;
    }

    private static Operation whole(EngineCore core, String name, List<Prepared> ops) {
        Operation whole = new Operation(core, name);
        whole.mutates(new Variable(core, "runs of " + name));
        for (Prepared each : ops) {
            Operation op = each.template();
            for (int i = 0; i < op.count; i++) {
                if (i < op.reads) {
                    whole.reads(op.vars[i]);
                } else {
                    whole.mutates(op.vars[i]);
                }
            }
        }
        Operation first = ops.get(0).template();
        whole.lane = first.lane;
        whole.priority = first.priority;
        core.dispatcher.route(whole);
        GraphNode[] nodes = new GraphNode[ops.size()];
        for (int i = 0; i < nodes.length; i++) {
            nodes[i] = node(whole, ops.get(i));
        }
        GraphEdges.connect(whole, nodes);
        whole.seal(new GraphRun(whole, Objects.requireNonNull(whole.workers), nodes));
        whole.flags |= Operation.GRAPH | Operation.EVEN_IF_FAILED;
        return whole;
    }

    private static GraphNode node(Operation whole, Prepared prepared) {
        Operation op = prepared.copy();
        op.flags |= Operation.MEMBER;
        int[] places = new int[op.count];
        for (int i = 0; i < places.length; i++) {
            places[i] = whole.indexOf(op.vars[i]);
        }
        return new GraphNode(op, places);
    }

    private Content content() {
        Content c = content;
        if (c == null) {
            throw deleted("graph");
        }
        return c;
    }

    /** Returns the operation of one push, or null if the operations are pushed one by one. */
    private @Nullable Operation copy(Content c) {
        return c.whole == null || core.recorder != null ? null : new Operation(c.whole);
    }

    @Override
    public void push() {
        Content c = content();
        Operation op = copy(c);
        if (op != null) {
            core.pushes.push(op);
        } else {
            core.pushes.pushAll(c.ops);
        }
    }

    @Override
    public void push(int priority) {
        Content c = content();
        Operation op = copy(c);
        if (op != null) {
            op.priority = priority;
            core.pushes.push(op);
        } else {
            c.ops.forEach(each -> each.push(priority));
        }
    }

    @Override
    public void push(Lane lane, int priority) {
        Objects.requireNonNull(lane, "lane");
        Content c = content();
        if (c.whole != null && c.whole.lane.equals(lane)) {
            push(priority);
        } else {
            c.ops.forEach(each -> each.push(lane, priority));
        }
    }

    @Override
    public void delete() {
        content = null;
    }

    @Override
    void checkNotDeleted() {
        content();
    }

    @Override
    void addTo(List<Prepared> ops) {
        ops.addAll(content().ops);
    }

    /** Returns the operations of preparations, in order. */
    static List<Prepared> flattened(List<Preparation> all) {
        List<Prepared> ops = new ArrayList<>();
        all.forEach(each -> each.addTo(ops));
        return ops;
    }
}
