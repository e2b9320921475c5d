package io.seriatim.graph.ops.linalg;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Reduction;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Sums of products by Einstein's notation, {@code bij,bjk->bik}. Two operands at a time become one product of matrices:
 * labels of both that are wanted later are batches, those that are not are summed over.
 */
public final class EinsumOperations {
    /** Labels for the axes that an ellipsis stands for, the last one first. */
    private static final char ELLIPSIS = '0';

    private EinsumOperations() {
    }

    /** A tensor and a label for each of its axes. */
    private record Labelled(Operand operand, String labels) {
        /** Of axes with the same label, the diagonal. */
        static Labelled of(Operand operand, String labels) {
            Operand diagonal = operand;
            StringBuilder different = new StringBuilder();
            for (int i = 0; i < labels.length(); i++) {
                String label = labels.substring(i, i + 1);
                int first = different.indexOf(label);
                if (first < 0) {
                    different.append(label);
                } else {
                    diagonal = diagonal.diagonal(first, different.length());
                }
            }
            return new Labelled(diagonal, different.toString());
        }

        long length(char label) {
            return operand.dim(labels.indexOf(label));
        }

        /** Without the axes of length 1 whose label stands for a longer axis of another operand. */
        Labelled withoutBroadcasting(Lowering l, List<Labelled> all) {
            String kept = keep(labels, label -> length((char) label) != 1 || all.stream()
                    .noneMatch(other -> other.labels.indexOf(label) >= 0 && other.length((char) label) != 1));
            return kept.equals(labels)
                    ? this
                    : new Labelled(l.reshape(operand, kept.chars().mapToLong(label -> length((char) label)).toArray()),
                            kept);
        }

        /** Reorders the axes; labels that are not in the order are summed over. */
        Labelled as(Lowering l, String order) {
            List<Integer> gone = IntStream.range(0, labels.length()).filter(i -> order.indexOf(labels.charAt(i)) < 0)
                    .boxed().toList();
            Operand left = gone.isEmpty()
                    ? operand
                    : l.run(new Reduction(Reduction.Function.SUM, gone, false), operand);
            String kept = keep(labels, label -> order.indexOf(label) >= 0);
            int[] axes = order.chars().filter(label -> kept.indexOf(label) >= 0).map(kept::indexOf).toArray();
            return new Labelled(left.transpose(axes), keep(order, label -> kept.indexOf(label) >= 0));
        }
    }

    /** The labels of each operand and of the result. */
    private record Equation(List<String> operands, String result) {
        static Equation parse(Inference inference) {
            String text = inference.attrs().getText("equation").replace(" ", "");
            String[] sides = text.split("->", -1);
            List<String> operands = new ArrayList<>();
            String[] terms = sides[0].split(",", -1);
            inference.require(sides.length <= 2 && terms.length == inference.count("Operands"),
                    "the equation '%s' must have labels for each of %d operands", text, inference.count("Operands"));
            int most = 0;
            for (int i = 0; i < terms.length; i++) {
                int axes = inference.in("Operands", i).dims().length - terms[i].replace("...", "").length();
                boolean fits = terms[i].contains("...") ? axes >= 0 && axes < 10 : axes == 0;
                String labels = fits ? expanded(terms[i], axes) : "";
                inference.require(fits, "the labels '%s' must be one for each axis of operand %d of '%s'", terms[i], i,
                        text);
                operands.add(labels);
                most = terms[i].contains("...") ? Math.max(most, axes) : most;
            }
            String result = sides.length == 2 ? expanded(sides[1], most) : implied(operands, most);
            String all = String.join("", operands);
            inference.require(result.chars().allMatch(label -> all.indexOf(label) >= 0),
                    "the labels of the result of '%s' must be of operands", text);
            return new Equation(operands, result);
        }

        private static String expanded(String term, int axes) {
            StringBuilder labels = new StringBuilder();
            for (int i = axes - 1; i >= 0; i--) {
                labels.append((char) (ELLIPSIS + i));
            }
            return term.replace("...", labels);
        }

        /** Labels that occur once, in alphabetical order. */
        private static String implied(List<String> operands, int ellipsis) {
            String all = String.join("", operands);
            String once = all.chars().filter(label -> label > '9' && all.indexOf(label) == all.lastIndexOf(label))
                    .sorted()
                    .mapToObj(label -> String.valueOf((char) label)).collect(Collectors.joining());
            return expanded("...", ellipsis) + once;
        }

        Map<Character, Long> lengths(Inference inference) {
            Map<Character, Long> lengths = new LinkedHashMap<>();
            for (int i = 0; i < operands.size(); i++) {
                long[] dims = inference.in("Operands", i).dims();
                String labels = operands.get(i);
                for (int axis = 0; axis < dims.length; axis++) {
                    char label = labels.charAt(axis);
                    long first = dims[labels.indexOf(label)];
                    inference.require(first < 0 || dims[axis] < 0 || first == dims[axis],
                            "label '%s' stands for axes of lengths %d and %d of operand %d", label, first, dims[axis],
                            i);
                    long known = lengths.getOrDefault(label, dims[axis]);
                    inference.require(
                            known < 0 || dims[axis] < 0 || known == dims[axis] || known == 1 || dims[axis] == 1,
                            "label '%s' stands for axes of lengths %d and %d", label, known, dims[axis]);
                    lengths.put(label, common(known, dims[axis]));
                }
            }
            return lengths;
        }

        /** Of lengths that broadcast: an open length beside 1 decides in a run. */
        private static long common(long one, long other) {
            return one == 1 ? other : other == 1 ? one : Math.max(one, other);
        }
    }

    public static void register(Operations registry) {
        Operation.Builder forward = Operation.define("einsum").in("Operands*").out("Out", "InnerCache*~", "XShape*~")
                .required("equation", Attribute.Text.class);
        String signature = "einsum_grad(x_shape=XShape, InnerCache, Out@GRAD) -> Operands@GRAD";
        forward.gradOperation(signature, inference -> {
            for (int i = 0; i < inference.outputs("Operands@GRAD"); i++) {
                inference.set("Operands@GRAD", i, inference.in("x_shape", i));
            }
        }).shapesOnly("x_shape").lower(EinsumOperations::gradients).register(registry);
        forward.infer(EinsumOperations::infer).lower(l -> {
            Equation equation = equation(l, l.ins("Operands"));
            List<Labelled> terms = labelled(l, l.ins("Operands"), equation);
            Operand product = contract(l, terms, different(equation.result())).operand();
            l.out("Out", onDiagonals(l, product, equation.result(), l.outType("Out", 0).spec().shape()));
            for (int i = 0; i < l.outputs("InnerCache"); i++) {
                l.out("InnerCache", i, l.in("Operands", i));
            }
        }).grad(signature).register(registry);
    }

    private static void infer(Inference inference) {
        DType dtype = inference.dtype("Operands");
        for (int i = 1; i < inference.count("Operands"); i++) {
            inference.require(inference.in("Operands", i).dtype() == dtype,
                    "operands must be of one type, but %d is %s, not %s", i,
                    inference.in("Operands", i).dtype(), dtype);
        }
        Equation equation = Equation.parse(inference);
        Map<Character, Long> lengths = equation.lengths(inference);
        inference.set("Out", dtype,
                equation.result().chars().mapToLong(label -> lengths.getOrDefault((char) label, -1L)).toArray());
        for (int i = 0; i < inference.count("Operands"); i++) {
            inference.set("InnerCache", i, inference.in("Operands", i));
            inference.set("XShape", i, inference.in("Operands", i));
        }
    }

    /** The notation, which inference has checked, for operands with known axes. */
    private static Equation equation(Lowering l, List<Operand> operands) {
        String text = l.attrs().getText("equation").replace(" ", "");
        String[] sides = text.split("->", -1);
        String[] terms = sides[0].split(",", -1);
        List<String> labels = new ArrayList<>();
        int most = 0;
        for (int i = 0; i < terms.length; i++) {
            int axes = operands.get(i).rank() - terms[i].replace("...", "").length();
            labels.add(Equation.expanded(terms[i], axes));
            most = terms[i].contains("...") ? Math.max(most, axes) : most;
        }
        return new Equation(labels,
                sides.length == 2 ? Equation.expanded(sides[1], most) : Equation.implied(labels, most));
    }

    private static List<Labelled> labelled(Lowering l, List<Operand> operands, Equation equation) {
        List<Labelled> terms = IntStream.range(0, operands.size())
                .mapToObj(i -> Labelled.of(operands.get(i), equation.operands().get(i))).toList();
        return terms.stream().map(term -> term.withoutBroadcasting(l, terms)).toList();
    }

    private static String different(String labels) {
        return labels.chars().distinct().mapToObj(label -> String.valueOf((char) label))
                .collect(Collectors.joining());
    }

    /** A copy of a shape, with zeros beside the diagonals of axes with the same label. */
    private static Operand onDiagonals(Lowering l, Operand values, String labels, Shape shape) {
        if (different(labels).length() == labels.length()) {
            return l.copy(values);
        }
        Operand whole = l.fill(0, TensorSpec.of(values.dtype(), shape));
        l.into(Copy.PLAIN, List.of(values), List.of(Labelled.of(whole, labels).operand()));
        return whole;
    }

    private static Labelled contract(Lowering l, List<Labelled> terms, String result) {
        Labelled product = terms.getFirst();
        for (int i = 1; i < terms.size(); i++) {
            String later = result
                    + terms.subList(i + 1, terms.size()).stream().map(Labelled::labels).collect(Collectors.joining());
            product = multiply(l, product, terms.get(i), later);
        }
        return product.as(l, result);
    }

    private static Labelled multiply(Lowering l, Labelled x, Labelled y, String later) {
        String both = keep(x.labels(), label -> y.labels().indexOf(label) >= 0);
        String batch = keep(both, label -> later.indexOf(label) >= 0);
        String summed = keep(both, label -> later.indexOf(label) < 0);
        String ofX = keep(x.labels(), label -> both.indexOf(label) < 0 && later.indexOf(label) >= 0);
        String ofY = keep(y.labels(), label -> both.indexOf(label) < 0 && later.indexOf(label) >= 0);
        long batches = size(x, batch);
        Operand left = l.reshape(x.as(l, batch + ofX + summed).operand(), batches, size(x, ofX), size(x, summed));
        Operand right = l.reshape(y.as(l, batch + summed + ofY).operand(), batches, size(y, summed), size(y, ofY));
        Operand product = l.run(new MatMul(false, false, false, List.of()), left, right);
        long[] dims = (batch + ofX + ofY).chars()
                .mapToLong(label -> x.labels().indexOf(label) >= 0 ? x.length((char) label) : y.length((char) label))
                .toArray();
        return new Labelled(product.reshape(dims), batch + ofX + ofY);
    }

    private static long size(Labelled x, String labels) {
        return labels.chars().mapToLong(label -> x.length((char) label)).reduce(1, Math::multiplyExact);
    }

    private static String keep(String labels, IntPredicate which) {
        return labels.chars().filter(which).mapToObj(label -> String.valueOf((char) label))
                .collect(Collectors.joining());
    }

    /**
     * The gradient of an operand is that of the result times the others; along axes that only it has, it is the same
     * everywhere.
     */
    private static void gradients(Lowering l) {
        List<Operand> operands = l.ins("InnerCache");
        Equation equation = equation(l, operands);
        List<Labelled> all = labelled(l, operands, equation);
        Labelled dout = Labelled.of(l.in("Out@GRAD"), equation.result());
        for (int i = 0; i < operands.size(); i++) {
            if (!l.wants("Operands@GRAD", i)) {
                continue;
            }
            List<Labelled> others = new ArrayList<>(List.of(dout));
            for (int j = 0; j < operands.size(); j++) {
                if (j != i) {
                    others.add(all.get(j));
                }
            }
            Labelled own = Labelled.of(operands.get(i), equation.operands().get(i));
            Labelled gradient = contract(l, others, all.get(i).labels());
            long[] ones = own.operand().shape().dims();
            for (int axis = 0; axis < ones.length; axis++) {
                ones[axis] = gradient.labels().indexOf(own.labels().charAt(axis)) < 0 ? 1 : ones[axis];
            }
            Operand values = l.reshape(gradient.operand(), ones).expand(own.operand().shape());
            l.out("Operands@GRAD", i,
                    onDiagonals(l, values, equation.operands().get(i), operands.get(i).shape()));
        }
    }
}
