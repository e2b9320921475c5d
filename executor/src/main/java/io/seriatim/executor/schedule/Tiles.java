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
 * Records the latest writes to values, in program order: the operand of a whole task, or the operands of all tiles of a
 * task.
 */
final class Tiles {
    /** The number of latest writes that are kept for each memory. */
    private static final int WINDOW = 64;

    private final ValueTable values;
    private final Map<Integer, Deque<List<Arg>>> written = new HashMap<>();

    Tiles(ValueTable values) {
        this.values = values;
    }

    /** Records the writes of a task that is not tiled. */
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

    /** Records the writes of the tiles of a task. */
    void parts(List<Task.Compute> parts) {
        List<Stage> first = parts.getFirst().stages();
        for (int stage = 0; stage < first.size(); stage++) {
            for (int i = 0; i < first.get(stage).outputs().size(); i++) {
                List<Arg> pieces = new ArrayList<>();
                for (Task.Compute part : parts) {
                    Arg out = part.stages().get(stage).outputs().get(i);
                    if (out != null) {
                        pieces.add(out);
                    }
                }
                note(pieces);
            }
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

    /**
     * Returns the number of tiles that last wrote an operand; 1 if a whole task wrote it, or if the write is not kept.
     */
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

    /**
     * Returns whether the i-th part of an operand was written by the i-th of the same number of tiles, and by no other.
     */
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
