package io.seriatim.tensor.internal.ffi;

/**
 * A {@code dnnl_primitive_desc_t}: an operation for given memory descriptors, with the implementation that the library
 * chose. Its creator destroys it, once its primitive is created.
 *
 * @param address
 *            the pointer
 */
public record PrimitiveDescriptor(long address) implements Handle {
    /** Checks that there is an object. */
    public PrimitiveDescriptor {
        Handle.requireObject(address);
    }
}
