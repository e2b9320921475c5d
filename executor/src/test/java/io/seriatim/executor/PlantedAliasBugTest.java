package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.engine.Engine;
import io.seriatim.executor.ir.Sharing;
import io.seriatim.executor.run.Cancellation;
import io.seriatim.executor.run.EngineRunLoop;
import io.seriatim.executor.run.Frame;
import io.seriatim.executor.run.OpenRuns;
import io.seriatim.executor.run.RunContext;
import io.seriatim.executor.run.RunLoop;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.executor.schedule.Dependencies;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/**
 * Injects bugs into plans: wrong orders of operations that access the same memory under different names. The memory
 * model must detect all of them, and the results of random programs many of them.
 */
class PlantedAliasBugTest {
    private static final long SEEDS = 40;

    /** A random program whose variables share memory, and its plan. */
    private static final class Subject implements AutoCloseable {
        private final long seed;
        private final AliasPrograms programs;
        private final Map<String, float[]> expected;
        private final Program main;
        private final Executor executor = Executor.builder().without(Pass.values()).threads(2).eager().build();
        private final Plan startup;
        private final Plan plan;

        Subject(long seed) {
            this.seed = seed;
            programs = new AliasPrograms(seed);
            main = programs.mains.getFirst();
            programs.run(programs.startup);
            expected = programs.run(main);
            startup = executor.compile(programs.startup, Executor.feeds(), Executor.fetches());
            plan = executor.compile(main, Executor.feeds("rate", "yes"),
                    Executor.fetches(programs.fetches(main).toArray(String[]::new)));
        }

        private Scope scope() {
            Scope scope = new Scope();
            startup.run(scope);
            return scope;
        }

        private static Tensor fed(String name) {
            return Objects.requireNonNull(AliasPrograms.fed().get(name));
        }

        CompiledPlan specialisation() {
            return plan.specialisation(scope(), fed("rate"), fed("yes"));
        }

        /** Returns a plan that was compiled as if no variables shared memory before the run. */
        CompiledPlan blind() {
            return plan.specialisation(scope(), Sharing.NONE, fed("rate"), fed("yes"));
        }

        /** Returns the conflicting pairs of operations, according to the model, that a plan does not order. */
        List<String> violations(CompiledPlan with) {
            BitSet[] ancestors = new BitSet[with.tasks().size()];
            List<String> violations = new ArrayList<>();
            for (int i = 0; i < ancestors.length; i++) {
                ancestors[i] = new BitSet();
                for (int other : with.before()[i]) {
                    ancestors[i].or(ancestors[other]);
                    ancestors[i].set(other);
                }
                for (int j = 0; j < i; j++) {
                    if (!ancestors[i].get(j) && conflict(with, j, i)) {
                        violations.add("seed " + seed + ": " + with.tasks().get(j).name() + " and "
                                + with.tasks().get(i).name());
                    }
                }
            }
            return violations;
        }

        boolean conflict(CompiledPlan with, int first, int second) {
            return with.tasks().get(first).operations().stream()
                    .anyMatch(one -> with.tasks().get(second).operations().stream()
                            .anyMatch(two -> programs.conflict(one.index(), two.index())));
        }

        /** Returns whether a run with a plan gives wrong results or fails. */
        boolean isCaught(CompiledPlan with, RunLoop loop) {
            Scope scope = scope();
            Map<String, Tensor> fed = AliasPrograms.fed();
            RunContext.Lazy session = new RunContext.Lazy(executor.interpreter(), plan.program().global(), fed, 1,
                    block -> {
                        for (int i = 0; i < block.block().ops().size(); i++) {
                            block.run(i);
                        }
                    });
            RunContext context = new RunContext(plan.externals(with.accesses(), scope, fed), scope.bindings(), session,
                    new Cancellation(),
                    null, ReadInstruction::next);
            Map<String, float[]> found = new HashMap<>();
            try (Frame frame = Frame.alone(with, executor.options(), executor.streams())) {
                frame.begin(context, null);
                try {
                    loop.run(frame);
                } finally {
                    frame.drain();
                }
                for (int value : with.accesses().wanted()) {
                    found.put(with.accesses().values().get(value).name(),
                            ((Tensor) Objects.requireNonNull(frame.take(value))).toFloatArray());
                }
                frame.end();
            } catch (RuntimeException e) {
                return true;
            }
            return expected.entrySet().stream()
                    .anyMatch(each -> !Arrays.equals(each.getValue(), found.get(each.getKey())));
        }

        boolean isCaughtInSomeOrder(CompiledPlan with) {
            for (long order = 0; order < 12; order++) {
                try (Engine engine = Engine.builder().shuffled(order).build()) {
                    if (isCaught(with, new EngineRunLoop(engine, new OpenRuns()))) {
                        return true;
                    }
                }
            }
            return false;
        }

        @Override
        public void close() {
            executor.close();
        }
    }

    private static CompiledPlan without(CompiledPlan plan, int task, int other) {
        int[][] before = plan.before().clone();
        before[task] = Arrays.stream(before[task]).filter(each -> each != other).toArray();
        return new CompiledPlan(plan.accesses(), plan.values(), plan.tasks(), plan.dependencies(), plan.streams(),
                plan.memory(),
                plan.releases(), plan.layouts(), plan.kept(), before, Dependencies.after(before), plan.externals(),
                plan.open(), plan.sharing(),
                plan.storages());
    }

    @Test
    void planThatIsRightIsNotCaught() {
        for (long seed = 0; seed < SEEDS; seed++) {
            try (Subject subject = new Subject(seed)) {
                CompiledPlan plan = subject.specialisation();
                assertEquals(List.of(), subject.violations(plan));
                assertTrue(!subject.isCaught(plan, new RunLoop.Serial()) && !subject.isCaughtInSomeOrder(plan),
                        "seed " + seed);
            }
        }
    }

    @Test
    void aDependencyThroughAnotherNameThatIsLeftOut() {
        int planted = 0;
        int caught = 0;
        for (long seed = 0; seed < SEEDS; seed++) {
            try (Subject subject = new Subject(seed)) {
                CompiledPlan plan = subject.specialisation();
                for (int i = 0; i < plan.tasks().size(); i++) {
                    for (int other : plan.before()[i]) {
                        if (subject.conflict(plan, other, i)) {
                            CompiledPlan wrong = without(plan, i, other);
                            planted++;
                            assertTrue(!subject.violations(wrong).isEmpty(),
                                    "seed " + seed + ", " + other + " before " + i);
                            caught += subject.isCaughtInSomeOrder(wrong) ? 1 : 0;
                        }
                    }
                }
            }
        }
        assertTrue(planted > 100 && caught > 0.4 * planted, caught + " of " + planted + " caught");
    }

    @Test
    void sharingThatIsOverlooked() {
        int planted = 0;
        int found = 0;
        int caught = 0;
        for (long seed = 0; seed < SEEDS; seed++) {
            try (Subject subject = new Subject(seed)) {
                if (!subject.specialisation().sharing().equals(Sharing.NONE)) {
                    CompiledPlan wrong = subject.blind();
                    planted++;
                    found += subject.violations(wrong).isEmpty() ? 0 : 1;
                    caught += subject.isCaughtInSomeOrder(wrong) ? 1 : 0;
                }
            }
        }
        assertTrue(planted > 20 && found > 0.7 * planted && caught > 0.5 * planted,
                found + " of " + planted + " found, " + caught + " caught");
    }
}
