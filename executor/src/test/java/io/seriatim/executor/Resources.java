package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Device;
import io.seriatim.device.Devices;
import io.seriatim.device.MemoryStats;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * What a process holds: buffers of a device, and threads. Taken before a test, it says afterwards what was not given
 * back.
 */
final class Resources {
    private static final int COLLECTIONS = 20;
    private static final long PATIENCE_MILLIS = 500;

    private final Device device;
    private final Set<String> threads;
    private final MemoryStats memory;

    private Resources(Device device) {
        this.device = device;
        this.threads = threads();
        collect(device);
        this.memory = device.memory();
    }

    static Resources now() {
        return of(Devices.system().host());
    }

    static Resources of(Device device) {
        return new Resources(device);
    }

    /** Buffers that no one can reach are given back, as far as the collector has noticed. */
    private static void collect(Device device) {
        ReferenceQueue<Object> queue = new ReferenceQueue<>();
        PhantomReference<Object> unreachable = new PhantomReference<>(new Object(), queue);
        System.gc();
        try {
            // When this has come, what became unreachable before has come, too, or is about to.
            queue.remove(PATIENCE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        unreachable.clear();
        device.allocate(0).close();
    }

    /** The names of threads that are there by themselves, without those that come and go with the process. */
    private static Set<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !thread.isDaemon() || thread.getName().contains("executor"))
                .map(thread -> thread.getName() + " #" + thread.threadId())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** As much memory is in use as before, and no more threads are there. */
    void assertGivenBack(String when) {
        assertMemoryGivenBack(when);
        Set<String> more = threads();
        more.removeAll(threads);
        assertEquals(Set.of(), more, () -> "threads that are left " + when);
    }

    void assertMemoryGivenBack(String when) {
        MemoryStats now = device.memory();
        for (int i = 0; i < COLLECTIONS && (now.used() > memory.used() || now.buffers() > memory.buffers()); i++) {
            collect(device);
            now = device.memory();
        }
        MemoryStats left = now;
        assertTrue(left.used() <= memory.used() && left.buffers() <= memory.buffers(),
                () -> "memory is left " + when + ": before " + memory + ", now " + left);
    }
}
