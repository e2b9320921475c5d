package io.seriatim.graph.op;

import io.seriatim.tensor.Tensor;
import java.lang.foreign.MemorySegment;

/** Writes what a host function has computed to a row-major tensor, converted to its type. */
final class Elements {
    private Elements() {
    }

    static void write(double[] values, Tensor to) {
        copy(Tensor.of(to.dtype(), values, to.shape().dims()), to);
    }

    static void write(long[] values, Tensor to) {
        copy(Tensor.of(to.dtype(), values, to.shape().dims()), to);
    }

    private static void copy(Tensor from, Tensor to) {
        try (from) {
            MemorySegment.copy(from.memory(), from.offset(), to.memory(), to.offset(), to.spec().bytes());
        }
    }
}
