package io.seriatim.graph.autodiff;

import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/** The gradients of operations that run blocks: they run the blocks' gradients. */
public final class ControlGradients {
    private ControlGradients() {
    }

    /** The block that an operation runs and whose gradient is needed for its own; −1 if it runs none. */
    public static int block(OpDesc op) {
        return op.attribute("sub_block") instanceof Attribute.BlockRef(int index) ? index : -1;
    }

    static List<OpDesc> make(OpDesc op, Block gradient, Program program, Predicate<String> wanted) {
        return switch (op.type()) {
            case "conditional_block" -> List.of(conditional(op, gradient, wanted));
            case "while" -> List.of(loop(op, gradient, program, wanted));
            case "recurrent" -> List.of(recurrent(op, gradient, wanted));
            default -> throw new IllegalArgumentException("Operation '" + op.type()
                    + "' runs a block, and there is no gradient of that; there is for conditional_block, while and "
                    + "recurrent");
        };
    }

    private static List<String> gradients(List<String> names, Predicate<String> wanted) {
        return names.stream().map(name -> wanted.test(name) ? GradientRule.gradient(name) : GradientRule.EMPTY)
                .toList();
    }

    private static OpDesc conditional(OpDesc op, Block gradient, Predicate<String> wanted) {
        Map<String, List<String>> in = new TreeMap<>(op.inputs());
        in.putAll(op.outputs());
        in.put("Out@GRAD", op.output("Out").stream().map(GradientRule::gradient).toList());
        Map<String, List<String>> out = new TreeMap<>();
        out.put("Input@GRAD", gradients(op.input("Input"), wanted));
        return new OpDesc("conditional_block_grad", in, out, op.attributes(), null).with("sub_block", gradient);
    }

    private static OpDesc loop(OpDesc op, Block gradient, Program program, Predicate<String> wanted) {
        Set<String> made = new HashSet<>();
        gradient.ops().forEach(each -> made.addAll(each.outputNames()));
        List<String> outer = outerGradients(op, gradient, program, wanted);
        Map<String, List<String>> in = new TreeMap<>();
        in.put("X", op.input("X"));
        in.put("Out", op.output("Out"));
        in.put("StepScopes", op.output("StepScopes"));
        in.put("Out@GRAD", outer);
        List<String> results = new ArrayList<>(gradients(op.input("X"), wanted));
        // Variables that the steps overwrite without reading get a gradient too: zeros instead of the incoming one.
        made.addAll(outer);
        results.replaceAll(name -> made.contains(name) ? name : GradientRule.EMPTY);
        Map<String, List<String>> out = new TreeMap<>();
        out.put("X@GRAD", results);
        return new OpDesc("while_grad", in, out, op.attributes(), null).with("sub_block", gradient).with(
                "original_output_grad",
                outer.toArray(String[]::new));
    }

    /** The name that a gradient which comes into a block has outside of it. */
    static String outside(OpDesc gradient, String name) {
        List<String> inner = gradient.attribute("original_output_grad") instanceof Attribute.Texts(List<String> names)
                ? names
                : gradient.input("Out").stream().map(GradientRule::gradient).toList();
        int at = inner.indexOf(name);
        List<String> outer = gradient.input("Out@GRAD");
        return at >= 0 && at < outer.size() ? outer.get(at) : name;
    }

    /**
     * The gradients that the block reads before it writes them, and those of variables that the steps overwrite: a
     * gradient from after the loop does not reach their values before it.
     */
    private static List<String> outerGradients(OpDesc op, Block gradient, Program program, Predicate<String> wanted) {
        Block forward = program.block(block(op));
        Set<String> inner = new HashSet<>(op.input("X"));
        inner.addAll(op.output("Out"));
        Set<String> outer = new LinkedHashSet<>();
        for (OpDesc each : gradient.ops()) {
            each.inputNames().stream().filter(name -> !inner.contains(name) && !isKnown(name, forward))
                    .forEach(outer::add);
            inner.addAll(each.outputNames());
        }
        op.output("Out").stream().filter(name -> op.input("X").contains(name) && wanted.test(name))
                .map(GradientRule::gradient)
                .forEach(outer::add);
        return List.copyOf(outer);
    }

    /** An earlier call may have left a gradient of the same name outside. */
    private static boolean isKnown(String name, Block forward) {
        return (name.endsWith(GradientRule.SUFFIX) ? forward.var(name) : forward.find(name)) != null;
    }

    private static OpDesc recurrent(OpDesc op, Block gradient, Predicate<String> wanted) {
        Map<String, List<String>> in = new TreeMap<>(op.inputs());
        Map<String, List<String>> out = new TreeMap<>();
        op.inputs().forEach((slot, names) -> out.put(slot + GradientRule.SUFFIX, gradients(names, wanted)));
        op.outputs().forEach((slot, names) -> {
            in.put(slot, names);
            in.put(slot + GradientRule.SUFFIX,
                    slot.equals("step_scopes") ? names : names.stream().map(GradientRule::gradient).toList());
        });
        return new OpDesc("recurrent_grad", in, out, op.attributes(), null).with("sub_block", gradient);
    }
}
