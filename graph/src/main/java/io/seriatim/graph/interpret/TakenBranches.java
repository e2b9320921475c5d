package io.seriatim.graph.interpret;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Aliases;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Replaces branches whose conditions are known by the operations of their blocks, and leaves out those that are not
 * taken. Selections between their results become copies of the chosen one. Branches within branches are replaced as
 * well, and branches whose conditions become known by that.
 *
 * <p>
 * A branch stays where this would change more than its own variables: where it writes variables that outlive runs or
 * makes variables share memory, where a gradient reads its steps, and where the names of its variables are in use.
 * Random numbers depend on the place of their operation in its block, so that blocks that draw them stay, too; and so
 * do blocks that print or use files.
 */
public final class TakenBranches {
    private final Program program;
    private final Block around;
    private final Computation computation;
    private final BranchTypes types;
    private final Set<String> read = new HashSet<>();
    private final List<OpDesc> operations = new ArrayList<>();
    private final Map<String, VarDesc> declared = new LinkedHashMap<>();
    private boolean isAny;

    /** Computes operations on small constants. */
    @FunctionalInterface
    public interface Computation {
        /**
         * Computes an operation.
         *
         * @param block
         *            its block
         * @param index
         *            its place in the block
         * @param results
         *            the types of its results, by name
         * @param inputs
         *            the elements of its inputs, by name
         * @return its results by name, as far as they can be computed now
         */
        Map<String, Tensor> results(Block block, int index, Map<String, ArgType> results, Map<String, Tensor> inputs);
    }

    private TakenBranches(Block around, BranchTypes.Outside outside, Computation computation) {
        this.program = around.program();
        this.around = around;
        this.computation = computation;
        this.types = new BranchTypes(program, outside);
        program.blocks().forEach(block -> block.ops().forEach(op -> read.addAll(op.inputNames())));
    }

    /**
     * Whether an operation is a branch whose condition is known.
     *
     * @param op
     *            any operation
     * @param outside
     *            what is known before it
     * @return whether runs need not read the condition
     */
    public static boolean isDecided(OpDesc op, BranchTypes.Outside outside) {
        return isBranch(op) && decision(op, outside::constant) != null;
    }

    /**
     * The condition of a branch that depends on one element.
     *
     * @param op
     *            any operation
     * @return the name of its condition; null if it has none, or one without elements
     */
    public static @Nullable String condition(OpDesc op) {
        return isBranch(op) && Instructions.attrs(op).getBool("is_scalar_condition") && op.input("Cond").size() == 1
                ? op.input("Cond").getFirst()
                : null;
    }

    /**
     * A block whose last operations have no branches with known conditions.
     *
     * @param block
     *            the block
     * @param last
     *            the indexes of these operations, in order; the others of the block run before them
     * @param outside
     *            what is known before them
     * @param computation
     *            computes constants
     * @return a block of a copy of the program, which has the operations before the first one of {@code last}
     *         unchanged; null if no branch was replaced
     */
    public static @Nullable Block replaced(Block block, List<Integer> last, BranchTypes.Outside outside,
            Computation computation) {
        TakenBranches taken = new TakenBranches(block, outside, computation);
        if (!taken.walk(block, last) || !taken.isAny) {
            return null;
        }
        Block copy = block.program().copy().block(block.index());
        taken.declared.values().forEach(copy::put);
        List<OpDesc> all = new ArrayList<>(block.ops().subList(0, last.getFirst()));
        all.addAll(taken.operations);
        return copy.setOps(all);
    }

    private static boolean isBranch(OpDesc op) {
        return op.type().equals("conditional_block");
    }

    /** What is known of the elements of a variable. */
    @FunctionalInterface
    private interface Constants {
        @Nullable
        Tensor of(String name);
    }

    /** Returns whether a branch is taken; null if that is not known. */
    private static @Nullable Boolean decision(OpDesc op, Constants constants) {
        boolean isTaken = true;
        boolean isScalar = Instructions.attrs(op).getBool("is_scalar_condition");
        for (String name : op.input("Cond")) {
            Tensor condition = constants.of(name);
            if (condition == null || (isScalar && condition.shape().size() != 1)) {
                return null;
            }
            isTaken &= isScalar
                    ? condition.getLong(new long[condition.shape().rank()]) != 0
                    : condition.shape().size() > 0;
            if (isScalar) {
                break;
            }
        }
        return isTaken;
    }

    /** Walks operations; returns false if the block must stay as it is. */
    private boolean walk(Block block, List<Integer> indexes) {
        for (int index : indexes) {
            OpDesc written = block.ops().get(index);
            Operation schema = Operations.system().find(written.type());
            if (schema == null || !mayMove(schema, written)) {
                return false;
            }
            Boolean isTaken = isBranch(written) ? decision(written, types::constant) : null;
            if (isTaken != null && mayReplace(written, isTaken)) {
                isAny = true;
                Block inner = ControlInstructions.block(program, written);
                if (isTaken) {
                    inner.vars().forEach(variable -> declared.put(variable.name(), variable));
                    if (!walk(inner, IntStream.range(0, inner.ops().size()).boxed().toList())) {
                        return false;
                    }
                }
                continue;
            }
            String chosen = chosen(written);
            if (chosen == null) {
                record(schema, written, block, index);
            } else {
                isAny = true;
                recordCopy(chosen, written.output("Out").getFirst(), block);
            }
        }
        return true;
    }

    private static boolean mayMove(Operation schema, OpDesc op) {
        return !draws(schema, op) && !schema.effects().contains(Effect.READER)
                && !schema.effects().contains(Effect.HOST) && Aliases.made(op).isEmpty();
    }

    /** Returns whether an operation may draw random numbers. */
    private static boolean draws(Operation schema, OpDesc op) {
        boolean isForTest = op.attribute("is_test") instanceof Attribute.Bool(boolean test) && test;
        boolean dropsNothing = op.attribute("dropout_prob") instanceof Attribute.Real(float rate) && rate == 0;
        return schema.effects().contains(Effect.RANDOM) && !isForTest && !dropsNothing;
    }

    private void record(Operation schema, OpDesc written, Block block, int index) {
        operations.add(written);
        OpDesc op = schema.runForm(written);
        Map<String, Tensor> inputs = inputs(op);
        Map<String, ArgType> results = types.step(schema, op, block);
        if (!schema.isLowered() || !schema.effects().isEmpty() || results.isEmpty()
                || (inputs == null && !schema.isOfShape())) {
            return;
        }
        if (schema.isOfShape()) {
            ArgType of = types.type(op.input(schema.shapesOnly().iterator().next()).getFirst());
            results.forEach((name, type) -> {
                if (of != null) {
                    types.constant(name, Tensor.of(type.dtype(), schema.elementsOf(of.dims()), type.dims()));
                }
            });
        } else if (inputs != null && results.values().stream().allMatch(TakenBranches::mayDecide)) {
            computation.results(block, index, results, inputs).forEach(types::constant);
        }
    }

    private void recordCopy(String from, String to, Block block) {
        OpDesc copy = OpDesc.of("assign").in("X", from).out("Out", to).build();
        Operation schema = Operations.system().get(copy.type());
        operations.add(copy);
        Tensor elements = types.constant(from);
        types.step(schema, schema.runForm(copy), block);
        if (elements != null) {
            types.constant(to, elements);
        }
    }

    /** Returns whether values of a type may be sizes or conditions. */
    private static boolean mayDecide(ArgType type) {
        return !type.dtype().isFloating() && !type.dtype().isComplex();
    }

    /** Returns the elements of all inputs of an operation; null if some are not known. */
    private @Nullable Map<String, Tensor> inputs(OpDesc op) {
        Map<String, Tensor> inputs = new LinkedHashMap<>();
        for (String name : op.inputNames()) {
            Tensor constant = types.constant(name);
            if (constant == null) {
                return null;
            }
            inputs.put(name, constant);
        }
        return inputs;
    }

    /** Returns what a selection chooses; null for other operations, or if that is not known or may have no value. */
    private @Nullable String chosen(OpDesc op) {
        if (!op.type().equals("select_input")) {
            return null;
        }
        Tensor mask = types.constant(op.input("Mask").getFirst());
        if (mask == null || mask.shape().size() != 1) {
            return null;
        }
        long choice = mask.getLong(new long[mask.shape().rank()]);
        List<String> choices = op.input("X");
        String name = choice < 0 || choice >= choices.size() ? null : choices.get((int) choice);
        ArgType type = name == null ? null : types.type(name);
        return type != null && BranchTypes.isTensor(type) ? name : null;
    }

    /** Returns whether a branch may be left out, and its block's operations be moved if it is taken. */
    private boolean mayReplace(OpDesc op, boolean isTaken) {
        Block inner = ControlInstructions.block(program, op);
        if (op.output("Scope").stream().anyMatch(read::contains)) {
            return false;
        }
        return writesOnlyOfRun(inner) && (!isTaken || mayMove(inner));
    }

    /** Returns whether no variable that a block and its inner blocks write outlives the run. */
    private boolean writesOnlyOfRun(Block block) {
        for (OpDesc op : block.ops()) {
            for (String name : Operations.system().written(op)) {
                VarDesc desc = block.find(name);
                if (desc == null || desc.isPersistable()) {
                    return false;
                }
            }
            for (var attribute : op.attributes()) {
                for (int index : attribute.value().blocks()) {
                    if (!writesOnlyOfRun(program.block(index))) {
                        return false;
                    }
                }
            }
        }
        return true;
    }

    private boolean mayMove(Block inner) {
        for (VarDesc variable : inner.vars()) {
            if (variable.isPersistable() || around.find(variable.name()) != null
                    || declared.containsKey(variable.name())) {
                return false;
            }
        }
        for (OpDesc op : inner.ops()) {
            Operation schema = Operations.system().find(op.type());
            if (schema == null || !mayMove(schema, op)) {
                return false;
            }
        }
        return true;
    }
}
