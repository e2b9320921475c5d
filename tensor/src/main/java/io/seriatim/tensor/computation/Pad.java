package io.seriatim.tensor.computation;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Adds elements at the ends of dimensions. Input x; output with each dimension longer by the elements added before and
 * after.
 *
 * @param before
 *            the numbers of elements, one for each dimension
 * @param after
 *            the numbers of elements, one for each dimension
 * @param mode
 *            the values of the added elements
 * @param value
 *            the value of constant padding
 */
public record Pad(List<Long> before, List<Long> after, Mode mode, double value) implements Computation {
    /** The values of padding. */
    public enum Mode {
        /** One value. */
        CONSTANT,
        /** The mirror image, without the edge itself. */
        REFLECT,
        /** The edge. */
        REPLICATE,
        /** The elements at the other end. */
        CIRCULAR
    }

    /** Copies the lists. */
    public Pad {
        before = List.copyOf(before);
        after = List.copyOf(after);
    }

    @Override
    public String operation() {
        return "pad";
    }

    /**
     * Which element of x one of the result is.
     *
     * @param dimension
     *            the dimension
     * @param index
     *            in the result
     * @param length
     *            of x
     * @return the index in x, or −1 for the constant
     */
    public long source(int dimension, long index, long length) {
        long at = index - before.get(dimension);
        if (at >= 0 && at < length) {
            return at;
        }
        return switch (mode) {
            case CONSTANT -> -1;
            case REFLECT -> at < 0 ? -at : 2 * (length - 1) - at;
            case REPLICATE -> at < 0 ? 0 : length - 1;
            case CIRCULAR -> Math.floorMod(at, length);
        };
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 1, 1);
        TensorSpec x = in.get(0, "x");
        in.require(before.size() == x.shape().rank() && after.size() == x.shape().rank(),
                "padding needs one number before and one after for each of the %d dimensions",
                x.shape().rank());
        long[] dims = x.shape().dims();
        for (int i = 0; i < dims.length; i++) {
            long most = switch (mode) {
                case CONSTANT -> Long.MAX_VALUE;
                case REFLECT -> dims[i] - 1;
                case REPLICATE -> dims[i] == 0 ? 0 : Long.MAX_VALUE;
                case CIRCULAR -> dims[i];
            };
            in.require(
                    before.get(i) >= 0 && after.get(i) >= 0 && before.get(i) <= Math.max(0, most)
                            && after.get(i) <= Math.max(0, most),
                    "padding of dimension %d in mode %s must be from 0 to %d, but is %d and %d", i, mode,
                    Math.max(0, most), before.get(i),
                    after.get(i));
            dims[i] = Math.addExact(dims[i], Math.addExact(before.get(i), after.get(i)));
        }
        return new TensorSpec[]{TensorSpec.of(x.dtype(), dims)};
    }
}
