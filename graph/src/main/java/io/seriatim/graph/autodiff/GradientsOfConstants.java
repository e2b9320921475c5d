package io.seriatim.graph.autodiff;

import io.seriatim.graph.op.DerivedGradient;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.OpDesc;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Gradients of results that an operation's own gradient takes for constants, as the mean of a normalisation or the
 * softmax of a cross entropy. Gradients of gradients depend on them: their gradient operation reads those results.
 * Where such a gradient comes in, the operation gets a further gradient operation, with respect to all of its results.
 */
final class GradientsOfConstants {
    /** Gradients that derived operations compute. */
    private final Set<String> derived = new HashSet<>();

    /**
     * The further gradients of an operation.
     *
     * @param op
     *            an operation that runs no block
     * @param made
     *            its gradients; those of operations that come after it have been given before
     */
    List<OpDesc> further(OpDesc op, List<OpDesc> made, Predicate<String> wanted) {
        Set<String> left = new HashSet<>();
        op.outputNames().stream().map(GradientRule::gradient).filter(derived::contains).forEach(left::add);
        made.forEach(each -> left.removeAll(each.inputNames()));
        Operation schema = Operations.system().find(op.type());
        List<OpDesc> further = left.isEmpty() || schema == null || !schema.isLowered()
                ? List.of()
                : of(schema, op, left, wanted);
        if (schema != null && schema.gradient() instanceof DerivedGradient) {
            made.forEach(each -> derived.addAll(each.outputNames()));
        }
        further.forEach(each -> derived.addAll(each.outputNames()));
        return further;
    }

    private static List<OpDesc> of(Operation schema, OpDesc op, Set<String> left, Predicate<String> wanted) {
        return DerivedGradient.ofAll(schema).make(op, wanted).stream()
                .filter(each -> each.outputNames().stream().anyMatch(name -> !name.equals(GradientRule.EMPTY)))
                .map(each -> each.renamed(name -> isOther(op, name, left) ? GradientRule.EMPTY : name, name -> name))
                .toList();
    }

    /** The gradients of the other results have gone to the operation's own gradient already. */
    private static boolean isOther(OpDesc op, String name, Set<String> left) {
        return !left.contains(name)
                && op.outputNames().stream().map(GradientRule::gradient).anyMatch(name::equals);
    }
}
