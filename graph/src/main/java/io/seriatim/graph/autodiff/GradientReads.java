package io.seriatim.graph.autodiff;

import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds the variables of the forward program that gradients read. A gradient runs after the whole forward program. If a
 * variable has been overwritten by then, the gradient reads another value than the operation did, and would silently be
 * wrong. The steps of a loop are an exception: each finds the loop's variables as they were before it.
 */
public final class GradientReads {
    /**
     * The gradient of the first undoes it; the other writes its statistics where it read them only if its gradient does
     * not take them, or leaves them as they are.
     */
    private static final Set<String> HARMLESS = Set.of("increment", "batch_norm", "sync_batch_norm");
    /** Gradients of these take shapes only, though they are not marked so. */
    private static final Set<String> OF_SHAPES = Set.of("elementwise_add_grad", "elementwise_sub_grad",
            "rnn_memory_helper_grad");

    private final Program program;
    /** By block, what the gradients of its operations read. */
    private final Map<Integer, Set<String>> ofBlocks = new HashMap<>();

    GradientReads(Program program) {
        this.program = program;
    }

    /** Whether the gradient of an operation, or of those in the blocks that it runs, reads the value of a variable. */
    public static boolean mayRead(Program program, OpDesc op, String name) {
        int inner = ControlGradients.block(op);
        if (inner >= 0) {
            return program.block(inner).ops().stream().anyMatch(each -> mayRead(program, each, name));
        }
        if (!op.inputNames().contains(name) && !op.outputNames().contains(name)) {
            return false;
        }
        Operation schema = Operations.system().find(op.type());
        GradientRule rule = schema == null ? null : schema.gradient();
        return rule != null && rule.make(op, _ -> true).stream().anyMatch(gradient -> reads(gradient, name));
    }

    private static boolean reads(OpDesc gradient, String name) {
        return gradient.inputs().keySet().stream().anyMatch(slot -> readsIn(gradient, slot, name));
    }

    /** Only type and shape of some inputs count. */
    private static boolean readsIn(OpDesc gradient, String slot, String name) {
        Operation schema = Operations.system().find(gradient.type());
        return gradient.input(slot).contains(name) && !OF_SHAPES.contains(gradient.type())
                && (schema == null || !schema.shapesOnly().contains(slot));
    }

    /**
     * Checks that the gradients of an operation find what they read.
     *
     * @param gradients
     *            those that were made for it, after those of the blocks that it runs
     * @throws IllegalArgumentException
     *             if something was overwritten
     */
    void check(Block block, OpDesc op, List<OpDesc> gradients) {
        Set<String> read = new HashSet<>();
        int inner = ControlGradients.block(op);
        if (inner >= 0) {
            read.addAll(ofBlocks.getOrDefault(inner, Set.of()));
            read.removeIf(name -> program.block(inner).var(name) != null
                    || (op.type().equals("while") && op.output("Out").contains(name)));
        } else {
            gradients.stream()
                    .filter(each -> each.outputNames().stream().anyMatch(name -> !name.equals(GradientRule.EMPTY)))
                    .forEach(each -> {
                        op.inputNames().stream().filter(name -> reads(each, name)).forEach(read::add);
                        op.outputNames().stream().filter(name -> reads(each, name)).forEach(read::add);
                    });
        }
        read.removeIf(name -> !isChecked(block.find(name)));
        ofBlocks.computeIfAbsent(block.index(), _ -> new HashSet<>()).addAll(read);
        for (String name : read) {
            OpDesc writer = isOfStep(block, name)
                    ? before(block, op, name, gradients)
                    : after(block, op, name, gradients);
            if (writer != null && !HARMLESS.contains(writer.type())) {
                throw new IllegalArgumentException("The gradient of operation '" + op.type() + "' (outputs "
                        + op.outputNames() + built(op)
                        + ") reads '" + name + "', which operation '" + writer.type() + "'" + built(writer)
                        + " overwrites, so that the gradient would be wrong: give what is written there a variable "
                        + "of its own,"
                        + " or let the first operation read a copy, see assign()");
            }
        }
    }

    private static String built(OpDesc op) {
        return op.builtAt().isEmpty() ? "" : ", built at " + op.builtAt().getFirst();
    }

    /**
     * Persistable variables are updated between the gradients of several losses. Counters are set back by the gradients
     * themselves.
     */
    private static boolean isChecked(@Nullable VarDesc desc) {
        return desc != null && desc.type() instanceof VarType.Dense dense && !desc.isPersistable()
                && DataTypes.find(dense.tensor().dataType()) != null && dense.tensor().dtype().isDifferentiable();
    }

    /** Whether each step of a loop finds the variable as it was before the step. */
    private boolean isOfStep(Block block, String name) {
        return block.var(name) == null && program.blocks().stream().flatMap(each -> each.ops().stream())
                .anyMatch(
                        op -> op.type().equals("while") && ControlGradients.block(op) == block.index()
                                && op.output("Out").contains(name));
    }

    /** The operation after which the value in question came, though the step's gradient has the one before. */
    @SuppressWarnings("ReferenceEquality") // The same description may stand in several places.
    private static @Nullable OpDesc before(Block block, OpDesc op, String name, List<OpDesc> gradients) {
        for (OpDesc each : block.ops()) {
            if (each == op) {
                return op.outputNames().contains(name) && !readsAsInput(op, name, gradients) ? op : null;
            }
            if (each.outputNames().contains(name)) {
                return each;
            }
        }
        return null;
    }

    @SuppressWarnings("ReferenceEquality") // The same description may stand in several places.
    private static @Nullable OpDesc after(Block block, OpDesc op, String name, List<OpDesc> gradients) {
        boolean passed = false;
        for (OpDesc each : block.ops()) {
            if (passed && each.outputNames().contains(name)) {
                return each;
            }
            if (each == op) {
                passed = true;
                if (op.outputNames().contains(name) && op.inputNames().contains(name)
                        && readsAsInput(op, name, gradients)) {
                    return op;
                }
            }
        }
        return null;
    }

    /**
     * Of an operation that writes its own input, whether the gradient takes what was read rather than what was written.
     */
    private static boolean readsAsInput(OpDesc op, String name, List<OpDesc> gradients) {
        return op.inputs().entrySet().stream()
                .anyMatch(slot -> slot.getValue().contains(name) && !op.outputs().containsKey(slot.getKey())
                        && gradients.stream().anyMatch(each -> readsIn(each, slot.getKey(), name)));
    }
}
