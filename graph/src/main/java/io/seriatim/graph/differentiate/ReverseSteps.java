package io.seriatim.graph.differentiate;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Differentiation;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.LodSlot;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Slot;
import io.seriatim.graph.program.OpDesc;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Derives gradients by reverse-mode differentiation of the steps of operations; found as a service. */
public final class ReverseSteps implements Differentiation {
    /** For the service loader. */
    public ReverseSteps() {
    }

    @Override
    public Lowering.Rule lowering(Operation forward, Bindings bindings) {
        return l -> lower(l, forward, bindings);
    }

    private static void lower(Lowering l, Operation forward, Bindings bindings) {
        if (!forward.isLowered()) {
            throw new IllegalArgumentException("Operation '" + l.type() + "' is the gradient of '" + forward.type()
                    + "', which has no steps that could be differentiated; define the gradient's lowering");
        }
        OpDesc op = forward(l, forward, bindings);
        Inference.Source source = new ForwardSource(l, bindings);
        Map<String, List<@Nullable ArgType>> types = forward.infer(op, source);
        Lowering again = new Lowering(op, forward, source, types, null);
        new Differentiator(l, again, forward.lowerDifferentiable(again), bindings).run();
    }

    /** The operation whose gradient an operation is, with names of its own for what it writes. */
    private static OpDesc forward(Lowering l, Operation forward, Bindings bindings) {
        OpDesc op = l.op();
        Map<String, List<String>> in = new TreeMap<>();
        for (Slot slot : forward.inputs()) {
            String bound = bindings.values().get(slot.name());
            String gradient = bindings.outgoing().get(slot.name());
            if (bound != null) {
                in.put(slot.name(), op.input(bound));
            } else if (gradient != null) {
                in.put(slot.name(), names(slot, op.output(gradient).size()));
            }
        }
        for (String slot : forward.lodInputs()) {
            String bound = bindings.values().get(LodSlot.of(slot));
            if (bound != null && !op.input(bound).isEmpty()) {
                in.put(LodSlot.of(slot), op.input(bound));
            }
        }
        Map<String, List<String>> out = new TreeMap<>();
        for (Slot slot : forward.outputs()) {
            int count = Math.max(count(op, bindings.incoming().get(slot.name())),
                    count(op, bindings.values().get(slot.name())));
            out.put(slot.name(), names(slot, count == 0 && !slot.optional() && !slot.list() ? 1 : count));
        }
        return new OpDesc(forward.type(), in, out, op.attributes(), null);
    }

    private static int count(OpDesc op, @Nullable String slot) {
        return slot == null ? 0 : op.input(slot).size();
    }

    private static List<String> names(Slot slot, int count) {
        return IntStream.range(0, count).mapToObj(i -> slot.name() + "#" + i).toList();
    }

    /** What is known of the inputs of the operation whose gradient is lowered. */
    private record ForwardSource(Lowering l, Bindings bindings) implements Inference.Source {
        @Override
        public @Nullable ArgType type(String slot, int index) {
            String bound = bindings.values().get(slot);
            if (bound != null) {
                return l.source().type(bound, index);
            }
            String gradient = bindings.outgoing().get(slot);
            return gradient != null && l.wants(gradient, index) ? l.outType(gradient, index) : null;
        }

        @Override
        public long @Nullable [] values(String slot, int index) {
            String bound = bindings.values().get(slot);
            return bound == null ? null : l.source().values(bound, index);
        }

        @Override
        public double @Nullable [] numbers(String slot, int index) {
            String bound = bindings.values().get(slot);
            return bound == null ? null : l.source().numbers(bound, index);
        }
    }

    /** The variables of a slot, those included that stand for none. */
    static List<Integer> places(OpDesc op, @Nullable String slot) {
        List<Integer> places = new ArrayList<>();
        List<String> names = slot == null ? List.of() : op.input(slot);
        for (int i = 0; i < names.size(); i++) {
            if (!names.get(i).equals(GradientRule.EMPTY)) {
                places.add(i);
            }
        }
        return places;
    }
}
