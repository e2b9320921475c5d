package io.seriatim.graph;

import io.seriatim.graph.optimizer.Decay;
import io.seriatim.graph.util.Ranges;
import org.jspecify.annotations.Nullable;

/**
 * How a parameter is made and trained. {@link #DEFAULT} and its copies.
 *
 * @param name
 *            its name, or null for one by its layer
 * @param initializer
 *            what it holds before training, or null for the layer's default
 * @param rate
 *            the factor of its learning rate
 * @param decay
 *            its regularisation, which goes before the optimizer's; null for the optimizer's
 * @param clipped
 *            whether its gradient is clipped
 * @param trained
 *            whether it is trained
 */
public record ParameterSpec(@Nullable String name, @Nullable Initializer initializer, double rate,
        @Nullable Decay decay, boolean clipped,
        boolean trained) {
    /**
     * Checks the factor.
     *
     * @throws IllegalArgumentException
     *             if it is negative or not finite
     */
    public ParameterSpec {
        Ranges.notNegative("The factor of a learning rate", rate);
    }

    /** With the layer's name and initializer, trained as all others. */
    public static final ParameterSpec DEFAULT = new ParameterSpec(null, null, 1, null, true, true);

    /**
     * With an initializer.
     *
     * @param initializer
     *            what it holds before training
     * @return the specification
     */
    public static ParameterSpec of(Initializer initializer) {
        return DEFAULT.with(initializer);
    }

    /**
     * With an initializer.
     *
     * @param other
     *            what it holds before training
     * @return a copy
     */
    public ParameterSpec with(Initializer other) {
        return new ParameterSpec(name, other, rate, decay, clipped, trained);
    }

    /**
     * With a name. Layers that are given the same name share the parameter, if it has the same type and shape.
     *
     * @param other
     *            its name
     * @return a copy
     */
    public ParameterSpec named(String other) {
        return new ParameterSpec(other, initializer, rate, decay, clipped, trained);
    }

    /**
     * With a factor of its learning rate.
     *
     * @param factor
     *            the factor
     * @return a copy
     */
    public ParameterSpec rate(double factor) {
        return new ParameterSpec(name, initializer, factor, decay, clipped, trained);
    }

    /**
     * With a regularisation of its own.
     *
     * @param other
     *            the regularisation
     * @return a copy
     */
    public ParameterSpec decay(Decay other) {
        return new ParameterSpec(name, initializer, rate, other, clipped, trained);
    }

    /**
     * Whose gradient is not clipped.
     *
     * @return a copy
     */
    public ParameterSpec unclipped() {
        return new ParameterSpec(name, initializer, rate, decay, false, trained);
    }

    /**
     * Which is not trained.
     *
     * @return a copy
     */
    public ParameterSpec frozen() {
        return new ParameterSpec(name, initializer, rate, decay, clipped, false);
    }
}
