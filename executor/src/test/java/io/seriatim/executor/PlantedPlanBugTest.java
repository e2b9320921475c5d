package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.engine.Engine;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.run.Cancellation;
import io.seriatim.executor.run.EngineRunLoop;
import io.seriatim.executor.run.Frame;
import io.seriatim.executor.run.OpenRuns;
import io.seriatim.executor.run.RunContext;
import io.seriatim.executor.run.RunLoop;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.executor.schedule.Dependencies;
import io.seriatim.executor.schedule.Lifetimes;
import io.seriatim.executor.schedule.MemoryPlan;
import io.seriatim.executor.schedule.Releases;
import io.seriatim.executor.schedule.Streams;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Injects bugs into plans. {@link PlanCheck} must detect all of them. The results of random programs or the race
 * detector must detect most of them, which shows that the other tests would notice such bugs.
 */
@Tag("slow")
class PlantedPlanBugTest {
    private static final String[] HOST = {"cpu"};

    /** A random program and its plan, which can be run with a modified plan. */
    private static final class Subject implements AutoCloseable {
        private final Expected program;
        private final Devices devices = Devices.builder().build();
        private final Executor executor;
        private final Plan plan;
        private final Map<String, Tensor> variables = new HashMap<>();
        private final long run;

        Subject(long seed, Executor.Builder options, String... places) {
            program = Expected.random(seed, 14, 6, places);
            executor = options.devices(devices).build();
            executor.run(program.startup());
            plan = program.compile(executor);
            executor.scope().names().forEach(name -> variables.put(name, executor.scope().get(name)));
            run = executor.nextRun();
        }

        CompiledPlan specialisation() {
            return plan.specialisation(scope(), program.batch(0));
        }

        private Scope scope() {
            Scope scope = new Scope();
            variables.forEach((name, tensor) -> scope.set(name, Bits.copy(tensor)));
            return scope;
        }

        /** Returns whether a run with a plan gives wrong results or fails. */
        boolean isCaught(CompiledPlan with, RunLoop loop) {
            Scope scope = scope();
            Map<String, Tensor> fed = program.fed().getFirst();
            RunContext.Lazy session = new RunContext.Lazy(executor.interpreter(), plan.program().global(), fed, run,
                    block -> {
                        throw new IllegalStateException("There are no blocks, but " + block.block() + " is run");
                    });
            RunContext context = new RunContext(plan.externals(with.accesses(), scope, fed), scope.bindings(), session,
                    new Cancellation(),
                    null, ReadInstruction::next);
            Map<String, Tensor> found = new HashMap<>();
            try (Frame frame = Frame.alone(with, executor.options(), executor.streams())) {
                frame.begin(context, null);
                try {
                    loop.run(frame);
                } finally {
                    frame.drain();
                }
                for (int value : with.accesses().wanted()) {
                    found.put(with.accesses().values().get(value).name(),
                            (Tensor) Objects.requireNonNull(frame.take(value)));
                }
                frame.end();
            } catch (RuntimeException e) {
                return true;
            }
            return program.fetches().stream()
                    .anyMatch(name -> !Bits.same(Objects.requireNonNull(program.results().getFirst().get(name)),
                            Objects.requireNonNull(found.get(name))));
        }

        boolean isCaughtInSomeOrder(CompiledPlan with) {
            for (long seed = 0; seed < 12; seed++) {
                try (Engine engine = Engine.builder().shuffled(seed).build()) {
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
            devices.close();
        }
    }

    /** Counts the injected bugs, and how many each check has detected. */
    private static final class Score {
        private int planted;
        private int found;
        private int caught;

        void count(boolean isFound, boolean isCaught) {
            planted++;
            found += isFound ? 1 : 0;
            caught += isCaught ? 1 : 0;
        }

        /**
         * Counts a change only if a check detects it: some changes are harmless, because a gap is too small for the
         * next value, or because another dependency implies the order.
         */
        void countIfWrong(boolean isFound, boolean isCaught) {
            assertTrue(isFound || !isCaught, "the results are wrong, but brute force has found nothing");
            if (isFound) {
                count(true, isCaught);
            }
        }

        void assertAllFound(double mostlyCaught) {
            assertTrue(planted > 20, this::toString);
            assertEquals(planted, found, this::toString);
            assertTrue(caught >= mostlyCaught * planted, this::toString);
        }

        @Override
        public String toString() {
            return planted + " planted, " + found + " found, " + caught + " caught";
        }
    }

    private static boolean isFound(CompiledPlan plan, boolean inOrder) {
        return !PlanCheck.violations(plan, inOrder).isEmpty();
    }

    private static int[] without(int[] all, int one) {
        return Arrays.stream(all).filter(each -> each != one).toArray();
    }

    private static int[][] without(int[][] all, int index, int one) {
        int[][] copy = all.clone();
        copy[index] = without(copy[index], one);
        return copy;
    }

    private static TaskGraph graph(CompiledPlan plan) {
        return new TaskGraph(plan.tasks(), plan.values());
    }

    private static CompiledPlan with(CompiledPlan plan, int[][] before, Streams streams, MemoryPlan memory,
            Releases releases,
            List<Task> tasks) {
        return new CompiledPlan(plan.accesses(), plan.values(), tasks, plan.dependencies(), streams, memory, releases,
                plan.layouts(), plan.kept(),
                before,
                Dependencies.after(before), plan.externals(), plan.open(), plan.sharing(),
                plan.storages());
    }

    private static CompiledPlan with(CompiledPlan plan, MemoryPlan memory) {
        return with(plan, memory.before(), plan.streams(), memory, plan.releases(), plan.tasks());
    }

    @Test
    void planThatIsRightIsNotCaught() {
        for (long seed = 0; seed < 5; seed++) {
            try (Subject subject = new Subject(seed, Executor.builder().threads(2).eager(),
                    RandomPlacementTest.PLACES)) {
                CompiledPlan plan = subject.specialisation();
                assertFalse(isFound(plan, false), "seed " + seed);
                assertFalse(subject.isCaught(plan, new RunLoop.Serial()) || subject.isCaughtInSomeOrder(plan),
                        "seed " + seed);
            }
        }
    }

    @Test
    void aDependencyThatIsLeftOut() {
        Score score = new Score();
        for (long seed = 0; seed < 8; seed++) {
            try (Subject subject = new Subject(seed, Executor.builder().threads(2).eager(), HOST)) {
                CompiledPlan plan = subject.specialisation();
                for (int i = 0; i < plan.tasks().size(); i++) {
                    for (int other : plan.dependencies().before()[i]) {
                        CompiledPlan wrong = with(plan, without(plan.before(), i, other), plan.streams(), plan.memory(),
                                plan.releases(),
                                plan.tasks());
                        score.count(isFound(wrong, false), subject.isCaughtInSomeOrder(wrong));
                    }
                }
            }
        }
        score.assertAllFound(0.3);
    }

    @Test
    void memoryThatIsUsedAgainOneTaskTooEarly() {
        Score score = new Score();
        for (long seed = 0; seed < 25; seed++) {
            try (Subject subject = new Subject(seed, Executor.builder(), HOST)) {
                CompiledPlan plan = subject.specialisation();
                Lifetimes lifetimes = Lifetimes.of(plan);
                for (int value = 0; value < plan.values().size(); value++) {
                    int[] users = lifetimes.users()[value];
                    if (users.length > 2 && plan.memory().offsets()[value] >= 0) {
                        int[][] fewer = without(lifetimes.users(), value, users[users.length - 1]);
                        MemoryPlan early = MemoryPlan.of(graph(plan),
                                new Lifetimes(lifetimes.first(), fewer),
                                plan.before(), true, true);
                        CompiledPlan wrong = with(plan, early);
                        score.countIfWrong(isFound(wrong, true), subject.isCaught(wrong, new RunLoop.Serial()));
                    }
                }
            }
        }
        score.assertAllFound(0.35);
    }

    @Test
    void memoryThatIsUsedAgainAcrossStreamsWithoutOrder() {
        Score score = new Score();
        for (long seed = 0; seed < 30; seed++) {
            try (Subject subject = new Subject(seed, Executor.builder().threads(2).eager(),
                    RandomPlacementTest.PLACES)) {
                CompiledPlan plan = subject.specialisation();
                // As if all tasks ran in program order.
                MemoryPlan memory = MemoryPlan.of(graph(plan),
                        Lifetimes.of(plan), plan.before(),
                        true, true);
                CompiledPlan wrong = with(plan, memory);
                score.countIfWrong(isFound(wrong, false),
                        subject.isCaught(wrong, new RunLoop.Serial()) || subject.isCaughtInSomeOrder(wrong));
            }
        }
        score.assertAllFound(0.8);
    }

    @Test
    void anEventThatNothingWaitsFor() {
        Score score = new Score();
        for (long seed = 0; seed < 8; seed++) {
            try (Subject subject = new Subject(seed, Executor.builder(), RandomPlacementTest.PLACES)) {
                CompiledPlan plan = subject.specialisation();
                Streams streams = plan.streams();
                for (int i = 0; i < plan.tasks().size(); i++) {
                    for (int other : streams.waits()[i]) {
                        Streams less = new Streams(streams.streams(), streams.stream(),
                                without(streams.waits(), i, other),
                                streams.hostWaits(),
                                streams.passed(), streams.recorded());
                        CompiledPlan wrong = with(plan, plan.before(), less, plan.memory(), plan.releases(),
                                plan.tasks());
                        score.count(isFound(wrong, false), subject.isCaught(wrong, new RunLoop.Serial()));
                    }
                    for (int other : streams.hostWaits()[i]) {
                        Streams less = new Streams(streams.streams(), streams.stream(), streams.waits(),
                                without(streams.hostWaits(), i, other),
                                streams.passed(), streams.recorded());
                        CompiledPlan wrong = with(plan, plan.before(), less, plan.memory(), plan.releases(),
                                plan.tasks());
                        score.count(isFound(wrong, false), subject.isCaught(wrong, new RunLoop.Serial()));
                    }
                }
            }
        }
        // Another wait may happen to order the same work.
        score.assertAllFound(0.9);
    }

    @ParameterizedTest
    @ValueSource(strings = {"cpu", "sim:0"})
    void memoryThatIsLetGoTooEarly(String place) {
        Score score = new Score();
        for (long seed = 0; seed < 12; seed++) {
            try (Subject subject = new Subject(seed, Executor.builder().memoryPlan(false).threads(2).eager(), place)) {
                CompiledPlan plan = subject.specialisation();
                Lifetimes lifetimes = Lifetimes.of(plan);
                for (int value = 0; value < plan.values().size(); value++) {
                    int[] users = lifetimes.users()[value];
                    if (users.length > 1 && plan.releases().counts()[value] == 1) {
                        Releases early = early(plan.releases(), value, users[users.length - 1],
                                users[users.length - 2]);
                        CompiledPlan wrong = with(plan, plan.before(), plan.streams(), plan.memory(), early,
                                plan.tasks());
                        score.count(isFound(wrong, false), subject.isCaught(wrong, new RunLoop.Serial()));
                    }
                }
            }
        }
        score.assertAllFound(1);
    }

    private static Releases early(Releases releases, int value, int last, int before) {
        int[][] after = without(releases.after(), last, value);
        after[before] = Arrays.copyOf(after[before], after[before].length + 1);
        after[before][after[before].length - 1] = value;
        return new Releases(after, releases.counts());
    }

    @Test
    void aCopyThatIsReadAfterTheOriginalWasWritten() {
        Score score = new Score();
        for (long seed = 0; seed < 90; seed++) {
            try (Subject subject = new Subject(seed, Executor.builder(), RandomPlacementTest.PLACES)) {
                CompiledPlan plan = subject.specialisation();
                List<Task.Transfer> earlier = new ArrayList<>();
                for (Task task : plan.tasks()) {
                    if (task instanceof Task.Transfer transfer) {
                        Predicate<Task.Transfer> same = each -> variable(plan, each).equals(variable(plan, transfer))
                                && each.to() != transfer.to()
                                && each.target().equals(transfer.target());
                        earlier.stream().filter(same).findFirst().ifPresent(stale -> {
                            CompiledPlan wrong = reading(plan, transfer, stale.to());
                            score.countIfWrong(isFound(wrong, false), subject.isCaught(wrong, new RunLoop.Serial()));
                        });
                        earlier.add(transfer);
                    }
                }
            }
        }
        score.assertAllFound(0.3);
    }

    private static String variable(CompiledPlan plan, Task.Transfer transfer) {
        return plan.values().name(transfer.to()).replaceFirst("_device_.*", "");
    }

    /** Returns the plan with an older copy in place of the target of a transfer. */
    private static CompiledPlan reading(CompiledPlan plan, Task.Transfer transfer, int stale) {
        List<Task> tasks = new ArrayList<>();
        for (Task task : plan.tasks()) {
            tasks.add(task.equals(transfer)
                    ? new Task.Transfer(stale, transfer.to(), transfer.target(), transfer.target())
                    : task);
        }
        return with(plan, plan.before(), plan.streams(), plan.memory(), plan.releases(), tasks);
    }
}
