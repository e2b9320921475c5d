package io.seriatim.graph.parallel;

import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Sorts consecutive updates by the order in which their gradients are computed: the last layer's first. Otherwise all
 * updates on a stream would wait for the first layer's gradient, which comes last. An operation is <em>due</em> with
 * the last operation that it must follow. A stable sort by that keeps it after all of them.
 */
final class UpdateOrder {
    /** When what an operation reads or overwrites was last written, and when it was last read. */
    private final Map<String, Integer> written = new HashMap<>();
    private final Map<String, Integer> read = new HashMap<>();

    private final Program program;

    private UpdateOrder(Program program) {
        this.program = program;
    }

    static List<OpDesc> of(List<OpDesc> ops, Program program) {
        List<OpDesc> ordered = new ArrayList<>(ops.size());
        UpdateOrder order = new UpdateOrder(program);
        for (int i = 0; i < ops.size();) {
            int end = i;
            while (end < ops.size() && Replication.isUpdate(ops.get(end))) {
                end++;
            }
            if (end == i) {
                order.due(ops.get(i), i);
                ordered.add(ops.get(i));
                i++;
            } else {
                ordered.addAll(order.sorted(ops.subList(i, end)));
                i = end;
            }
        }
        return ordered;
    }

    private List<OpDesc> sorted(List<OpDesc> updates) {
        record Due(OpDesc op, int at) {
        }
        List<Due> all = new ArrayList<>();
        for (OpDesc op : updates) {
            all.add(new Due(op, due(op, 0)));
        }
        boolean acts = updates.stream().anyMatch(UpdateOrder::acts);
        return acts ? updates : all.stream().sorted(Comparator.comparingInt(Due::at)).map(Due::op).toList();
    }

    /** Operations with other effects stay where they are. */
    private static boolean acts(OpDesc op) {
        Operation schema = Operations.system().find(op.type());
        return schema == null || !schema.effects().isEmpty();
    }

    /** After the operations whose results it reads or overwrites, and those that have read what it overwrites. */
    private int due(OpDesc op, int earliest) {
        int due = earliest;
        List<String> inputs = BlockAccesses.read(op, program);
        List<String> outputs = BlockAccesses.written(op, program);
        for (String name : inputs) {
            due = Math.max(due, written.getOrDefault(name, 0));
        }
        for (String name : outputs) {
            due = Math.max(due, Math.max(written.getOrDefault(name, 0), read.getOrDefault(name, 0)));
        }
        for (String name : inputs) {
            read.merge(name, due, Math::max);
        }
        for (String name : outputs) {
            written.put(name, due);
        }
        return due;
    }
}
