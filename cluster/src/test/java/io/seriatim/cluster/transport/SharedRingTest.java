package io.seriatim.cluster.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bytes through memory, with random sizes, and with wrong positions. */
class SharedRingTest {
    private static final long SEED = 99;
    private static final long ROUNDS = 4000;
    private static final int LONGEST = 100_000;

    private static byte value(long position) {
        return (byte) (position * 31 + (position >> 9));
    }

    /** Puts random numbers of bytes whose values depend on their position. */
    private static final class Writer {
        private final SharedRing ring;
        private final Random random;
        private final ByteBuffer buffer = ByteBuffer.allocateDirect(LONGEST);
        private long next;

        Writer(SharedRing ring, Random random) {
            this.ring = ring;
            this.random = random;
        }

        boolean put() throws ProtocolException {
            buffer.clear().limit(random.nextInt(LONGEST));
            for (int i = 0; i < buffer.limit(); i++) {
                buffer.put(i, value(next + i));
            }
            int before = ring.free();
            int count = ring.put(buffer);
            assertEquals(buffer.position(), count);
            assertTrue(count > 0 || before == 0 || !buffer.hasRemaining());
            next += count;
            return ring.publishWritten();
        }
    }

    /** Takes random numbers of bytes, or uses them where they are, and checks their values. */
    private static final class Reader {
        private final SharedRing ring;
        private final Random random;
        private final ByteBuffer buffer = ByteBuffer.allocateDirect(LONGEST);
        private long next;

        Reader(SharedRing ring, Random random) {
            this.ring = ring;
            this.random = random;
        }

        boolean take() throws ProtocolException {
            if (random.nextBoolean()) {
                buffer.clear().limit(random.nextInt(LONGEST));
                check(buffer, ring.take(buffer));
            } else {
                ByteBuffer there = ring.next();
                int count = random.nextInt(there.remaining() + 1);
                check(there, count);
                ring.skip(count);
            }
            return ring.publishTaken();
        }

        private void check(ByteBuffer bytes, int count) {
            for (int i = 0; i < count; i++) {
                assertEquals(value(next + i), bytes.get(i));
            }
            next += count;
        }
    }

    @Test
    void bytesArriveInOrder() throws ProtocolException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(SharedRing.BYTES, Long.BYTES);
            Random random = new Random(SEED);
            Writer writer = new Writer(new SharedRing(memory, 1), random);
            Reader reader = new Reader(new SharedRing(memory, 0), random);
            for (long round = 0; round < ROUNDS; round++) {
                if (random.nextBoolean()) {
                    assertFalse(writer.put(), "nobody waits");
                } else {
                    assertFalse(reader.take(), "nobody waits");
                }
                assertTrue(writer.next - reader.next <= SharedRing.CAPACITY);
            }
            assertTrue(reader.next > SharedRing.CAPACITY);
        }
    }

    @Test
    void aSideThatWaitsIsWokenOnce() throws ProtocolException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(SharedRing.BYTES, Long.BYTES);
            SharedRing writer = new SharedRing(memory, 1);
            SharedRing reader = new SharedRing(memory, 0);
            ByteBuffer bytes = ByteBuffer.allocateDirect(SharedRing.CAPACITY);
            assertTrue(reader.mayWaitForBytes());
            writer.put(bytes);
            assertTrue(writer.publishWritten());
            assertFalse(writer.publishWritten());
            assertFalse(reader.mayWaitForBytes(), "bytes are there");

            while (bytes.hasRemaining()) {
                writer.put(bytes);
                writer.publishWritten();
            }
            assertTrue(writer.mayWaitForSpace());
            reader.skip(reader.next().remaining());
            assertTrue(reader.publishTaken());
            assertFalse(reader.publishTaken());
            assertFalse(writer.mayWaitForSpace(), "space is there");
        }
    }

    /** Threads that sleep whenever they may: nothing but the other side wakes them. */
    @Test
    void noSideSleepsForever() throws Exception {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(SharedRing.BYTES, Long.BYTES);
            Semaphore bytes = new Semaphore(0);
            Semaphore space = new Semaphore(0);
            long total = 64L * SharedRing.CAPACITY;
            SharedRing out = new SharedRing(memory, 1);
            SharedRing in = new SharedRing(memory, 0);
            CompletableFuture<Long> writing = CompletableFuture.supplyAsync(() -> {
                Writer writer = new Writer(out, new Random(SEED));
                try {
                    while (writer.next < total) {
                        if (writer.put()) {
                            bytes.release();
                        }
                        if (out.free() == 0 && out.mayWaitForSpace()) {
                            assertTrue(space.tryAcquire(1, TimeUnit.MINUTES), "the writer sleeps");
                        }
                    }
                    return writer.next;
                } catch (ProtocolException | InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            Reader reader = new Reader(in, new Random(SEED + 1));
            while (reader.next < total) {
                if (reader.take()) {
                    space.release();
                }
                if (in.available() == 0 && reader.next < total && in.mayWaitForBytes()) {
                    assertTrue(bytes.tryAcquire(1, TimeUnit.MINUTES), "the reader sleeps");
                }
            }
            // The writer may wait for the space of what it has written beyond.
            while (!writing.isDone()) {
                reader.take();
                space.release();
                Thread.onSpinWait();
            }
            assertTrue(writing.get() >= total);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, SharedRing.CAPACITY + 1L, Long.MIN_VALUE, Long.MAX_VALUE})
    void positionsOfTheOtherSideAreNotBelieved(long position) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(SharedRing.BYTES, Long.BYTES);
            SharedRing reader = new SharedRing(memory, 3);
            memory.set(ValueLayout.JAVA_LONG, 0, position);
            ProtocolException wrong = assertThrows(ProtocolException.class, reader::available);
            assertTrue(wrong.text().startsWith("rank 3 has written nonsense"), wrong::text);
        }
    }
}
