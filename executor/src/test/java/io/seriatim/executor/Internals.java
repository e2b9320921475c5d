package io.seriatim.executor;

import io.seriatim.executor.ir.Bindings;
import io.seriatim.executor.ir.Options;
import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.Sharing;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.run.RunContext;
import io.seriatim.executor.run.RunLoop;
import io.seriatim.executor.run.StreamPool;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.graph.interpret.BlockSession;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.tensor.Tensor;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Gives tests of the internal packages access to package-private members of the API classes. */
public final class Internals {
    private Internals() {
    }

    /** Returns the plan compiled for some values. */
    public static CompiledPlan compiled(Plan plan, Scope root, Tensor... values) {
        return plan.specialisation(root, values);
    }

    /** Returns the plan of an inner block that has run, compiled for external values. */
    public static CompiledPlan compiled(Plan plan, int block, @Nullable Object[] externals) {
        return Objects.requireNonNull(plan.inner(block)).variant(externals, Sharing.NONE).plan();
    }

    /** Returns the numbered values of an inner block that has run. */
    public static ValueNumbering accesses(Plan plan, int block) {
        return Objects.requireNonNull(plan.inner(block)).accesses();
    }

    /** Returns the variables of a block that a test runs. */
    public static Bindings bindings(BlockSession session, Scope scope) {
        return new SessionBindings(session, scope.bindings(), false);
    }

    public static Interpreter interpreter(Executor executor) {
        return executor.interpreter();
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
