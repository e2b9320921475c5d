package io.seriatim.executor.run;

import io.seriatim.engine.Engine;
import io.seriatim.engine.OpBuilder;
import io.seriatim.engine.Var;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.executor.schedule.Priorities;
import java.util.Arrays;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Pushes each task as an operation on an engine of the caller. The operation of a task mutates the engine variable of
 * that task and reads the variables of its dependencies. The engine's recorder, checks and order apply, so an engine
 * that shuffles operations reveals a missing dependency of a plan.
 */
public final class EngineRunLoop implements RunLoop {
    private final Engine engine;
    private final OpenRuns runs;

    public EngineRunLoop(Engine engine, OpenRuns runs) {
        this.engine = engine;
        this.runs = runs;
    }

    @Override
    public void run(Frame frame) {
        int count = frame.plan().tasks().size();
        Var[] ended = new Var[count];
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        for (int i = 0; i < count; i++) {
            ended[i] = engine.newVar();
        }
        Var end = engine.newVar();
        Var interpreter = engine.newVar();
        boolean pushed = false;
        try {
            for (int i = 0; i < count; i++) {
                push(frame, i, ended, interpreter, failure);
            }
            engine.op("end of a run").reads(ended).mutates(end).submit(() -> {
            }).join();
            pushed = true;
        } catch (CompletionException e) {
            throw new IllegalStateException("The engine did not run all tasks of the plan: " + e.getMessage(), e);
        } finally {
            if (!pushed) {
                failure.compareAndSet(null, new Cancellation.Signal());
                awaitAll(ended);
            }
        }
        for (Var var : ended) {
            engine.delete(var);
        }
        engine.delete(end);
        engine.delete(interpreter);
        switch (failure.get()) {
            case null -> {
                // All tasks have completed.
            }
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case Throwable e ->
                throw new IllegalStateException("The engine could not run the plan: " + e.getMessage(), e);
        }
    }

    private void push(Frame frame, int task, Var[] ended, Var interpreter,
            AtomicReference<@Nullable Throwable> failure) {
        CompiledPlan plan = frame.plan();
        Var[] before = Arrays.stream(plan.before()[task]).mapToObj(other -> ended[other]).toArray(Var[]::new);
        OpBuilder op = engine.op(plan.tasks().get(task).name()).reads(before).mutates(ended[task])
                .priority(priority(plan.tasks().get(task)));
        if (plan.tasks().get(task) instanceof Task.Interpreted interpreted) {
            // A task that waits for the plan of a block gets exclusive use of the interpreter: an operation that the
            // engine runs meanwhile on the same thread must not need it.
            op = interpreted.access().runsBlocks() ? op.mutates(interpreter) : op.reads(interpreter);
        }
        if (plan.tasks().get(task) instanceof Task.Rest) {
            op = op.mutates(interpreter);
        }
        if (frame.isOnDevice(task)) {
            op.pushAsync(done -> {
                if (run(frame, task, failure) && plan.streams().recorded()[task]) {
                    frame.queues().event(task).onDone(_ -> done.complete());
                } else {
                    done.complete();
                }
            });
        } else {
            op.push(() -> run(frame, task, failure));
        }
    }

    /**
     * Waits for the tasks that were pushed, if not all could be pushed, for example because the engine is closed. They
     * use the frame until they end.
     */
    private void awaitAll(Var[] ended) {
        boolean interrupted = false;
        for (int i = 0; i < ended.length;) {
            try {
                engine.waitToWrite(ended[i]);
                i++;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns the engine's priority of a task. The engine runs higher priorities first. */
    private static int priority(Task task) {
        return Math.clamp(-(long) Priorities.of(task), Integer.MIN_VALUE, Integer.MAX_VALUE);
    }

    /** Runs a task, unless another task has failed. Returns whether it completed. */
    private boolean run(Frame frame, int task, AtomicReference<@Nullable Throwable> failure) {
        if (failure.get() != null) {
            return false;
        }
        OpenRuns.Inside inside = runs.help();
        try {
            new TaskRunner(frame).run(task);
            return true;
        } catch (Throwable e) {
            // Errors are caught too, so that the run ends and reports them.
            Throwable first = failure.compareAndExchange(null, e);
            if (first != null && !first.equals(e)) {
                first.addSuppressed(e);
            }
            return false;
        } finally {
            runs.end(inside);
        }
    }
}
