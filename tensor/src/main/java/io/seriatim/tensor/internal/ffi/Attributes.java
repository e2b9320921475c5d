package io.seriatim.tensor.internal.ffi;

/**
 * A {@code dnnl_primitive_attr_t}: who provides scratch memory, and the post-ops. Its creator destroys it; primitive
 * descriptors copy it.
 *
 * @param address
 *            the pointer
 */
public record Attributes(long address) implements Handle {
    /** Checks that there is an object. */
    public Attributes {
        Handle.requireObject(address);
    }
}
