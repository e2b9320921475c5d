package io.seriatim.graph.op;

import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A gradient of one operation that gets the forward's attributes, in the notation
 * {@code type(Slot, Slot@GRAD, Slot=Other@GRAD) -> Slot@GRAD}: on the left of = the slot of the gradient operation, on
 * the right that of the forward. The forward may be a gradient operation:
 * {@code relu_grad_grad(Out, grad_x@GRAD=X@GRAD@GRAD) -> grad_out@GRAD=Out@GRAD@GRAD}.
 *
 * @param type
 *            of the gradient operation
 * @param inputs
 *            its input slots
 * @param outputs
 *            its output slots
 */
public record GradientSignature(String type, List<Binding> inputs, List<Binding> outputs) implements GradientRule {
    /**
     * A slot of the gradient operation, and the slot of the forward that is bound to it.
     *
     * @param slot
     *            of the gradient operation
     * @param forward
     *            slot of the forward
     * @param gradient
     *            whether the gradient of that slot is meant
     * @param list
     *            whether the slot takes several variables
     */
    public record Binding(String slot, String forward, boolean gradient, boolean list) {
        static Binding parse(String text) {
            String[] sides = text.strip().split("=", -1);
            String right = sides[sides.length - 1];
            boolean gradient = right.endsWith(SUFFIX);
            return new Binding(sides[0], gradient ? right.substring(0, right.length() - SUFFIX.length()) : right,
                    gradient, false);
        }

        Binding inList() {
            return new Binding(slot, forward, gradient, true);
        }

        /**
         * The right side as it was written. Where the forward is itself a gradient operation, that may be one of its
         * slots: {@code DOut=Out@GRAD} is then a variable that it reads.
         */
        String written() {
            return gradient ? GradientRule.gradient(forward) : forward;
        }
    }

    /**
     * Reads the notation.
     *
     * @param text
     *            {@code type(Slot, …) -> Slot@GRAD, …}
     * @return the signature
     * @throws IllegalArgumentException
     *             if the text is not of that form
     */
    public static GradientSignature parse(String text) {
        int open = text.indexOf('(');
        int close = text.indexOf(')');
        int arrow = text.indexOf("->");
        if (open < 0 || close < open || arrow < close) {
            throw new IllegalArgumentException(
                    "A gradient is written 'type(Slot, Slot@GRAD) -> Slot@GRAD', but not '" + text + "'");
        }
        return new GradientSignature(text.substring(0, open).strip(), bindings(text.substring(open + 1, close)),
                bindings(text.substring(arrow + 2)));
    }

    /** Marks the slots that take several variables. */
    GradientSignature withLists(Predicate<String> isList) {
        return new GradientSignature(type, inputs,
                outputs.stream().map(binding -> isList.test(binding.forward()) ? binding.inList() : binding).toList());
    }

    private static List<Binding> bindings(String text) {
        return text.isBlank() ? List.of() : Arrays.stream(text.split(",", -1)).map(Binding::parse).toList();
    }

    @Override
    public List<OpDesc> make(OpDesc forward, Predicate<String> wanted) {
        Map<String, List<String>> in = new TreeMap<>();
        for (Binding binding : inputs) {
            if (has(forward, binding.written())) {
                in.put(binding.slot(), variables(forward, binding.written()));
            } else if (binding.gradient()) {
                in.put(binding.slot(),
                        variables(forward, binding.forward()).stream().map(GradientRule::gradient).toList());
            }
        }
        Map<String, List<String>> out = new TreeMap<>();
        for (Binding binding : outputs) {
            if (forward.inputs().containsKey(binding.forward())) {
                out.put(binding.slot(), gradients(forward.input(binding.forward()), binding.list(), wanted));
            }
        }
        List<Attribute.Named> attributes = new ArrayList<>(forward.attributes());
        return List.of(new OpDesc(type, in, out, attributes, null));
    }

    /** The schema of this gradient, derived from the steps of the operation whose gradient it is. */
    Operation derived(Operation forward, Differentiation differentiation) {
        Operation.Builder builder = Operation.define(type);
        Map<String, String> values = new HashMap<>();
        Map<String, String> incoming = new HashMap<>();
        Map<String, String> outgoing = new HashMap<>();
        for (Binding binding : inputs) {
            Slot own = slot(forward, binding.written());
            if (own != null) {
                values.put(binding.written(), binding.slot());
                values.put(LodSlot.of(binding.written()), LodSlot.of(binding.slot()));
            } else {
                own = slot(forward, binding.forward());
                incoming.put(binding.forward(), binding.slot());
            }
            builder.inputs.add(new Slot(binding.slot(), own != null && own.list(), true, false));
        }
        for (Binding binding : outputs) {
            Slot own = slot(forward, binding.forward());
            builder.outputs.add(new Slot(binding.slot(), own != null && own.list(), true, false));
            outgoing.put(binding.forward(), binding.slot());
        }
        return builder.like(forward).infer(inference -> GradientInference.infer(this, inference))
                .lower(differentiation.lowering(forward, new Differentiation.Bindings(values, incoming, outgoing)))
                .build();
    }

    private static @Nullable Slot slot(Operation operation, String name) {
        for (List<Slot> slots : List.of(operation.outputs(), operation.inputs())) {
            for (Slot slot : slots) {
                if (slot.name().equals(name)) {
                    return slot;
                }
            }
        }
        return null;
    }

    private static boolean has(OpDesc op, String slot) {
        return op.inputs().containsKey(slot) || op.outputs().containsKey(slot);
    }

    private static List<String> variables(OpDesc op, String slot) {
        return op.outputs().containsKey(slot) ? op.output(slot) : op.input(slot);
    }

    /** A slot for one variable stays empty if its gradient is not wanted; a list needs a placeholder. */
    private static List<String> gradients(List<String> names, boolean list, Predicate<String> wanted) {
        if (!list && names.stream().noneMatch(wanted)) {
            return List.of();
        }
        return names.stream().map(name -> wanted.test(name) ? GradientRule.gradient(name) : EMPTY).toList();
    }
}
