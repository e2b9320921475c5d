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
 * A snapshot of the resources of the process: the buffers of a device, and threads. It is taken before a test, to
 * detect leaks after it.
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

    /** Runs the garbage collector, which frees unreachable buffers. */
    private static void collect(Device device) {
        ReferenceQueue<Object> queue = new ReferenceQueue<>();
        PhantomReference<Object> unreachable = new PhantomReference<>(new Object(), queue);
        System.gc();
        try {
            // When this reference is enqueued, objects that became unreachable earlier have been enqueued or are about
            // to be.
            queue.remove(PATIENCE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        unreachable.clear();
        device.allocate(0).close();
    }

    /** Returns the names of threads, without the service threads of the JVM. */
    private static Set<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !thread.isDaemon() || thread.getName().contains("executor"))
                .map(thread -> thread.getName() + " #" + thread.threadId())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Asserts that the memory in use is the same as before, and that there are no additional threads. */
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
