package io.seriatim.executor;

import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a plan is made of for given feeds, to be measured: its kernels in a plain loop, and its memory. It has memory of its own beside that of the plan's runs, but works on the same scope, so that
 * neither a run of the plan nor another loop may be under way at the same time.
 */
public final class PlanProbe implements AutoCloseable {
    private final Frame frame;
    private final @Nullable Kernel[] kernels;
    private final @Nullable Tensor[][] arguments;
    private final int[] numbers;
    private final int operations;
    private final Memory memory;

    /** The bytes of temporaries: of all together, and of those that live at the same time. */
    private record Memory(long arena, long sum, long largest) {
    }

    private PlanProbe(Frame frame, Specialisation specialisation, Lifetimes lifetimes) {
        List<Frame.Call> calls = frame.calls();
        this.frame = frame;
        this.kernels = calls.stream().map(Frame.Call::kernel).toArray(Kernel[]::new);
        this.arguments = calls.stream().map(Frame.Call::arguments).toArray(Tensor[][]::new);
        this.numbers = calls.stream().mapToInt(Frame.Call::operation).toArray();
        this.operations = specialisation.instructions().size();
        this.memory = memory(specialisation, lifetimes);
    }

    /**
     * Looks into a plan. Nothing is run.
     *
     * @param plan
     *            on the executor's scope, which holds what the program needs
     * @param feeds
     *            one for each feed, in order
     * @return what it is made of
     */
    public static PlanProbe of(Plan plan, Tensor... feeds) {
        return plan.probe(feeds);
    }

    static PlanProbe of(Frame frame, Specialisation specialisation, Lifetimes lifetimes) {
        return new PlanProbe(frame, specialisation, lifetimes);
    }

    private static Memory memory(Specialisation specialisation, Lifetimes lifetimes) {
        int operations = specialisation.instructions().size();
        long[] change = new long[operations + 2];
        long sum = 0;
        for (int i = 0; i < specialisation.specs().length; i++) {
            TensorSpec spec = specialisation.specs()[i];
            if (specialisation.offsets()[i] >= 0 && spec != null) {
                sum += spec.bytes();
                change[lifetimes.first()[i]] += spec.bytes();
                change[lifetimes.last()[i] + 1] -= spec.bytes();
            }
        }
        long live = 0;
        long largest = 0;
        for (int i = 0; i < operations; i++) {
            live += change[i];
            long scratch = specialisation.instructions().get(i) instanceof Specialisation.Compiled compiled
                    ? compiled.lowered().temporaries().stream().mapToLong(TensorSpec::bytes).sum()
                    : 0;
            sum += scratch;
            largest = Math.max(largest, live + scratch);
        }
        return new Memory(specialisation.arenaBytes(), sum, largest);
    }

    /**
     * The plan's kernels with their arguments, one after the other in the order of the program, on the calling thread: what no plan can be faster than with one thread. What has no kernels, such as an operation
     * that runs blocks, is run as a plan does it.
     *
     * @param kernelThreads
     *            how many threads each kernel may use, where it can use several
     * @return of one thread at a time
     */
    public Runnable bareLoop(int kernelThreads) {
        KernelContext context = new KernelContext(kernelThreads);
        return () -> {
            for (int i = 0; i < kernels.length; i++) {
                Kernel kernel = kernels[i];
                if (kernel != null) {
                    kernel.run(arguments[i], context);
                } else {
                    execute(numbers[i], context);
                }
            }
        };
    }

    private void execute(int operation, KernelContext context) {
        try {
            frame.execute(operation, context);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("Operation " + operation + " failed in the bare loop: " + e.getMessage(), e);
        }
    }

    /**
     * The size of a run's memory.
     *
     * @return in bytes
     */
    public long arenaBytes() {
        return memory.arena();
    }

    /**
     * What a run's memory would be if each temporary had its own.
     *
     * @return in bytes
     */
    public long temporaryBytes() {
        return memory.sum();
    }

    /**
     * The most that lives at the same time in the order of the program: what no layout can be smaller than.
     *
     * @return in bytes
     */
    public long largestLiveSet() {
        return memory.largest();
    }

    /**
     * How many operations the plan runs.
     *
     * @return without feed and fetch
     */
    public int operations() {
        return operations;
    }

    /**
     * How many kernels these come down to.
     *
     * @return how many kernels the bare loop runs
     */
    public int kernels() {
        return (int) Arrays.stream(kernels).filter(Objects::nonNull).count();
    }

    /** Frees its memory; its loops may not run after that. */
    @Override
    public void close() {
        frame.close();
    }
}
