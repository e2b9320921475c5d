package io.seriatim.graph.ops.recommendation;

import io.seriatim.graph.op.GradientSignature;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Checks;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.ops.common.Term;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Normalisation by statistics of all samples so far: how many there were, their sums, and sums of squares. The
 * gradients of the statistics are those of the batch, to be added by the optimizer.
 */
public final class DataNormOperations {
    private static final String TYPE = "data_norm";
    private static final List<String> STATISTICS = List.of("BatchSize", "BatchSum", "BatchSquareSum");

    /** A slot whose first number is nearer to 0 than this was not shown. */
    private static final double HIDDEN = 1e-7f;

    private DataNormOperations() {
    }

    public static void register(Operations registry) {
        String signature = TYPE + "_grad(X, Y@GRAD, scale_w, bias, Scales, Means) -> X@GRAD, scale_w@GRAD, bias@GRAD, "
                + "BatchSize@GRAD, BatchSum@GRAD, BatchSquareSum@GRAD";
        Operation.Builder norm = Operation.define(TYPE)
                .in("scale_w?", "bias?", "X", "BatchSize", "BatchSum", "BatchSquareSum").out("Y", "Means~", "Scales~")
                .attr("epsilon", 1e-5f).attr("slot_dim", -1).attr("summary_decay_rate", 0.9999999f)
                .attr("enable_scale_and_shift", false).attr("data_layout", "NCHW").attr("sync_stats", false)
                .sharesLod("X", "Y")
                .infer(DataNormOperations::infer).lower(DataNormOperations::lower);
        GradientSignature parsed = GradientSignature.parse(signature);
        norm.grad((op, wanted) -> parsed.make(op, wanted).stream().map(each -> namingStatistics(each, op)).toList());
        // Paddle names the statistics as outputs of the gradient too, but does not write them on a processor.
        norm.gradOperation(signature, DataNormOperations::inferGradient)
                .out("BatchSize?", "BatchSum?", "BatchSquareSum?").runAs(DataNormOperations::leavingStatistics)
                .lower(DataNormOperations::gradient).register(registry);
        norm.register(registry);
    }

    private static OpDesc namingStatistics(OpDesc gradient, OpDesc forward) {
        Map<String, List<String>> outputs = new TreeMap<>(gradient.outputs());
        STATISTICS.forEach(slot -> outputs.put(slot, forward.input(slot)));
        return gradient.with(gradient.inputs(), outputs);
    }

    private static OpDesc leavingStatistics(OpDesc gradient) {
        Map<String, List<String>> outputs = new TreeMap<>(gradient.outputs());
        outputs.keySet().removeAll(STATISTICS);
        return gradient.with(gradient.inputs(), outputs);
    }

    private static long features(Inference inference) {
        Checks.floating(inference, "X");
        long[] x = inference.dims("X");
        inference.require(x.length == 2 && x[1] != 0, "X must have the shape [batch, features], but has %s",
                Numbers.text(x));
        long slot = inference.attrs().getLong("slot_dim");
        inference.require(slot <= 0 || x[1] < 0 || x[1] % slot == 0,
                "slot_dim %d must divide the %d features of X", slot, x[1]);
        if (inference.attrs().getBool("enable_scale_and_shift")) {
            Checks.floating(inference, "X", "scale_w", "bias");
            Checks.shape(inference, "scale_w", x[1]);
            Checks.shape(inference, "bias", x[1]);
        }
        return x[1];
    }

    private static void infer(Inference inference) {
        long features = features(inference);
        for (String slot : STATISTICS) {
            Checks.floating(inference, "X", slot);
            Checks.shape(inference, slot, features);
        }
        inference.same("X", "Y");
        inference.set("Means", inference.dtype("X"), features);
        inference.set("Scales", inference.dtype("X"), features);
    }

    private static void inferGradient(Inference inference) {
        long features = features(inference);
        inference.same("X", "X@GRAD");
        inference.same("scale_w", "scale_w@GRAD");
        inference.same("bias", "bias@GRAD");
        for (String slot : STATISTICS) {
            inference.set(slot + "@GRAD", inference.dtype("X"), features);
            inference.asDeclared(slot);
        }
    }

    private static Term term(Lowering l, Operand operand) {
        return new Term(l, operand);
    }

    /** For each number, 1 if its slot was shown, else 0. */
    private static Operand shown(Lowering l) {
        Operand x = l.in("X");
        int slot = l.attrs().getInt("slot_dim");
        Operand shown = l.temporary(x.spec());
        l.call(TYPE + " slots", (in, out) -> {
            double[] values = Checks.tensor(in, 0).toDoubleArray();
            double[] ones = new double[values.length];
            for (int i = 0; i < values.length; i++) {
                ones[i] = Math.abs(values[slot > 0 ? i - i % slot : i]) < HIDDEN && slot > 0 ? 0 : 1;
            }
            Elements.write(ones, Checks.tensor(out, 0));
        }, List.of(x), List.of(shown));
        return shown;
    }

    private static void lower(Lowering l) {
        Term means = Term.of(l, "BatchSum").over(Term.of(l, "BatchSize"));
        Term scales = Term.of(l, "BatchSize").over(Term.of(l, "BatchSquareSum")).unary(Unary.Function.SQRT);
        means.to("Means");
        scales.to("Scales");
        Term y = Term.of(l, "X").minus(means).times(scales);
        if (l.attrs().getBool("enable_scale_and_shift")) {
            y = y.times(Term.of(l, "scale_w")).plus(Term.of(l, "bias"));
        }
        (l.attrs().getInt("slot_dim") > 0 ? term(l, shown(l)).isAbove(0).orZero(y) : y).to("Y");
    }

    private static void gradient(Lowering l) {
        boolean scaled = l.attrs().getBool("enable_scale_and_shift");
        Term dy = Term.of(l, "Y@GRAD");
        Term dx = dy.times(Term.of(l, "Scales"));
        if (scaled) {
            boolean slots = l.attrs().getInt("slot_dim") > 0;
            Term counted = slots ? term(l, shown(l)).isAbove(0).orZero(dy) : dy;
            // Without a scale, Paddle does not leave out slots that were not shown.
            dx = counted.times(Term.of(l, "Scales")).times(Term.of(l, "scale_w"));
            Term normal = Term.of(l, "X").minus(Term.of(l, "Means")).times(Term.of(l, "Scales"));
            sum(l, counted.times(normal)).to("scale_w@GRAD");
            sum(l, counted).to("bias@GRAD");
        }
        dx.to("X@GRAD");
        statistics(l);
    }

    private static Term sum(Lowering l, Term x) {
        return term(l, l.run(new Reduction(
                Reduction.Function.SUM, List.of(0), false), x.operand()));
    }

    /** Counts, sums, and sums of the squares of differences to the mean; with slots their means over what was shown. */
    private static void statistics(Lowering l) {
        int slot = l.attrs().getInt("slot_dim");
        double epsilon = l.attrs().getFloat("epsilon");
        TensorSpec spec = l.in("Means").spec();
        List<Operand> to = STATISTICS.stream().map(name -> l.wants(name + "@GRAD")
                ? l.output(name + "@GRAD")
                : l.temporary(spec)).toList();
        l.call(TYPE + " statistics", (in, out) -> {
            Tensor x = Checks.tensor(in, 0);
            double[] values = x.toDoubleArray();
            double[] means = Checks.tensor(in, 1).toDoubleArray();
            int features = means.length;
            double[][] sums = new double[STATISTICS.size()][features];
            for (int i = 0; i < values.length; i++) {
                int j = i % features;
                if (slot <= 0 || Math.abs(values[i - j % slot]) >= HIDDEN) {
                    double difference = values[i] - means[j];
                    sums[0][j]++;
                    sums[1][j] += values[i];
                    sums[2][j] += difference * difference;
                }
            }
            for (int j = 0; j < features; j++) {
                double count = sums[0][j];
                if (slot <= 0) {
                    sums[2][j] += count * epsilon;
                } else if (count >= 1) {
                    sums[0][j] = 1;
                    sums[1][j] /= count;
                    sums[2][j] = sums[2][j] / count + count * epsilon;
                }
            }
            for (int i = 0; i < sums.length; i++) {
                Elements.write(sums[i], Checks.tensor(out, i));
            }
        }, List.of(l.in("X"), l.in("Means")), to);
    }
}
