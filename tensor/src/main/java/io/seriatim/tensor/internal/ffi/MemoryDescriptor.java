package io.seriatim.tensor.internal.ffi;

/** A {@code dnnl_memory_desc_t}: the type, the dimensions and the layout of a tensor. */
public sealed interface MemoryDescriptor extends Handle {
    /**
     * A descriptor that was created here: its owner destroys it.
     *
     * @param address
     *            the pointer
     */
    record Owned(long address) implements MemoryDescriptor {
        /** Checks that there is an object. */
        public Owned {
            Handle.requireObject(address);
        }
    }

    /**
     * A descriptor that belongs to a primitive descriptor, and is valid as long as that one.
     *
     * @param address
     *            the pointer
     */
    record Borrowed(long address) implements MemoryDescriptor {
        /** Checks that there is an object. */
        public Borrowed {
            Handle.requireObject(address);
        }
    }
}
