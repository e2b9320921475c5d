package io.seriatim.executor;

import io.seriatim.executor.ir.Bindings;
import io.seriatim.executor.ir.Options;
import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.run.RunContext;
import io.seriatim.executor.run.RunLoop;
import io.seriatim.executor.run.StreamPool;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.tensor.Tensor;

/** Gives tests of the internal packages access to package-private members of the API classes. */
public final class Internals {
    private Internals() {
    }

    /** Returns the plan compiled for some values. */
    public static CompiledPlan compiled(Plan plan, Scope root, Tensor... values) {
        return plan.specialisation(root, values);
    }

    public static CompiledPlan compiled(PlanView view) {
        return view.plan();
    }

    public static Options options(Executor executor) {
        return executor.options();
    }

    public static RunLoop loop(Executor executor, CompiledPlan plan) {
        return executor.loop(plan);
    }

    public static StreamPool streams(Executor executor) {
        return executor.streams();
    }

    public static Bindings bindings(Scope scope) {
        return scope.bindings();
    }

    public static Fetches fetches(Plan plan) {
        return plan.fetches();
    }

    public static void close(Plan plan) {
        plan.close();
    }

    public static PassName key(Pass pass) {
        return pass.key();
    }

    /** Returns a source of batches that uses the readers of a scope. */
    public static RunContext.Batches batches() {
        return ReadInstruction::next;
    }
}
