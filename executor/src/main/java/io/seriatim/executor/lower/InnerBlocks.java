package io.seriatim.executor.lower;

import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.graph.interpret.BlockSession;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of loops and branches: how their values are numbered, and which variables from outside are constants for
 * them. Such a variable is small, the program writes it once, in the global block, by an operation that reads nothing,
 * and no run is given it. With constants, the types of slices, paddings and the like are known when a block is
 * compiled.
 */
public final class InnerBlocks {
    private final Program program;
    private final Interpreter interpreter;
    private final Map<String, Set<Integer>> mentions;
    /** By name, the index of the operation that computes a constant. */
    private final Map<String, Integer> constants = new HashMap<>();

    private InnerBlocks(Program program, Interpreter interpreter) {
        this.program = program;
        this.interpreter = interpreter;
        this.mentions = ValueNumbering.mentions(program);
    }

    /**
     * Examines a program.
     *
     * @param given
     *            the variables that runs are given
     * @param makesAliases
     *            whether a variable may be written under another name; nothing is a constant then
     */
    public static InnerBlocks of(Program program, Set<String> given, boolean makesAliases, Interpreter interpreter) {
        InnerBlocks blocks = new InnerBlocks(program, interpreter);
        if (!makesAliases) {
            blocks.findConstants(given);
        }
        return blocks;
    }

    private void findConstants(Set<String> given) {
        Block global = program.global();
        Map<String, Integer> writers = new HashMap<>();
        Set<String> inner = new HashSet<>();
        for (Block block : program.blocks()) {
            if (block != global) {
                block.vars().forEach(variable -> inner.add(variable.name()));
            }
            for (OpDesc op : block.ops()) {
                op.outputNames().forEach(name -> writers.merge(name, 1, Integer::sum));
            }
        }
        for (int i = 0; i < global.ops().size(); i++) {
            OpDesc op = global.ops().get(i);
            Operation schema = Operations.system().find(op.type());
            if (schema != null && schema.isLowered() && op.inputNames().isEmpty()
                    && Operations.system().isPure(op, program, true)) {
                for (String name : op.outputNames()) {
                    if (writers.getOrDefault(name, 0) == 1 && !given.contains(name) && !inner.contains(name)
                            && isSmall(global.var(name))) {
                        constants.put(name, i);
                    }
                }
            }
        }
    }

    private static boolean isSmall(@Nullable VarDesc variable) {
        if (variable == null || variable.isPersistable() || !(variable.type() instanceof VarType.Dense dense)) {
            return false;
        }
        double size = 1;
        for (long dim : dense.tensor().shape()) {
            size *= dim < 0 ? Double.POSITIVE_INFINITY : dim;
        }
        return size <= ShapeFolding.MOST_FOLDED;
    }

    /** Numbers the values of a block. */
    public ValueNumbering numbered(Block block) {
        return ValueNumbering.inner(block, mentions);
    }

    /** Returns the variables from outside of a block that are constants, by name. */
    public Map<String, Tensor> constants(ValueNumbering accesses) {
        Map<String, Tensor> found = new HashMap<>();
        for (int value : accesses.externals()) {
            String name = accesses.values().get(value).name();
            Integer index = constants.get(name);
            if (index != null && compute(index, name) instanceof Tensor tensor) {
                found.put(name, tensor);
            }
        }
        return found;
    }

    private @Nullable Object compute(int index, String name) {
        BlockSession session = interpreter.session(program.global(), Map.of(), 0, block -> {
            throw new IllegalStateException("A constant must not run blocks, but runs " + block.block());
        });
        session.run(index);
        return session.find(name);
    }
}
