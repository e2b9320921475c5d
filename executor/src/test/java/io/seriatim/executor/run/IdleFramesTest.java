package io.seriatim.executor.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

class IdleFramesTest {
    /** An object that must have one owner at a time and be freed once. */
    private static final class Thing {
        private final AtomicInteger owners = new AtomicInteger();
        private final AtomicInteger freed = new AtomicInteger();
    }

    private final IdleFrames<Thing> idle = new IdleFrames<>(thing -> thing.freed.incrementAndGet());

    @Test
    void whatWasPutInLastComesBackToItsThread() {
        assertNull(idle.poll());
        Thing thing = new Thing();
        assertTrue(idle.offer(thing));
        assertSame(thing, idle.poll());
        assertNull(idle.poll());
    }

    @Test
    void whatHasNoPlaceRemainsTheCallers() {
        List<Thing> things = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            things.add(new Thing());
            assertTrue(idle.offer(things.get(i)));
        }
        assertFalse(idle.offer(new Thing()));
        idle.clear();
        things.forEach(thing -> assertEquals(1, thing.freed.get()));
        assertTrue(idle.offer(new Thing()), "it is empty, but not closed");
        idle.close();
        assertFalse(idle.offer(new Thing()), "it is closed");
    }

    @RepeatedTest(50)
    void nothingHasTwoOwnersAndNothingStaysAfterTheEnd() throws InterruptedException {
        int count = 4;
        List<Thing> things = Collections.synchronizedList(new ArrayList<>());
        List<Throwable> thrown = Collections.synchronizedList(new ArrayList<>());
        CyclicBarrier together = new CyclicBarrier(count + 1);
        CountDownLatch started = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < count; t++) {
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    together.await();
                    for (int i = 0; i < 2000; i++) {
                        started.countDown();
                        use(things);
                    }
                } catch (Exception | Error e) {
                    thrown.add(e);
                }
            }));
        }
        threads.add(Thread.ofPlatform().start(() -> {
            try {
                together.await();
                started.await();
                idle.clear();
                idle.close();
            } catch (Exception | Error e) {
                thrown.add(e);
            }
        }));
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(List.of(), thrown);
        assertNull(idle.poll());
        things.forEach(thing -> assertEquals(1, thing.freed.get()));
    }

    private void use(List<Thing> things) {
        Thing thing = idle.poll();
        if (thing == null) {
            thing = new Thing();
            things.add(thing);
        }
        assertEquals(1, thing.owners.incrementAndGet());
        assertEquals(0, thing.freed.get());
        thing.owners.decrementAndGet();
        if (!idle.offer(thing)) {
            thing.freed.incrementAndGet();
        }
    }
}
