package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.engine.Engine;
import io.seriatim.engine.Lane;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ReaderTest {
    /** The kinds of engines that a reader may use. */
    enum Kind {
        NAIVE, POOLED_1, PER_DEVICE, SHUFFLED, CHECKED;

        Engine open() {
            return switch (this) {
                case NAIVE -> Engine.builder().naive().build();
                case POOLED_1 -> Engine.builder().pooled(1).build();
                case PER_DEVICE -> Engine.create();
                case SHUFFLED -> Engine.builder().shuffled(3).build();
                case CHECKED -> Engine.builder().checked(true).workers(Lane.CPU, 2).build();
            };
        }
    }

    /** A reader, and its engine, which is closed together with it. */
    private record OnEngine(Reader reader, Engine engine) implements ReaderContract.UnderTest {
        @Override
        public @Nullable Integer next() throws Exception {
            return number(ReaderTest.next(reader));
        }

        @Override
        public void reset() {
            reader.reset();
        }

        @Override
        public void settle() throws Exception {
            engine.waitForAll();
        }

        @Override
        public void close() {
            reader.close();
            engine.close();
        }
    }

    private static Reader.Outcome next(Reader reader) throws InterruptedException {
        return Reader.take(List.of(reader)).getFirst();
    }

    private static @Nullable Integer number(Reader.Outcome outcome) throws Exception {
        return switch (outcome) {
            case Reader.Outcome.Batch(List<Tensor> tensors) -> (int) tensors.getFirst().getDouble(0);
            case Reader.Outcome.Failed(Exception e) -> throw e;
            case Reader.Outcome.Failed(Throwable e) -> throw new AssertionError(e);
            case Reader.Outcome.Sign sign -> {
                assertEquals(Reader.Outcome.Sign.END, sign);
                yield null;
            }
        };
    }

    private static Stream<Object[]> rulesAndEngines() {
        return Stream.of(ReaderContract.values())
                .flatMap(rule -> Stream.of(Kind.values()).map(kind -> new Object[]{rule, kind}));
    }

    @ParameterizedTest
    @MethodSource("rulesAndEngines")
    void keepsTheContract(ReaderContract rule, Kind kind) throws Exception {
        rule.check((source, ahead) -> {
            Engine engine = kind.open();
            return new OnEngine(Reader.builder(source).ahead(ahead).engine(engine).build(), engine);
        });
    }

    @ParameterizedTest
    @EnumSource
    void everyThreadGetsBatchesOfItsOwnAndEachEndComesOnce(Kind kind) throws Exception {
        int count = 7;
        int passages = 40;
        try (Engine engine = kind.open();
                Reader reader = Reader.builder(new NumberSource(count)).ahead(3).engine(engine).build()) {
            AtomicInteger left = new AtomicInteger((count + 1) * passages);
            List<Integer> seen = Collections.synchronizedList(new ArrayList<>());
            inThreads(4, _ -> {
                List<Integer> own = new ArrayList<>();
                while (left.getAndDecrement() > 0) {
                    Integer number = number(next(reader));
                    own.add(number == null ? -1 : number);
                }
                assertEquals(own.stream().filter(number -> number >= 0).sorted().toList(),
                        own.stream().filter(number -> number >= 0).toList(),
                        "one thread's batches are in order");
                seen.addAll(own);
            });
            List<Integer> expected = new ArrayList<>(Collections.nCopies(passages, -1));
            IntStream.range(0, passages)
                    .forEach(passage -> IntStream.range(0, count).forEach(i -> expected.add(passage * 100 + i)));
            assertEquals(expected, seen.stream().sorted().toList());
        }
    }

    @ParameterizedTest
    @EnumSource
    void severalReadersStayInStep(Kind kind) throws Exception {
        // The end of the shorter reader ends both.
        try (Engine engine = kind.open();
                Reader shorter = Reader.builder(new NumberSource(5)).engine(engine).build();
                Reader longer = Reader.builder(new NumberSource(9)).ahead(4).engine(engine).build()) {
            AtomicInteger left = new AtomicInteger(6 * 600);
            List<Integer> seen = Collections.synchronizedList(new ArrayList<>());
            inThreads(3, thread -> {
                List<Reader> readers = thread == 0 ? List.of(longer, shorter) : List.of(shorter, longer);
                while (left.getAndDecrement() > 0) {
                    List<Reader.Outcome> both = Reader.take(readers);
                    if (both.contains(Reader.Outcome.Sign.END)) {
                        seen.add(-1);
                    } else {
                        assertEquals(number(both.getFirst()), number(both.getLast()));
                        seen.add(number(both.getFirst()));
                    }
                }
            });
            List<Integer> expected = new ArrayList<>(Collections.nCopies(600, -1));
            IntStream.range(0, 600)
                    .forEach(passage -> IntStream.range(0, 5).forEach(i -> expected.add(passage * 100 + i)));
            assertEquals(expected, seen.stream().sorted().toList());
        }
    }

    @Test
    void oneReaderTakenTwice() throws Exception {
        try (Reader reader = Reader.of(new NumberSource(3))) {
            List<Reader> twice = List.of(reader, reader);
            for (int passage = 0; passage < 300; passage += 100) {
                List<Reader.Outcome> first = Reader.take(twice);
                assertEquals(passage, number(first.getFirst()));
                assertEquals(passage + 1, number(first.getLast()));
                assertTrue(Reader.take(twice).contains(Reader.Outcome.Sign.END), "one batch is not enough for two");
            }
        }
    }

    @Test
    void whoWaitsWhenTheReaderIsResetStillGetsItsBatch() throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        NumberSource source = new NumberSource(4) {
            @Override
            public @Nullable List<Tensor> next() throws Exception {
                entered.countDown();
                go.await();
                return super.next();
            }
        };
        try (Reader reader = Reader.of(source)) {
            List<Integer> got = Collections.synchronizedList(new ArrayList<>());
            Thread waiting = started(() -> got.add(number(next(reader))));
            entered.await();
            reader.reset();
            go.countDown();
            waiting.join();
            assertEquals(List.of(0), got);
            assertEquals(100, number(next(reader)));
        }
    }

    @ParameterizedTest
    @EnumSource
    void closingEndsAWait(Kind kind) throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch never = new CountDownLatch(1);
        NumberSource source = new NumberSource(4) {
            @Override
            public @Nullable List<Tensor> next() throws Exception {
                entered.countDown();
                never.await();
                return super.next();
            }
        };
        try (Engine engine = kind.open()) {
            Reader reader = Reader.builder(source).engine(engine).build();
            List<Reader.Outcome> got = Collections.synchronizedList(new ArrayList<>());
            List<Boolean> interrupted = Collections.synchronizedList(new ArrayList<>());
            Thread waiting = started(() -> {
                got.add(next(reader));
                interrupted.add(Thread.currentThread().isInterrupted());
            });
            entered.await();
            reader.close();
            waiting.join();
            assertEquals(List.of(Reader.Outcome.Sign.CLOSED), got);
            assertEquals(List.of(false), interrupted);
            assertEquals(1, source.closings.get());
            String message = String.valueOf(assertThrows(IllegalStateException.class, () -> next(reader)).getMessage());
            assertTrue(message.contains("closed"), message);
            assertThrows(IllegalStateException.class, reader::reset);
            assertTrue(engine.op("after").call(() -> !Thread.currentThread().isInterrupted()).get(),
                    "the engine's thread goes on");
        }
    }

    @Test
    void closingEndsTheThread() throws Exception {
        List<Thread> reading = Collections.synchronizedList(new ArrayList<>());
        NumberSource source = new NumberSource(4) {
            @Override
            public @Nullable List<Tensor> next() throws Exception {
                reading.add(Thread.currentThread());
                return super.next();
            }
        };
        Reader reader = Reader.of(source);
        assertEquals(0, number(next(reader)));
        reader.close();
        for (Thread thread : reading) {
            thread.join();
            assertFalse(thread.isAlive());
        }
        assertFalse(reading.isEmpty());
    }

    @Test
    void aSourceCannotCloseItsReader() throws Exception {
        List<Reader> own = new ArrayList<>();
        try (Reader reader = Reader.of(new NumberSource(4) {
            @Override
            public @Nullable List<Tensor> next() {
                own.getFirst().close();
                return null;
            }
        })) {
            own.add(reader);
            String message = assertInstanceOf(Reader.Outcome.Failed.class, next(reader)).cause().getMessage();
            assertTrue(String.valueOf(message).contains("cannot close its own reader"), message);
        }
    }

    @Test
    void anInterruptedThreadTakesNothing() throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        NumberSource source = new NumberSource(4) {
            @Override
            public @Nullable List<Tensor> next() throws Exception {
                entered.countDown();
                go.await();
                return super.next();
            }
        };
        try (Reader reader = Reader.of(source); Reader other = Reader.of(new NumberSource(4))) {
            List<Boolean> thrown = Collections.synchronizedList(new ArrayList<>());
            Thread waiting = started(() -> {
                assertThrows(InterruptedException.class, () -> Reader.take(List.of(other, reader)));
                thrown.add(true);
            });
            entered.await();
            waiting.interrupt();
            waiting.join();
            go.countDown();
            assertEquals(List.of(true), thrown);
            List<Integer> numbers = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                List<Reader.Outcome> both = Reader.take(List.of(reader, other));
                numbers.add(number(both.getFirst()));
                assertEquals(i, number(both.getLast()));
            }
            assertEquals(List.of(0, 1, 2, 3), numbers);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void resetsWhileOthersReadLoseNoWaitAndNoOrder(long seed) throws Exception {
        try (Reader reader = Reader.of(new NumberSource(6))) {
            inThreads(3, thread -> {
                Random random = new Random(seed * 10 + thread);
                int passage = -1;
                for (int i = 0; i < 300; i++) {
                    if (random.nextInt(8) == 0) {
                        reader.reset();
                    }
                    Integer number = number(next(reader));
                    assertTrue(number == null || number >= passage,
                            () -> "seed " + seed + ": " + number + " comes too late");
                    passage = number == null ? passage : number;
                }
            });
        }
    }

    @Test
    void saysWhatItNeeds() throws Exception {
        Reader.Builder builder = Reader.builder(new NumberSource(1));
        String depth = String
                .valueOf(assertThrows(IllegalArgumentException.class, () -> builder.ahead(0)).getMessage());
        assertTrue(depth.contains("must be 1 or more") && depth.contains("is 0"), depth);
        Engine engine = Engine.create();
        try (Reader reader = builder.engine(engine).build()) {
            engine.close();
            assertThrows(IllegalStateException.class, () -> next(reader));
        }
        Reader failing = Reader.of(new BatchSource() {
            @Override
            public List<Tensor> next() {
                return List.of();
            }

            @Override
            public void reset() {
                throw new UnsupportedOperationException("read once only");
            }

            @Override
            public void close() throws IOException {
                throw new IOException("planted");
            }
        });
        next(failing);
        failing.reset();
        for (int i = 0; i < 3; i++) {
            assertEquals("read once only",
                    assertInstanceOf(Reader.Outcome.Failed.class, next(failing)).cause().getMessage());
        }
        String closing = String.valueOf(assertThrows(IllegalStateException.class, failing::close).getMessage());
        assertTrue(closing.contains("planted"), closing);
    }

    @Test
    void iterablesAreSources() throws Exception {
        try (Reader reader = Reader
                .of(BatchSource.of(List.of(new NumberSource(1).batch(4), new NumberSource(1).batch(5))))) {
            for (int i = 0; i < 3; i++) {
                assertEquals(4, number(next(reader)));
                assertEquals(5, number(next(reader)));
                assertEquals(null, number(next(reader)));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void batchesAreTakenOutsideOfPrograms(Kind kind) throws Exception {
        IOException planted = new IOException("planted");
        AssertionError error = new AssertionError("planted error");
        NumberSource source = new NumberSource(4) {
            @Override
            public @Nullable List<Tensor> next() throws Exception {
                List<Tensor> batch = super.next();
                if (batch != null && batch.getFirst().getDouble(0) == 103) {
                    throw error;
                }
                return batch;
            }
        }.failing(1, planted);
        try (Engine engine = kind.open()) {
            Reader reader = Reader.builder(source).engine(engine).build();
            for (int passage = 0; passage < 200; passage += 100) {
                assertEquals(passage, first(reader.next()));
                assertSame(planted, assertThrows(IOException.class, reader::next));
                assertEquals(passage + 2, first(reader.next()));
                if (passage == 0) {
                    assertEquals(3, first(reader.next()));
                } else {
                    assertSame(error, assertThrows(AssertionError.class, reader::next));
                }
                assertNull(reader.next());
            }
            assertEquals(200, first(reader.next()));
            reader.reset();
            assertEquals(300, first(reader.next()));
            reader.close();
            String message = String.valueOf(assertThrows(IllegalStateException.class, reader::next).getMessage());
            assertTrue(message.contains("closed"), message);
        }
    }

    @Test
    void closingEndsAWaitOutsideOfPrograms() throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch never = new CountDownLatch(1);
        Reader reader = Reader.of(new NumberSource(4) {
            @Override
            public @Nullable List<Tensor> next() throws Exception {
                entered.countDown();
                never.await();
                return super.next();
            }
        });
        List<String> messages = Collections.synchronizedList(new ArrayList<>());
        Thread waiting = started(
                () -> messages.add(assertThrows(IllegalStateException.class, reader::next).getMessage()));
        entered.await();
        // Only a thread that is already waiting gets the message that the reader was closed meanwhile.
        while (waiting.getState() != Thread.State.WAITING && waiting.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
        reader.close();
        waiting.join();
        assertEquals(1, messages.size());
        assertTrue(messages.getFirst().contains("closed while"), messages::getFirst);
    }

    private static int first(@Nullable List<Tensor> batch) {
        assertNotNull(batch);
        return (int) batch.getFirst().getDouble(0);
    }

    /** The work of a thread. */
    private interface Work {
        void run() throws Exception;
    }

    /** The work of several threads, with the index of the thread. */
    private interface NumberedWork {
        void run(int thread) throws Exception;
    }

    private static Thread started(Work work) {
        return Thread.ofPlatform().start(() -> {
            try {
                work.run();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        });
    }

    private static void inThreads(int count, NumberedWork work) throws InterruptedException {
        List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int thread = i;
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    work.run(thread);
                } catch (Throwable e) {
                    failures.add(e);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (!failures.isEmpty()) {
            AssertionError error = new AssertionError(failures.size() + " threads failed", failures.getFirst());
            throw error;
        }
    }
}
