package io.seriatim.graph.interpret;

import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.SelectedRows;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The tensors of a step of a loop or recurrence, kept for its gradient, that nothing but the step's environment has.
 * They are closed as soon as the gradient of the step has run, so that the next step computes in memory that is still
 * in the cache.
 *
 * <p>
 * Whoever runs a block tells which of its results have memory of their own. Others, which may be those of other
 * variables, are never closed, nor is what instructions and inner blocks of the step or its gradient may keep.
 */
final class StepMemory {
    private final Set<String> exposed;
    private final List<Tensor> tensors = new ArrayList<>();
    private boolean isFree;

    private StepMemory(Set<String> exposed) {
        this.exposed = exposed;
    }

    /**
     * Returns the variables of an operation's block and that of its gradient that instructions read or write, or inner
     * blocks mention; null if another operation may read the steps too, or read them several times.
     *
     * @param op
     *            the operation that keeps the steps
     * @param readers
     *            all operations of the program that read the steps
     */
    static @Nullable Set<String> exposed(Program program, OpDesc op, List<OpDesc> readers) {
        if (readers.size() != 1) {
            return null;
        }
        OpDesc reader = readers.getFirst();
        int around = around(program, op).index();
        Block reading = around(program, reader);
        if (reading.index() != around && reading.forward() != around) {
            return null;
        }
        Set<String> exposed = new HashSet<>();
        addExposed(ControlInstructions.block(program, op), exposed);
        addExposed(ControlInstructions.block(program, reader), exposed);
        return exposed;
    }

    /** Returns the block that has an operation. */
    @SuppressWarnings("ReferenceEquality") // An equal operation elsewhere is another one.
    private static Block around(Program program, OpDesc op) {
        return program.blocks().stream().filter(block -> block.ops().stream().anyMatch(each -> each == op)).findFirst()
                .orElseThrow(() -> new IllegalStateException("No block has the operation " + op));
    }

    private static void addExposed(Block block, Set<String> exposed) {
        for (OpDesc op : block.ops()) {
            Operation schema = Operations.system().find(op.type());
            if (schema == null || !schema.isLowered() || !schema.lodInputs().isEmpty()) {
                addNames(block, op, exposed);
            }
        }
    }

    private static void addNames(Block block, OpDesc op, Set<String> names) {
        names.addAll(op.inputNames());
        names.addAll(Operations.system().written(op));
        names.addAll(op.outputNames());
        op.attributes().forEach(each -> each.value().blocks().forEach(index -> {
            Block inner = block.program().block(index);
            inner.ops().forEach(below -> addNames(inner, below, names));
        }));
    }

    /** Returns that of a step; null if its tensors are not closed. */
    static @Nullable StepMemory of(@Nullable Set<String> exposed) {
        return exposed == null ? null : new StepMemory(exposed);
    }

    /** Adds what was computed for a variable, in memory of its own. */
    void add(String name, Tensor tensor) {
        if (!exposed.contains(name) && tensor.place().isHost()) {
            tensors.add(tensor);
        }
    }

    /** Something else may have a tensor's memory, too. */
    void keep(Tensor tensor) {
        tensors.removeIf(each -> each.buffer().equals(tensor.buffer()));
    }

    /** Throws an exception if the tensors were closed. */
    void requireOpen() {
        if (isFree) {
            throw new IllegalStateException("The steps were read by a gradient before, and are not kept");
        }
    }

    /**
     * Closes the tensors that are not in use.
     *
     * @param more
     *            tensors that were in use when those of an earlier step were closed
     * @return those that are in use
     */
    List<Tensor> free(List<Tensor> more, Predicate<Tensor> isUsed) {
        isFree = true;
        List<Tensor> used = new ArrayList<>();
        free(more, isUsed, used);
        free(tensors, isUsed, used);
        tensors.clear();
        return used;
    }

    /** Closes tensors that are not in use. */
    static void close(List<Tensor> tensors, Predicate<Tensor> isUsed) {
        free(tensors, isUsed, new ArrayList<>());
    }

    private static void free(List<Tensor> tensors, Predicate<Tensor> isUsed, List<Tensor> used) {
        for (Tensor tensor : tensors) {
            if (isUsed.test(tensor)) {
                used.add(tensor);
            } else if (tensor.buffer().isOpen()) {
                tensor.close();
            }
        }
    }

    /**
     * Returns whether any of some values has a tensor's memory. Lists have copies, or what instructions were given,
     * which is exposed.
     */
    static boolean isIn(Collection<?> values, Tensor tensor) {
        for (Object value : values) {
            boolean has = switch (value) {
                case Tensor there -> there.buffer().equals(tensor.buffer());
                case SelectedRows rows -> rows.rows().buffer().equals(tensor.buffer())
                        || rows.values().buffer().equals(tensor.buffer());
                default -> false;
            };
            if (has) {
                return true;
            }
        }
        return false;
    }
}
