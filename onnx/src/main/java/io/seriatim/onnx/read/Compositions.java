package io.seriatim.onnx.read;

import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Lists;
import io.seriatim.onnx.proto.OnnxAttribute;
import io.seriatim.onnx.proto.OnnxNode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Finds nodes that together compute what one operator computes, as exporters write functions that their version of ONNX
 * does not have: gelu, mish, swish, hard swish and normalisations of layers, channels and images. One operation reads
 * and writes memory once, can be part of the product before it, and has a gradient of its own.
 *
 * <p>
 * Products are compared as sets of factors, so that the order in which an exporter multiplies does not matter. Values
 * between the nodes vanish; nodes are left alone if anything else reads one of these. Results differ by rounding.
 */
final class Compositions {
    private static final double ROOT_TWO = Math.sqrt(2);
    private static final double ROOT_TWO_BY_PI = Math.sqrt(2 / Math.PI);
    private static final double CUBE = 0.044715;
    /** Exporters round constants to float32, some by way of few decimal digits. */
    private static final double TOLERANCE = 1e-6;
    /** The most factors of a product that is one function. */
    private static final int MOST_FACTORS = 8;

    private final Map<String, OnnxNode> producers = new HashMap<>();
    private final Map<String, Integer> readers = new HashMap<>();
    private final Scalars scalars;
    private final IdentityHashMap<OnnxNode, Composition> found = new IdentityHashMap<>();
    private final IdentityHashMap<Composition, Boolean> taken = new IdentityHashMap<>();

    /**
     * One operator for several nodes.
     *
     * @param nodes
     *            all of them
     * @param last
     *            the one whose result is the function's
     * @param single
     *            the node that replaces them
     * @param axes
     *            the axes over which means are taken, as the file counts them
     */
    record Composition(Set<OnnxNode> nodes, OnnxNode last, OnnxNode single, List<Long> axes) {
        @SuppressWarnings("ReferenceEquality") // Nodes that are equal may stand for different values.
        private boolean endsWith(OnnxNode node) {
            return node == last;
        }

        /** Returns whether the operands have types and ranks for which the single operator is the same function. */
        private boolean fits(Function<String, @Nullable Ref> values) {
            List<Ref> operands = new ArrayList<>();
            for (String name : single.inputs()) {
                Ref operand = values.apply(name);
                if (operand == null || !Lists.isTensor(operand)) {
                    return false;
                }
                operands.add(operand);
            }
            Ref x = operands.getFirst();
            if (!x.dtype().isFloating() || x.rank() == 0) {
                return false;
            }
            return operands.size() == 1 || WrittenNormalisation.fits(x, operands.subList(1, operands.size()), axes);
        }
    }

    /** The factors of a product; numbers are multiplied. */
    private static final class Factors {
        private double number = 1;
        private final List<String> values = new ArrayList<>();
        private final Set<OnnxNode> nodes = Collections.newSetFromMap(new IdentityHashMap<>());
    }

    /**
     * @param nodes
     *            in the order of their data
     * @param results
     *            the values that are read after the nodes
     * @param scalars
     *            gives the numbers of constants
     */
    Compositions(List<OnnxNode> nodes, Collection<String> results, Scalars scalars) {
        this.scalars = scalars;
        for (OnnxNode node : nodes) {
            node.outputs().forEach(output -> producers.put(output, node));
            NodeOrder.reads(node).forEach(name -> readers.merge(name, 1, Integer::sum));
        }
        results.forEach(name -> readers.merge(name, 1, Integer::sum));
        // From the end, so that what is found is not part of anything larger; no node is part of two.
        for (OnnxNode node : nodes.reversed()) {
            Composition composition = found.containsKey(node) ? null : endingWith(node);
            if (composition != null && composition.nodes().stream().noneMatch(found::containsKey)) {
                composition.nodes().forEach(each -> found.put(each, composition));
            }
        }
    }

    /** Translates a node, in the order of their data: of each composition one. */
    void translate(OnnxNode node, Function<String, @Nullable Ref> values, Consumer<OnnxNode> translation) {
        Composition composition = found.get(node);
        // Decided at its first node, when its operands are known.
        if (composition == null || !taken.computeIfAbsent(composition, each -> each.fits(values))) {
            translation.accept(node);
        } else if (composition.endsWith(node)) {
            translation.accept(composition.single());
        }
    }

    private @Nullable Composition endingWith(OnnxNode node) {
        if (!node.domain().isEmpty() || node.outputs().size() != 1) {
            return null;
        }
        return switch (node.type()) {
            case "Mul", "Div" -> isProduct(node) ? product(node) : null;
            case "Add" -> normalisation(node);
            default -> null;
        };
    }

    private @Nullable Composition product(OnnxNode node) {
        Factors factors = factors(node);
        if (factors.values.size() != 2) {
            return null;
        }
        for (int i = 0; i < 2; i++) {
            String x = factors.values.get(i);
            OnnxNode other = producer(factors.values.get(1 - i));
            Composition found = other == null ? null : function(node, factors, x, other);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    /** Matches x · number · f(x), where the node computes the last. */
    private @Nullable Composition function(OnnxNode last, Factors factors, String x, OnnxNode node) {
        Set<OnnxNode> nodes = identitySet(factors.nodes);
        nodes.add(node);
        String single = switch (node.type()) {
            case "Sigmoid" -> isNear(factors.number, 1) && node.inputs().getFirst().equals(x) ? "Swish" : null;
            case "Tanh" -> isNear(factors.number, 1) && isOf("Softplus", node, x, nodes) ? "Mish" : null;
            case "HardSigmoid" -> isNear(factors.number, 1) && isHardSigmoid(node, x) ? "HardSwish" : null;
            case "Clip" ->
                isNear(factors.number * 6, 1) && isClippedSum(node, x, nodes) ? "HardSwish" : null;
            case "Add" -> isNear(factors.number, 0.5) ? gelu(node, x, nodes) : null;
            default -> null;
        };
        if (single == null) {
            return null;
        }
        boolean approximate = single.equals("tanh");
        String type = approximate || single.equals("none") ? "Gelu" : single;
        Map<String, OnnxAttribute> attributes = type.equals("Gelu")
                ? Map.of("approximate", new OnnxAttribute.Text(single))
                : Map.of();
        return new Composition(nodes, last,
                new OnnxNode(last.name(), "", type, List.of(x), last.outputs(), attributes), List.of());
    }

    /** Returns which gelu 1 + f(x) belongs to, as its attribute names it. */
    private @Nullable String gelu(OnnxNode sum, String x, Set<OnnxNode> nodes) {
        OnnxNode function = producer(besides(sum, 1));
        if (function == null) {
            return null;
        }
        Factors factors = function.type().equals("Erf") || function.type().equals("Tanh")
                ? factorsOf(function.inputs().getFirst())
                : new Factors();
        nodes.add(function);
        nodes.addAll(factors.nodes);
        if (function.type().equals("Erf")) {
            return factors.values.equals(List.of(x)) && isNear(factors.number * ROOT_TWO, 1) ? "none" : null;
        }
        if (!isNear(factors.number, ROOT_TWO_BY_PI)) {
            return null;
        }
        // x + c x³, or x (1 + c x²).
        if (factors.values.size() == 1) {
            OnnxNode inner = producer(factors.values.getFirst());
            return inner != null && inner.type().equals("Add") && isPower(besides(inner, x), x, 3, nodes)
                    && nodes.add(inner) ? "tanh" : null;
        }
        if (factors.values.size() == 2 && factors.values.contains(x)) {
            int at = factors.values.indexOf(x);
            OnnxNode inner = producer(factors.values.get(1 - at));
            return inner != null && inner.type().equals("Add") && isPower(besides(inner, 1), x, 2, nodes)
                    && nodes.add(inner) ? "tanh" : null;
        }
        return null;
    }

    /** Whether a value is 0.044715 times a power of another. */
    private boolean isPower(@Nullable String value, String x, int exponent, Set<OnnxNode> nodes) {
        if (value == null || producer(value) == null) {
            return false;
        }
        Factors factors = factorsOf(value);
        nodes.addAll(factors.nodes);
        return isNear(factors.number, CUBE) && Collections.nCopies(exponent, x).equals(factors.values);
    }

    private boolean isOf(String type, OnnxNode outer, String x, Set<OnnxNode> nodes) {
        OnnxNode inner = producer(outer.inputs().getFirst());
        return inner != null && inner.type().equals(type) && inner.inputs().getFirst().equals(x) && nodes.add(inner);
    }

    private static boolean isHardSigmoid(OnnxNode node, String x) {
        return node.inputs().getFirst().equals(x)
                && node.attributes().get("alpha") instanceof OnnxAttribute.Real(float alpha)
                && isNear(alpha * 6.0, 1)
                && (!node.attributes().containsKey("beta")
                        || (node.attributes().get("beta") instanceof OnnxAttribute.Real(float beta)
                                && isNear((double) beta, 0.5)));
    }

    /** Whether a node clips x + 3 to 0 and 6. */
    private boolean isClippedSum(OnnxNode clip, String x, Set<OnnxNode> nodes) {
        Double least = bound(clip, "min", 1);
        Double most = bound(clip, "max", 2);
        OnnxNode sum = producer(clip.inputs().getFirst());
        return least != null && least == 0 && most != null && most == 6 && sum != null
                && sum.type().equals("Add") && x.equals(besides(sum, 3)) && nodes.add(sum);
    }

    private @Nullable Double bound(OnnxNode clip, String attribute, int input) {
        if (clip.attributes().get(attribute) instanceof OnnxAttribute.Real(float value)) {
            return (double) value;
        }
        return clip.inputs().size() > input ? scalars.apply(clip.inputs().get(input)) : null;
    }

    /** Matches (x − mean) / √(variance + ε) · scale + bias, where the factor may be before the quotient. */
    private @Nullable Composition normalisation(OnnxNode sum) {
        for (int i = 0; i < 2 && sum.inputs().size() == 2; i++) {
            OnnxNode outer = producer(sum.inputs().get(i));
            boolean divides = outer != null && outer.type().equals("Div");
            OnnxNode product = divides && outer != null && outer.inputs().size() == 2
                    ? binary("Mul", outer.inputs().getFirst())
                    : binary("Mul", sum.inputs().get(i));
            for (int j = 0; j < 2 && product != null; j++) {
                String factor = product.inputs().get(j);
                OnnxNode quotient = divides ? outer : binary("Div", factor);
                Composition normalised = quotient == null
                        ? null
                        : normalised(sum, product, quotient, divides ? factor : quotient.inputs().getFirst(),
                                product.inputs().get(1 - j), sum.inputs().get(1 - i));
                if (normalised != null) {
                    return normalised;
                }
            }
        }
        return null;
    }

    private @Nullable Composition normalised(OnnxNode sum, OnnxNode scaled, OnnxNode quotient, String deviationOfX,
            String scale, String bias) {
        // The deviation is read twice, by the quotient or the product and by the variance, or is computed twice.
        OnnxNode centred = difference(deviationOfX);
        OnnxNode root = producer(quotient.inputs().get(1));
        OnnxNode shifted = root == null || !root.type().equals("Sqrt")
                ? null
                : binary("Add", root.inputs().getFirst());
        if (centred == null || root == null || shifted == null) {
            return null;
        }
        OnnxNode mean = producers.get(centred.inputs().get(1));
        for (int i = 0; i < 2; i++) {
            Double epsilon = scalars.apply(shifted.inputs().get(i));
            OnnxNode variance = producer(shifted.inputs().get(1 - i));
            if (epsilon == null || variance == null || !isMean(variance) || mean == null || !isMean(mean)) {
                continue;
            }
            OnnxNode square = producer(variance.inputs().getFirst());
            String deviation = square == null ? null : squared(square);
            OnnxNode second = deviation == null ? null : difference(deviation);
            if (square == null || second == null || !second.inputs().equals(centred.inputs())
                    || !mean.inputs().getFirst().equals(centred.inputs().getFirst())
                    || !axes(mean).equals(axes(variance))) {
                continue;
            }
            Set<OnnxNode> nodes = identitySet(
                    List.of(sum, scaled, quotient, centred, root, shifted, variance, square, second, mean));
            List<Long> axes = axes(mean);
            if (axes.isEmpty() || !areReadWithin(nodes, List.of(centred, second, mean))) {
                return null;
            }
            return new Composition(nodes, sum,
                    WrittenNormalisation.node(sum, List.of(centred.inputs().getFirst(), scale, bias), axes,
                            epsilon.floatValue()),
                    axes);
        }
        return null;
    }

    private boolean areReadWithin(Set<OnnxNode> nodes, List<OnnxNode> shared) {
        for (OnnxNode node : identitySet(shared)) {
            String value = node.outputs().getFirst();
            long within = nodes.stream().filter(each -> each.inputs().contains(value)).count();
            if (readers.getOrDefault(value, 0) != within) {
                return false;
            }
        }
        return true;
    }

    /** Returns the node of a difference that others may read, too. */
    private @Nullable OnnxNode difference(String value) {
        OnnxNode node = producers.get(value);
        return node != null && node.type().equals("Sub") && node.domain().isEmpty() && node.inputs().size() == 2
                && node.outputs().size() == 1 ? node : null;
    }

    private static boolean isMean(OnnxNode node) {
        return node.type().equals("ReduceMean") && node.domain().isEmpty() && !node.inputs().isEmpty()
                && (!node.attributes().containsKey("keepdims")
                        || node.attributes().get("keepdims").equals(new OnnxAttribute.Int(1)));
    }

    /** Returns the axes of a mean, as far as the file says them. */
    private List<Long> axes(OnnxNode mean) {
        if (mean.attributes().get("axes") instanceof OnnxAttribute.Ints(List<Long> axes)) {
            return axes;
        }
        return mean.inputs().size() == 2 ? scalars.integers(mean.inputs().get(1)) : List.of();
    }

    private @Nullable String squared(OnnxNode node) {
        if (node.inputs().size() != 2) {
            return null;
        }
        return switch (node.type()) {
            case "Pow" -> isNear(scalars.apply(node.inputs().get(1)), 2) ? node.inputs().getFirst() : null;
            case "Mul" ->
                node.inputs().getFirst().equals(node.inputs().get(1)) ? node.inputs().getFirst() : null;
            default -> null;
        };
    }

    /** Returns the node that computes a value that nothing else reads. */
    private @Nullable OnnxNode producer(@Nullable String value) {
        OnnxNode node = value == null || readers.getOrDefault(value, 0) != 1 ? null : producers.get(value);
        return node != null && node.domain().isEmpty() && node.outputs().size() == 1 && !node.inputs().isEmpty()
                ? node
                : null;
    }

    /** Returns the node of a type and with two operands that computes a value that nothing else reads. */
    private @Nullable OnnxNode binary(String type, String value) {
        OnnxNode node = producer(value);
        return node != null && node.type().equals(type) && node.inputs().size() == 2 ? node : null;
    }

    /** Returns the other addend of a sum with a number; null if it has no such addend. */
    private @Nullable String besides(OnnxNode sum, double number) {
        for (int i = 0; i < 2 && sum.inputs().size() == 2; i++) {
            if (isNear(scalars.apply(sum.inputs().get(i)), number)) {
                return sum.inputs().get(1 - i);
            }
        }
        return null;
    }

    private static @Nullable String besides(OnnxNode sum, String value) {
        int at = sum.inputs().indexOf(value);
        return at < 0 || sum.inputs().size() != 2 ? null : sum.inputs().get(1 - at);
    }

    private Factors factors(OnnxNode last) {
        Factors factors = new Factors();
        Deque<OnnxNode> left = new ArrayDeque<>(List.of(last));
        while (!left.isEmpty() && factors.values.size() <= MOST_FACTORS) {
            OnnxNode node = left.remove();
            factors.nodes.add(node);
            Double divisor = node.type().equals("Div") ? scalars.apply(node.inputs().get(1)) : null;
            Double exponent = node.type().equals("Pow") ? scalars.apply(node.inputs().get(1)) : null;
            if (exponent != null) {
                factors.values.addAll(Collections.nCopies(exponent.intValue(), node.inputs().getFirst()));
                continue;
            }
            factors.number /= divisor == null ? 1 : divisor;
            for (String value : divisor == null ? node.inputs() : node.inputs().subList(0, 1)) {
                Double number = scalars.apply(value);
                OnnxNode producer = producer(value);
                if (number != null) {
                    factors.number *= number;
                } else if (producer != null && isProduct(producer)) {
                    left.add(producer);
                } else {
                    factors.values.add(value);
                }
            }
        }
        return factors;
    }

    private Factors factorsOf(String value) {
        OnnxNode producer = producer(value);
        if (producer != null && isProduct(producer)) {
            return factors(producer);
        }
        Factors factors = new Factors();
        factors.values.add(value);
        return factors;
    }

    private boolean isProduct(OnnxNode node) {
        if (node.inputs().size() != 2) {
            return false;
        }
        Double second = scalars.apply(node.inputs().get(1));
        return switch (node.type()) {
            case "Mul" -> true;
            case "Div" -> second != null && second != 0;
            case "Pow" -> isNear(second, 2) || isNear(second, 3);
            default -> false;
        };
    }

    private static Set<OnnxNode> identitySet(Collection<OnnxNode> nodes) {
        Set<OnnxNode> set = Collections.newSetFromMap(new IdentityHashMap<>());
        set.addAll(nodes);
        return set;
    }

    private static boolean isNear(@Nullable Double value, double expected) {
        return value != null && Math.abs(value - expected) <= TOLERANCE * Math.abs(expected);
    }
}
