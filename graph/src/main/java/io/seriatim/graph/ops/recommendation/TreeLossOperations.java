package io.seriatim.graph.ops.recommendation;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Checks;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.ops.common.Term;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import java.util.Arrays;
import java.util.List;

/** Hierarchical softmax (Morin, Bengio, 2005): a class is a path in a binary tree, with a decision at each node. */
public final class TreeLossOperations {
    private static final String TYPE = "hierarchical_sigmoid";

    /** Paddle keeps the numbers of the decisions between these. */
    private static final float BOUND = 40;

    private TreeLossOperations() {
    }

    public static void register(Operations registry) {
        String signature = TYPE + "_grad(X, W, Label, PathTable, PathCode, Bias, PreOut, Out@GRAD)"
                + " -> X@GRAD, W@GRAD, Bias@GRAD";
        Operation.Builder loss = Operation.define(TYPE).in("X", "W", "Label", "PathTable?", "PathCode?", "Bias?")
                .out("Out", "PreOut~", "W_Out?~").attr("num_classes", 2).attr("is_sparse", false)
                .infer(TreeLossOperations::infer).lower(TreeLossOperations::lower).grad(signature);
        loss.gradOperation(signature, inference -> {
            ArgType weight = inference.in("W");
            boolean sparse = inference.attrs().getBool("is_sparse");
            inference.same("X", "X@GRAD");
            inference.same("Bias", "Bias@GRAD");
            inference.set("W@GRAD", 0, sparse
                    ? ArgType.rows(weight.dtype(), Inference.size(inference.dims("PreOut")), weight.dims())
                    : weight);
        }).lower(TreeLossOperations::gradient).register(registry);
        loss.register(registry);
    }

    private static void infer(Inference inference) {
        Checks.floating(inference, "X", "W");
        Checks.whole(inference, "Label");
        long[] x = inference.dims("X");
        long[] weight = inference.dims("W");
        inference.require(x.length == 2 && weight.length == 2 && (x[1] < 0 || weight[1] < 0 || x[1] == weight[1]),
                "X must have the shape [batch, features] and W [nodes, features], but they have %s and %s",
                Numbers.text(x), Numbers.text(weight));
        Checks.elements(inference, "Label", x[0]);
        long classes = inference.attrs().getLong("num_classes");
        inference.require(classes >= 2 && classes <= Integer.MAX_VALUE, "num_classes must be 2 or more, but is %d",
                classes);
        boolean custom = inference.has("PathTable");
        inference.require(custom == inference.has("PathCode"), "needs both PathTable and PathCode, or neither");
        if (custom) {
            Checks.whole(inference, "PathTable", "PathCode");
            Checks.shape(inference, "PathTable", x[0], -1);
            Checks.shape(inference, "PathCode", inference.dims("PathTable"));
        }
        if (inference.has("Bias")) {
            Checks.floating(inference, "X", "Bias");
            Checks.elements(inference, "Bias", weight[0]);
        }
        inference.set("Out", inference.dtype("X"), x[0], 1);
        if (inference.isForRun()) {
            inference.set("PreOut", inference.dtype("X"), x[0],
                    custom ? inference.dims("PathTable")[1] : ClassPaths.width((int) classes));
            inference.same("W", "W_Out");
        } else {
            inference.asDeclared("PreOut");
            inference.asDeclared("W_Out");
        }
    }

    /** The rows of weights, the bits, and where there is a decision, for each step of the paths. */
    private static List<Operand> paths(Lowering l, long width) {
        int classes = l.attrs().getInt("num_classes");
        Operand x = l.in("X");
        long weights = l.in("W").dim(0);
        Operand rows = l.temporary(TensorSpec.of(DType.INT64, x.dim(0), width));
        Operand bits = l.temporary(TensorSpec.of(x.dtype(), x.dim(0), width));
        Operand inside = l.temporary(TensorSpec.of(x.dtype(), x.dim(0), width));
        l.call(TYPE + " paths", (in, out) -> {
            ClassPaths paths = ClassPaths.of(classes, weights, Checks.tensor(in, 0), in.get(1), in.get(2));
            Elements.write(paths.rows, Checks.tensor(out, 0));
            Elements.write(paths.bits, Checks.tensor(out, 1));
            Elements.write(paths.inside, Checks.tensor(out, 2));
        }, Arrays.asList(l.in("Label"), l.optional("PathTable"), l.optional("PathCode")), List.of(rows, bits, inside));
        return List.of(rows, bits, inside);
    }

    /** As in Paddle, the loss counts ln 2 for each step beyond the root. */
    private static void lower(Lowering l) {
        Operand x = l.in("X");
        long width = l.outType("PreOut", 0).dims()[1];
        List<Operand> paths = paths(l, width);
        Operand rows = paths.get(0);
        Operand product = l.reshape(l.run(MatMul.PLAIN, Rows.of(l, "W", rows), x.unsqueeze(2)), x.dim(0), width);
        Term decisions = new Term(l, product);
        if (l.has("Bias")) {
            decisions = decisions.plus(new Term(l, Rows.numbers(l, "Bias", rows)));
        }
        Term bounded = new Term(l, l.run(new Unary(Unary.Function.CLIP, -BOUND, BOUND),
                decisions.times(new Term(l, paths.get(2))).operand()));
        Term soft = new Term(l, l.run(new Unary(Unary.Function.SOFTPLUS, 1, BOUND), bounded.operand()));
        soft.to("PreOut");
        Term each = soft.minus(bounded.times(new Term(l, paths.get(1))));
        l.out("Out", l.run(new Reduction(Reduction.Function.SUM, List.of(1), true), each.operand()));
        if (l.wants("W_Out")) {
            l.mutable("W", "W_Out");
        }
    }

    private static void gradient(Lowering l) {
        Term soft = Term.of(l, "PreOut");
        List<Operand> paths = paths(l, soft.operand().dim(1));
        Term probability = soft.linear(-1, 0).unary(Unary.Function.EXP).linear(-1, 1);
        Term slopes = probability.minus(new Term(l, paths.get(1))).times(Term.of(l, "Out@GRAD"))
                .times(new Term(l, paths.get(2)));
        Rows.gradients(l, "X@GRAD", "W", "Bias", paths.get(0), slopes.operand(), l.in("X"));
    }
}
