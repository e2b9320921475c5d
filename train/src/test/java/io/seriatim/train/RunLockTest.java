package io.seriatim.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The tests of the command cover two processes. */
class RunLockTest {
    @TempDir
    private Path temp = Path.of("");

    @Test
    void oneHoldsIt() throws IOException {
        Path run = temp.resolve("runs/one");
        RunLock first = RunLock.of(run);
        try (RunLock second = RunLock.of(run)) {
            first.acquire();
            first.acquire();
            RunInUseException refused = assertThrows(RunInUseException.class, second::acquire);
            assertTrue(String.valueOf(refused.getMessage()).startsWith(
                    "The folder " + run + " is in use by process " + ProcessHandle.current().pid() + " on host "),
                    refused::getMessage);
            first.close();
            second.acquire();
            assertThrows(RunInUseException.class, first::acquire);
        }
    }

    @Test
    void aFileThatWasLeftKeepsNobodyOut() throws IOException {
        Files.writeString(temp.resolve("run.lock"), "process 1 on host elsewhere\n");
        try (RunLock lock = RunLock.of(temp)) {
            lock.acquire();
        }
        assertEquals("process " + ProcessHandle.current().pid(),
                Files.readString(temp.resolve("run.lock")).split(" on host ", 2)[0]);
    }

    /** Another path to the same folder has the same lock. */
    @Test
    void linksLeadToTheSameLock() throws IOException {
        Path run = Files.createDirectory(temp.resolve("run"));
        Path link = Files.createSymbolicLink(temp.resolve("link"), run);
        try (RunLock first = RunLock.of(run); RunLock second = RunLock.of(link)) {
            first.acquire();
            assertThrows(RunInUseException.class, second::acquire);
        }
    }

    @Test
    void theFileIsNotBelieved() {
        assertEquals("process 7 on host a-b.c", RunLock.named("process 7 on host a-b.c\nmore"));
        assertEquals("another training", RunLock.named(""));
        assertEquals("another training", RunLock.named("process 7 on host \u001b[31mred"));
    }

    @Test
    void neverTwoAtOnce() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger acquired = new AtomicInteger();
        CountDownLatch start = new CountDownLatch(1);
        try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
            Future<?>[] all = IntStream.range(0, 4).mapToObj(i -> threads.submit(() -> {
                start.await();
                for (int round = 0; round < 200; round++) {
                    try (RunLock lock = RunLock.of(temp)) {
                        lock.acquire();
                        assertEquals(1, inside.incrementAndGet());
                        acquired.incrementAndGet();
                        inside.decrementAndGet();
                    } catch (RunInUseException e) {
                        assertTrue(String.valueOf(e.getMessage()).contains("is in use by "), e::getMessage);
                    }
                }
                return null;
            })).toArray(Future<?>[]::new);
            start.countDown();
            for (Future<?> each : all) {
                each.get();
            }
        }
        assertTrue(acquired.get() > 0);
    }
}
