package io.seriatim.graph.ops.random;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.PaddleRandom;
import io.seriatim.tensor.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * The generator of an operation that draws on the host, number by number. With a seed it is the same in each run, and
 * Paddle's; without, it is that of the process in Paddle if the run-time draws as Paddle does, and otherwise one of the
 * operation's own in each run.
 *
 * @param shared
 *            the generator of the process, or null
 * @param seed
 *            0 for none
 */
public record RunGenerator(@Nullable PaddleRandom shared, long seed) {
    /**
     * The generator of an operation.
     *
     * @param l
     *            its lowering
     * @param seed
     *            0 for none
     * @return a rule for each run
     */
    public static RunGenerator of(Lowering l, long seed) {
        return new RunGenerator(l.paddleRandom(), seed);
    }

    /**
     * The generator for a run.
     *
     * @param key
     *            the key of the operation's random numbers in the run
     * @return at the place where this run begins to draw
     */
    public PaddleRandom start(Tensor key) {
        if (seed != 0) {
            return new PaddleRandom(seed);
        }
        if (shared != null) {
            return shared;
        }
        long[] words = key.toLongArray();
        return new PaddleRandom(words[0] * 0x9E3779B97F4A7C15L + words[1]);
    }
}
