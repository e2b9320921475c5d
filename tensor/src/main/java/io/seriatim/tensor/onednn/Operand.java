package io.seriatim.tensor.onednn;

import io.seriatim.tensor.internal.ffi.MemoryDescriptor;

/**
 * What a primitive reads or writes.
 *
 * @param argument
 *            the library's number for it
 * @param slot
 *            from 0 the index of a tensor among the kernel's arguments; below that the bitwise complement of an offset
 *            in scratch memory
 * @param descriptor
 *            how the primitive sees it
 * @param offset
 *            where its first element is, in bytes from there
 * @param pitch
 *            by how many bytes it moves with each repetition of the steps
 */
record Operand(int argument, long slot, MemoryDescriptor descriptor, long offset, long pitch) {
    Operand(int argument, long slot, MemoryDescriptor descriptor) {
        this(argument, slot, descriptor, 0, 0);
    }

    static long scratch(long offset) {
        return ~offset;
    }
}
