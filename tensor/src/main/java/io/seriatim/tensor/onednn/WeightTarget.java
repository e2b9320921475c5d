package io.seriatim.tensor.onednn;

import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import io.seriatim.tensor.internal.ffi.MemoryDescriptor;
import io.seriatim.tensor.internal.ffi.PrimitiveDescriptor;

/**
 * Where the gradient of weights goes: to the output, argument 2, or to scratch memory, from where it is added to the
 * sum, argument 2, and written to argument 3.
 *
 * @param adds
 *            whether it is added to a sum
 */
record WeightTarget(boolean adds) {
    private static final int FIRST = 2;

    Operand at(SequenceBuilder builder, int argument, MemoryDescriptor descriptor) {
        return adds ? builder.temporary(argument, descriptor) : new Operand(argument, FIRST, descriptor);
    }

    /** Adds the steps that follow those of the gradient; false if the library has none. */
    boolean finish(SequenceBuilder builder, Operand gradient) {
        if (!adds) {
            return true;
        }
        MemoryDescriptor descriptor = gradient.descriptor();
        PrimitiveDescriptor sum = builder.keepFast(
                builder.primitives().tryBinary(Algorithms.binary(Binary.Function.ADD), descriptor, descriptor,
                        descriptor, builder.attributes()));
        if (sum == null) {
            return false;
        }
        builder.stepLast(sum, new Operand(DnnlConstants.SRC, FIRST, descriptor),
                new Operand(DnnlConstants.SRC_1, gradient.slot(), descriptor),
                new Operand(DnnlConstants.DST, FIRST + 1, descriptor));
        return true;
    }
}
