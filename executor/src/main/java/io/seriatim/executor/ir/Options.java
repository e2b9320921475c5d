package io.seriatim.executor.ir;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.engine.Engine;
import io.seriatim.executor.trace.RunRecorder;
import io.seriatim.graph.interpret.AllowedFiles;
import io.seriatim.graph.op.PaddleRandom;
import io.seriatim.graph.parallel.Communicator;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The options by which plans are compiled and run; {@code Executor.Builder} describes each.
 *
 * @param passes
 *            the enabled passes
 * @param nan
 *            whether fused kernels may turn NaN into a number
 * @param engine
 *            the engine on which every task is pushed; null if the executor's own threads run the tasks
 * @param eager
 *            whether plans that are too small to benefit from several threads are also run in parallel
 * @param recorder
 *            the recorder of runs; null if they are not recorded
 * @param files
 *            the files that operations of programs may read and write
 * @param communicator
 *            the ranks among which operations communicate; null if there are none
 */
public record Options(Place place, Devices devices, int threads, boolean sequential, int cachedPlans,
        int specialisations, boolean nanCheck,
        @Nullable PaddleRandom paddleRandom, boolean inPlace, Set<PassName> passes, NanPolicy nan,
        boolean memoryPlan, ReleaseMode releaseMode,
        boolean ignoreUnknownFeeds, @Nullable Engine engine, boolean eager,
        @Nullable RunRecorder recorder, AllowedFiles files, @Nullable Communicator communicator) {
    /** Returns how many ranks run programs together; 0 without a communicator. */
    public int ranks() {
        return communicator == null ? 0 : communicator.size();
    }

    /** Returns whether tasks run one after the other in program order. */
    public boolean inOrder() {
        return engine == null && (sequential || threads == 1);
    }
}
