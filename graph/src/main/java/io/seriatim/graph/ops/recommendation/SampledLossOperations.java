package io.seriatim.graph.ops.recommendation;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Checks;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.ops.common.Term;
import io.seriatim.graph.ops.random.PaddleDraws;
import io.seriatim.graph.ops.random.RunGenerator;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Noise-contrastive estimation (Gutmann, Hyvärinen, 2010): the right classes are told from some that are drawn. */
public final class SampledLossOperations {
    private static final String TYPE = "nce";

    private static final int UNIFORM = 0;
    private static final int LOG_UNIFORM = 1;
    private static final int CUSTOM = 2;

    private SampledLossOperations() {
    }

    public static void register(Operations registry) {
        String signature = TYPE + "_grad(Input, Label, Bias, Weight, SampleLogits, SampleLabels, SampleWeight, "
                + "CustomDistProbs, CustomDistAlias, CustomDistAliasProbs, Cost@GRAD)"
                + " -> Input@GRAD, Weight@GRAD, Bias@GRAD";
        Operation.define(TYPE)
                .in("Input", "Label", "Weight", "Bias?", "SampleWeight?", "CustomDistProbs?", "CustomDistAlias?",
                        "CustomDistAliasProbs?")
                .out("Cost", "SampleLogits~", "SampleLabels~").effect(Effect.RANDOM)
                .required("num_total_classes", Attribute.Int.class).attr("num_neg_samples", 10).attr("sampler", 0)
                .attr("seed", 0).attr("is_sparse", false).attr("remote_prefetch", false).attr("is_test", false)
                .attr("custom_neg_classes", new int[0]).infer(SampledLossOperations::infer)
                .lower(SampledLossOperations::lower).differentiateAs(SampledLossOperations::steps)
                .grad(signature, SampledLossOperations::inferGradient, SampledLossOperations::gradient)
                .register(registry);
    }

    private static void inferGradient(Inference inference) {
        inference.same("Input", "Input@GRAD");
        inference.same("Bias", "Bias@GRAD");
        ArgType weight = inference.in("Weight");
        inference.set("Weight@GRAD", 0, inference.attrs().getBool("is_sparse")
                ? ArgType.rows(weight.dtype(), Inference.size(inference.dims("SampleLabels")), weight.dims())
                : weight);
    }

    private static void infer(Inference inference) {
        Checks.floating(inference, "Input", "Weight");
        Checks.whole(inference, "Label");
        Attrs attrs = inference.attrs();
        long[] input = inference.dims("Input");
        long[] label = inference.dims("Label");
        long[] weight = inference.dims("Weight");
        inference.require(input.length == 2 && (label.length == 1 || label.length == 2),
                "Input must have the shape [batch, features] and Label [batch, right classes], but they have %s and %s",
                Numbers.text(input), Numbers.text(label));
        inference.require(input[0] < 0 || label[0] < 0 || input[0] == label[0],
                "Input and Label must have one batch, but have %d and %d", input[0], label[0]);
        long classes = attrs.getLong("num_total_classes");
        long negatives = attrs.getLong("num_neg_samples");
        int sampler = attrs.getInt("sampler");
        inference.require(negatives >= 0 && negatives <= Integer.MAX_VALUE,
                "num_neg_samples must be 0 or more, but is %d", negatives);
        inference.require(sampler >= UNIFORM && sampler <= CUSTOM,
                "sampler must be 0 (uniform), 1 (log-uniform) or 2 (custom), but is %d", sampler);
        inference.require(classes >= (sampler == LOG_UNIFORM ? 2 : 1),
                "num_total_classes must be %d or more, but is %d",
                sampler == LOG_UNIFORM ? 2 : 1, classes);
        Checks.shape(inference, "Weight", classes, input[1]);
        if (inference.has("Bias")) {
            Checks.floating(inference, "Input", "Bias");
            Checks.elements(inference, "Bias", weight[0]);
        }
        if (inference.has("SampleWeight")) {
            Checks.floating(inference, "Input", "SampleWeight");
            Checks.elements(inference, "SampleWeight", input[0]);
        }
        for (String slot : List.of("CustomDistProbs", "CustomDistAlias", "CustomDistAliasProbs")) {
            inference.require(sampler != CUSTOM || inference.has(slot), "needs %s for a custom sampler", slot);
            if (sampler == CUSTOM) {
                Checks.elements(inference, slot, classes);
            }
        }
        int given = attrs.getInts("custom_neg_classes").length;
        inference.require(given == 0 || given == negatives,
                "custom_neg_classes must have num_neg_samples, %d, elements, but has %d", negatives, given);
        long rights = label.length == 2 ? label[1] : 1;
        inference.set("Cost", inference.dtype("Input"), input[0], 1);
        if (attrs.getBool("is_test") && !inference.isForRun()) {
            inference.asDeclared("SampleLogits");
            inference.asDeclared("SampleLabels");
        } else {
            long count = rights < 0 ? -1 : rights + negatives;
            inference.set("SampleLogits", inference.dtype("Input"), input[0], count);
            inference.set("SampleLabels", DType.INT64, input[0], count);
        }
    }

    private static long rights(Lowering l) {
        return l.in("Label").rank() == 2 ? l.in("Label").dim(1) : 1;
    }

    private static Operand labels(Lowering l, int rights) {
        long count = rights + l.attrs().getLong("num_neg_samples");
        return l.outputOrTemporary("SampleLabels", TensorSpec.of(DType.INT64, l.in("Input").dim(0), count));
    }

    /** How probable it is that each sample is right, [batch, samples]. */
    private static Operand probable(Lowering l, Operand labels) {
        Operand input = l.in("Input");
        Operand products = l.run(MatMul.PLAIN, Rows.of(l, "Weight", labels), input.unsqueeze(2));
        Operand logits = l.reshape(products, labels.shape().dims());
        return l.unary(Unary.Function.SIGMOID, l.has("Bias")
                ? l.binary(Binary.Function.ADD, logits, Rows.numbers(l, "Bias", labels))
                : logits);
    }

    /** The costs as sums of logarithms, of which there are gradients of every order. */
    private static void steps(Lowering l) {
        int rights = Math.toIntExact(rights(l));
        Operand labels = labels(l, rights);
        sample(l, rights, labels);
        Term probable = new Term(l, probable(l, labels));
        Settings settings = Settings.of(l.attrs());
        Operand expected = l.temporary(probable.operand().spec());
        l.call(TYPE + " probabilities",
                (in, out) -> Elements.write(settings.expected(Checks.tensor(in, 0).toLongArray(), in.get(1)),
                        Checks.tensor(out, 0)),
                Arrays.asList(labels, l.optional("CustomDistProbs")), List.of(expected));
        Term drawn = new Term(l, expected);
        long count = labels.dim(1);
        Operand chosen = l.temporary(expected.spec());
        l.into(Copy.PLAIN, List.of(probable.operand().slice(1, 0, rights)), List.of(chosen.slice(1, 0, rights)));
        l.into(Copy.PLAIN, List.of(expected.slice(1, rights, count)), List.of(chosen.slice(1, rights, count)));
        Term costs = probable.plus(drawn).over(new Term(l, chosen)).unary(Unary.Function.LOG);
        Operand sum = l.run(new Reduction(Reduction.Function.SUM, List.of(1), true), costs.operand());
        Operand weights = l.optional("SampleWeight");
        l.out("Cost", weights == null
                ? sum
                : l.binary(Binary.Function.MULTIPLY, sum, l.reshape(weights, sum.shape().dims())));
    }

    private static void lower(Lowering l) {
        int rights = Math.toIntExact(rights(l));
        Operand labels = labels(l, rights);
        sample(l, rights, labels);
        Operand probable = probable(l, labels);
        l.out("SampleLogits", probable);
        Settings settings = Settings.of(l.attrs());
        l.call(TYPE, (in, out) -> Elements.write(settings.costs(Checks.tensor(in, 0), Checks.tensor(in, 1), in.get(2),
                in.get(3), rights), Checks.tensor(out, 0)),
                Arrays.asList(probable, labels, l.optional("SampleWeight"), l.optional("CustomDistProbs")),
                List.of(l.output("Cost")));
    }

    private static void sample(Lowering l, int rights, Operand labels) {
        Settings settings = Settings.of(l.attrs());
        int[] given = l.attrs().getInts("custom_neg_classes");
        RunGenerator generator = RunGenerator.of(l, l.attrs().getInt("seed") & 0xFFFFFFFFL);
        l.call(TYPE + " samples", (in, out) -> {
            Tensor to = Checks.tensor(out, 0);
            int[] right = Checks.within(TYPE, "Label", Checks.tensor(in, 0), 0, settings.classes() - 1L);
            ClassSampler sampler = settings.sampler(in.get(1), in.get(2), in.get(3));
            PaddleDraws draws = PaddleDraws.of(generator.start(Checks.tensor(in, 4)));
            long[] samples = new long[WorkingMemory.length(to.shape().size())];
            int count = Checks.dim(to, 1);
            for (int i = 0; i < samples.length; i++) {
                int row = i / count;
                int at = i % count;
                samples[i] = at < rights
                        ? right[row * rights + at]
                        : given.length > 0 ? given[at - rights] : sampler.sample(draws);
                Checks.within(TYPE, "the samples", i, samples[i], 0, settings.classes() - 1L);
            }
            Elements.write(samples, to);
        }, Arrays.asList(l.in("Label"), l.optional("CustomDistProbs"), l.optional("CustomDistAlias"),
                l.optional("CustomDistAliasProbs"), l.randomKey()), List.of(labels));
    }

    /** The attributes by which samples are drawn and counted. */
    private record Settings(int classes, int negatives, int sampler) {
        static Settings of(Attrs attrs) {
            return new Settings(attrs.getInt("num_total_classes"), attrs.getInt("num_neg_samples"),
                    attrs.getInt("sampler"));
        }

        ClassSampler sampler(@Nullable Tensor probabilities, @Nullable Tensor aliases, @Nullable Tensor kept) {
            if (sampler == LOG_UNIFORM) {
                return new ClassSampler.LogUniform(classes);
            }
            if (sampler == UNIFORM || probabilities == null) {
                return new ClassSampler.Uniform(classes);
            }
            return new ClassSampler.Custom(probabilities.toDoubleArray(),
                    aliases == null
                            ? new int[0]
                            : Arrays.stream(aliases.toLongArray()).mapToInt(Math::toIntExact).toArray(),
                    kept == null ? new double[0] : kept.toDoubleArray());
        }

        /** For each sample, how often it is drawn for a row of the batch. */
        private double[] expected(long[] samples, @Nullable Tensor probabilities) {
            ClassSampler of = sampler(probabilities, null, null);
            return Arrays.stream(samples).mapToDouble(sample -> of.probability(sample) * negatives).toArray();
        }

        double[] costs(Tensor probable, Tensor samples, @Nullable Tensor weights, @Nullable Tensor probabilities,
                int rights) {
            double[] outputs = probable.toDoubleArray();
            double[] expected = expected(samples.toLongArray(), probabilities);
            double[] scales = weights == null ? null : weights.toDoubleArray();
            int count = Checks.dim(probable, 1);
            double[] costs = new double[Checks.dim(probable, 0)];
            for (int i = 0; i < outputs.length; i++) {
                int row = i / count;
                double chosen = i % count < rights ? outputs[i] : expected[i];
                double cost = -Math.log(chosen / (outputs[i] + expected[i]));
                costs[row] += scales == null ? cost : scales[row] * cost;
            }
            return costs;
        }

        double[] slopes(Tensor probable, Tensor samples, @Nullable Tensor weights, @Nullable Tensor probabilities,
                Tensor gradient, int rights) {
            double[] outputs = probable.toDoubleArray();
            double[] expected = expected(samples.toLongArray(), probabilities);
            double[] scales = weights == null ? null : weights.toDoubleArray();
            double[] gradients = gradient.toDoubleArray();
            int count = Checks.dim(probable, 1);
            double[] slopes = new double[outputs.length];
            for (int i = 0; i < slopes.length; i++) {
                int row = i / count;
                double o = outputs[i];
                double slope = (i % count < rights ? expected[i] * (o - 1) : o * (1 - o)) / (o + expected[i]);
                slopes[i] = slope * gradients[row] * (scales == null ? 1 : scales[row]);
            }
            return slopes;
        }
    }

    private static void gradient(Lowering l) {
        Operand probable = l.in("SampleLogits");
        Operand labels = l.in("SampleLabels");
        Operand input = l.in("Input");
        int rights = Math.toIntExact(rights(l));
        Settings settings = Settings.of(l.attrs());
        Operand slopes = l.temporary(probable.spec());
        l.call(TYPE + "_grad", (in, out) -> Elements.write(settings.slopes(Checks.tensor(in, 0), Checks.tensor(in, 1),
                in.get(2), in.get(3), Checks.tensor(in, 4), rights), Checks.tensor(out, 0)),
                Arrays.asList(probable, labels, l.optional("SampleWeight"), l.optional("CustomDistProbs"),
                        l.in("Cost@GRAD")),
                List.of(slopes));
        Rows.gradients(l, "Input@GRAD", "Weight", "Bias", labels, slopes, input);
    }
}
