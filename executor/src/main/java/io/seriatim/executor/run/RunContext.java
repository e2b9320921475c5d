package io.seriatim.executor.run;

import io.seriatim.executor.ir.Bindings;
import io.seriatim.executor.ir.EndOfBatches;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.graph.interpret.BlockExecution;
import io.seriatim.graph.interpret.BlockSession;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One run: what it is given, and the session in which the interpreter does its part. The frames of inner blocks have
 * contexts of their own.
 *
 * @param externals
 *            what is fed or outside, as {@link ValueNumbering#externals} counts it
 * @param bindings
 *            where variables are set that are known outside
 * @param cancellation
 *            of the whole run
 * @param recording
 *            null if no one records
 * @param batches
 *            where operations {@code read} in inner blocks take their batches from
 */
@SuppressWarnings("ArrayRecordComponent")
public // Never compared.
record RunContext(@Nullable Object[] externals, Bindings bindings, Sessions sessions, Cancellation cancellation,
        @Nullable Recording recording, Batches batches) {
    /** Gives operations {@code read} their batches. */
    public interface Batches {
        /**
         * The next batch.
         *
         * @param read
         *            the operation
         * @param block
         *            the block it is in
         * @param reader
         *            what the scope holds under the name of its reader
         * @return a tensor for each variable of its slot Out
         * @throws EndOfBatches
         *             if there is none; the reader begins its data again
         */
        List<Tensor> next(OpDesc read, Block block, @Nullable Object reader) throws Exception;
    }

    /** Makes the session when it is needed: most runs need none. */
    public interface Sessions {
        /** The session of this run. */
        BlockSession get();
    }

    /** Of a program's first block. */
    public static final class Lazy implements Sessions {
        private final Interpreter interpreter;
        private final Block block;
        private final Map<String, Tensor> feeds;
        private final long run;
        private final BlockExecution blocks;
        private @Nullable BlockSession session;

        public Lazy(Interpreter interpreter, Block block, Map<String, Tensor> feeds, long run, BlockExecution blocks) {
            this.interpreter = interpreter;
            this.block = block;
            this.feeds = feeds;
            this.run = run;
            this.blocks = blocks;
        }

        @Override
        public synchronized BlockSession get() {
            BlockSession there = session;
            if (there == null) {
                there = interpreter.session(block, feeds, run, blocks);
                session = there;
            }
            return there;
        }
    }
}
