package io.seriatim.executor;

import io.seriatim.executor.ir.Task;
import io.seriatim.executor.run.Cancellation;
import io.seriatim.executor.run.Frame;
import io.seriatim.executor.run.RunContext;
import io.seriatim.executor.run.Work;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.graph.interpret.BlockExecution;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a plan is made of for given feeds, to be measured: its kernels in a plain loop, and its memory. It has memory of
 * its own beside that of the plan's runs, but works on the executor's scope, so that neither a run of the plan nor
 * another loop may be under way at the same time.
 */
public final class PlanProbe implements AutoCloseable {
    private static final BlockExecution NO_BLOCKS = session -> {
        throw new IllegalStateException(
                "Block " + session.block().index()
                        + " has a plan of its own: a program that runs blocks has no bare loop");
    };

    private final CompiledPlan plan;
    private final Frame frame;
    private final RunContext context;
    private final Work[] works;

    private PlanProbe(Plan plan, Tensor... feeds) {
        Executor executor = plan.executor();
        Scope scope = executor.scope();
        Map<String, Tensor> fed = LinkedHashMap.newLinkedHashMap(feeds.length);
        this.plan = plan.specialisation(scope, feeds);
        for (int i = 0; i < feeds.length; i++) {
            fed.put(plan.feeds().names().get(i), feeds[i]);
        }
        this.context = new RunContext(plan.externals(this.plan.accesses(), scope, fed), scope.bindings(),
                new RunContext.Lazy(executor.interpreter(), plan.program().global(), fed, 0, NO_BLOCKS),
                new Cancellation(), null, ReadInstruction::next);
        this.frame = new Frame(this.plan, executor.options(), executor.streams());
        frame.begin(context, null);
        List<Work> all = new ArrayList<>();
        for (int i = 0; i < this.plan.tasks().size(); i++) {
            frame.allocate(i);
            all.addAll(Arrays.asList(frame.works(i)));
        }
        this.works = all.toArray(Work[]::new);
    }

    /**
     * Looks into a plan. Nothing is run.
     *
     * @param plan
     *            on the processor; the executor's scope holds what the program needs
     * @param feeds
     *            one for each feed, in order
     * @return what it is made of
     * @throws IllegalArgumentException
     *             if a value is missing or does not fit its variable
     */
    public static PlanProbe of(Plan plan, Tensor... feeds) {
        return new PlanProbe(plan, feeds);
    }

    /**
     * Makes an executor run in parallel also what is too small to gain by it, so that what its threads cost can be
     * measured.
     *
     * @param builder
     *            of an executor of several threads
     * @return the builder
     */
    public static Executor.Builder eager(Executor.Builder builder) {
        return builder.eager();
    }

    /**
     * The plan's kernels with their arguments, one after the other in the order of the program, on the calling thread:
     * what no plan can be faster than with one thread. A plan in which something is more than kernels on planned
     * memory, such as an operation whose shape its input's values decide, is run as with one thread.
     *
     * @param kernelThreads
     *            how many threads each kernel may use, where it can use several
     * @return of one thread at a time
     */
    public Runnable bareLoop(int kernelThreads) {
        KernelContext kernels = new KernelContext(kernelThreads);
        if (!isPlanned()) {
            return () -> runAll(kernels);
        }
        Kernel[] all = Arrays.stream(works).map(work -> Objects.requireNonNull(work.kernel())).toArray(Kernel[]::new);
        @Nullable
        Tensor[][] arguments = Arrays.stream(works).map(Work::arguments).toArray(Tensor[][]::new);
        return () -> {
            frame.change();
            for (int i = 0; i < all.length; i++) {
                all[i].run(arguments[i], kernels);
            }
        };
    }

    /** Whether all that there is are kernels, and all memory is known before a run. */
    private boolean isPlanned() {
        return plan.tasks().stream().allMatch(Task.Compute.class::isInstance)
                && Arrays.stream(works).allMatch(work -> work.kernel() != null)
                && Arrays.stream(plan.releases().after()).allMatch(after -> after.length == 0);
    }

    private void runAll(KernelContext kernels) {
        frame.begin(context, null);
        try {
            for (int i = 0; i < plan.tasks().size(); i++) {
                frame.execute(i, kernels);
            }
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("A task has failed: " + e.getMessage(), e);
        } finally {
            frame.end();
        }
    }

    /**
     * The size of the memory that a run has for its temporaries.
     *
     * @return in bytes
     */
    public long arenaBytes() {
        return plan.memory().arenaBytes();
    }

    /**
     * What that would be if each temporary had memory of its own.
     *
     * @return in bytes
     */
    public long temporaryBytes() {
        return plan.memory().sum();
    }

    /**
     * The most that lives at the same time in the order of the program: what no layout can be smaller than.
     *
     * @return in bytes
     */
    public long largestLiveSet() {
        return plan.memory().live();
    }

    /**
     * How many operations the plan runs.
     *
     * @return without feed and fetch
     */
    public int operations() {
        return plan.accesses().operations().size();
    }

    /**
     * How many kernels these come down to.
     *
     * @return without what is interpreted
     */
    public int kernels() {
        return (int) Arrays.stream(works).filter(work -> work.kernel() != null).count();
    }

    /** Frees its memory; its loops may not run after that. */
    @Override
    public void close() {
        frame.end();
        frame.close();
    }
}
