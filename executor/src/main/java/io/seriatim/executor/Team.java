package io.seriatim.executor;

import io.seriatim.tensor.kernel.KernelContext;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * One task after the other in the order of the program, large ones with several threads in the kernel: for plans that are one chain, whose tasks cannot run side by side. Teams that are busy at the same time halve
 * one another, so that of runs that overlap only the first has one.
 */
final class Team implements RunLoop {
    /** What a task must cost at least, as {@link Urgency} counts: some 30 µs. */
    private static final long LEAST = 300_000;
    /** What all tasks may cost together: some 2 ms. Longer ones gain by parts, as kernels without teams have them too. */
    private static final long MOST = 20_000_000;
    private static final int MOST_TASKS = 256;

    private final boolean[] isLarge;
    private final AtomicInteger running = new AtomicInteger();
    private final ThreadLocal<KernelContext> contexts;

    private Team(boolean[] isLarge, int threads) {
        this.isLarge = isLarge;
        this.contexts = ThreadLocal.withInitial(() -> new KernelContext(threads));
    }

    /** Whether tasks are better left whole for a team than split for threads that meet after each: what is short, one chain, and changes nothing that outlives its runs, so that no training depends on the number of threads. */
    static boolean suits(List<Task> tasks, ValueTable values, Supplier<int[][]> before, int threads) {
        if (tasks.size() > MOST_TASKS || changesScope(tasks, values)) {
            return false;
        }
        Urgency urgency = Urgency.of(tasks, Dependencies.after(before.get()), values);
        return urgency.sum() < MOST && urgency.gain(threads) == Urgency.Gain.NONE;
    }

    private static boolean changesScope(List<Task> tasks, ValueTable values) {
        return tasks.stream().flatMapToInt(task -> Arrays.stream(task.writes())).anyMatch(values::isPersistable);
    }

    /** One thread does all where no task is large, or where a task changes what outlives the run. */
    static RunLoop of(Specialisation plan, int threads) {
        boolean[] isLarge = new boolean[plan.tasks().size()];
        boolean some = false;
        for (int i = 0; i < isLarge.length; i++) {
            isLarge[i] = plan.tasks().get(i) instanceof Task.Compute compute
                    && compute.stages().stream().anyMatch(stage -> Urgency.cost(stage) >= LEAST);
            some |= isLarge[i];
        }
        return some && !changesScope(plan.tasks(), plan.values()) ? new Team(isLarge, threads) : new Serial();
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
