package io.seriatim.executor.run;

import io.seriatim.engine.Engine;
import io.seriatim.engine.Lane;
import io.seriatim.executor.ir.Options;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.executor.schedule.CriticalPaths;
import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.Operations;
import org.jspecify.annotations.Nullable;

/**
 * Owns the threads of an executor, and selects the run loop of each plan: on an engine of the caller, serial, or
 * parallel over tasks.
 */
public final class RunLoopChoice implements AutoCloseable {
    private final Options options;
    private final OpenRuns openRuns;
    private final @Nullable Engine engine;
    private final @Nullable HelperPool helpers;

    /** Starts the helper threads, if the options require any. */
    public RunLoopChoice(Options options, OpenRuns openRuns) {
        this.options = options;
        this.openRuns = openRuns;
        this.engine = options.threads() == 1 || options.engine() != null
                ? null
                : Engine.builder().perDevice().workers(Lane.CPU, options.threads() - 1).name("executor").build();
        this.helpers = engine == null ? null : new HelperPool(engine, openRuns, options.threads() - 1);
    }

    /** Returns the loop that executes the runs of a plan. */
    public RunLoop of(CompiledPlan plan) {
        Engine pushed = options.engine();
        if (pushed != null) {
            return new EngineRunLoop(pushed, openRuns);
        }
        HelperPool pool = helpers;
        if (pool == null || options.sequential()) {
            return new RunLoop.Serial();
        }
        CriticalPaths paths = CriticalPaths.of(plan);
        ParallelRunLoop parallel = new ParallelRunLoop(plan, paths, pool, options.threads());
        if (options.eager() || communicates(plan)) {
            return parallel;
        }
        return switch (paths.gain(options.threads())) {
            case NONE -> new RunLoop.Serial();
            case UNCERTAIN -> ThreadAutotuner.ofTrials(new RunLoop.Serial(), parallel, options.threads());
            case LARGE -> ThreadAutotuner.ofMany(new RunLoop.Serial(), parallel, options.threads());
        };
    }

    /** Returns whether a plan waits for other ranks, during which another thread should compute. */
    private boolean communicates(CompiledPlan plan) {
        return options.communicator() != null && plan.tasks().stream().flatMap(task -> task.operations().stream())
                .anyMatch(access -> Operations.system().get(access.op().type()).effects()
                        .contains(Effect.COMMUNICATION));
    }

    /** Ends the threads. No run may be in progress. */
    @Override
    public void close() {
        if (engine != null) {
            HelperPool.close(engine);
        }
    }
}
