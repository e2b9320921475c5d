package io.seriatim.tensor.internal.ffi;

/**
 * A {@code dnnl_memory_t}: a memory descriptor with the address of data. Its creator destroys it; the data does not
 * belong to it.
 *
 * @param address
 *            the pointer
 */
public record MemoryObject(long address) implements Handle {
    /** Checks that there is an object. */
    public MemoryObject {
        Handle.requireObject(address);
    }
}
