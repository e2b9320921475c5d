package io.seriatim.executor.run;

import io.seriatim.executor.ir.Bindings;
import io.seriatim.executor.ir.EndOfBatches;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.graph.interpret.BlockExecution;
import io.seriatim.graph.interpret.BlockSession;
import io.seriatim.graph.interpret.ControlFacts;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The context of one run: its external values, and the session of the interpreter. Runs of nested blocks have separate
 * contexts.
 *
 * @param externals
 *            the values that are fed or defined outside of the block, in the order of {@link ValueNumbering#externals}
 * @param bindings
 *            stores variables that outlive the run
 * @param cancellation
 *            the cancellation of the whole run, shared by all nested runs
 * @param sessions
 *            creates the session of the interpreter
 * @param recording
 *            the recording of the run; null if it is not recorded
 * @param batches
 *            supplies the batches for {@code read} operations in nested blocks
 * @param nested
 *            the plans of the blocks of branches and loops that run on values by index; null if variables may share
 *            memory
 * @param iteration
 *            the iteration of a loop that the run is; null if it is none, or only a part of one
 */
@SuppressWarnings("ArrayRecordComponent")
public // Never compared.
record RunContext(@Nullable Object[] externals, Bindings bindings, Sessions sessions, Cancellation cancellation,
        @Nullable Recording recording, Batches batches, @Nullable Function<Block, NestedBlock> nested,
        BlockSession.@Nullable Iteration iteration) {
    /** Creates the context of a run whose blocks run with variables by name. */
    public RunContext(@Nullable Object[] externals, Bindings bindings, Sessions sessions, Cancellation cancellation,
            @Nullable Recording recording, Batches batches) {
        this(externals, bindings, sessions, cancellation, recording, batches, null, null);
    }

    /** Creates the context of a run that is no iteration of a loop. */
    public RunContext(@Nullable Object[] externals, Bindings bindings, Sessions sessions, Cancellation cancellation,
            @Nullable Recording recording, Batches batches, @Nullable Function<Block, NestedBlock> nested) {
        this(externals, bindings, sessions, cancellation, recording, batches, nested, null);
    }

    /** Supplies batches to {@code read} operations. */
    public interface Batches {
        /**
         * Takes the next batch.
         *
         * @param read
         *            the operation
         * @param block
         *            the block of the operation
         * @param reader
         *            the value of the reader's variable in the scope
         * @return a tensor for each variable of the slot {@code Out}
         * @throws EndOfBatches
         *             at the end of the data; the reader then restarts its data
         */
        List<Tensor> next(OpDesc read, Block block, @Nullable Object reader) throws Exception;
    }

    /** The context of a plan that continues this run with other external values, for a block or a form of it. */
    @SuppressWarnings("ReferenceEquality") // A form of a block has the same index.
    RunContext with(@Nullable Object[] others, Block form) {
        Sessions of = () -> {
            BlockSession session = sessions.get();
            return session.block() == form ? session : session.as(form);
        };
        return new RunContext(others, bindings, of, cancellation, recording, batches, nested);
    }

    /** The context of a block of this one that runs on values by index. */
    RunContext inside(@Nullable Object[] others, Bindings variables, Sessions session,
            BlockSession.@Nullable Iteration of) {
        return new RunContext(others, variables, session, cancellation, recording, batches, nested, of);
    }

    /** Creates the session of the interpreter when it is first needed; most runs need none. */
    public interface Sessions {
        /** Returns the session of this run. */
        BlockSession get();
    }

    /** Creates the session of a program's global block. */
    public static final class Lazy implements Sessions {
        private final Interpreter interpreter;
        private final Block block;
        private final Map<String, Tensor> feeds;
        private final long run;
        private final BlockExecution blocks;
        private final ControlFacts facts;
        private @Nullable BlockSession session;

        public Lazy(Interpreter interpreter, Block block, Map<String, Tensor> feeds, long run, BlockExecution blocks) {
            this(interpreter, block, feeds, run, blocks, new ControlFacts());
        }

        /** Creates that of a program that runs often, with what is known of its branches and loops. */
        public Lazy(Interpreter interpreter, Block block, Map<String, Tensor> feeds, long run, BlockExecution blocks,
                ControlFacts facts) {
            this.interpreter = interpreter;
            this.block = block;
            this.feeds = feeds;
            this.run = run;
            this.blocks = blocks;
            this.facts = facts;
        }

        @Override
        public synchronized BlockSession get() {
            BlockSession there = session;
            if (there == null) {
                there = interpreter.session(block, feeds, run, blocks, facts);
                session = there;
            }
            return there;
        }
    }
}
