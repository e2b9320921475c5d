package io.seriatim.executor;

import io.seriatim.engine.Engine;
import io.seriatim.engine.OpBuilder;
import io.seriatim.engine.Var;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Pushes every task on an engine of the caller's: each mutates a variable of its own and reads those of the tasks that it waits for. The engine's recorder, its checks and its order apply; an engine that
 * shuffles finds a plan that lacks a dependency.
 */
final class Pushed implements RunLoop {
    private final Engine engine;

    Pushed(Engine engine) {
        this.engine = engine;
    }

    @Override
    public void run(Frame frame) {
        Specialisation plan = frame.plan();
        int count = plan.tasks().size();
        Var[] ended = new Var[count];
        AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();
        for (int i = 0; i < count; i++) {
            ended[i] = engine.newVar();
        }
        Var end = engine.newVar();
        Var interpreter = engine.newVar();
        for (int i = 0; i < count; i++) {
            int task = i;
            Var[] before = java.util.Arrays.stream(plan.before()[i]).mapToObj(other -> ended[other]).toArray(Var[]::new);
            OpBuilder op = engine.op(plan.tasks().get(i).name()).reads(before).mutates(ended[i]);
            if (plan.tasks().get(i) instanceof Task.Interpreted interpreted) {
                // One that waits for an inner block's plan has the interpreter for itself: what the engine runs meanwhile must not need it.
                op = interpreted.access().runsBlocks() ? op.mutates(interpreter) : op.reads(interpreter);
            }
            if (frame.isOnDevice(i)) {
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
        try {
            engine.op("end of a run").reads(ended).mutates(end).submit(() -> {
            }).join();
        } catch (CompletionException e) {
            throw new IllegalStateException("The engine could not run the plan: " + e.getMessage(), e);
        } finally {
            for (Var var : ended) {
                engine.delete(var);
            }
            engine.delete(end);
            engine.delete(interpreter);
        }
        RuntimeException thrown = failure.get();
        if (thrown != null) {
            throw thrown;
        }
    }

    /** After a failure nothing more is run. */
    private static boolean run(Frame frame, int task, AtomicReference<@Nullable RuntimeException> failure) {
        if (failure.get() != null) {
            return false;
        }
        try {
            new TaskRunner(frame).run(task);
            return true;
        } catch (RuntimeException e) {
            RuntimeException first = failure.compareAndExchange(null, e);
            if (first != null && !first.equals(e)) {
                first.addSuppressed(e);
            }
            return false;
        }
    }
}
