package io.seriatim.graph;

import io.seriatim.graph.op.PaddleRandom;
import io.seriatim.tensor.Tensor;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What one run of a program knows: the program, where its persistable variables are, what was fed, and from where random numbers come. */
record RunState(Program program, OpRunner runner, Environment root, Environment global, Map<String, Tensor> feeds, long run,
        @Nullable PaddleRandom paddleRandom) {
}
