package io.seriatim.tensor.onednn;

/**
 * What a primitive reads or writes.
 *
 * @param argument
 *            the library's number for it
 * @param slot
 *            from 0 the index of a tensor among the kernel's arguments; below that the bitwise complement of an offset in scratch memory
 * @param description
 *            how the primitive sees it
 */
record Operand(int argument, long slot, long description) {
    static long scratch(long offset) {
        return ~offset;
    }
}
