package io.seriatim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class AllocatorTest {
    @Test
    void sizeClassesWasteLittle() {
        long last = 0;
        for (long bytes = 1; bytes < 1L << 40; bytes = bytes * 9 / 8 + 1) {
            long size = SizeClass.round(bytes);
            assertTrue(size >= bytes && size % 64 == 0, "size class " + size + " for " + bytes);
            assertTrue(size <= Math.max(64, bytes + Math.max(64, bytes / 4)), "size class " + size + " for " + bytes);
            assertEquals(size, SizeClass.round(size));
            assertTrue(size >= last);
            assertTrue(SizeClass.index(size) < SizeClass.COUNT);
            last = size;
        }
    }

    @Test
    void listsTheLargestWhenExhausted() {
        try (Devices devices = Devices.builder().cpuMemory(1 << 20).build()) {
            List<Buffer> buffers = new ArrayList<>();
            for (int i = 1; i <= 7; i++) {
                buffers.add(devices.host().allocate(i * 20_000L).label("buffer " + i));
            }
            DeviceMemoryException e = assertThrows(DeviceMemoryException.class, () -> devices.host().allocate(600_000));
            String message = String.valueOf(e.getMessage());
            assertTrue(message.contains("600,000") && message.contains("1,048,576") && message.contains("560,000"),
                    message);
            assertTrue(message.indexOf("'buffer 7' 140,000") < message.indexOf("'buffer 6' 120,000"), message);
            assertTrue(message.contains("buffer 3") && !message.contains("buffer 2'"), message);
            assertEquals(100_000, devices.host().allocate(100_000).bytes());
            buffers.forEach(Buffer::close);
            assertEquals(600_000, devices.host().allocate(600_000).bytes());
        }
    }

    @Test
    void freesWhatNoOneCanReach() {
        try (Devices devices = Devices.builder().cpuMemory(1 << 20).build()) {
            for (int i = 0; i < 300; i++) {
                assertEquals(100_000, devices.host().allocate(100_000).bytes());
            }
            assertTrue(devices.host().memory().peak() <= 1 << 20);
        }
    }

    @Test
    void countsWhatIsUsed() {
        try (Devices devices = Devices.builder().build()) {
            Device host = devices.host();
            Buffer a = host.allocate(1000);
            Buffer b = host.allocate(3000);
            assertEquals(new MemoryStats(4000, 0, 4000, Long.MAX_VALUE, 2), host.memory());
            a.close();
            assertEquals(3000, host.memory().used());
            assertTrue(host.memory().cached() >= 1000);
            host.trim();
            assertEquals(0, host.memory().cached());
            assertEquals(0, b.address() % 64);
            b.close();
            assertEquals(4000, host.memory().peak());
        }
    }

    @Test
    void manyThreadsNeverShareMemory() throws InterruptedException {
        try (Devices devices = Devices.builder().build()) {
            List<Thread> threads = new ArrayList<>();
            List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
            for (int t = 0; t < 4; t++) {
                byte mark = (byte) (t + 1);
                Thread thread = new Thread(() -> work(devices.host(), mark), "allocator " + t);
                thread.setUncaughtExceptionHandler((_, e) -> failures.add(e));
                threads.add(thread);
            }
            threads.forEach(Thread::start);
            for (Thread thread : threads) {
                thread.join();
            }
            assertEquals(List.of(), failures);
            assertEquals(0, devices.host().memory().used());
        }
    }

    private static void work(Device host, byte mark) {
        SplittableRandom random = new SplittableRandom(mark);
        List<Buffer> mine = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            if (mine.size() < 8 && random.nextBoolean()) {
                Buffer buffer = host.allocate(random.nextInt(1, 600));
                buffer.segment().fill(mark);
                mine.add(buffer);
            } else if (!mine.isEmpty()) {
                Buffer buffer = mine.remove(random.nextInt(mine.size()));
                for (byte b : buffer.segment().toArray(ValueLayout.JAVA_BYTE)) {
                    assertEquals(mark, b);
                }
                buffer.close();
            }
        }
        mine.forEach(Buffer::close);
    }

    /** Sizes that never recur: without a limit, freed blocks of all of them would accumulate. */
    @Test
    void ofSizesThatVaryNoMoreIsKeptThanWasUsed() {
        try (Devices devices = Devices.builder().build()) {
            Device host = devices.host();
            long largest = 0;
            for (int i = 1; i <= 400; i++) {
                long bytes = i * (64L << 10);
                host.allocate(bytes).close();
                largest = Math.max(largest, bytes);
                assertTrue(host.memory().cached() <= CachingAllocator.KEPT + 2 * largest, host.memory()::toString);
            }
            assertTrue(host.memory().cached() >= largest, "what was used last is kept");
        }
    }

    /** Sizes that are used repeatedly stay cached; sizes that occurred once do not. */
    @Test
    void theSizesNotAskedForForLongestAreGivenBack() {
        try (Devices devices = Devices.builder().build()) {
            Device host = devices.host();
            long often = 3L << 20;
            for (int i = 1; i <= 40; i++) {
                Buffer buffer = host.allocate(often);
                long address = buffer.address();
                buffer.close();
                host.allocate(i * (1L << 20) + 5).close();
                Buffer again = host.allocate(often);
                assertEquals(address, again.address(), "after " + i);
                again.close();
            }
        }
    }
}
