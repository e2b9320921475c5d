package io.seriatim.graph.interpret;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Elements of lists that lie in common memory are copies of their own. */
class TensorListTest {
    private static final DType[] TYPES = {DType.FLOAT32, DType.INT64, DType.BOOL};

    private static Tensor random(Random random, int kind) {
        long[] dims = kind < 3 ? new long[]{1 + kind, 3} : kind == 3 ? new long[]{} : new long[]{kind % 2 * 4096L, 2};
        DType type = TYPES[kind % TYPES.length];
        int size = (int) Arrays.stream(dims).reduce(1, (a, b) -> a * b);
        return Tensor.of(type, random.longs(size, 0, 2 + 100L * (kind % 2)).toArray(), dims);
    }

    private static void assertSame(List<long[]> expected, TensorList list, String where) {
        for (int i = 0; i < expected.size(); i++) {
            assertEquals(Arrays.toString(expected.get(i)),
                    Arrays.toString(Objects.requireNonNull(list.tensors().get(i)).toLongArray()), where + ", " + i);
        }
        assertEquals(expected.size(), list.tensors().size(), where);
    }

    @Test
    void randomListsHoldCopies() {
        for (int seed = 0; seed < 60; seed++) {
            Random random = new Random(seed);
            String where = "seed " + seed;
            TensorList list = new TensorList();
            List<long[]> expected = new ArrayList<>();
            TensorList other = new TensorList();
            List<long[]> copied = new ArrayList<>();
            int kind = 0;
            for (int step = 0; step < 80; step++) {
                kind = random.nextInt(6) == 0 ? random.nextInt(6) : kind;
                Tensor value = random(random, kind);
                int at = random.nextInt(5) == 0 && !expected.isEmpty()
                        ? random.nextInt(expected.size())
                        : expected.size();
                list.putCopy(at, value);
                if (at < expected.size()) {
                    expected.set(at, value.toLongArray());
                } else {
                    expected.add(value.toLongArray());
                }
                value.close();
                if (random.nextInt(20) == 0) {
                    // Both lists go on from here with the same elements.
                    other = (TensorList) VariableValues.copy(list);
                    copied = new ArrayList<>(expected);
                }
                if (random.nextInt(3) == 0) {
                    Tensor more = random(random, kind);
                    other.putCopy(copied.size(), more);
                    copied.add(more.toLongArray());
                }
                if (random.nextInt(15) == 0) {
                    list.tensors().removeLast();
                    expected.removeLast();
                }
            }
            assertSame(expected, list, where);
            assertSame(copied, other, where + ", copy");
        }
    }

    @Test
    void stacksOfElementsInAndOutOfCommonMemory() {
        for (int axis = 0; axis < 3; axis++) {
            Random random = new Random(axis);
            TensorList list = new TensorList();
            List<Tensor> parts = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                Tensor part = random(random, 1);
                list.putCopy(i, part);
                if (i % 7 == 3) {
                    part = random(random, 1);
                    list.putCopy(i - 2, part);
                    parts.set(i - 2, part);
                    part = Objects.requireNonNull(list.tensors().get(i));
                }
                parts.add(part);
            }
            Tensor stack = VariableValues.stacked(axis, list.tensors().stream().map(Objects::requireNonNull).toList());
            for (int i = 0; i < parts.size(); i++) {
                assertEquals(Arrays.toString(parts.get(i).toLongArray()),
                        Arrays.toString(VariableValues.copy(stack.select(axis, i)).toLongArray()),
                        "axis " + axis + ", part " + i);
            }
        }
    }

    /** Few allocations for many elements, none that is larger than the elements need about twice. */
    @Test
    void elementsShareMemory() {
        TensorList list = new TensorList();
        for (int i = 0; i < 1000; i++) {
            list.putCopy(i, Tensor.of(new float[32], 32));
        }
        long buffers = list.tensors().stream().map(each -> Objects.requireNonNull(each).buffer()).distinct().count();
        assertTrue(buffers < 20, () -> buffers + " buffers");
        assertTrue(list.tensors().stream().allMatch(each -> Objects.requireNonNull(each).buffer().bytes() <= 1 << 16));
        TensorList large = new TensorList();
        for (int i = 0; i < 8; i++) {
            large.putCopy(i, Tensor.of(new float[8192], 8192));
        }
        assertNotEquals(Objects.requireNonNull(large.tensors().get(6)).buffer(),
                Objects.requireNonNull(large.tensors().get(7)).buffer());
    }
}
