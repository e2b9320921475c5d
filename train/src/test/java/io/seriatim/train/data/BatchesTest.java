package io.seriatim.train.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.engine.Engine;
import io.seriatim.executor.BatchSource;
import io.seriatim.executor.Reader;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BatchesTest {
    /** The value of each example is its index. */
    private record Numbers(int size) implements Dataset {
        @Override
        public List<Field> fields() {
            return List.of(new Field("number", DType.INT64, Shape.of(1)));
        }

        @Override
        public List<Tensor> batch(int[] examples) {
            return List.of(Tensor.of(Arrays.stream(examples).asLongStream().toArray(), examples.length, 1));
        }
    }

    private static List<Long> numbers(@Nullable List<Tensor> batch) {
        assertNotNull(batch);
        return LongStream.of(batch.getFirst().toLongArray()).boxed().toList();
    }

    private static List<List<Long>> untilEnd(BatchSource source) throws Exception {
        List<List<Long>> all = new ArrayList<>();
        for (List<Tensor> batch = source.next(); batch != null; batch = source.next()) {
            all.add(numbers(batch));
        }
        return all;
    }

    private static List<List<Long>> some(BatchSource source, int count) throws Exception {
        List<List<Long>> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(numbers(source.next()));
        }
        return all;
    }

    @Test
    void permutationsAreThoseOfTheirDefinition() {
        // Expected values from an implementation of the definition in Python.
        assertArrayEquals(new int[]{4, 9, 2, 5, 1, 7, 6, 0, 3, 8}, Permutation.of(0, 0, 10));
        assertArrayEquals(new int[]{6, 1, 2, 7, 3, 9, 8, 4, 0, 5}, Permutation.of(7, 3, 10));
        assertArrayEquals(new int[]{6, 7, 9, 2, 1, 0, 3, 4, 8, 5}, Permutation.of(-1, 1, 10));
        assertArrayEquals(new int[]{14256, 27789, 30514, 1500, 23532, 55100, 7373, 47476},
                Arrays.copyOf(Permutation.of(42, 5, 100_000), 8));
        assertArrayEquals(new int[]{0}, Permutation.of(1, 1, 1));
    }

    @Test
    void permutationsFavourNoPlace() {
        int[][] counts = new int[6][6];
        int trials = 6_000;
        for (int epoch = 0; epoch < trials; epoch++) {
            int[] order = Permutation.of(11, epoch, 6);
            for (int i = 0; i < 6; i++) {
                counts[i][order[i]]++;
            }
        }
        for (int[] row : counts) {
            // 1,000 each on average, with a standard deviation of 29.
            assertTrue(Arrays.stream(row).allMatch(count -> count > 850 && count < 1150), () -> Arrays.toString(row));
        }
    }

    @Test
    void anEpochHasEveryExampleOnce() throws Exception {
        Batches batches = Batches.of(new Numbers(20), 5, 3);
        assertEquals(4, batches.perEpoch());
        List<List<List<Long>>> epochs = new ArrayList<>();
        for (int epoch = 0; epoch < 3; epoch++) {
            List<List<Long>> all = untilEnd(batches);
            assertNull(batches.next(), "still at the end");
            assertEquals(4, all.size());
            assertEquals(LongStream.range(0, 20).boxed().toList(),
                    all.stream().flatMap(List::stream).sorted().toList());
            epochs.add(all);
            batches.reset();
        }
        assertEquals(3, epochs.stream().distinct().count(), "each epoch has an order of its own");
        assertEquals(epochs.getFirst(), untilEnd(Batches.of(new Numbers(20), 5, 3)));
        assertNotEquals(epochs.getFirst(), untilEnd(Batches.of(new Numbers(20), 5, 4)));
    }

    @Test
    void theLastBatchIsLeftOutOrShort() throws Exception {
        Batches batches = Batches.of(new Numbers(11), 4, 3);
        List<List<Long>> whole = untilEnd(batches);
        assertEquals(List.of(4, 4), whole.stream().map(List::size).toList());
        List<List<Long>> all = untilEnd(batches.from(0, 0).withShortLast());
        assertEquals(List.of(4, 4, 3), all.stream().map(List::size).toList());
        assertEquals(whole, all.subList(0, 2));
        assertEquals(11, all.stream().flatMap(List::stream).distinct().count());
        assertEquals(3, batches.withShortLast().perEpoch());
    }

    @Test
    void evaluationReadsAllInTheirOrder() throws Exception {
        Batches batches = Batches.inOrder(new Numbers(5), 2);
        for (int passage = 0; passage < 3; passage++) {
            assertEquals(List.of(List.of(0L, 1L), List.of(2L, 3L), List.of(4L)), untilEnd(batches));
            batches.reset();
        }
        assertEquals(List.of(List.of(0L, 1L)), untilEnd(Batches.inOrder(new Numbers(2), 100)));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whoGoesOnFromAPositionReadsTheSame(boolean shortLast) throws Exception {
        Batches plain = Batches.of(new Numbers(23), 4, 9);
        Batches batches = (shortLast ? plain.withShortLast() : plain).endless();
        int perEpoch = batches.perEpoch();
        assertEquals(shortLast ? 6 : 5, perEpoch);
        List<List<Long>> all = some(batches, 4 * perEpoch);
        for (int done = 0; done < 3 * perEpoch; done++) {
            List<List<Long>> rest = all.subList(done, 4 * perEpoch);
            assertEquals(rest, some(batches.from(done / perEpoch, done % perEpoch), rest.size()), "after " + done);
            if (done > 0 && done % perEpoch == 0) {
                assertEquals(rest, some(batches.from(done / perEpoch - 1, perEpoch), rest.size()),
                        "from the end of an epoch");
            }
        }
    }

    @Test
    void endlessIsTheEpochsOneAfterTheOther() throws Exception {
        Batches batches = Batches.of(new Numbers(10), 3, 1);
        List<List<Long>> expected = new ArrayList<>();
        for (int epoch = 0; epoch < 4; epoch++) {
            expected.addAll(untilEnd(batches));
            batches.reset();
        }
        assertEquals(expected, some(Batches.of(new Numbers(10), 3, 1).endless(), 12));
    }

    @Test
    void resetBeginsTheNextEpochAlsoBeforeTheEnd() throws Exception {
        Batches batches = Batches.of(new Numbers(10), 3, 1);
        some(batches, 2);
        batches.reset();
        assertEquals(untilEnd(Batches.of(new Numbers(10), 3, 1).from(1, 0)), untilEnd(batches));
        Batches atEnd = batches.from(2, 3);
        assertNull(atEnd.next());
        atEnd.reset();
        assertEquals(untilEnd(batches.from(3, 0)), untilEnd(atEnd));
    }

    @Test
    void readAheadOnAnEngineTheyAreTheSame() throws Exception {
        Batches batches = Batches.of(new Numbers(23), 4, 9);
        List<List<Long>> expected = some(batches.endless(), 20);
        try (Engine engine = Engine.create();
                Reader endless = Reader.builder(batches.endless()).ahead(3).engine(engine).build();
                Reader byEpoch = Reader.builder(batches.from(0, 0)).engine(engine).build()) {
            for (int i = 0; i < 20; i++) {
                assertEquals(expected.get(i), numbers(endless.next()));
                assertEquals(expected.get(i), numbers(byEpoch.next()));
                if (i % 5 == 4) {
                    assertNull(byEpoch.next());
                }
            }
        }
        try (Reader resumed = Reader.of(batches.endless().from(1, 2))) {
            for (int i = 7; i < 20; i++) {
                assertEquals(expected.get(i), numbers(resumed.next()));
            }
        }
    }

    @Test
    void afterAFailureTheNextBatchComes() throws Exception {
        Dataset failing = new Dataset() {
            private int calls;

            @Override
            public List<Field> fields() {
                return new Numbers(6).fields();
            }

            @Override
            public int size() {
                return 6;
            }

            @Override
            public List<Tensor> batch(int[] examples) throws IOException {
                if (calls++ == 1) {
                    throw new IOException("planted");
                }
                return new Numbers(6).batch(examples);
            }
        };
        Batches batches = Batches.inOrder(failing, 2);
        assertEquals(List.of(0L, 1L), numbers(batches.next()));
        assertThrows(IOException.class, batches::next);
        assertEquals(List.of(4L, 5L), numbers(batches.next()));
        assertNull(batches.next());
    }

    @Test
    void saysWhatItNeeds() {
        String large = message(() -> Batches.of(new Numbers(3), 4, 0));
        assertTrue(large.contains("number of examples, 3") && large.contains("but is 4"), large);
        message(() -> Batches.of(new Numbers(3), 0, 0));
        message(() -> Batches.inOrder(new Numbers(3), -1));
        Batches batches = Batches.of(new Numbers(9), 4, 0);
        String position = message(() -> batches.from(0, 3));
        assertTrue(position.contains("batch 0 to 2") && position.contains("batch 3"), position);
        message(() -> batches.from(-1, 0));
        message(() -> batches.from(0, -1));
    }

    @Test
    void aSplitHasFieldsOfOneKind() {
        assertThrows(IllegalArgumentException.class,
                () -> new Split(new Numbers(3), new TextWindows(Tokens.of(IntStream.range(0, 9).toArray()), 2)));
    }

    private static String message(Executable action) {
        return String.valueOf(assertThrows(IllegalArgumentException.class, action).getMessage());
    }
}
