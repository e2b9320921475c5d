package io.seriatim.graph.program;

import java.util.Objects;

/**
 * A parameter that was to be trained and gets no gradient.
 *
 * @param parameter
 *            the parameter's name
 * @param reason
 *            why the loss gives it none
 */
public record UntrainedParameter(String parameter, String reason) {
    /** Checks what is given. */
    public UntrainedParameter {
        Objects.requireNonNull(parameter, "parameter");
        Objects.requireNonNull(reason, "reason");
    }

    @Override
    public String toString() {
        return "'" + parameter + "' (" + reason + ")";
    }
}
