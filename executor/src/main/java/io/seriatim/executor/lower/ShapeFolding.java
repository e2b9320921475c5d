package io.seriatim.executor.lower;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.graph.interpret.BlockSession;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Lowered;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Step;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Folds arithmetic on shapes, such as programs perform before a reshape. It is computed during lowering and becomes
 * constants in the value table instead of tasks.
 */
final class ShapeFolding {
    /** The maximum number of elements of an operand and of a result, more than any shape has. */
    static final long MOST_FOLDED = 64;
    /** The maximum number of elements of a result that stands in the program. */
    private static final long MOST_GIVEN = 1L << 14;

    private final ValueNumbering accesses;
    private final ValueTable values;
    private final @Nullable ArgType[] types;
    private final Set<String> everShared;
    private final Interpreter interpreter;
    private final FoldedResults folded;
    private final boolean[] isWrittenOnce;

    /**
     * Creates the folding of a block.
     *
     * @param types
     *            by value, its inferred type, to which folding adds types
     * @param everShared
     *            the variables that share memory at any point of the program
     * @param folded
     *            the results of earlier plans of the block
     */
    ShapeFolding(ValueNumbering accesses, ValueTable values, @Nullable ArgType[] types, Set<String> everShared,
            Interpreter interpreter, FoldedResults folded) {
        this.accesses = accesses;
        this.values = values;
        this.types = types;
        this.everShared = everShared;
        this.interpreter = interpreter;
        this.folded = folded;
        this.isWrittenOnce = accesses.isWrittenOnce();
    }

    /**
     * Returns whether the results of an operation depend only on shapes, are small and are used only within the run.
     *
     * @param results
     *            the types of the results
     */
    boolean isOfShapes(Access access, Operation schema, Map<String, List<@Nullable ArgType>> results) {
        for (int value : access.reads()) {
            Tensor constant = values.constant(value);
            if (!schema.isOfShape() && (constant == null || constant.shape().size() > MOST_FOLDED)) {
                return false;
            }
        }
        if (!isUsedWithin(access) || !access.isPure()) {
            return false;
        }
        long most = access.reads().length == 0 ? MOST_GIVEN : MOST_FOLDED;
        for (List<@Nullable ArgType> types : results.values()) {
            for (ArgType type : types) {
                if (type != null && type.spec().shape().size() > most) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Returns whether the results of an operation are used only within the run. */
    private boolean isUsedWithin(Access access) {
        for (int value : access.writes()) {
            if (everShared.contains(values.name(value)) || values.isPersistable(value) || values.isWanted(value)
                    || !isWrittenOnce[value]
                    || values.origin(value) != ValueNumbering.Origin.COMPUTED) {
                return false;
            }
        }
        return true;
    }

    /** Returns what the results of an operation follow from. */
    OperationInputs inputs(Access access, Operation schema) {
        return folded.inputs(access, schema, types, values);
    }

    /** Takes over the results of an operation, or of an equal one, that was folded before; false if there are none. */
    boolean isFolded(Access access, OperationInputs inputs) {
        FoldedResults.Folded known = folded.find(inputs);
        if (known == null || !isUsedWithin(access)) {
            return false;
        }
        for (int i = 0; i < known.types().length; i++) {
            int value = access.writes()[i];
            ArgType type = known.types()[i];
            values.constant(value, known.constants()[i]);
            values.spec(value, type.spec());
            types[value] = type;
        }
        return true;
    }

    /**
     * Returns whether an operation computes the same results whenever it is run, by kernels alone. A Java function may
     * be the user's own, which a plan runs when the program says so.
     */
    static boolean isFunction(Lowered lowered) {
        return lowered.shared().isEmpty() && lowered.aliases().isEmpty() && lowered.steps().stream()
                .allMatch(step -> step.work() instanceof Step.Work.Compute && step.inputs().stream()
                        .allMatch(input -> input == null || !(input.source() instanceof Operand.Source.RandomKey)));
    }

    /** Computes the results as constants. */
    void fold(Access access, OperationInputs inputs, Operation schema,
            Map<String, List<@Nullable ArgType>> results) {
        OpDesc op = access.op();
        BlockSession session =
                schema.isOfShape() ? null : ran(interpreter, accesses.block(), access.index(), constants(access));
        results.forEach((slot, list) -> {
            for (int i = 0; i < list.size(); i++) {
                ArgType type = list.get(i);
                String name = op.output(slot).get(i);
                if (type != null && !name.equals(GradientRule.EMPTY)) {
                    int value = access.written(name);
                    Object found = session == null ? null : session.find(name);
                    values.constant(value, found instanceof Tensor tensor ? tensor : ofShape(access, schema, type));
                    values.spec(value, type.spec());
                    types[value] = type;
                }
            }
        });
        folded.keep(access, inputs, types, values);
    }

    private Map<String, Tensor> constants(Access access) {
        Map<String, Tensor> constants = new HashMap<>();
        for (String name : access.op().inputNames()) {
            Tensor constant = access.read(name) < 0 ? null : values.constant(access.read(name));
            if (constant != null) {
                constants.put(name, constant);
            }
        }
        return constants;
    }

    /** Returns the session in which an operation of a block has run on constants. */
    static BlockSession ran(Interpreter interpreter, Block block, int index, Map<String, Tensor> constants) {
        BlockSession session = interpreter.session(block, Map.of(), 0, inner -> {
            throw new IllegalStateException("Arithmetic on shapes must not run blocks, but runs " + inner.block());
        });
        constants.forEach(session::set);
        session.run(index);
        return session;
    }

    private Tensor ofShape(Access access, Operation schema, ArgType type) {
        String input = schema.shapesOnly().iterator().next();
        ArgType of = types[access.read(access.op().input(input).getFirst())];
        if (of == null) {
            throw new IllegalStateException("The shape of '" + access.op().input(input) + "' is not known");
        }
        return Tensor.of(type.dtype(), schema.elementsOf(of.dims()), type.dims());
    }
}
