package io.seriatim.device;

import io.seriatim.device.internal.ffi.NativeMemory;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Memory that only launched work may access. */
record SimMemory(SimDevice device) implements DeviceMemory {
    @Override
    public @Nullable MemorySegment take(long bytes) {
        return NativeMemory.allocate(bytes);
    }

    @Override
    public void giveBack(MemorySegment memory) {
        NativeMemory.free(memory);
    }

    @Override
    public MemorySegment view(Buffer buffer, MemorySegment bytes) {
        requireTouchable(buffer);
        return bytes;
    }

    @Override
    public long address(Buffer buffer, MemorySegment bytes) {
        requireTouchable(buffer);
        return bytes.address();
    }

    private void requireTouchable(Buffer buffer) {
        if (!SimThread.mayTouch(buffer)) {
            buffer.requireOpen();
            throw new IllegalStateException("The memory of " + device.place()
                    + " can be accessed only by work that was launched there and declared it, but "
                    + Thread.currentThread().getName()
                    + " accesses the buffer " + buffer + ": copy it to the host first");
        }
    }
}
