package io.seriatim.device;

import io.seriatim.device.internal.ffi.NativeMemory;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** The host's memory, which any thread may access. */
final class HostMemory implements DeviceMemory {
    @Override
    public @Nullable MemorySegment take(long bytes) {
        return NativeMemory.allocate(bytes);
    }

    @Override
    public void giveBack(MemorySegment memory) {
        NativeMemory.free(memory);
    }

    @Override
    public void trim() {
        NativeMemory.trim();
    }

    @Override
    public MemorySegment view(Buffer buffer, MemorySegment bytes) {
        buffer.requireOpen();
        return bytes;
    }

    @Override
    public long address(Buffer buffer, MemorySegment bytes) {
        buffer.requireOpen();
        return bytes.address();
    }
}
