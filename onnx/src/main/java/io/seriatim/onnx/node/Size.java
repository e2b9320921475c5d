package io.seriatim.onnx.node;

import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.Ref;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A number of elements: known while a model is translated, or computed from the shapes of a run. */
public sealed interface Size {
    /**
     * A number that is known.
     *
     * @param count
     *            from 0 on
     */
    record Known(long count) implements Size {
    }

    /**
     * A number that is computed.
     *
     * @param value
     *            int64, one element
     * @param of
     *            the value that has it as a dimension; null if none
     * @param axis
     *            the dimension of that value
     */
    record Computed(Ref value, @Nullable Ref of, int axis) implements Size {
    }

    /** A dimension of a value. */
    static Size of(BlockBuilder block, Ref x, int axis) {
        if (x.dim(axis) >= 0) {
            return new Known(x.dim(axis));
        }
        return new Computed(block.length(x, axis), x, axis);
    }

    /** All dimensions of a value. */
    static List<Size> all(BlockBuilder block, Ref x) {
        List<Size> sizes = new ArrayList<>();
        for (int i = 0; i < x.rank(); i++) {
            sizes.add(of(block, x, i));
        }
        return sizes;
    }

    /** The number as a tensor: int64, one element. */
    default Ref tensor(BlockBuilder block) {
        return switch (this) {
            case Known(long count) -> block.integers(DType.INT64, count);
            case Computed(Ref value, Ref _, int _) -> value;
        };
    }

    /** This number, changed by an operation of two operands. */
    default Size with(BlockBuilder block, String operation, long other) {
        return new Computed(block.binary(operation, tensor(block), block.integers(DType.INT64, other)), null, 0);
    }

    /** A multiple. */
    default Size times(BlockBuilder block, long factor) {
        return factor == 1
                ? this
                : this instanceof Known(long count)
                        ? new Known(Math.multiplyExact(count, factor))
                        : with(block, "elementwise_mul", factor);
    }

    /** A part of this number, which must be a multiple of the divisor. */
    default Size dividedBy(BlockBuilder block, long divisor) {
        return divisor == 1
                ? this
                : this instanceof Known(long count)
                        ? new Known(count / divisor)
                        : with(block, "elementwise_floordiv", divisor);
    }

    /** All numbers as one tensor, int64. */
    static Ref tensor(BlockBuilder block, List<Size> sizes) {
        return sizes.isEmpty()
                ? block.integers(DType.INT64)
                : block.concat(0, sizes.stream().map(size -> size.tensor(block)).toList());
    }

    /** Gives a value a shape; what is known of it is known of the result. */
    static Ref reshape(BlockBuilder block, Ref x, List<Size> sizes) {
        long[] dims = new long[sizes.size()];
        int computed = 0;
        for (int i = 0; i < dims.length; i++) {
            boolean same = sizes.get(i) instanceof Computed(Ref _, Ref of, int axis) && of != null
                    && of.name().equals(x.name()) && axis == i;
            dims[i] = same ? 0 : sizes.get(i) instanceof Known(long count) ? count : -1;
            computed += dims[i] == -1 ? 1 : 0;
        }
        boolean empty = sizes.stream().anyMatch(size -> size instanceof Known(long count) && count == 0);
        return computed <= 1 && !empty
                ? block.reshape(x, dims)
                : block.op("onnx_reshape").in("X", x).in("Shape", tensor(block, sizes)).attr("allowzero", true)
                        .attr("announced", dims).out("Out");
    }
}
