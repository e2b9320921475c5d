package io.seriatim.graph;

/** A layer with its parameters: used as often as it is applied, it has them once. */
@FunctionalInterface
public interface Layer {
    /**
     * Adds the layer's operations.
     *
     * @param x
     *            what goes in
     * @return what comes out
     */
    Value apply(Value x);
}
