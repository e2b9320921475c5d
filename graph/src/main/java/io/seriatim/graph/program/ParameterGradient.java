package io.seriatim.graph.program;

/**
 * A parameter and its gradient.
 *
 * @param parameter
 *            the parameter's name
 * @param gradient
 *            the name of its gradient
 */
public record ParameterGradient(String parameter, String gradient) {
}
