package io.seriatim.executor.ir;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableSet;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The use-def index is consistent after every change. */
class TaskGraphTest {
    private static final TensorSpec SPEC = TensorSpec.of(DType.FLOAT32, 2);

    private static ValueTable values(int count) {
        ValueTable values = new ValueTable(ValueNumbering.of(new Program().global(), List.of(), List.of()));
        for (int i = 0; i < count; i++) {
            values.add("v" + i, SPEC);
        }
        return values;
    }

    private static Task task(int[] reads, int... writes) {
        return new Task.Compute(List.of(), List.of(), List.of(), Place.CPU, reads, writes);
    }

    @Test
    void knowsWhoReadsAndWritesWhat() {
        ValueTable values = values(4);
        values.sameMemory(3, 1);
        TaskGraph graph = new TaskGraph(List.of(task(new int[]{0}, 1), task(new int[]{1, 0}, 2), task(new int[]{2}, 3)),
                values);
        assertArrayEquals(new int[]{0, 1}, graph.readers(0).toArray());
        assertArrayEquals(new int[]{0, 2}, graph.writers(1).toArray(), "value 3 is value 1, changed in place");
        assertArrayEquals(new int[]{0, 2}, graph.writers(3).toArray());
        assertTrue(graph.readers(2).isOnly(2));
        assertTrue(graph.isReadElsewhere(0, 0));
        assertFalse(graph.isReadElsewhere(2, 2));
        assertFalse(values.isTemporary(1), "two values are its memory");
        assertFalse(values.isTemporary(3));
        assertTrue(graph.isTemporaryOf(2, 1));
        assertFalse(graph.isTemporaryOf(2, 0));
    }

    @Test
    void removedTasksLeaveGapsUntilTheGraphIsCompacted() {
        TaskGraph graph = new TaskGraph(List.of(task(new int[]{0}, 1), task(new int[]{0}, 2), task(new int[]{1}, 3)),
                values(4));
        assertEquals(2, graph.readers(0).size());
        graph.remove(1);
        assertNull(graph.get(1));
        assertEquals(3, graph.size());
        assertEquals(2, graph.tasks().size());
        assertTrue(graph.readers(0).isOnly(0));
        assertTrue(graph.writers(2).isEmpty());
        graph.compact();
        assertEquals(2, graph.size());
        assertTrue(graph.readers(1).isOnly(1));
    }

    @Test
    void valuesMayBeAdded() {
        ValueTable values = values(2);
        TaskGraph graph = new TaskGraph(List.of(task(new int[]{0}, 1)), values);
        assertTrue(graph.readers(0).isOnly(0));
        int added = values.add("added", SPEC);
        assertTrue(graph.readers(added).isEmpty());
        graph.put(0, task(new int[]{added}, 1));
        assertTrue(graph.readers(added).isOnly(0));
        assertTrue(graph.readers(0).isEmpty());
        assertNull(graph.wrongUse());
    }

    /** A change that bypasses the graph is detected. */
    @Test
    void aChangeBehindTheGraphsBackIsFound() {
        Task task = task(new int[]{0}, 1);
        TaskGraph graph = new TaskGraph(List.of(task), values(3));
        assertTrue(graph.readers(0).isOnly(0));
        task.reads()[0] = 2;
        String wrong = graph.wrongUse();
        assertNotNull(wrong);
        assertTrue(wrong.contains("'v0'"), wrong);
    }

    /** Compares sets of all sizes with a tree. Small sets are arrays; large ones become trees. */
    @ParameterizedTest
    @ValueSource(ints = {1, 5, 255, 256, 257, 258, 1000})
    void setsAreSortedSets(int size) {
        Random random = new Random(size);
        TaskSet set = new TaskSet(size);
        TreeSet<Integer> expected = new TreeSet<>();
        for (int i = 0; i < size; i++) {
            set.append(3 * i);
            set.append(3 * i);
            expected.add(3 * i);
        }
        assertSame(expected, set, 3 * size);
        for (int i = 0; i < 2 * size; i++) {
            int task = random.nextInt(3 * size);
            if (random.nextBoolean()) {
                set.add(task);
                expected.add(task);
            } else {
                set.remove(task);
                expected.remove(task);
            }
        }
        assertSame(expected, set, 3 * size);
        for (int task : set.toArray()) {
            set.remove(task);
        }
        assertSame(new TreeSet<>(), set, 3 * size);
    }

    private static void assertSame(NavigableSet<Integer> expected, TaskSet set, int end) {
        assertArrayEquals(expected.stream().mapToInt(Integer::intValue).toArray(), set.toArray());
        assertArrayEquals(set.toArray(), set.stream().toArray());
        assertEquals(expected.size(), set.size());
        assertEquals(expected.isEmpty(), set.isEmpty());
        assertEquals(expected.isEmpty() ? TaskSet.NONE : expected.first(), set.first());
        assertEquals(expected.isEmpty() ? TaskSet.NONE : expected.last(), set.last());
        for (int i = -1; i <= end; i++) {
            Integer ceiling = expected.ceiling(i);
            Integer floor = expected.floor(i);
            assertEquals(ceiling == null ? TaskSet.NONE : ceiling, set.atOrAfter(i));
            assertEquals(floor == null ? TaskSet.NONE : floor, set.atOrBefore(i));
            assertEquals(expected.contains(i), set.contains(i));
            assertEquals(!expected.subSet(i, true, i + 4, true).isEmpty(), set.isAnyIn(i, i + 4));
            assertEquals(expected.equals(new TreeSet<>(List.of(i))), set.isOnly(i));
            assertEquals(expected.isEmpty() || set.isOnly(i), set.isAtMost(i));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void theIndexIsRightAfterRandomChanges(long seed) {
        Random random = new Random(seed);
        ValueTable values = values(12);
        values.sameMemory(5, 2);
        values.sameMemory(7, 5);
        List<Task> tasks = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            tasks.add(any(random, values));
        }
        TaskGraph graph = new TaskGraph(tasks, values);
        for (int i = 0; i < 300; i++) {
            assertNotNull(graph.readers(random.nextInt(values.size())));
            switch (random.nextInt(8)) {
                case 0 -> values.add("more", SPEC);
                case 1 -> graph.remove(random.nextInt(graph.size()));
                case 2 -> graph.compact();
                case 3 -> {
                    List<Task> all = graph.tasks();
                    all.add(random.nextInt(all.size() + 1), any(random, values));
                    graph.replaceAll(all);
                }
                default -> graph.put(random.nextInt(graph.size()), any(random, values));
            }
            assertNull(graph.wrongUse());
        }
    }

    private static Task any(Random random, ValueTable values) {
        return task(some(random, values), some(random, values));
    }

    private static int[] some(Random random, ValueTable values) {
        int[] some = IntStream.range(0, random.nextInt(4)).map(_ -> random.nextInt(values.size())).toArray();
        return Arrays.stream(some).distinct().toArray();
    }
}
