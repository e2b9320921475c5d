package io.seriatim.tensor.internal.ffi;

/**
 * A {@code dnnl_primitive_t}: generated code that can be executed. Its creator destroys it.
 *
 * @param address
 *            the pointer
 */
public record Primitive(long address) implements Handle {
    /** Checks that there is an object. */
    public Primitive {
        Handle.requireObject(address);
    }
}
