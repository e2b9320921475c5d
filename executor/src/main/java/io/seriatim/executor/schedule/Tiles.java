package io.seriatim.executor.schedule;

import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Region;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueTable;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Who has lately written which parts of values, in the order of the program: a task as one, or parts of a task side by
 * side.
 */
final class Tiles {
    /** How many writers of a value are looked at: the others have written long ago. */
    private static final int WINDOW = 64;

    private final ValueTable values;
    private final Map<Integer, Deque<List<Arg>>> written = new HashMap<>();

    Tiles(ValueTable values) {
        this.values = values;
    }

    /** Notes what a task writes that is left as it is. */
    void whole(Task task) {
        if (task instanceof Task.Compute compute) {
            for (Stage stage : compute.stages()) {
                for (Arg out : stage.outputs()) {
                    note(out == null ? List.of() : List.of(out));
                }
            }
        } else {
            for (int value : task.writes()) {
                written.remove(values.memory(value));
            }
        }
    }

    /** Notes what the parts of a task write. */
    void parts(List<Stage> parts) {
        for (int i = 0; i < parts.getFirst().outputs().size(); i++) {
            List<Arg> pieces = new ArrayList<>();
            for (Stage part : parts) {
                Arg out = part.outputs().get(i);
                if (out != null) {
                    pieces.add(out);
                }
            }
            note(pieces);
        }
    }

    private void note(List<Arg> pieces) {
        if (!pieces.isEmpty() && pieces.getFirst().value() >= 0) {
            Deque<List<Arg>> all = written.computeIfAbsent(values.memory(pieces.getFirst().value()),
                    _ -> new ArrayDeque<>());
            all.addFirst(pieces);
            if (all.size() > WINDOW) {
                all.removeLast();
            }
        }
    }

    /** In how many parts an operand was written last; 1 if by one task, or long ago. */
    int count(@Nullable Arg arg) {
        return Math.max(1, last(arg).size());
    }

    private List<Arg> last(@Nullable Arg arg) {
        if (arg != null && arg.value() >= 0) {
            for (List<Arg> pieces : written.getOrDefault(values.memory(arg.value()), new ArrayDeque<>())) {
                if (pieces.stream().anyMatch(piece -> !Region.areApart(piece, arg))) {
                    return pieces;
                }
            }
        }
        return List.of();
    }

    /** Whether each part of an operand was written by one of as many parts, the first by the first. */
    boolean areAlike(Arg arg, List<Arg> parts) {
        List<Arg> pieces = last(arg);
        for (int i = 0; i < parts.size(); i++) {
            for (int j = 0; j < parts.size(); j++) {
                if (pieces.size() != parts.size() || Region.areApart(parts.get(i), pieces.get(j)) != (i != j)) {
                    return false;
                }
            }
        }
        return true;
    }
}
