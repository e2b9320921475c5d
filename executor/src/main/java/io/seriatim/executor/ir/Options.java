package io.seriatim.executor.ir;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.engine.Engine;
import io.seriatim.executor.trace.RunRecorder;
import io.seriatim.graph.interpret.AllowedFiles;
import io.seriatim.graph.op.PaddleRandom;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How plans are made and run; {@code Executor.Builder} says what each means.
 *
 * @param passes
 *            what is done to operations
 * @param engine
 *            on which every task is pushed; null if the executor's own threads run them
 * @param eager
 *            whether threads work also on what is too small to gain by it
 * @param recorder
 *            null if runs are not recorded
 * @param files
 *            that operations of programs may read and write
 */
public record Options(Place place, Devices devices, int threads, boolean sequential, int cachedPlans,
        int specialisations, boolean nanCheck,
        @Nullable PaddleRandom paddleRandom, boolean inPlace, Set<PassName> passes, boolean relaxedNan,
        boolean memoryPlan, ReleaseMode releaseMode,
        boolean ignoreUnknownFeeds, @Nullable Engine engine, boolean eager,
        @Nullable RunRecorder recorder, AllowedFiles files) {
    /** Whether tasks run in the order of the program, one after the other. */
    public boolean inOrder() {
        return engine == null && (sequential || threads == 1);
    }
}
