package io.seriatim.graph.ops.recurrent;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The functions of gates and states, by name. */
enum GateFunction {
    IDENTITY, SIGMOID, TANH, RELU;

    private static final List<String> NAMES = Arrays.stream(values())
            .map(each -> each.name().toLowerCase(Locale.ROOT)).toList();

    static void require(Inference inference, String... attributes) {
        for (String attribute : attributes) {
            String name = inference.attrs().getText(attribute);
            inference.require(NAMES.contains(name), "%s must be one of %s, but is '%s'", attribute, NAMES, name);
        }
    }

    static GateFunction of(Attrs attrs, String attribute) {
        return valueOf(attrs.getText(attribute).toUpperCase(Locale.ROOT));
    }

    double apply(double x) {
        return switch (this) {
            case IDENTITY -> x;
            case SIGMOID -> 1 / (1 + Math.exp(-x));
            case TANH -> Math.tanh(x);
            case RELU -> Math.max(x, 0);
        };
    }

    /** The derivative, by the function's value. */
    double slope(double y) {
        return switch (this) {
            case IDENTITY -> 1;
            case SIGMOID -> y * (1 - y);
            case TANH -> 1 - y * y;
            case RELU -> y > 0 ? 1 : 0;
        };
    }
}
