package io.seriatim.graph.ops.recommendation;

import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Checks;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.ops.random.PaddleDraws;
import io.seriatim.graph.ops.random.RunGenerator;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.PutAlongAxis;
import io.seriatim.tensor.computation.TakeAlongAxis;
import io.seriatim.tensor.computation.network.Softmax;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.DoubleUnaryOperator;

/** Losses with a margin for recognising very many classes, and samples of their classes (An et al., 2021). */
public final class ClassCenterOperations {
    private static final String SAMPLE = "class_center_sample";
    private static final String MARGIN = "margin_cross_entropy";

    private ClassCenterOperations() {
    }

    public static void register(Operations registry) {
        sample(registry);
        margin(registry);
    }

    /** The classes of the labels in order, and after them some that are drawn; the labels become indexes of these. */
    private static void sample(Operations registry) {
        Operation.define(SAMPLE).in("Label").out("RemappedLabel", "SampledLocalClassCenter").effect(Effect.RANDOM)
                .values("Label").required("num_classes", Attribute.Int.class)
                .required("num_samples", Attribute.Int.class).attr("ring_id", 0).attr("rank", 0).attr("nranks", 1)
                .attr("fix_seed", false).attr("seed", 0).infer(inference -> {
                    Checks.whole(inference, "Label");
                    long classes = inference.attrs().getLong("num_classes");
                    long samples = inference.attrs().getLong("num_samples");
                    inference.require(samples >= 1 && samples <= classes,
                            "num_samples must be from 1 to num_classes, %d, but is %d", classes, samples);
                    long[] labels = inference.values("Label");
                    long count = labels == null ? samples : Math.max(samples, Arrays.stream(labels).distinct().count());
                    inference.same("Label", "RemappedLabel");
                    inference.set("SampledLocalClassCenter", inference.dtype("Label"), count);
                }).lower(ClassCenterOperations::sample).register(registry);
    }

    private static void sample(Lowering l) {
        int classes = l.attrs().getInt("num_classes");
        RunGenerator generator = RunGenerator.of(l, l.attrs().getBool("fix_seed") ? l.attrs().getInt("seed") : 0);
        l.call(SAMPLE, (in, out) -> {
            Tensor label = Checks.tensor(in, 0);
            Checks.within(SAMPLE, "Label", label, 0, classes - 1L);
            long[] labels = label.toLongArray();
            long[] distinct = Arrays.stream(labels).sorted().distinct().toArray();
            long[] remapped = Arrays.stream(labels).map(each -> Arrays.binarySearch(distinct, each)).toArray();
            long[] sampled = Arrays.copyOf(distinct, Checks.dim(Checks.tensor(out, 1), 0));
            Set<Long> taken = new HashSet<>(Arrays.stream(distinct).boxed().toList());
            PaddleDraws draws = PaddleDraws.of(generator.start(Checks.tensor(in, 1)));
            for (int i = distinct.length; i < sampled.length; i++) {
                do {
                    sampled[i] = draws.below(classes);
                } while (!taken.add(sampled[i]));
            }
            Elements.write(remapped, Checks.tensor(out, 0));
            Elements.write(sampled, Checks.tensor(out, 1));
        }, List.of(l.in("Label"), l.randomKey()),
                List.of(l.output("RemappedLabel"), l.output("SampledLocalClassCenter")));
    }

    /**
     * Cross entropy of cosines, of which that of the label, cos θ, becomes cos(margin1 · θ + margin2) − margin3. Paddle
     * has it for graphics processors only.
     */
    private static void margin(Operations registry) {
        Operation.define(MARGIN).in("Logits", "Label").out("Softmax", "Loss").attr("return_softmax", false)
                .attr("ring_id", 0).attr("rank", 0).attr("nranks", 1).attr("margin1", 1f).attr("margin2", 0.5f)
                .attr("margin3", 0f).attr("scale", 64f)
                .refuse((_, attrs) -> attrs.getInt("nranks") == 1
                        ? null
                        : "its classes are divided among " + attrs.getInt("nranks") + " processes, but must be in one")
                .infer(inference -> {
                    Checks.floating(inference, "Logits");
                    Checks.whole(inference, "Label");
                    long[] logits = inference.dims("Logits");
                    inference.require(logits.length == 2 && logits[1] != 0,
                            "Logits must have the shape [batch, classes], but has %s", Numbers.text(logits));
                    long[] label = inference.dims("Label");
                    inference.require(label.length == 1 || (label.length == 2 && (label[1] == 1 || label[1] < 0)),
                            "Label must have the shape [batch] or [batch, 1], but has %s", Numbers.text(label));
                    Checks.elements(inference, "Label", logits[0]);
                    inference.same("Logits", "Softmax");
                    inference.set("Loss", inference.dtype("Logits"), logits[0], 1);
                }).lower(l -> {
                    Operand logits = l.in("Logits");
                    Operand label = l.reshape(l.in("Label"), logits.dim(0), 1);
                    Operand moved = ofLabel(l, label, Margins.of(l)::moved);
                    Operand scaled = l.linear(l.run(new PutAlongAxis(1, false), logits, label, moved),
                            l.attrs().getDouble("scale"), 0);
                    l.out("Softmax", l.run(new Softmax(1, false), scaled));
                    Operand logarithms = l.run(new Softmax(1, true), scaled);
                    l.out("Loss", l.linear(l.run(new TakeAlongAxis(1), logarithms, label), -1, 0));
                })
                .grad(MARGIN + "_grad(Logits, Label, Softmax, Loss@GRAD) -> Logits@GRAD", ClassCenterOperations::slope)
                .register(registry);
    }

    private static void slope(Lowering l) {
        Operand softmax = l.in("Softmax");
        Operand label = l.reshape(l.in("Label"), softmax.dim(0), 1);
        Operand slope = ofLabel(l, label, Margins.of(l)::slope);
        Operand rest = l.linear(l.run(new TakeAlongAxis(1), softmax, label), 1, -1);
        Operand each = l.run(new PutAlongAxis(1, false), softmax, label, Margins.times(l, rest, slope));
        Operand factor = l.linear(l.reshape(l.in("Loss@GRAD"), softmax.dim(0), 1), l.attrs().getDouble("scale"), 0);
        l.out("Logits@GRAD", Margins.times(l, each, factor));
    }

    /** A function of the cosines of the labels, [batch, 1]. */
    private static Operand ofLabel(Lowering l, Operand label, DoubleUnaryOperator function) {
        Operand logits = l.in("Logits");
        long classes = logits.dim(1);
        l.call(MARGIN + " labels", (in, _) -> Checks.within(MARGIN, "Label", Checks.tensor(in, 0), 0, classes - 1),
                List.of(label), List.of());
        Operand picked = l.run(new TakeAlongAxis(1), logits, label);
        Operand result = l.temporary(picked.spec());
        l.call(MARGIN, (in, out) -> {
            double[] values = Checks.tensor(in, 0).toDoubleArray();
            Arrays.setAll(values, i -> function.applyAsDouble(values[i]));
            Elements.write(values, Checks.tensor(out, 0));
        }, List.of(picked), List.of(result));
        return result;
    }
}
