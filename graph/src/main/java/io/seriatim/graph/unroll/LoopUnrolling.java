package io.seriatim.graph.unroll;

import io.seriatim.graph.autodiff.RecordedControlFlow;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.lod.LodProgram;
import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Aliases;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Replaces loops that run a known, small number of times by the operations of their iterations, so that these are
 * compiled together with what precedes and follows them. Elements of lists that are written and read at known places
 * become variables.
 *
 * <p>
 * The result is a larger program, which takes longer to compile. So only programs whose feeds have declared sizes are
 * changed: they are compiled once.
 */
public final class LoopUnrolling {
    private static final int MOST = 256;
    private static final int MOST_IN_TRAINING = 1024;

    private LoopUnrolling() {
    }

    /**
     * Replaces the loops of a program's first block.
     *
     * @param program
     *            is not changed
     * @param fed
     *            the variables that a caller feeds
     * @param fetched
     *            the variables that a caller fetches
     * @param interpreter
     *            computes the numbers that count iterations
     * @return the program itself if nothing is replaced, otherwise a changed copy
     */
    public static Program of(Program program, Collection<String> fed, Collection<String> fetched,
            Interpreter interpreter) {
        List<OpDesc> ops = program.global().ops();
        if (ops.stream().noneMatch(op -> op.type().equals("while"))
                || !fed.stream().allMatch(name -> hasSizes(program.global().var(name)))
                || LodProgram.reads(program) || Aliases.areMadeBy(program)
                // Random numbers depend on the place of the operation that draws them.
                || program.blocks().stream().flatMap(block -> block.ops().stream()).anyMatch(LoopUnrolling::isRandom)) {
            return program;
        }
        KnownValues known = new KnownValues(interpreter);
        if (ops.stream().anyMatch(op -> op.type().equals("while_grad"))) {
            Program whole = recorded(program);
            if (whole != null && new Unroller(whole, fed, fetched, known, MOST_IN_TRAINING).run()
                    && whole.global().ops().stream().noneMatch(OpDesc::runsBlocks)) {
                return whole;
            }
        }
        Program copy = program.copy();
        return new Unroller(copy, fed, fetched, known, MOST).run() ? copy : program;
    }

    /** The program with gradients of loops that are ordinary loops; null if it cannot have them. */
    private static @Nullable Program recorded(Program program) {
        Program recorded = program.copy();
        Set<String> written = new HashSet<>();
        program.global().ops().forEach(op -> written.addAll(op.outputNames()));
        try {
            RecordedControlFlow.rewrite(recorded, written);
        } catch (IllegalArgumentException | UnsupportedOperationException e) {
            // Not all gradients can be written as loops.
            return null;
        }
        return recorded;
    }

    private static boolean isRandom(OpDesc op) {
        Operation schema = Operations.system().find(op.type());
        return schema == null || schema.effects().contains(Effect.RANDOM);
    }

    private static boolean hasSizes(@Nullable VarDesc feed) {
        return feed != null && feed.type() instanceof VarType.Dense
                && feed.tensor().dims().stream().allMatch(dim -> dim >= 0);
    }
}
