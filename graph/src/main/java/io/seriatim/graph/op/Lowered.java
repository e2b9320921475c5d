package io.seriatim.graph.op;

import io.seriatim.tensor.TensorSpec;
import java.util.List;
import java.util.Map;

/**
 * The steps of an operation for given shapes.
 *
 * @param steps
 *            in order
 * @param temporaries
 *            the memory that it needs for the time of the steps, by number
 * @param shared
 *            outputs that are the memory of an input, which is changed in place
 * @param aliases
 *            outputs that are names of a part of an input or of another output, and stay so
 */
public record Lowered(List<Step> steps, List<TensorSpec> temporaries,
        Map<Operand.Source.Output, Operand.Source.Input> shared,
        Map<Operand.Source.Output, Operand> aliases) {
    /** Copies the collections. */
    public Lowered {
        steps = List.copyOf(steps);
        temporaries = List.copyOf(temporaries);
        shared = Map.copyOf(shared);
        aliases = Map.copyOf(aliases);
    }
}
