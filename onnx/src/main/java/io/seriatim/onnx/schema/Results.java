package io.seriatim.onnx.schema;

import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.Longs;
import io.seriatim.tensor.Tensor;

/** Writes what a host function has computed to a tensor, converted to its type. */
final class Results {
    private Results() {
    }

    static void write(double[] values, Tensor to) {
        Doubles.store(to, 0, values, 0, values.length);
    }

    static void write(long[] values, Tensor to) {
        Longs.store(to, 0, values, 0, values.length);
    }
}
