package io.seriatim.executor.run;

import io.seriatim.executor.ir.Task;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.executor.schedule.CriticalPaths;
import io.seriatim.executor.schedule.IntraOpChoice;
import io.seriatim.tensor.kernel.KernelContext;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs tasks in program order, and large tasks with several threads within the kernel. It is for plans that are a
 * single chain, whose tasks cannot run in parallel. Of concurrent runs of a plan, only the first uses several threads,
 * because two thread teams would compete for the same processors.
 */
public final class IntraOpLoop implements RunLoop {
    /** The minimum cost of a large task, in the unit of {@link CriticalPaths}: about 30 µs. */
    private static final long LEAST = 300_000;

    private final boolean[] isLarge;
    private final AtomicInteger running = new AtomicInteger();
    private final ThreadLocal<KernelContext> contexts;

    private IntraOpLoop(boolean[] isLarge, int threads) {
        this.isLarge = isLarge;
        this.contexts = ThreadLocal.withInitial(() -> new KernelContext(threads));
    }

    /**
     * Returns a loop for a plan: a serial loop if no task is large, or if a task changes a variable that outlives the
     * run.
     */
    public static RunLoop of(CompiledPlan plan, int threads) {
        boolean[] isLarge = new boolean[plan.tasks().size()];
        boolean some = false;
        for (int i = 0; i < isLarge.length; i++) {
            isLarge[i] = plan.tasks().get(i) instanceof Task.Compute compute
                    && compute.stages().stream().anyMatch(stage -> CriticalPaths.cost(stage) >= LEAST);
            some |= isLarge[i];
        }
        return some && !IntraOpChoice.changesScope(plan.tasks(), plan.values())
                ? new IntraOpLoop(isLarge, threads)
                : new Serial();
    }

    @Override
    public void run(Frame frame) {
        boolean alone = running.getAndIncrement() == 0;
        try {
            TaskRunner single = new TaskRunner(frame, KernelContext.current());
            TaskRunner several = alone ? new TaskRunner(frame, contexts.get()) : single;
            for (int i = 0; i < isLarge.length; i++) {
                (isLarge[i] ? several : single).run(i);
            }
        } finally {
            running.getAndDecrement();
        }
    }
}
