package io.seriatim.benchmarks.executor;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Plan;
import io.seriatim.executor.PlanProbe;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A plan with its own executor and feeds. A call runs the plan once and closes the results. */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record PlanRun(Executor executor, Plan plan, Tensor[] feeds) implements Runnable, AutoCloseable {
    /** Compiles a program after running its startup program. */
    static PlanRun of(Executor executor, @Nullable Program startup, Program main, List<String> names, String fetch,
            Tensor... feeds) {
        if (startup != null) {
            executor.run(startup);
        }
        return new PlanRun(executor,
                executor.compile(main, Executor.feeds(names.toArray(String[]::new)), Executor.fetches(fetch)), feeds);
    }

    @Override
    public void run() {
        plan.run(feeds).all().values().forEach(Tensor::close);
    }

    PlanProbe probe() {
        return PlanProbe.of(plan, feeds);
    }

    @Override
    public void close() {
        executor.close();
    }
}
