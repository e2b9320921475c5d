package io.seriatim.device.internal.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * Memory without native access, for users who deny it: an arena for each segment. An allocation zeroes the memory, and
 * a release synchronizes with all threads of the JVM, both of which {@link NativeMemory} saves.
 */
final class ArenaMemory {
    private static final ConcurrentMap<Long, Arena> ARENAS = new ConcurrentHashMap<>();

    private ArenaMemory() {
    }

    static @Nullable MemorySegment allocate(long bytes) {
        Arena arena = Arena.ofShared();
        try {
            MemorySegment memory = arena.allocate(bytes, NativeMemory.ALIGNMENT);
            ARENAS.put(memory.address(), arena);
            return memory;
        } catch (OutOfMemoryError e) {
            arena.close();
            return null;
        }
    }

    static void free(MemorySegment memory) {
        Objects.requireNonNull(ARENAS.remove(memory.address()), "the memory was not allocated here").close();
    }
}
