package io.seriatim.graph;

import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.util.Ranges;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Objects;

/** The initial value of a parameter. */
public sealed interface Initializer {
    /**
     * The same value everywhere.
     *
     * @param value
     *            the value
     */
    record Constant(double value) implements Initializer {
    }

    /**
     * Evenly between two bounds.
     *
     * @param low
     *            the lower one
     * @param high
     *            the upper one
     */
    record Uniform(double low, double high) implements Initializer {
        /**
         * Checks the bounds.
         *
         * @throws IllegalArgumentException
         *             if the one is above the other
         */
        public Uniform {
            if (!(low <= high)) {
                throw new IllegalArgumentException(
                        "Random numbers are from a bound to one that is not below it, but from " + low + " to " + high);
            }
        }
    }

    /**
     * Normal.
     *
     * @param mean
     *            the mean
     * @param deviation
     *            the standard deviation
     */
    record Normal(double mean, double deviation) implements Initializer {
        /**
         * Checks the deviation.
         *
         * @throws IllegalArgumentException
         *             if it is negative or not finite
         */
        public Normal {
            Ranges.notNegative("A standard deviation", deviation);
        }
    }

    /**
     * Normal, without what is more than two deviations from the mean.
     *
     * @param mean
     *            the mean
     * @param deviation
     *            the standard deviation
     */
    record TruncatedNormal(double mean, double deviation) implements Initializer {
        /**
         * Checks the deviation.
         *
         * @throws IllegalArgumentException
         *             if it is negative or not finite
         */
        public TruncatedNormal {
            Ranges.notNegative("A standard deviation", deviation);
        }
    }

    /**
     * Keeps the variance from layer to layer (Glorot, Bengio, 2010): uniform within √(6/(fan in + fan out)), or normal
     * with deviation √(2/(fan in + fan out)).
     *
     * @param uniform
     *            which of both
     */
    record Xavier(boolean uniform) implements Initializer {
    }

    /**
     * For layers that a rectifier follows (He et al., 2015): uniform within gain·√(3/fan in), or normal with deviation
     * gain/√(fan in); the gain is √(2/(1 + slope²)).
     *
     * @param uniform
     *            which of both
     * @param slope
     *            of the rectifier below 0
     */
    record Kaiming(boolean uniform, double slope) implements Initializer {
        /**
         * Checks the slope.
         *
         * @throws IllegalArgumentException
         *             if it is not finite
         */
        public Kaiming {
            Ranges.finite("The slope of a rectifier", slope);
        }
    }

    /**
     * Given values.
     *
     * @param values
     *            of the parameter's shape and type
     */
    record Assign(Tensor values) implements Initializer {
        /** Checks that there are some. */
        public Assign {
            Objects.requireNonNull(values, "values");
        }
    }

    /**
     * The same value everywhere.
     *
     * @param value
     *            the value
     * @return the initializer
     */
    static Initializer constant(double value) {
        return new Constant(value);
    }

    /**
     * Evenly between two bounds.
     *
     * @param low
     *            the lower one
     * @param high
     *            the upper one
     * @return the initializer
     */
    static Initializer uniform(double low, double high) {
        return new Uniform(low, high);
    }

    /**
     * Normal.
     *
     * @param mean
     *            the mean
     * @param deviation
     *            the standard deviation
     * @return the initializer
     */
    static Initializer normal(double mean, double deviation) {
        return new Normal(mean, deviation);
    }

    /**
     * Xavier's uniform one, the default of weights.
     *
     * @return the initializer
     */
    static Initializer xavier() {
        return new Xavier(true);
    }

    /**
     * Kaiming's normal one for rectifiers.
     *
     * @return the initializer
     */
    static Initializer kaiming() {
        return new Kaiming(false, 0);
    }

    /**
     * The operation that sets a parameter.
     *
     * @param name
     *            the parameter's name
     * @param dtype
     *            its type
     * @param shape
     *            its dimensions
     * @param seed
     *            of random numbers, 0 for none of its own
     * @return the operation for the startup program
     */
    default OpDesc operation(String name, DType dtype, long[] shape, int seed) {
        return Initializers.operation(this, name, dtype, shape, seed);
    }
}
