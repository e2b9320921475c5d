package io.seriatim.graph.interpret;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Aliases;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The types of what a branch gives if it is taken, inferred from those of what it reads. A selection between the
 * results of branches has the type of these if they agree. A variable that a branch or loop overwrites keeps its type
 * if the block, given this type, ends with it.
 *
 * <p>
 * The operations of the block are walked in order. A type is known only if it holds in each run in which the block is
 * run: what depends on elements, and variables that share memory are unknown.
 */
public final class BranchTypes {
    /** The most walks over the block of a loop: one for each chain of variables that take over the type of others. */
    private static final int MOST_ROUNDS = 8;

    private final Program program;
    private final Outside outside;
    private final Steps steps;
    /** The variables that operations of the branch have written so far; null for those of unknown types. */
    private final Map<String, @Nullable ArgType> types = new HashMap<>();
    /** What branches within the branch have written, which has a value only if they were taken. */
    private final Map<String, ArgType> given = new HashMap<>();
    /** The elements of variables that operations of the branch have written so far, as far as they are known. */
    private final Map<String, Tensor> constants = new HashMap<>();

    /** What is known of the variables around a branch. */
    public interface Outside {
        /**
         * The type of a variable before the branch.
         *
         * @param name
         *            its name
         * @return its type, or null if it is not known
         */
        @Nullable
        ArgType type(String name);

        /**
         * The elements of a variable, if they are the same in all runs.
         *
         * @param name
         *            its name
         * @return the elements, or null if they are not known
         */
        @Nullable
        Tensor constant(String name);

        /**
         * Whether a variable has a value before the branch, which it keeps if the branch is not taken.
         *
         * @param name
         *            its name
         * @return false if it surely has none
         */
        boolean isSet(String name);
    }

    /**
     * The operations that may still be walked over. Each walk over a block walks over the blocks in it several times,
     * so that blocks nested deeply would take forever; what is not walked over is not known.
     */
    private static final class Steps {
        private int left = 1 << 14;

        boolean take() {
            return left-- > 0;
        }
    }

    BranchTypes(Program program, Outside outside) {
        this(program, outside, new Steps());
    }

    private BranchTypes(Program program, Outside outside, Steps steps) {
        this.program = program;
        this.outside = outside;
        this.steps = steps;
    }

    /**
     * The types of what a branch writes.
     *
     * @param program
     *            the program of the branch
     * @param op
     *            any operation
     * @param outside
     *            what is known before it
     * @return by name, the types that are known; empty for an operation that is no branch
     */
    public static Map<String, ArgType> of(Program program, OpDesc op, Outside outside) {
        return of(program, op, outside, new Steps());
    }

    private static Map<String, ArgType> of(Program program, OpDesc op, Outside outside, Steps steps) {
        if (!op.type().equals("conditional_block")) {
            return Map.of();
        }
        BranchTypes types = new BranchTypes(program, outside, steps);
        if (!types.walk(ControlInstructions.block(program, op))) {
            return Map.of();
        }
        Map<String, ArgType> known = new HashMap<>();
        for (String name : op.outputNames()) {
            ArgType type = types.types.get(name);
            if (type != null) {
                known.put(name, type);
            }
        }
        return known;
    }

    /**
     * The types of variables that a branch or loop may overwrite, and that are the same before and after it, however
     * often its block runs.
     *
     * <p>
     * For a loop, they are an invariant: its block is walked with the types of the variables before it. Those that the
     * block ends with another type for are unknown in the next walk, until the others stay.
     *
     * @param program
     *            the program of the operation
     * @param op
     *            any operation
     * @param outside
     *            what is known before it
     * @return by name, the types that are known; empty for an operation that is neither
     */
    public static Map<String, ArgType> kept(Program program, OpDesc op, Outside outside) {
        return kept(program, op, outside, new Steps());
    }

    private static Map<String, ArgType> kept(Program program, OpDesc op, Outside outside, Steps steps) {
        boolean isLoop = op.type().equals("while");
        if (!isLoop && !op.type().equals("conditional_block")) {
            return Map.of();
        }
        Block block = ControlInstructions.block(program, op);
        Set<String> written = new HashSet<>(op.outputNames());
        addWritten(block, written);
        Map<String, ArgType> kept = new HashMap<>();
        for (String name : written) {
            ArgType type = block.var(name) == null && outside.isSet(name) ? outside.type(name) : null;
            if (type != null && isTensor(type)) {
                kept.put(name, type);
            }
        }
        for (int round = 0; round < MOST_ROUNDS && !kept.isEmpty(); round++) {
            BranchTypes types = new BranchTypes(program, outside, steps);
            block.vars().forEach(variable -> types.types.put(variable.name(), null));
            written.forEach(name -> types.types.put(name, kept.get(name)));
            if (!types.walk(block)) {
                return Map.of();
            }
            boolean stays =
                    !kept.entrySet().removeIf(each -> !Objects.equals(each.getValue(), types.type(each.getKey())));
            if (stays || !isLoop) {
                return kept;
            }
        }
        return Map.of();
    }

    /**
     * The type of a selection between results of branches.
     *
     * @param op
     *            any operation
     * @param results
     *            the types of what branches give, by name; null where they are not known
     * @return the type; null if the operation is no selection, or if its choices do not have one known type
     */
    public static @Nullable ArgType ofSelection(OpDesc op, Function<String, @Nullable ArgType> results) {
        if (!op.type().equals("select_input")) {
            return null;
        }
        ArgType first = null;
        for (String name : op.input("X")) {
            ArgType type = name.equals(GradientRule.EMPTY) ? null : results.apply(name);
            if (type == null || !isTensor(type) || (first != null && !first.equals(type))) {
                return null;
            }
            first = type;
        }
        return first;
    }

    static boolean isTensor(ArgType type) {
        return type.kind() == ArgType.Kind.DENSE && type.isKnown();
    }

    @Nullable
    ArgType type(String name) {
        return types.containsKey(name) ? types.get(name) : outside.type(name);
    }

    @Nullable
    Tensor constant(String name) {
        return types.containsKey(name) ? constants.get(name) : outside.constant(name);
    }

    /** Records the elements of what the latest operation has written. */
    void constant(String name, Tensor elements) {
        constants.put(name, elements);
    }

    /** Infers the types of what a block writes; returns false if it makes variables share memory, or is too much. */
    private boolean walk(Block block) {
        for (OpDesc written : block.ops()) {
            Operation schema = Operations.system().find(written.type());
            if (schema == null || !Aliases.made(written).isEmpty() || !steps.take()) {
                return false;
            }
            step(schema, schema.runForm(written), block);
        }
        return true;
    }

    /** Records what an operation of a block writes, and returns the types that are known. */
    Map<String, ArgType> step(Operation schema, OpDesc op, Block block) {
        Map<String, ArgType> results = schema.isLowered() ? inferred(schema, op) : ofInstruction(op, block);
        boolean isControl = schema.effects().contains(Effect.CONTROL);
        Map<String, ArgType> kept = isControl ? kept(program, op, new Inside(), steps) : Map.of();
        forget(op, schema);
        if (isControl) {
            given.putAll(results);
            types.putAll(kept);
        } else {
            types.putAll(results);
        }
        return results;
    }

    private Map<String, ArgType> ofInstruction(OpDesc op, Block block) {
        ArgType selected = ofSelection(op, name -> given.containsKey(name) ? given.get(name) : type(name));
        if (selected != null) {
            return Map.of(op.output("Out").getFirst(), selected);
        }
        Map<String, ArgType> results = new HashMap<>(of(program, op, new Inside(), steps));
        // What has an earlier value keeps it if the branch is not taken.
        results.keySet().removeIf(
                name -> block.var(name) == null || types.containsKey(name) || outside.isSet(name));
        return results;
    }

    private Map<String, ArgType> inferred(Operation schema, OpDesc op) {
        if (!schema.lodInputs().isEmpty() || Collective.is(op)) {
            return Map.of();
        }
        for (String name : op.inputNames()) {
            ArgType type = name.equals(GradientRule.EMPTY) ? null : type(name);
            if (type == null || !isTensor(type)) {
                return Map.of();
            }
        }
        for (String slot : schema.values()) {
            for (String name : op.input(slot)) {
                if (constant(name) == null) {
                    return Map.of();
                }
            }
        }
        Map<String, List<@Nullable ArgType>> slots;
        try {
            slots = schema.infer(op, new Operands(op));
        } catch (IllegalArgumentException e) {
            // It is an error of the runs that take the branch.
            return Map.of();
        }
        Map<String, ArgType> results = new HashMap<>();
        slots.forEach((slot, list) -> {
            for (int i = 0; i < list.size(); i++) {
                ArgType type = list.get(i);
                if (type != null && isTensor(type)) {
                    results.put(op.output(slot).get(i), type);
                }
            }
        });
        return results;
    }

    /** Makes all that an operation and its blocks may write unknown. */
    private void forget(OpDesc op, Operation schema) {
        Set<String> written = new HashSet<>(op.outputNames());
        written.addAll(schema.changedInPlace(op));
        op.attributes()
                .forEach(each -> each.value().blocks().forEach(index -> addWritten(program.block(index), written)));
        for (String name : written) {
            types.put(name, null);
            constants.remove(name);
            given.remove(name);
        }
    }

    private static void addWritten(Block block, Set<String> names) {
        for (OpDesc op : block.ops()) {
            names.addAll(Operations.system().written(op));
            op.attributes().forEach(
                    each -> each.value().blocks().forEach(index -> addWritten(block.program().block(index), names)));
        }
    }

    /** What is known before a branch within the branch. */
    private final class Inside implements Outside {
        @Override
        public @Nullable ArgType type(String name) {
            return BranchTypes.this.type(name);
        }

        @Override
        public @Nullable Tensor constant(String name) {
            return BranchTypes.this.constant(name);
        }

        @Override
        public boolean isSet(String name) {
            return types.containsKey(name) || outside.isSet(name);
        }
    }

    /** What is known of an operation's inputs. */
    private final class Operands implements Inference.Source {
        private final OpDesc op;

        Operands(OpDesc op) {
            this.op = op;
        }

        @Override
        public @Nullable ArgType type(String slot, int index) {
            return BranchTypes.this.type(op.input(slot).get(index));
        }

        @Override
        public long @Nullable [] values(String slot, int index) {
            Tensor constant = constant(op.input(slot).get(index));
            return constant == null ? null : Inference.Source.whole(constant);
        }

        @Override
        public double @Nullable [] numbers(String slot, int index) {
            Tensor constant = constant(op.input(slot).get(index));
            return constant == null ? null : constant.toDoubleArray();
        }
    }
}
