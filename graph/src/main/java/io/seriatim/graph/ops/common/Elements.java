package io.seriatim.graph.ops.common;

import io.seriatim.tensor.Floats;
import io.seriatim.tensor.Tensor;
import java.lang.foreign.MemorySegment;

/** Writes what a host function has computed to a row-major tensor, converted to its type. */
public final class Elements {
    private Elements() {
    }

    public static void write(float[] values, Tensor to) {
        Floats.store(to.memory(), to.dtype(), to.offset(), 1, values, 0, values.length);
    }

    public static void write(double[] values, Tensor to) {
        copy(Tensor.of(to.dtype(), values, to.shape().dims()), to);
    }

    public static void write(long[] values, Tensor to) {
        copy(Tensor.of(to.dtype(), values, to.shape().dims()), to);
    }

    private static void copy(Tensor from, Tensor to) {
        try (from) {
            MemorySegment.copy(from.memory(), from.offset(), to.memory(), to.offset(), to.spec().bytes());
        }
    }
}
