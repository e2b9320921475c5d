package io.seriatim.benchmarks.metg;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.benchmarks.metg.TaskGraph.Task;
import java.util.Arrays;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Each pattern against its definition, over widths that are and are not powers of two. */
class TaskPatternTest {
    private static final int[] WIDTHS = {1, 2, 3, 5, 8, 13, 16};
    private static final int STEPS = 40;

    /** The definition in words of sets: which columns a task of step t > 0 and column i reads, of w. */
    private static Set<Integer> defined(TaskPattern pattern, int t, int i, int w) {
        Set<Integer> inputs = new TreeSet<>();
        int levels = 0;
        while (1 << levels < w) {
            levels++;
        }
        for (int j = 0; j < w; j++) {
            boolean reads = switch (pattern) {
                case TRIVIAL -> false;
                case NO_COMMUNICATION -> i == j;
                case STENCIL -> Math.abs(i - j) <= 1;
                case PERIODIC_STENCIL -> Math.abs(i - j) <= 1 || Math.abs(i - j) == w - 1;
                case NEAREST, LOAD_IMBALANCE -> Math.abs(i - j) <= 2;
                case FFT -> i == j || Math.abs(i - j) == 1 << (t - 1) % Math.max(1, levels);
                case TREE -> j == i / 2;
                case ALL_TO_ALL -> true;
                case SPREAD, FOUR_NEAREST, RANDOM_NEAREST -> throw new IllegalArgumentException("tested apart");
            };
            if (reads) {
                inputs.add(j);
            }
        }
        return inputs;
    }

    private static @Nullable Set<Integer> inputs(TaskGraph graph, int step, int column) {
        Task task = graph.at(graph.row(step), column);
        return task == null ? null : new TreeSet<>(Arrays.stream(task.inputs()).boxed().toList());
    }

    @ParameterizedTest
    @EnumSource(names = {"SPREAD", "FOUR_NEAREST", "RANDOM_NEAREST"}, mode = EnumSource.Mode.EXCLUDE)
    void aTaskReadsWhatThePatternDefines(TaskPattern pattern) {
        for (int w : WIDTHS) {
            TaskGraph graph = pattern.graph(w);
            for (int t = 1; t < STEPS; t++) {
                for (int i = 0; i < w; i++) {
                    if (pattern == TaskPattern.TREE && i >= 1L << t) {
                        assertNull(graph.at(graph.row(t), i));
                    } else {
                        assertEquals(defined(pattern, t, i, w), inputs(graph, t, i),
                                pattern + ", width " + w + ", step " + t + ", column " + i);
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 1, '0 4 7 10 13'", "3, 2, '3 8 11 14 1'", "15, 3, '15 2 5 8 11'", "15, 4, '15 3 6 9 12'"})
    void spreadReadsFiveTasksThatMoveWithTheStep(int column, int step, String expected) {
        Set<Integer> inputs = new TreeSet<>(Arrays.stream(expected.split(" ")).map(Integer::valueOf).toList());
        assertEquals(inputs, inputs(TaskPattern.SPREAD.graph(16), step, column));
    }

    @Test
    void fourGraphsOfNearestAreApart() {
        TaskGraph one = TaskPattern.NEAREST.graph(6);
        TaskGraph four = TaskPattern.FOUR_NEAREST.graph(6);
        assertEquals(24, four.columns());
        for (int i = 0; i < 24; i++) {
            int graph = i / 6;
            Task alone = one.at(one.row(5), i % 6);
            Task among = four.at(four.row(5), i);
            assertTrue(alone != null && among != null);
            assertArrayEquals(Arrays.stream(alone.inputs()).map(j -> 6 * graph + j).toArray(), among.inputs());
        }
    }

    @Test
    void randomNearestReadsItselfAndAboutAQuarterOfTheOthersInThreeSets() {
        int w = 200;
        TaskGraph graph = TaskPattern.RANDOM_NEAREST.graph(w);
        assertEquals(3, graph.period());
        int others = 0;
        for (int t = 1; t <= 3; t++) {
            for (int i = 0; i < w; i++) {
                Set<Integer> inputs = inputs(graph, t, i);
                assertTrue(inputs != null && inputs.contains(i));
                int column = i;
                assertTrue(inputs.stream().allMatch(j -> Math.abs(column - j) <= 2));
                others += inputs.size() - 1;
            }
        }
        double share = others / (3.0 * (4 * w - 6));
        assertTrue(share > 0.2 && share < 0.3, "share " + share);
        assertFalse(IntStream.range(0, w).allMatch(i -> Set.of(i).equals(inputs(graph, 1, i))));
        assertFalse(IntStream.range(0, w)
                .allMatch(i -> Objects.equals(inputs(graph, 1, i), inputs(graph, 2, i))));
    }

    @Test
    void imbalancedWorkIsUniformFromNoneToTwice() {
        TaskGraph graph = TaskPattern.LOAD_IMBALANCE.graph(100);
        int[] weights = IntStream.range(1, 17).flatMap(t -> IntStream.range(0, 100).map(i -> {
            Task task = graph.at(graph.row(t), i);
            return task == null ? -1 : task.weight();
        })).toArray();
        assertTrue(Arrays.stream(weights).allMatch(each -> each >= 0 && each < 2000));
        assertEquals(1000, Arrays.stream(weights).average().orElse(0), 60);
        assertTrue(Arrays.stream(weights).filter(each -> each < 500).count() > weights.length / 5);
        assertTrue(Arrays.stream(weights).filter(each -> each >= 1500).count() > weights.length / 5);
    }

    @ParameterizedTest
    @EnumSource
    void theFirstStepReadsNothingAndSuccessorsAreTheReaders(TaskPattern pattern) {
        TaskGraph graph = pattern.graph(13);
        for (int i = 0; i < graph.columns(); i++) {
            Task first = graph.at(0, i);
            assertTrue(first == null || first.inputs().length == 0);
        }
        for (int row = 0; row < graph.rows(); row++) {
            for (int i = 0; i < graph.columns(); i++) {
                int column = i;
                int next = graph.row(row + 1);
                int[] readers = IntStream.range(0, graph.columns()).filter(j -> {
                    Task task = graph.at(next, j);
                    return task != null && Arrays.stream(task.inputs()).anyMatch(input -> input == column);
                }).toArray();
                assertArrayEquals(readers, graph.successors(row, i));
            }
        }
        assertEquals(pattern.hasDependencies(), graph.hasDependencies());
    }

    @ParameterizedTest
    @EnumSource
    void countsAreSumsOverSteps(TaskPattern pattern) {
        TaskGraph graph = pattern.graph(6);
        long tasks = 0;
        long iterations = 0;
        for (int steps = 1; steps < STEPS; steps++) {
            for (int i = 0; i < graph.columns(); i++) {
                Task task = graph.at(graph.row(steps - 1), i);
                tasks += task == null ? 0 : 1;
                iterations += task == null ? 0 : 500L * task.weight() / TaskGraph.FULL_WEIGHT;
            }
            assertEquals(tasks, graph.tasks(steps));
            assertEquals(iterations, graph.iterations(steps, 500));
        }
    }
}
