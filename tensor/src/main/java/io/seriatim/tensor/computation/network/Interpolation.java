package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.computation.Where;
import io.seriatim.tensor.kernel.Computation;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Images resized. Input x [n, c, spatial...]; output y [n, c, output...]. Places are reckoned in float32, as the
 * formulas of {@link Kind} say, and kept inside of x.
 *
 * @param kind
 *            the elements of x for each position of y
 * @param output
 *            the result's size in each spatial dimension
 * @param steps
 *            the distance in x between neighbours of y, in each spatial dimension
 */
public record Interpolation(Kind kind, List<Long> output, List<Float> steps) implements Computation {
    /** The elements of x for position i of y, with s the step. */
    public enum Kind {
        /** The element ⌊s · i⌋. */
        NEAREST,
        /** The element ⌊s · i + ½⌋. */
        NEAREST_ROUNDED,
        /** The two neighbours of s · i. */
        LINEAR,
        /** The two neighbours of max(0, s · (i + ½) − ½): elements are taken for areas. */
        LINEAR_OF_AREAS;

        /**
         * Whether one element is taken as it is.
         *
         * @return false if two are mixed
         */
        public boolean isNearest() {
            return this == NEAREST || this == NEAREST_ROUNDED;
        }

        /**
         * Where a place lies.
         *
         * @param place
         *            in y, from 0
         * @param step
         *            from one place to the next
         * @return in x
         */
        public float source(long place, float step) {
            return switch (this) {
                case NEAREST, LINEAR -> step * place;
                case NEAREST_ROUNDED -> step * place + 0.5f;
                case LINEAR_OF_AREAS -> Math.max(0, step * (place + 0.5f) - 0.5f);
            };
        }
    }

    /** Copies the lists. */
    public Interpolation {
        output = List.copyOf(output);
        steps = List.copyOf(steps);
    }

    @Override
    public String operation() {
        return "interpolation";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 1, 1);
        TensorSpec x = in.get(0, "x");
        in.floating(x, "x");
        in.require(
                output.size() == steps.size() && !output.isEmpty() && output.size() <= 3
                        && x.shape().rank() == output.size() + 2,
                "x needs two dimensions and one to three spatial ones, which output and steps have an entry for, "
                        + "but they have %d and %d",
                output.size(), steps.size());
        long[] dims = x.shape().dims();
        for (int i = 0; i < output.size(); i++) {
            in.require(dims[2 + i] > 0 && output.get(i) > 0, "spatial dimensions must not be empty");
            in.require(steps.get(i) >= 0 && Float.isFinite(steps.get(i)), "steps must be from 0 on, but are %s", steps);
            dims[2 + i] = output.get(i);
        }
        return new TensorSpec[]{TensorSpec.of(x.dtype(), dims)};
    }
}
