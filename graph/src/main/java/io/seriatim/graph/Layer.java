package io.seriatim.graph;

/** A layer with its parameters. It may be applied several times; all calls share the parameters. */
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
