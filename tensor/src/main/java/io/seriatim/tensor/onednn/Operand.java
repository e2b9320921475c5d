package io.seriatim.tensor.onednn;

import io.seriatim.tensor.internal.ffi.MemoryDescriptor;

/**
 * An operand of a primitive.
 *
 * @param argument
 *            the library's number of the argument
 * @param slot
 *            the index of a tensor among the kernel's arguments, from 0; a negative number is the bitwise complement of
 *            an offset in scratch memory
 * @param descriptor
 *            the layout in which the primitive reads or writes it
 * @param offset
 *            the offset of its first element, in bytes
 * @param pitch
 *            the number of bytes by which it moves with each repetition of the steps
 */
record Operand(int argument, long slot, MemoryDescriptor descriptor, long offset, long pitch) {
    Operand(int argument, long slot, MemoryDescriptor descriptor) {
        this(argument, slot, descriptor, 0, 0);
    }

    static long scratch(long offset) {
        return ~offset;
    }
}
