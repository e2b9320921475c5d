package io.seriatim.tensor.computation;

import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The shape of tensors one after the other. It needs no kernel: each one is copied into a slice of the result. */
public final class Concatenation {
    private Concatenation() {
    }

    /**
     * Checks the parts and infers the whole.
     *
     * @param axis
     *            from −rank
     * @param parts
     *            at least one, of one type, and of shapes that differ in the axis only
     * @return the whole
     */
    public static TensorSpec infer(int axis, List<TensorSpec> parts) {
        @Nullable
        TensorSpec[] all = parts.toArray(TensorSpec[]::new);
        Operands in = Operands.of("concat", all, 1, Integer.MAX_VALUE);
        TensorSpec first = in.get(0, "the first part");
        in.require(first.shape().rank() > 0, "parts need at least one dimension");
        long length = 0;
        for (TensorSpec part : parts) {
            in.sameType(first, part, "all parts");
            in.require(part.shape().rank() == first.shape().rank(), "all parts must have %d dimensions",
                    first.shape().rank());
            Shape alike = part.shape().with(axis, first.shape().dim(axis));
            in.require(alike.equals(first.shape()), "the parts must have one shape but for axis %d", axis);
            length = Math.addExact(length, part.shape().dim(axis));
        }
        return TensorSpec.of(first.dtype(), first.shape().with(axis, length));
    }
}
