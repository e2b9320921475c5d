package io.seriatim.graph.interpret;

import io.seriatim.graph.op.PaddleRandom;
import io.seriatim.graph.parallel.Communicator;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The state of one run of a program: the program, its persistable variables, the feeds, the source of random numbers,
 * the files that it may use, the number of draws of each operation, the communicator, and what earlier runs have found
 * of its branches and loops.
 */
record RunState(Program program, OpRunner runner, Environment root, Environment global, Map<String, Tensor> feeds,
        long run,
        @Nullable PaddleRandom paddleRandom, AllowedFiles files, @Nullable BlockExecution blocks,
        Map<Long, Integer> draws, @Nullable Communicator communicator, ControlFacts facts) {
    RunState(Program program, OpRunner runner, Environment root, Environment global, Map<String, Tensor> feeds,
            long run,
            @Nullable PaddleRandom paddleRandom, AllowedFiles files) {
        this(program, runner, root, global, feeds, run, paddleRandom, files, null, null, new ControlFacts());
    }

    RunState(Program program, OpRunner runner, Environment root, Environment global, Map<String, Tensor> feeds,
            long run,
            @Nullable PaddleRandom paddleRandom, AllowedFiles files, @Nullable BlockExecution blocks,
            @Nullable Communicator communicator, ControlFacts facts) {
        this(program, runner, root, global, feeds, run, paddleRandom, files, blocks, new ConcurrentHashMap<>(),
                communicator, facts);
    }

    /** How many ranks run the program together; 0 without a communicator. */
    int ranks() {
        return communicator == null ? 0 : communicator.size();
    }
}
