package io.seriatim.graph.op;

import io.seriatim.graph.program.OpDesc;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * The gradient of an operation with respect to all of its outputs, which is derived from its steps. The gradient
 * operation reads the inputs in slots of the same names, and the gradient of each output slot in a slot with the suffix
 * {@link #SUFFIX}; where an input has that name already, the suffix is repeated. It writes the gradient of each input
 * slot to a slot with the suffix. Outputs of the operation that it needs are computed again.
 */
public final class DerivedGradient implements GradientRule {
    /** What the type of a gradient's gradient ends with. */
    static final String OF_GRADIENT = "_grad";
    /** What the type of a gradient with respect to all outputs ends with, next to one that leaves some out. */
    static final String OF_ALL = "_vjp";

    private final Operation forward;
    private final String type;
    private final Map<String, String> incoming = new HashMap<>();

    private DerivedGradient(Operation forward, String suffix) {
        this.forward = forward;
        this.type = forward.type() + suffix;
        Set<String> taken = new HashSet<>();
        forward.inputs().forEach(slot -> taken.add(slot.name()));
        for (Slot slot : forward.outputs()) {
            String name = GradientRule.gradient(slot.name());
            while (!taken.add(name)) {
                name = GradientRule.gradient(name);
            }
            incoming.put(slot.name(), name);
        }
    }

    /** The gradient of a gradient operation that no schema defines. */
    static DerivedGradient ofGradient(Operation gradient) {
        return new DerivedGradient(gradient, OF_GRADIENT);
    }

    /**
     * The gradient of an operation with respect to all of its outputs, those included that its own gradient operation
     * takes for constants, as a normalisation's mean.
     *
     * @param forward
     *            an operation that is lowered to steps
     * @return the rule
     */
    public static DerivedGradient ofAll(Operation forward) {
        return new DerivedGradient(forward, OF_ALL);
    }

    /** Whether the gradient of a type is derived unless it is defined. */
    static boolean isGradient(String type) {
        return type.endsWith(OF_GRADIENT) || type.endsWith(OF_ALL) || type.endsWith("_grad2");
    }

    @Override
    public List<OpDesc> make(OpDesc op, Predicate<String> wanted) {
        Map<String, List<String>> in = new TreeMap<>(op.inputs());
        for (Slot slot : forward.outputs()) {
            List<String> names = op.output(slot.name());
            if (!names.isEmpty()) {
                in.put(incoming.getOrDefault(slot.name(), slot.name()),
                        names.stream().map(name -> name.equals(EMPTY) ? EMPTY : GradientRule.gradient(name)).toList());
            }
        }
        Map<String, List<String>> out = new TreeMap<>();
        for (Slot slot : forward.inputs()) {
            List<String> names = op.input(slot.name());
            Predicate<String> differentiable = name -> !name.equals(EMPTY) && wanted.test(name);
            if (names.stream().anyMatch(differentiable)) {
                out.put(GradientRule.gradient(slot.name()),
                        names.stream().map(name -> differentiable.test(name) ? GradientRule.gradient(name) : EMPTY)
                                .toList());
            }
        }
        return List.of(new OpDesc(type, in, out, op.attributes(), null));
    }

    /** The schema of the gradient operation. */
    Operation schema(Differentiation differentiation) {
        Map<String, String> values = new HashMap<>();
        Map<String, String> outgoing = new HashMap<>();
        Operation.Builder builder = Operation.define(type);
        for (Slot slot : forward.inputs()) {
            builder.inputs.add(slot);
            values.put(slot.name(), slot.name());
            values.put(LodSlot.of(slot.name()), LodSlot.of(slot.name()));
            String gradient = GradientRule.gradient(slot.name());
            builder.outputs.add(new Slot(gradient, slot.list(), true, false));
            outgoing.put(slot.name(), gradient);
        }
        for (Slot slot : forward.outputs()) {
            builder.inputs.add(new Slot(incoming.getOrDefault(slot.name(), slot.name()), slot.list(), true, false));
        }
        return builder.like(forward).infer(inference -> infer(inference, outgoing))
                .lower(differentiation.lowering(forward, new Differentiation.Bindings(values, incoming, outgoing)))
                .build();
    }

    /** A gradient is what its variable is; of a variable of which nothing is known yet, nothing is said. */
    private static void infer(Inference inference, Map<String, String> outgoing) {
        outgoing.forEach((slot, gradient) -> {
            for (int i = 0; i < Math.min(inference.count(slot), inference.outputs(gradient)); i++) {
                ArgType type = inference.known(slot, i);
                if (type != null && inference.wants(gradient, i)) {
                    inference.set(gradient, i, type);
                }
            }
        });
    }
}
