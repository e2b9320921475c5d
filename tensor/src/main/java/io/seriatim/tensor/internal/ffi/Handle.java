package io.seriatim.tensor.internal.ffi;

/**
 * An object of oneDNN. Its C interface hands out pointers; each kind of object has a type here, so that the compiler
 * finds one that is passed in place of another. {@link Dnnl} has a {@code destroy} method for each kind that belongs to
 * its caller, and none for a kind that does not. A handle keeps nothing alive, and is not valid after {@code destroy}.
 */
public sealed interface Handle
        permits Attributes, MemoryDescriptor, MemoryObject, PostOpList, Primitive, PrimitiveDescriptor,
        Dnnl.NativeEngine, Dnnl.NativeStream {
    /**
     * The pointer, for native calls.
     *
     * @return not 0
     */
    long address();

    /**
     * Refuses null pointers, which some functions of the library dereference.
     *
     * @param address
     *            the pointer
     */
    static void requireObject(long address) {
        if (address == 0) {
            throw new IllegalArgumentException("A handle needs an object of oneDNN, but its address is 0");
        }
    }
}
