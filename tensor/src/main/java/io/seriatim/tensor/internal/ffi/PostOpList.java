package io.seriatim.tensor.internal.ffi;

/**
 * A {@code dnnl_post_ops_t}: functions that a primitive applies to its result. Its creator destroys it; attributes copy
 * it.
 *
 * @param address
 *            the pointer
 */
public record PostOpList(long address) implements Handle {
    /** Checks that there is an object. */
    public PostOpList {
        Handle.requireObject(address);
    }
}
