package io.seriatim.graph.ops.recommendation;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.Step;
import io.seriatim.graph.ops.common.Checks;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.ops.common.Term;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.PutAlongAxis;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.TakeAlongAxis;
import io.seriatim.tensor.computation.Unary;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** Losses and counts of pairs that should be in an order, and a loss of clicks with a teacher. */
public final class RankingOperations {
    private static final String BAYESIAN = "bpr_loss";
    private static final String TEACHER = "teacher_student_sigmoid_loss";
    private static final String PAIRS = "positive_negative_pair";

    /** Stands for an infinite exponential in Paddle. */
    private static final double LARGE = 1e20f;

    private RankingOperations() {
    }

    public static void register(Operations registry) {
        rank(registry);
        bayesian(registry);
        teacher(registry);
        pairs(registry);
    }

    private static Term softplus(Term x) {
        return new Term(x.l(), x.l().run(new Unary(Unary.Function.SOFTPLUS, 1, 20), x.operand()));
    }

    /** The cross entropy of the probability that the left one comes first (Burges et al., 2005). */
    private static void rank(Operations registry) {
        Operation.define("rank_loss").in("Label", "Left", "Right").out("Out").infer(inference -> {
            Checks.floating(inference, "Label", "Left", "Right");
            long[] dims = inference.dims("Label");
            Checks.shape(inference, "Left", dims);
            Checks.shape(inference, "Right", dims);
            inference.require(dims.length == 1 || (dims.length == 2 && (dims[1] == 1 || dims[1] < 0)),
                    "Label must have the shape [batch] or [batch, 1], but has %s", Numbers.text(dims));
            inference.same("Label", "Out");
        }).lower(l -> {
            Term difference = Term.of(l, "Left").minus(Term.of(l, "Right"));
            softplus(difference).minus(Term.of(l, "Label").times(difference)).to("Out");
        }).grad("rank_loss_grad(Label, Left, Right, Out@GRAD) -> Left@GRAD, Right@GRAD", l -> {
            Term difference = Term.of(l, "Left").minus(Term.of(l, "Right"));
            Term slope = difference.unary(Unary.Function.SIGMOID).minus(Term.of(l, "Label"))
                    .times(Term.of(l, "Out@GRAD"));
            slope.to("Left@GRAD");
            slope.linear(-1, 0).to("Right@GRAD");
        }).register(registry);
    }

    /** Bayesian personalised ranking (Rendle et al., 2009): the class of the label is compared with each other one. */
    private static void bayesian(Operations registry) {
        Operation.define(BAYESIAN).in("X", "Label").out("Y").infer(inference -> {
            Checks.floating(inference, "X");
            Checks.whole(inference, "Label");
            long[] x = inference.dims("X");
            inference.require(x.length >= 2 && x[x.length - 1] != 0,
                    "X must have two dimensions or more, the last that of the classes, but has %s", Numbers.text(x));
            x[x.length - 1] = 1;
            Checks.shape(inference, "Label", x);
            inference.set("Y", inference.dtype("X"), x);
        }).lower(l -> l.call(BAYESIAN, (in, out) -> {
            Tensor x = Checks.tensor(in, 0);
            boolean single = x.dtype() == DType.FLOAT32;
            int classes = Checks.dim(x, -1);
            double[] values = x.toDoubleArray();
            int[] labels = Checks.within(BAYESIAN, "Label", Checks.tensor(in, 1), 0, classes - 1L);
            double[] losses = new double[labels.length];
            for (int i = 0; i < values.length; i++) {
                int row = i / classes;
                if (i % classes != labels[row]) {
                    double odds = odds(values[i] - values[row * classes + labels[row]], single);
                    losses[row] += Math.log1p(odds) / (classes - 1);
                }
            }
            for (int i = 0; classes == 1 && i < losses.length; i++) {
                losses[i] = Double.NaN;
            }
            Elements.write(losses, Checks.tensor(out, 0));
        }, List.of(l.in("X"), l.in("Label")), List.of(l.output("Y"))))
                .grad(BAYESIAN + "_grad(X, Label, Y@GRAD) -> X@GRAD",
                        l -> l.call(BAYESIAN + "_grad",
                                new Step.Expandable(RankingOperations::slopes, RankingOperations::steps),
                                List.of(l.in("X"), l.in("Label"), l.in("Y@GRAD")), List.of(l.output("X@GRAD"))))
                .register(registry);
    }

    private static void slopes(List<@Nullable Tensor> in, List<@Nullable Tensor> out) {
        Tensor x = Checks.tensor(in, 0);
        boolean single = x.dtype() == DType.FLOAT32;
        int classes = Checks.dim(x, -1);
        double[] values = x.toDoubleArray();
        int[] labels = Checks.within(BAYESIAN, "Label", Checks.tensor(in, 1), 0, classes - 1L);
        double[] gradients = Checks.tensor(in, 2).toDoubleArray();
        double[] slopes = new double[values.length];
        for (int i = 0; i < values.length; i++) {
            int row = i / classes;
            int right = row * classes + labels[row];
            if (i != right) {
                double slope = gradients[row] / ((classes - 1) * (1 + odds(values[right] - values[i], single)));
                slopes[right] -= slope;
                slopes[i] += slope;
            }
        }
        Elements.write(slopes, Checks.tensor(out, 0));
    }

    /** The slopes of all classes, from which that of the label takes their sum. */
    private static List<Operand> steps(Lowering l, List<Operand> in) {
        Operand x = in.get(0);
        Operand label = in.get(1);
        int axis = x.rank() - 1;
        Operand right = l.run(new TakeAlongAxis(axis), x, label);
        Operand nearer = l.unary(Unary.Function.SIGMOID, l.binary(Binary.Function.SUBTRACT, x, right));
        Operand each = l.linear(l.binary(Binary.Function.MULTIPLY, nearer, in.get(2)),
                1.0 / Math.max(1, x.dim(axis) - 1), 0);
        Operand sum = l.run(new Reduction(Reduction.Function.SUM, List.of(axis), true), each);
        return List.of(l.run(new PutAlongAxis(axis, true), each, label, l.linear(sum, -1, 0)));
    }

    private static double odds(double difference, boolean single) {
        double odds = single ? (float) Math.exp(difference) : Math.exp(difference);
        return Double.isInfinite(odds) ? LARGE : odds;
    }

    /**
     * The cross entropy of a click, and of a teacher's probability q if there is one. The label says both: −2 for no
     * click, −1 for a click, q without and 1 + q with a click.
     */
    private static void teacher(Operations registry) {
        Operation.define(TEACHER).in("X", "Label").out("Y").attr("soft_max_up_bound", 15f)
                .attr("soft_max_lower_bound", -15f).infer(inference -> {
                    Checks.floating(inference, "X", "Label");
                    long[] x = inference.dims("X");
                    Checks.shape(inference, "X", -1, 1);
                    Checks.shape(inference, "Label", x[0], 1);
                    inference.set("Y", inference.dtype("X"), x[0], 1);
                }).lower(l -> l.call(TEACHER, (in, out) -> {
                    double[] x = Checks.tensor(in, 0).toDoubleArray();
                    double[] labels = Checks.tensor(in, 1).toDoubleArray();
                    Arrays.setAll(x, i -> {
                        double base = Math.max(x[i], 0) + Math.log1p(Math.exp(-Math.abs(x[i])));
                        double clicked = labels[i] >= 1 || (labels[i] >= -1 && labels[i] < 0) ? x[i] : 0;
                        double taught = labels[i] < 0 ? 0 : base - x[i] * (labels[i] < 1 ? labels[i] : labels[i] - 1);
                        return base - clicked + taught;
                    });
                    Elements.write(x, Checks.tensor(out, 0));
                }, List.of(l.in("X"), l.in("Label")), List.of(l.output("Y"))))
                .grad(TEACHER + "_grad(X, Label, Y@GRAD) -> X@GRAD", l -> {
                    float most = l.attrs().getFloat("soft_max_up_bound");
                    float least = l.attrs().getFloat("soft_max_lower_bound");
                    Step.HostFunction function = (in, out) -> {
                        double[] x = Checks.tensor(in, 0).toDoubleArray();
                        double[] labels = Checks.tensor(in, 1).toDoubleArray();
                        double[] gradients = Checks.tensor(in, 2).toDoubleArray();
                        Arrays.setAll(x, i -> {
                            double predicted = 1 / (1 + Math.exp(-x[i]));
                            double slope = labels[i] < -1
                                    ? predicted
                                    : labels[i] < 0 ? predicted - 1 : 2 * predicted - labels[i];
                            return x[i] >= most || x[i] <= least ? 0 : slope * gradients[i];
                        });
                        Elements.write(x, Checks.tensor(out, 0));
                    };
                    l.call(TEACHER + "_grad",
                            new Step.Expandable(function, (steps, in) -> List.of(taught(steps, in, most, least))),
                            List.of(l.in("X"), l.in("Label"), l.in("Y@GRAD")), List.of(l.output("X@GRAD")));
                }).register(registry);
    }

    /** The gradient of a teacher's loss, which is 0 beyond the bounds. */
    private static Operand taught(Lowering l, List<Operand> in, float most, float least) {
        Term x = new Term(l, in.get(0));
        Term labels = new Term(l, in.get(1));
        Term predicted = x.unary(Unary.Function.SIGMOID);
        Term alone = labels.isBelow(-1).choose(predicted, predicted.linear(1, -1));
        Term slope = labels.isBelow(0).choose(alone, predicted.linear(2, 0).minus(labels));
        Term within = x.isBelow(most).and(x.isAbove(least));
        return within.orZero(slope.times(new Term(l, in.get(2)))).operand();
    }

    /** How many pairs of a query's results the scores order as the labels do, and how many not. */
    private static void pairs(Operations registry) {
        List<String> counts = List.of("PositivePair", "NegativePair", "NeutralPair");
        Operation.define(PAIRS)
                .in("Score", "Label", "QueryID", "AccumulatePositivePair?", "AccumulateNegativePair?",
                        "AccumulateNeutralPair?", "Weight?")
                .out("PositivePair", "NegativePair", "NeutralPair?").attr("column", 0).infer(inference -> {
                    Checks.floating(inference, "Score", "Label");
                    Checks.whole(inference, "QueryID");
                    long[] score = inference.dims("Score");
                    inference.require(score.length == 2, "Score must have the shape [batch, columns], but has %s",
                            Numbers.text(score));
                    long column = inference.attrs().getLong("column");
                    inference.require(score[1] < 0 || (column >= -score[1] && column < score[1]),
                            "column must be one of the %d columns of Score, but is %d", score[1], column);
                    for (String slot : List.of("Label", "QueryID", "Weight")) {
                        if (inference.has(slot)) {
                            Checks.elements(inference, slot, score[0]);
                        }
                    }
                    if (inference.has("Weight")) {
                        Checks.floating(inference, "Score", "Weight");
                    }
                    for (String slot : counts) {
                        String before = "Accumulate" + slot;
                        if (inference.has(before)) {
                            Checks.elements(inference, before, 1);
                        }
                        inference.set(slot, inference.dtype("Score"), 1);
                    }
                }).lower(l -> {
                    int column = l.attrs().getInt("column");
                    List<@Nullable Operand> in =
                            Arrays.asList(l.in("Score"), l.in("Label"), l.in("QueryID"), l.optional("Weight"),
                                    l.optional("AccumulatePositivePair"), l.optional("AccumulateNegativePair"),
                                    l.optional("AccumulateNeutralPair"));
                    List<Operand> out = counts.stream()
                            .map(slot -> l.outputOrTemporary(slot, l.output("PositivePair").spec()))
                            .toList();
                    l.call(PAIRS, (given, to) -> {
                        Tensor score = Checks.tensor(given, 0);
                        int width = Checks.dim(score, 1);
                        double[] scores = score.toDoubleArray();
                        double[] all = new double[counts.size()];
                        boolean accumulates = given.subList(4, 7).stream().allMatch(each -> each != null);
                        for (int i = 0; accumulates && i < all.length; i++) {
                            all[i] = Checks.tensor(given, 4 + i).toDoubleArray()[0];
                        }
                        int first = column < 0 ? column + width : column;
                        double[] labels = Checks.tensor(given, 1).toDoubleArray();
                        double[] weights = new double[labels.length];
                        Arrays.fill(weights, 1);
                        Tensor weight = given.get(3);
                        count(i -> scores[i * width + first], labels, Checks.tensor(given, 2).toLongArray(),
                                weight == null ? weights : weight.toDoubleArray(), all);
                        for (int i = 0; i < all.length; i++) {
                            Elements.write(new double[]{all[i]}, Checks.tensor(to, i));
                        }
                    }, in, out);
                }).register(registry);
    }

    /** As in Paddle, a pair of equal scores counts as wrong too. */
    private static void count(IntToDoubleFunction score, double[] labels, long[] queries,
            double[] weights, double[] counts) {
        Map<Long, List<Integer>> results = new HashMap<>();
        for (int i = 0; i < labels.length; i++) {
            results.computeIfAbsent(queries[i], _ -> new ArrayList<>()).add(i);
        }
        results.values().forEach(of -> {
            for (int i : of) {
                for (int j : of) {
                    if (j > i && labels[i] != labels[j]) {
                        double order = (score.applyAsDouble(i) - score.applyAsDouble(j)) * (labels[i] - labels[j]);
                        double weight = (weights[i] + weights[j]) / 2;
                        counts[order > 0 ? 0 : 1] += weight;
                        counts[2] += score.applyAsDouble(i) == score.applyAsDouble(j) ? weight : 0;
                    }
                }
            }
        });
    }
}
