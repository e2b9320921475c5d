package io.seriatim.graph.ops.loss;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Indexes;
import io.seriatim.graph.ops.common.Term;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.PutAlongAxis;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.TakeAlongAxis;
import io.seriatim.tensor.computation.Unary;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Losses of distributions: divergence, negative log-likelihood, logarithmic and hinge loss, and smooth labels. */
public final class ProbabilityLossOperations {
    private static final String DIVERGENCE = "kldiv_loss";
    private static final String LIKELIHOOD = "nll_loss";

    private ProbabilityLossOperations() {
    }

    public static void register(Operations registry) {
        divergence(registry);
        likelihood(registry);
        logLoss(registry);
        hinge(registry);
        smooth(registry);
    }

    private static void alike(Inference inference, String first, String second) {
        DType dtype = inference.dtype(first);
        inference.require(dtype.isFloating() && dtype == inference.dtype(second),
                "%s and %s must be of one floating-point type, but are %s and %s", first, second, dtype,
                inference.dtype(second));
        long[] a = inference.dims(first);
        long[] b = inference.dims(second);
        boolean equal = a.length == b.length;
        for (int i = 0; equal && i < a.length; i++) {
            equal = a[i] < 0 || b[i] < 0 || a[i] == b[i];
        }
        inference.require(equal, "%s and %s must have one shape, but have %s and %s", first, second, Numbers.text(a),
                Numbers.text(b));
    }

    private static Term all(Term x) {
        return new Term(x.l(), x.l().run(new Reduction(Reduction.Function.SUM, List.of(), false), x.operand()));
    }

    private static void divergence(Operations registry) {
        Operation.define(DIVERGENCE).in("X", "Target").out("Loss").attr("reduction", "mean").infer(inference -> {
            alike(inference, "X", "Target");
            String reduction = inference.attrs().getText("reduction");
            inference.require(List.of("none", "mean", "sum", "batchmean").contains(reduction),
                    "the attribute 'reduction' must be none, mean, sum or batchmean, but is '%s'", reduction);
            inference.require(!reduction.equals("batchmean") || inference.dims("X").length > 0,
                    "X has no dimension of batches");
            inference.set("Loss", inference.dtype("X"), reduction.equals("none") ? inference.dims("X") : new long[0]);
        }).lower(l -> {
            Term target = Term.of(l, "Target");
            Term none = target.is(Binary.Function.LESS_EQUAL, target.number(0));
            Term loss = none.choose(target.number(0),
                    target.times(target.unary(Unary.Function.LOG).minus(Term.of(l, "X"))));
            if (l.attrs().getText("reduction").equals("none")) {
                loss.to("Loss");
            } else {
                all(loss).linear(1 / divisor(l), 0).to("Loss");
            }
        }).grad(DIVERGENCE + "_grad(X, Target, Loss@GRAD) -> X@GRAD", l -> {
            Term target = Term.of(l, "Target");
            Term of = target.times(Term.of(l, "Loss@GRAD"));
            target.isAbove(0).orZero(
                    l.attrs().getText("reduction").equals("none") ? of.linear(-1, 0) : of.linear(-1 / divisor(l), 0))
                    .to("X@GRAD");
        }).register(registry);
    }

    private static double divisor(Lowering l) {
        return switch (l.attrs().getText("reduction")) {
            case "mean" -> (double) l.in("X").shape().size();
            case "batchmean" -> (double) l.in("X").dim(0);
            default -> 1;
        };
    }

    private static void likelihood(Operations registry) {
        Operation.define(LIKELIHOOD).in("X", "Label", "Weight?").out("Out", "Total_weight").attr("ignore_index", -100L)
                .attr("reduction", "mean").infer(ProbabilityLossOperations::inferLikelihood).lower(l -> {
                    Term weight = weight(l);
                    Term picked = new Term(l, l.run(new TakeAlongAxis(1), l.in("X"), label(l).unsqueeze(1)).squeeze(1));
                    Term each = valid(l).orZero(picked.times(weight).linear(-1, 0));
                    Term total = all(weight);
                    String reduction = l.attrs().getText("reduction");
                    if (reduction.equals("none")) {
                        each.to("Out");
                        l.out("Total_weight", l.fill(0, l.outType("Total_weight", 0).spec()));
                        return;
                    }
                    Term sum = all(each);
                    (reduction.equals("mean")
                            ? total.is(Binary.Function.EQUAL, total.number(0)).choose(sum, sum.over(total))
                            : sum)
                            .to("Out");
                    total.to("Total_weight");
                }).grad(LIKELIHOOD + "_grad(X, Label, Weight, Total_weight, Out@GRAD) -> X@GRAD", l -> {
                    Term slope = weight(l).linear(-1, 0).times(Term.of(l, "Out@GRAD"));
                    if (l.attrs().getText("reduction").equals("mean")) {
                        slope = slope.over(Term.of(l, "Total_weight"));
                    }
                    Operand dx = valid(l).orZero(slope).operand();
                    l.out("X@GRAD", l.run(new PutAlongAxis(1, false), l.fill(0, l.in("X").spec()),
                            label(l).unsqueeze(1), dx.unsqueeze(1)));
                }).register(registry);
    }

    private static void inferLikelihood(Inference inference) {
        long[] x = inference.dims("X");
        long[] label = inference.dims("Label");
        boolean column = x.length == 2 && label.length == 2 && (label[1] == 1 || label[1] < 0);
        inference.require((x.length == 2 || x.length == 4) && (column || label.length == x.length - 1),
                "X must be [batch, classes] or [batch, classes, height, width], and Label the same without "
                        + "classes or [batch, 1], but they are %s and %s",
                Numbers.text(x), Numbers.text(label));
        label = column ? new long[]{label[0]} : label;
        inference.require(inference.dtype("X").isFloating(), "X must be of a floating-point type, but is %s",
                inference.dtype("X"));
        Indexes.require(inference, "Label");
        for (int i = 0; i < label.length; i++) {
            long length = x[i == 0 ? 0 : i + 1];
            inference.require(label[i] < 0 || length < 0 || label[i] == length,
                    "X and Label must have the same batch and places, but are %s and %s",
                    Numbers.text(x), Numbers.text(label));
        }
        if (inference.has("Weight")) {
            long[] weight = inference.dims("Weight");
            inference.require(
                    weight.length == 1 && (weight[0] < 0 || x[1] < 0 || weight[0] == x[1])
                            && inference.dtype("Weight") == inference.dtype("X"),
                    "Weight must have one number of X's type for each class, but is %s", Numbers.text(weight));
        }
        String reduction = inference.attrs().getText("reduction");
        inference.require(List.of("none", "mean", "sum").contains(reduction),
                "the attribute 'reduction' must be none, mean or sum, but is '%s'", reduction);
        inference.set("Out", inference.dtype("X"), reduction.equals("none") ? label : new long[0]);
        inference.set("Total_weight", inference.dtype("X"));
    }

    /** The labels without the dimension that a column of them has. */
    private static Term labels(Lowering l) {
        Operand label = l.in("Label");
        return new Term(l, label.rank() == 2 ? label.reshape(label.dim(0)) : label);
    }

    private static Term valid(Lowering l) {
        Term label = labels(l);
        return label.is(Binary.Function.NOT_EQUAL, label.number((double) l.attrs().getLong("ignore_index")));
    }

    /** The labels, with 0 for the one to ignore. */
    private static Operand label(Lowering l) {
        return valid(l).orZero(labels(l)).operand();
    }

    /** The weight of each label, 0 for the one to ignore. */
    private static Term weight(Lowering l) {
        @Nullable
        Operand weights = l.optional("Weight");
        Term valid = valid(l);
        return weights == null
                ? new Term(l, l.cast(valid.operand(), l.in("X").dtype()))
                : valid.orZero(new Term(l, l.run(new Gather(0, Gather.NO_PADDING), weights, label(l))));
    }

    private static void logLoss(Operations registry) {
        Operation.define("log_loss").in("Predicted", "Labels").out("Loss").required("epsilon", Attribute.Real.class)
                .infer(inference -> {
                    alike(inference, "Predicted", "Labels");
                    inference.same("Predicted", "Loss");
                }).lower(l -> {
                    float epsilon = l.attrs().getFloat("epsilon");
                    Term p = Term.of(l, "Predicted");
                    Term label = Term.of(l, "Labels");
                    Term missed = label.linear(-1, 1)
                            .times(p.linear(-1, 1 + (double) epsilon).unary(Unary.Function.LOG));
                    label.linear(-1, 0).times(p.linear(1, epsilon).unary(Unary.Function.LOG)).minus(missed).to("Loss");
                }).grad("log_loss_grad(Predicted, Labels, Loss@GRAD) -> Predicted@GRAD", l -> {
                    float epsilon = l.attrs().getFloat("epsilon");
                    Term p = Term.of(l, "Predicted");
                    Term label = Term.of(l, "Labels");
                    Term missed = label.linear(-1, 1).over(p.linear(-1, 1 + (double) epsilon));
                    Term.of(l, "Loss@GRAD").times(missed.minus(label.over(p.linear(1, epsilon)))).to("Predicted@GRAD");
                }).register(registry);
    }

    private static void hinge(Operations registry) {
        Operation.define("hinge_loss").in("Logits", "Labels").out("Loss").infer(inference -> {
            alike(inference, "Logits", "Labels");
            inference.same("Logits", "Loss");
        }).lower(l -> margin(l).unary(Unary.Function.RELU).to("Loss"))
                .grad("hinge_loss_grad(Logits, Labels, Loss@GRAD) -> Logits@GRAD", l -> margin(l).isAbove(0)
                        .orZero(Term.of(l, "Loss@GRAD").times(Term.of(l, "Labels").linear(-2, 1))).to("Logits@GRAD"))
                .register(registry);
    }

    private static Term margin(Lowering l) {
        return Term.of(l, "Logits").times(Term.of(l, "Labels").linear(-2, 1)).linear(1, 1);
    }

    private static void smooth(Operations registry) {
        Operation.define("label_smooth").in("X", "PriorDist?").out("Out").attr("epsilon", 0f).infer(inference -> {
            long[] x = inference.dims("X");
            inference.require(inference.dtype("X").isFloating() && x.length > 0,
                    "X must be of a floating-point type with a dimension of classes, but is %s of %s",
                    Numbers.text(x),
                    inference.dtype("X"));
            if (inference.has("PriorDist")) {
                long known = Inference.size(inference.dims("PriorDist"));
                inference.require(known < 0 || x[x.length - 1] < 0 || known == x[x.length - 1],
                        "PriorDist must have one number for each of %d classes, but has %d", x[x.length - 1], known);
            }
            inference.same("X", "Out");
        }).lower(l -> {
            float epsilon = l.attrs().getFloat("epsilon");
            Term x = Term.of(l, "X");
            long classes = x.operand().dim(x.operand().rank() - 1);
            if (l.has("PriorDist")) {
                Term prior = new Term(l, l.reshape(l.in("PriorDist"), classes));
                x.linear(1 - epsilon, 0).plus(prior.linear(epsilon, 0)).to("Out");
            } else {
                x.linear(1 - epsilon, epsilon / (double) classes).to("Out");
            }
        }).grad("label_smooth_grad(Out@GRAD) -> X@GRAD",
                l -> Term.of(l, "Out@GRAD").linear(1 - (double) l.attrs().getFloat("epsilon"), 0).to("X@GRAD"))
                .register(registry);
    }
}
