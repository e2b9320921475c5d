package io.seriatim.onnx.schema;

import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.Longs;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Elements of the tensors of a host function, in row-major order. */
final class Tensors {
    private Tensors() {
    }

    static double[] doubles(List<@Nullable Tensor> tensors, int index) {
        return Objects.requireNonNull(tensors.get(index)).toDoubleArray();
    }

    static long[] longs(List<@Nullable Tensor> tensors, int index) {
        return Objects.requireNonNull(tensors.get(index)).toLongArray();
    }

    static void write(double[] values, List<@Nullable Tensor> tensors, int index) {
        Tensor tensor = Objects.requireNonNull(tensors.get(index));
        if (tensor.dtype().isFloating()) {
            Doubles.store(tensor, 0, values, 0, values.length);
        } else {
            long[] whole = new long[values.length];
            for (int i = 0; i < whole.length; i++) {
                whole[i] = (long) values[i];
            }
            Longs.store(tensor, 0, whole, 0, whole.length);
        }
    }

    static void write(long[] values, List<@Nullable Tensor> tensors, int index) {
        Longs.store(Objects.requireNonNull(tensors.get(index)), 0, values, 0, values.length);
    }
}
