package io.seriatim.graph.optimizer;

import io.seriatim.graph.util.Ranges;

/** The clipping of gradients. */
public sealed interface Clip {
    /**
     * Each element.
     *
     * @param min
     *            at least
     * @param max
     *            at most
     */
    record ByValue(double min, double max) implements Clip {
        /**
         * Checks the bounds.
         *
         * @throws IllegalArgumentException
         *             if the one is above the other
         */
        public ByValue {
            if (!(min <= max)) {
                throw new IllegalArgumentException(
                        "Gradients are clipped to a bound and one that is not below it, but to " + min + " and " + max);
            }
        }
    }

    /**
     * The norm of each gradient.
     *
     * @param norm
     *            at most
     */
    record ByNorm(double norm) implements Clip {
        /**
         * Checks the norm.
         *
         * @throws IllegalArgumentException
         *             if it is not a finite number above 0
         */
        public ByNorm {
            Ranges.positive("The norm to which gradients are clipped", norm);
        }
    }

    /**
     * The norm of all gradients together (Pascanu, Mikolov, Bengio, 2013).
     *
     * @param norm
     *            at most
     */
    record ByGlobalNorm(double norm) implements Clip {
        /**
         * Checks the norm.
         *
         * @throws IllegalArgumentException
         *             if it is not a finite number above 0
         */
        public ByGlobalNorm {
            Ranges.positive("The norm to which gradients are clipped", norm);
        }
    }

    /**
     * Each element.
     *
     * @param magnitude
     *            at most
     * @return the clip
     */
    static Clip value(double magnitude) {
        return new ByValue(-magnitude, magnitude);
    }

    /**
     * The norm of each gradient.
     *
     * @param norm
     *            at most
     * @return the clip
     */
    static Clip norm(double norm) {
        return new ByNorm(norm);
    }

    /**
     * The norm of all gradients together.
     *
     * @param norm
     *            at most
     * @return the clip
     */
    static Clip globalNorm(double norm) {
        return new ByGlobalNorm(norm);
    }
}
