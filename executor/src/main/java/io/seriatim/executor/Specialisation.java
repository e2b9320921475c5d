package io.seriatim.executor;

import io.seriatim.graph.op.Lowered;
import io.seriatim.graph.op.Operand;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Kernel;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A plan for given shapes: kernels, and where their memory is. Immutable; for many runs at once.
 *
 * @param instructions
 *            in the order of the program
 * @param specs
 *            for each value what it is, null where that is known at run time only
 * @param offsets
 *            for each value where it lies in the arena, −1 where it has memory of its own
 * @param temporaries
 *            for each instruction where the temporary memory of its operation lies
 * @param arenaBytes
 *            the size of the arena
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record Specialisation(List<Instruction> instructions, @Nullable TensorSpec[] specs, long[] offsets, long[][] temporaries, long arenaBytes) {
    /** What an operation comes down to. */
    sealed interface Instruction {
        /** What the operation touches. */
        Accesses.Access access();
    }

    /**
     * Steps with kernels.
     *
     * @param access
     *            what the operation touches
     * @param lowered
     *            its steps
     * @param kernels
     *            for each step its kernel, null for a call
     * @param copies
     *            outputs that are computed in temporary memory and then copied, since the operation reads the old value
     */
    record Compiled(Accesses.Access access, Lowered lowered, List<@Nullable Kernel> kernels,
            Map<Operand.Source.Output, Integer> copies) implements Instruction {
    }

    /**
     * What depends on values, runs blocks, or has effects: the interpreter does it.
     *
     * @param access
     *            what the operation touches
     */
    record Interpreted(Accesses.Access access) implements Instruction {
    }
}
