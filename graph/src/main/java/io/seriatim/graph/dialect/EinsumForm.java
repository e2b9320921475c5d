package io.seriatim.graph.dialect;

import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Sums of products as PaddlePaddle's operation takes them: one or two operands, different labels from a to z for the
 * axes of each, and a result. It crashes or is wrong with an implied result, spaces, ellipses, upper case, axes of one
 * label or more operands, for which its Python interface prepares the equation.
 */
final class EinsumForm {
    private static final String ELLIPSIS = "...";
    private static final String EQUATION = "equation";
    private static final String TYPE = "einsum";
    private static final int LETTERS = 26;

    private EinsumForm() {
    }

    static void register(Map<String, PaddleForms.Rule> rules) {
        rules.put(TYPE, (op, steps, _) -> rewrite(op, steps));
    }

    /** Operands with a number for each axis; axes of one number have one length. */
    private record Equation(List<List<Integer>> operands, List<Integer> result) {
        static @Nullable Equation parse(String text, List<Integer> ranks) {
            String[] sides = text.replace(" ", "").split("->", -1);
            String[] terms = sides[0].split(",", -1);
            if (sides.length > 2 || terms.length != ranks.size()) {
                return null;
            }
            int most = 0;
            for (int i = 0; i < terms.length; i++) {
                int axes = ranks.get(i) - terms[i].replace(ELLIPSIS, "").length();
                if (axes < 0 || (axes > 0 && !terms[i].contains(ELLIPSIS))) {
                    return null;
                }
                most = Math.max(most, axes);
            }
            List<List<Integer>> operands = new ArrayList<>();
            for (int i = 0; i < terms.length; i++) {
                operands.add(labels(terms[i], ranks.get(i) - terms[i].replace(ELLIPSIS, "").length()));
            }
            return new Equation(operands, sides.length == 2 ? labels(sides[1], most) : implied(operands, most));
        }

        /** Those of an ellipsis are negative, the last one −1. */
        private static List<Integer> labels(String term, int axes) {
            List<Integer> labels = new ArrayList<>();
            int at = term.indexOf(ELLIPSIS);
            String plain = term.replace(ELLIPSIS, "");
            for (int i = 0; i <= plain.length(); i++) {
                for (int axis = axes; i == at && axis > 0; axis--) {
                    labels.add(-axis);
                }
                if (i < plain.length()) {
                    labels.add((int) plain.charAt(i));
                }
            }
            return labels;
        }

        /** Labels that occur once, in alphabetical order, behind those of the ellipsis. */
        private static List<Integer> implied(List<List<Integer>> operands, int ellipsis) {
            List<Integer> all = operands.stream().flatMap(List::stream).toList();
            List<Integer> result = new ArrayList<>(labels(ELLIPSIS, ellipsis));
            all.stream().filter(label -> label > 0 && all.indexOf(label) == all.lastIndexOf(label)).sorted()
                    .forEach(result::add);
            return result;
        }
    }

    /** A tensor and the labels of its axes. */
    private record Term(String variable, List<Integer> labels) {
    }

    private static boolean rewrite(OpDesc op, Steps steps) {
        if (!(op.attribute(EQUATION) instanceof Attribute.Text(String text)) || op.input("Operands").isEmpty()) {
            return false;
        }
        List<String> operands = op.input("Operands");
        Equation equation = Equation.parse(text,
                operands.stream().map(name -> steps.tensor(name).dims().size()).toList());
        if (equation == null || equation.operands().stream().flatMap(List::stream).distinct().count() > LETTERS) {
            return false;
        }
        List<Integer> wanted = equation.result().stream().distinct().toList();
        List<Integer> twice = wanted.stream().filter(label -> equation.result().indexOf(label) != equation.result()
                .lastIndexOf(label)).toList();
        if (twice.size() > 1 || equation.result().size() - wanted.size() > 1) {
            return false;
        }
        List<Term> terms = new ArrayList<>();
        for (int i = 0; i < operands.size(); i++) {
            terms.add(different(steps, new Term(operands.get(i), equation.operands().get(i))));
        }
        terms = withoutBroadcasting(steps, terms);
        if (isPlain(text, operands, terms, equation)) {
            return false;
        }
        String out = op.output("Out").getFirst();
        List<Integer> order = new ArrayList<>(wanted);
        twice.forEach(label -> {
            order.removeIf(label::equals);
            order.add(label);
        });
        String product = contracted(steps, terms, order, twice.isEmpty() ? out : null);
        if (!twice.isEmpty()) {
            Integer label = twice.getFirst();
            steps.op("diag_embed").in("Input", product).attr("offset", 0)
                    .attr("dim1", equation.result().indexOf(label)).attr("dim2", equation.result().lastIndexOf(label))
                    .into("Out", out);
        }
        return true;
    }

    /** Whether PaddlePaddle takes an equation as it stands. */
    private static boolean isPlain(String text, List<String> operands, List<Term> terms, Equation equation) {
        return text.matches("[a-z]*(,[a-z]*)?->[a-z]*")
                && equation.result().stream().distinct().count() == equation.result().size()
                && IntStream.range(0, operands.size()).allMatch(i -> terms.get(i).variable().equals(operands.get(i)));
    }

    /** Of axes with one label, the diagonal, which is the last axis then. */
    private static Term different(Steps steps, Term term) {
        List<Integer> labels = new ArrayList<>(term.labels());
        String variable = term.variable();
        for (int second = 1; second < labels.size(); second++) {
            Integer label = labels.get(second);
            int first = labels.indexOf(label);
            if (first < second) {
                variable = steps.op("diagonal").in("Input", variable).attr("offset", 0).attr("axis1", first)
                        .attr("axis2", second).out("Out");
                labels.subList(second, second + 1).clear();
                labels.subList(first, first + 1).clear();
                labels.add(label);
                second = 0;
            }
        }
        return new Term(variable, labels);
    }

    /** Removes axes of length 1 whose label another operand has with another length. */
    private static List<Term> withoutBroadcasting(Steps steps, List<Term> terms) {
        List<Term> same = new ArrayList<>();
        for (Term term : terms) {
            List<Long> dims = steps.tensor(term.variable()).dims();
            int[] single = IntStream.range(0, dims.size()).filter(axis -> dims.get(axis) == 1
                    && terms.stream().anyMatch(other -> isLonger(steps, other, term.labels().get(axis)))).toArray();
            if (single.length == 0) {
                same.add(term);
                continue;
            }
            List<Integer> labels = new ArrayList<>(term.labels());
            for (int i = single.length - 1; i >= 0; i--) {
                labels.subList(single[i], single[i] + 1).clear();
            }
            same.add(new Term(steps.op("squeeze2").in("X", term.variable()).attr("axes", single).out("Out"), labels));
        }
        return same;
    }

    private static boolean isLonger(Steps steps, Term term, Integer label) {
        int axis = term.labels().indexOf(label);
        return axis >= 0 && steps.tensor(term.variable()).dims().get(axis) != 1;
    }

    /** Multiplies the operands from left to right; labels that nothing needs later are summed over at once. */
    private static String contracted(Steps steps, List<Term> terms, List<Integer> result, @Nullable String into) {
        Map<Integer, Character> letters = new LinkedHashMap<>();
        terms.forEach(term -> term.labels()
                .forEach(label -> letters.computeIfAbsent(label, _ -> (char) ('a' + letters.size()))));
        Term product = terms.getFirst();
        int next = 1;
        do {
            List<Term> factors = next < terms.size() ? List.of(product, terms.get(next)) : List.of(product);
            List<Term> later = terms.subList(Math.min(next + 1, terms.size()), terms.size());
            List<Integer> kept = later.isEmpty()
                    ? result
                    : factors.stream().flatMap(term -> term.labels().stream()).distinct()
                            .filter(label -> result.contains(label)
                                    || later.stream().anyMatch(term -> term.labels().contains(label)))
                            .toList();
            String equation = factors.stream().map(term -> text(term.labels(), letters))
                    .collect(Collectors.joining(",")) + "->" + text(kept, letters);
            Steps.Step step = steps.op(TYPE).in("Operands", factors.stream().map(Term::variable).toList())
                    .attr(EQUATION, equation);
            if (later.isEmpty() && into != null) {
                step.into("Out", into);
                return into;
            }
            product = new Term(step.out("Out"), kept);
            next++;
        } while (next < terms.size());
        return product.variable();
    }

    private static String text(List<Integer> labels, Map<Integer, Character> letters) {
        return labels.stream().map(label -> String.valueOf(letters.get(label))).collect(Collectors.joining());
    }
}
