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
 * Gives benchmarks access to the kernels and the memory plan of a plan for given feeds. A probe has its own arenas but
 * uses the variables of the executor's scope. No run of the plan and no other loop may execute at the same time.
 */
public final class PlanProbe implements AutoCloseable {
    private static final BlockExecution NO_BLOCKS = session -> {
        throw new IllegalStateException(
                "Block " + session.block().index()
                        + " has a plan of its own: a bare loop requires a program that runs no blocks");
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
        this.frame = Frame.alone(this.plan, executor.options(), executor.streams());
        frame.begin(context, null);
        List<Work> all = new ArrayList<>();
        for (int i = 0; i < this.plan.tasks().size(); i++) {
            frame.allocate(i);
            all.addAll(Arrays.asList(frame.works(i)));
        }
        this.works = all.toArray(Work[]::new);
    }

    /**
     * Compiles a plan for given feeds. No operation is run.
     *
     * @param plan
     *            a plan for the processor; the executor's scope must hold the variables that it reads
     * @param feeds
     *            the values of the feeds, in order
     * @return a probe
     * @throws BadRequestException
     *             if a value is missing or closed, or if its type or shape does not match that of its variable
     */
    public static PlanProbe of(Plan plan, Tensor... feeds) {
        return new PlanProbe(plan, feeds);
    }

    /**
     * Makes an executor run plans in parallel even if they are too small to benefit, so that the overhead of its
     * threads can be measured.
     *
     * @param builder
     *            the builder of an executor with several threads
     * @return the builder
     */
    public static Executor.Builder eager(Executor.Builder builder) {
        return builder.eager();
    }

    /**
     * Returns a loop that calls the plan's kernels in program order on the calling thread, without any scheduling. It
     * is a lower bound for the time of the plan with one thread. A plan that does not consist only of kernels on
     * planned memory, for example because it contains an operation whose output shape depends on the values of its
     * input, is executed as by an executor with one thread.
     *
     * @param kernelThreads
     *            the maximum number of threads of each kernel
     * @return the loop, which must not run on two threads at the same time
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

    /** Returns whether the plan consists only of kernels whose memory is planned. */
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
     * Returns the size of the arenas for the temporaries of a run.
     *
     * @return the number of bytes
     */
    public long arenaBytes() {
        return plan.memory().arenaBytes();
    }

    /**
     * Returns the size of all temporaries, which the arenas would have if no two temporaries shared memory.
     *
     * @return the number of bytes
     */
    public long temporaryBytes() {
        return plan.memory().sum();
    }

    /**
     * Returns the maximum size of the temporaries that are live at the same time in program order, which is a lower
     * bound for the size of the arenas.
     *
     * @return the number of bytes
     */
    public long largestLiveSet() {
        return plan.memory().live();
    }

    /**
     * Returns the number of operations of the program.
     *
     * @return the number, without feed and fetch operations
     */
    public int operations() {
        return plan.accesses().operations().size();
    }

    /**
     * Returns the number of kernels that the plan runs.
     *
     * @return the number, without interpreted operations
     */
    public int kernels() {
        return (int) Arrays.stream(works).filter(work -> work.kernel() != null).count();
    }

    /** Frees the memory of the probe. Its loops must not run afterwards. */
    @Override
    public void close() {
        frame.end();
        frame.close();
    }
}
