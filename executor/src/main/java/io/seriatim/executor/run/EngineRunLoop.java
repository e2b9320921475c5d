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
 * Pushes every task on an engine of the caller's: each mutates a variable of its own and reads those of the tasks that
 * it waits for. The engine's recorder, its checks and its order apply; an engine that shuffles finds a plan that lacks
 * a dependency.
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
            throw new IllegalStateException("The engine could not run the plan: " + e.getMessage(), e);
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
                // It has gone well.
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
            // One that waits for an inner block's plan has the interpreter for itself: what the engine runs meanwhile
            // must not need it.
            op = interpreted.access().runsBlocks() ? op.mutates(interpreter) : op.reads(interpreter);
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
     * Not all could be pushed, because the engine is closed, say: those that were use the frame until they have ended.
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

    /** The engine runs higher numbers first. */
    private static int priority(Task task) {
        return Math.clamp(-(long) Priorities.of(task), Integer.MIN_VALUE, Integer.MAX_VALUE);
    }

    /** After a failure nothing more is run. */
    private boolean run(Frame frame, int task, AtomicReference<@Nullable Throwable> failure) {
        if (failure.get() != null) {
            return false;
        }
        OpenRuns.Inside inside = runs.help();
        try {
            new TaskRunner(frame).run(task);
            return true;
        } catch (Throwable e) {
            // Errors too: the run ends, and says why.
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
