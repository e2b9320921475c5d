package io.seriatim.executor.run;

import io.seriatim.executor.ir.Task;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.executor.schedule.CriticalPaths;
import io.seriatim.executor.schedule.IntraOpChoice;
import io.seriatim.tensor.kernel.KernelContext;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One task after the other in the order of the program, large ones with several threads in the kernel: for plans that
 * are one chain, whose tasks cannot run side by side. Teams that are busy at the same time halve one another, so that
 * of runs that overlap only the first has one.
 */
public final class IntraOpLoop implements RunLoop {
    /** What a task must cost at least, as {@link CriticalPaths} counts: some 30 µs. */
    private static final long LEAST = 300_000;

    private final boolean[] isLarge;
    private final AtomicInteger running = new AtomicInteger();
    private final ThreadLocal<KernelContext> contexts;

    private IntraOpLoop(boolean[] isLarge, int threads) {
        this.isLarge = isLarge;
        this.contexts = ThreadLocal.withInitial(() -> new KernelContext(threads));
    }

    /** One thread does all where no task is large, or where a task changes what outlives the run. */
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
