package io.seriatim.benchmarks.metg;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import io.seriatim.benchmarks.common.Progress;
import io.seriatim.benchmarks.metg.TaskGraph.Task;
import io.seriatim.engine.Engine;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** All systems run all patterns right, and a lost dependency is found. */
class MetgSystemsTest {
    private static final int STEPS = 50;
    private static final int SEEDS = 200;

    @ParameterizedTest
    @EnumSource
    void systemsOnTheJvmPassTheChecks(TaskPattern pattern) throws Exception {
        for (MetgSystem system : List.of(new EngineSystem(3, false), new EngineSystem(3, true), new FutureSystem(3),
                new ForkJoinSystem(3))) {
            try (system) {
                for (int width : new int[]{1, 2, 7}) {
                    assertTrue(system.run(pattern.graph(width), STEPS, 3) > 0);
                    assertTrue(system.run(pattern.graph(width), 1, 0) > 0);
                }
            }
        }
    }

    /** Needs a C++ compiler with OpenMP. */
    @Test
    void aCompiledProgramPassesTheChecks() throws IOException, InterruptedException, WrongValueException {
        try (NativeSystems compiled = new NativeSystems(); MetgSystem system = compiled.openMp(2)) {
            for (TaskPattern pattern : TaskPattern.values()) {
                assertTrue(system.run(pattern.graph(7), STEPS, 3) > 0);
            }
            assertTrue(system.peak(1_000_000) > 0);
        } catch (PeerUnavailableException e) {
            Assumptions.abort(e.toString());
        }
    }

    /**
     * In an arbitrary order, one of some seeds runs the task before the one that it reads. It is a task of step 1,
     * because later the order of stores to the same place often implies the lost one.
     */
    @ParameterizedTest
    @EnumSource(names = "TRIVIAL", mode = EnumSource.Mode.EXCLUDE)
    void everyLostDependencyIsFound(TaskPattern pattern) {
        TaskGraph graph = pattern.graph(3);
        for (int column = 0; column < graph.columns(); column++) {
            Task task = graph.at(1, column);
            for (int input : task == null ? new int[0] : task.inputs()) {
                TaskGraph fewer = graph.without(1, column, input);
                assertTrue(IntStream.range(0, SEEDS).anyMatch(seed -> fails(graph, seed, 3, declared -> fewer)),
                        pattern + " without input " + input + " of task " + column);
            }
        }
    }

    @Test
    void theSameOrdersPassWithAllDependencies() {
        for (TaskPattern pattern : TaskPattern.values()) {
            TaskGraph graph = pattern.graph(3);
            assertFalse(IntStream.range(0, 5).anyMatch(seed -> fails(graph, seed, STEPS, UnaryOperator.identity())),
                    pattern::toString);
        }
    }

    private static boolean fails(TaskGraph graph, long seed, int steps, UnaryOperator<TaskGraph> declared) {
        try (MetgSystem system = new EngineSystem(Engine.builder().shuffled(seed).build(), 1, false, declared)) {
            system.run(graph, steps, 1);
            return false;
        } catch (WrongValueException e) {
            assertTrue(String.valueOf(e.getMessage()).contains(" read the value of "), e::toString);
            return true;
        } catch (InterruptedException | PeerUnavailableException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aRunThatMissesOrRepeatsATaskFails() {
        TaskGraph graph = TaskPattern.TRIVIAL.graph(2);
        Task task = new Task(new int[0], 1000);
        TaskRun less = new TaskRun(graph, 2, 1);
        for (int i = 0; i < 3; i++) {
            less.execute(i / 2, i % 2, task);
        }
        assertEquals("3 tasks ran instead of 4",
                assertThrows(WrongValueException.class, less::finish).getMessage());
        TaskRun twice = new TaskRun(graph, 2, 1);
        for (int column : new int[]{0, 0, 1, 1}) {
            twice.execute(1, column, task);
        }
        assertEquals("a task ran twice and another one never",
                assertThrows(WrongValueException.class, twice::finish).getMessage());
    }

    @Test
    void aWrongSystemFailsTheBenchmarkAndTheOthersGoOn() throws InterruptedException {
        StringWriter err = new StringWriter();
        MetgSystem wrong = new EngineSystem(Engine.builder().shuffled(1).build(), 1, false,
                graph -> graph.without(1, 0, 0));
        MetgOptions options = new MetgOptions(List.of(TaskPattern.NEAREST), 1, List.of(2), 0.001, 10, 1);
        try (wrong; MetgSystem good = new ForkJoinSystem(1)) {
            MetgBench bench = new MetgBench(options, new Progress(new PrintWriter(err, true), false),
                    List.of(wrong, good));
            MetgResults results = bench.run();
            assertFalse(bench.right());
            assertTrue(err.toString().contains("Seriatim is not measured any further: WRONG in nearest 5: task 0 of"),
                    err::toString);
            assertEquals(List.of(0, 1), Stream.of(wrong, good).map(MetgResults.Contestant::of)
                    .map(system -> results.of(TaskPattern.NEAREST, 2, system).size()).toList());
        }
    }
}
