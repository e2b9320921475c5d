package io.seriatim.executor.run;

import io.seriatim.device.Place;
import io.seriatim.executor.ir.EndOfBatches;
import io.seriatim.executor.ir.Failures;
import io.seriatim.executor.ir.RunFailure;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.executor.trace.RunLog;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.KernelContext;
import org.jspecify.annotations.Nullable;

/** Runs tasks of a frame on one thread, and reports failures with the name of the operation. */
final class TaskRunner {
    private final Frame frame;
    private final KernelContext kernels;
    private final Thread thread = Thread.currentThread();

    private final @Nullable RunLog log;
    private final int lane;

    TaskRunner(Frame frame) {
        this(frame, KernelContext.current());
    }

    TaskRunner(Frame frame, KernelContext kernels) {
        this.frame = frame;
        this.kernels = kernels;
        this.log = frame.log();
        this.lane = log == null ? 0 : log.thread(Place.CPU.toString());
    }

    /** Runs a task of the host, or launches one of a device. */
    void run(int task) {
        if (thread.isInterrupted()) {
            throw interrupted(frame.plan(), task);
        }
        if (frame.context().cancellation().isCancelled()) {
            CompiledPlan plan = frame.plan();
            throw frame.context().cancellation().ending(plan.accesses().block(),
                    plan.tasks().get(task).name() + " (task " + task + " of " + plan.tasks().size() + ")");
        }
        try {
            if (frame.isOnDevice(task)) {
                frame.queues().issue(task);
            } else if (log == null) {
                frame.execute(task, kernels);
            } else {
                log.started(task, lane);
                frame.execute(task, kernels);
                log.ended(task);
            }
        } catch (RunFailure | Cancellation.Signal | Cancellation.Stopped | EndOfBatches e) {
            throw e;
        } catch (InterruptedException e) {
            thread.interrupt();
            throw failure(task, e);
        } catch (Throwable e) {
            // Errors are caught too, because the other threads of the run wait for this one.
            throw failure(task, e);
        }
    }

    private RuntimeException failure(int index, Throwable e) {
        Task task = frame.plan().tasks().get(index);
        return task.operations().isEmpty()
                ? new RunFailure(task.name(),
                        "The transfer of '" + frame.plan().values().name(task.reads()[0]) + "' (" + task.name()
                                + ") failed: " + e.getMessage(),
                        e)
                : Failures.of(task.operations(), this::shape, e);
    }

    private @Nullable String shape(int value) {
        return frame.value(value) instanceof Tensor tensor ? Failures.shape(tensor.spec()) : null;
    }

    /** Runs a task after its run has failed, because another task of its group has already run. */
    static void complete(Frame frame, int task, Throwable thrown) {
        try {
            frame.execute(task, KernelContext.current());
        } catch (Exception | Error e) {
            thrown.addSuppressed(e);
        }
    }

    static RunFailure interrupted(CompiledPlan plan, int task) {
        String name = plan.tasks().get(task).name();
        return new RunFailure(name, "Interrupted before " + name + " (task " + task + " of " + plan.tasks().size()
                + "); no variable is partly updated: run the plan again", new InterruptedException());
    }
}
