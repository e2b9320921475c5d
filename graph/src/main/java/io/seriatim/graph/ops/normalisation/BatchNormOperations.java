package io.seriatim.graph.ops.normalisation;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.GradientSignature;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.ImageLayout;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.network.BatchNorm;
import io.seriatim.tensor.computation.network.BatchNormGrad;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Normalisation over the batch. SavedVariance is 1 / √(variance + ε), as in Paddle. */
public final class BatchNormOperations {
    private static final float LARGEST_EPSILON = 1e-3f;
    private static final String GRADIENT = "batch_norm_grad(Bias, MeanOut, ReserveSpace, SavedMean, SavedVariance, "
            + "Scale, VarianceOut, X, Y@GRAD%s)"
            + " -> Bias@GRAD, Scale@GRAD, X@GRAD";
    private static final String SECOND = "batch_norm_grad_grad(DDBias=Bias@GRAD@GRAD, DDScale=Scale@GRAD@GRAD, "
            + "DDX=X@GRAD@GRAD, DY=Y@GRAD, SavedMean, "
            + "SavedVariance, Scale, X%s) -> DDY=Y@GRAD@GRAD, DScale=Scale@GRAD, DX=X@GRAD";

    private BatchNormOperations() {
    }

    public static void register(Operations registry) {
        GradientSignature own = GradientSignature.parse(String.format(GRADIENT, ""));
        String running = String.format(GRADIENT, ", Mean=MeanOut, Variance=VarianceOut");
        GradientSignature given = GradientSignature.parse(running);
        Operation.Builder forward = declare(Operation.define("batch_norm")).lower(BatchNormOperations::forward);
        Operation.Builder gradient = forward.gradOperation(running, BatchNormOperations::inferGradient)
                .lower(BatchNormOperations::backward);
        second(gradient, registry);
        gradient.register(registry);
        forward.grad((op, wanted) -> {
            Attrs attrs = new Attrs(op, registry.get(op.type()));
            return (attrs.getBool("use_global_stats") || attrs.getBool("is_test") ? given : own).make(op, wanted);
        }).register(registry);
    }

    /** The slots, attributes and results of normalisation over the batch, of one rank or of all. */
    static Operation.Builder declare(Operation.Builder builder) {
        return builder.in("X", "Scale?", "Bias?", "Mean", "Variance", "MomentumTensor?")
                .out("Y", "MeanOut", "VarianceOut", "SavedMean~", "SavedVariance~", "ReserveSpace?")
                .attr("is_test", false)
                .attr("momentum", 0.9f)
                .attr("epsilon", 1e-5f).attr("data_layout", "NCHW").attr("use_global_stats", false)
                .attr("trainable_statistics", false)
                .infer(BatchNormOperations::infer);
    }

    private static void second(Operation.Builder gradient, Operations registry) {
        GradientSignature own = GradientSignature.parse(String.format(SECOND, ""));
        String running = String.format(SECOND, ", Mean, Variance");
        GradientSignature given = GradientSignature.parse(running);
        gradient.gradOperation(running, BatchNormOperations::inferSecond)
                .refuse((_, attrs) -> attrs.getBool("is_test")
                        ? "there is no second gradient with is_test; to train with running means and variances, "
                                + "set use_global_stats"
                        : null)
                .lower(BatchNormOperations::second).register(registry);
        gradient.grad((op, wanted) -> (new Attrs(op, registry.get(op.type())).getBool("use_global_stats") ? given : own)
                .make(op, wanted));
    }

    private static void infer(Inference inference) {
        long[] x = inference.dims("X");
        inference.require(x.length >= 2 && x.length <= 5, "X needs 2 to 5 dimensions, but has %d", x.length);
        float epsilon = inference.attrs().getFloat("epsilon");
        inference.require(epsilon >= 0 && epsilon <= LARGEST_EPSILON,
                "the attribute 'epsilon' must be from 0 to 0.001, but is %s",
                epsilon);
        long channels = x[layout(inference.attrs(), x.length).channels(x.length)];
        for (String slot : List.of("Scale", "Bias", "Mean", "Variance")) {
            if (inference.has(slot)) {
                long[] dims = inference.dims(slot);
                inference.require(dims.length == 1 && (channels < 0 || dims[0] < 0 || dims[0] == channels),
                        "%s must have one value for each of the %d channels, but is %s", slot, channels,
                        Numbers.text(dims));
                inference.require(inference.dtype(slot) == inference.dtype("X").arithmetic(),
                        "%s must be %s for X of %s, but is %s", slot,
                        inference.dtype("X").arithmetic(), inference.dtype("X"), inference.dtype(slot));
            }
        }
        inference.same("X", "Y");
        DType statistics = inference.dtype("Mean");
        inference.set("MeanOut", statistics, channels);
        inference.set("VarianceOut", statistics, channels);
        inference.set("ReserveSpace", inference.dtype("X"), inference.isForRun() ? 0 : -1);
        if (Statistics.of(inference.attrs()) == Statistics.TESTED && !inference.isForRun()) {
            inference.asDeclared("SavedMean");
            inference.asDeclared("SavedVariance");
        } else {
            inference.set("SavedMean", statistics, channels);
            inference.set("SavedVariance", statistics, channels);
        }
    }

    /** Rows of features have their channels last in any layout. */
    static ImageLayout layout(Attrs attrs, int rank) {
        return rank == 2 ? ImageLayout.CHANNELS_FIRST : ImageLayout.of(attrs, "data_layout");
    }

    /** The mean and variance that are used. */
    private enum Statistics {
        /** Those of the batch. */
        BATCH,
        /** The running statistics, in training. */
        RUNNING,
        /** The running statistics, in a test. */
        TESTED;

        static Statistics of(Attrs attrs) {
            if (attrs.getBool("is_test") && !attrs.getBool("trainable_statistics")) {
                return TESTED;
            }
            return attrs.getBool("use_global_stats") ? RUNNING : BATCH;
        }
    }

    static Operand channel(Lowering l, String slot, double byDefault, Operand x) {
        Operand given = l.optional(slot);
        return given == null ? l.fill(byDefault, TensorSpec.of(x.dtype().arithmetic(), x.dim(1))) : given;
    }

    static void forward(Lowering l) {
        ImageLayout layout = layout(l.attrs(), l.in("X").rank());
        Operand x = layout.channelsFirst(l.in("X"));
        Operand scale = channel(l, "Scale", 1, x);
        Operand bias = channel(l, "Bias", 0, x);
        Operand y = layout.channelsFirst(l.outputOrTemporary("Y", l.in("X").spec()));
        Operand mean = l.mutable("Mean", "MeanOut");
        Operand variance = l.mutable("Variance", "VarianceOut");
        float epsilon = l.attrs().getFloat("epsilon");
        if (Statistics.of(l.attrs()) != Statistics.BATCH) {
            // Of the variables that are given: copies that nobody reads are then not made.
            l.into(new BatchNorm(epsilon, false), List.of(x, scale, bias, l.in("Mean"), l.in("Variance")),
                    List.of(y));
            if (l.wants("SavedMean")) {
                l.out("SavedMean", l.copy(mean));
            }
            if (l.wants("SavedVariance")) {
                l.out("SavedVariance", inverse(l, variance, epsilon));
            }
            return;
        }
        if (isSingle(x)) {
            l.into(Copy.PLAIN, List.of(x), List.of(y));
            l.out("SavedMean", l.fill(0, mean.spec()));
            l.out("SavedVariance", l.fill(0, mean.spec()));
            return;
        }
        Operand batchMean = l.temporary(mean.spec());
        Operand batchInverse = l.temporary(mean.spec());
        l.into(new BatchNorm(epsilon, true), List.of(x, scale, bias), List.of(y, batchMean, batchInverse));
        double momentum = l.attrs().getDouble("momentum");
        Operand batchVariance = l
                .linear(l.unary(Unary.Function.SQUARE, l.unary(Unary.Function.RECIPROCAL, batchInverse)), 1, -epsilon);
        for (List<Operand> pair : List.of(List.of(mean, batchMean), List.of(variance, batchVariance))) {
            Operand old = l.linear(pair.getFirst(), momentum, 0);
            Operand more = l.linear(pair.getLast(), 1 - momentum, 0);
            l.into(Binary.of(Binary.Function.ADD), List.of(old, more), List.of(pair.getFirst()));
        }
        l.out("SavedMean", batchMean);
        l.out("SavedVariance", batchInverse);
    }

    /** Whether each channel has one element, which has no variance: Paddle then gives x and keeps the statistics. */
    static boolean isSingle(Operand x) {
        return x.shape().size() == x.dim(1);
    }

    static Operand inverse(Lowering l, Operand variance, float epsilon) {
        return l.unary(Unary.Function.RSQRT, l.linear(variance, 1, epsilon));
    }

    static void inferGradient(Inference inference) {
        inference.same("X", "X@GRAD");
        for (String slot : List.of("Scale@GRAD", "Bias@GRAD")) {
            long[] x = inference.dims("X");
            inference.set(slot, inference.dtype(inference.has("Scale") ? "Scale" : "X"),
                    x[layout(inference.attrs(), x.length).channels(x.length)]);
        }
    }

    static void backward(Lowering l) {
        ImageLayout layout = layout(l.attrs(), l.in("X").rank());
        Operand x = layout.channelsFirst(l.in("X"));
        boolean batch = usesBatch(l.attrs());
        Operand mean = l.in(batch ? "SavedMean" : l.has("Mean") ? "Mean" : "MeanOut");
        Operand variance = l.in(batch ? "SavedVariance" : l.has("Variance") ? "Variance" : "VarianceOut");
        Operand dx = layout.channelsFirst(l.outputOrTemporary("X@GRAD", l.in("X").spec()));
        Operand dscale = l.temporary(mean.spec());
        if (batch && isSingle(x)) {
            l.into(Copy.PLAIN, List.of(layout.channelsFirst(l.in("Y@GRAD"))), List.of(dx));
            l.out("Scale@GRAD", l.fill(0, mean.spec()));
            l.out("Bias@GRAD", l.fill(0, mean.spec()));
            return;
        }
        Operand dbias = l.temporary(mean.spec());
        l.into(new BatchNormGrad(new BatchNorm(l.attrs().getFloat("epsilon"), batch)),
                List.of(x, layout.channelsFirst(l.in("Y@GRAD")), channel(l, "Scale", 1, x), mean, variance),
                List.of(dx, dscale, dbias));
        l.out("Scale@GRAD", dscale);
        l.out("Bias@GRAD", dbias);
    }

    /** The gradient knows no trainable_statistics, as in Paddle. */
    static boolean usesBatch(Attrs attrs) {
        return !attrs.getBool("is_test") && !attrs.getBool("use_global_stats");
    }

    private static void inferSecond(Inference inference) {
        inference.same("X", "DX");
        inference.same("X", "DDY");
        if (inference.outputs("DScale") > 0) {
            inference.same("Scale", "DScale");
        }
    }

    private static void second(Lowering l) {
        Operand given = l.in("X");
        ImageLayout layout = layout(l.attrs(), given.rank());
        Operand x = layout.channelsFirst(given);
        boolean batch = usesBatch(l.attrs());
        Operand mean = l.in(batch ? "SavedMean" : "Mean");
        Operand inverse = batch ? l.in("SavedVariance") : inverse(l, l.in("Variance"), l.attrs().getFloat("epsilon"));
        List<Integer> axes = IntStream.range(0, x.rank()).filter(axis -> axis != 1).boxed().toList();
        Operand ddx = image(l, layout, "DDX");
        NormSecondGradient norm = new NormSecondGradient(l, x, image(l, layout, "DY"), perChannel(mean, x.rank()),
                perChannel(inverse, x.rank()), l.has("Scale") ? perChannel(l.in("Scale"), x.rank()) : null, axes,
                batch);
        Operand dds = l.has("DDScale") ? perChannel(l.in("DDScale"), x.rank()) : null;
        Operand ddb = l.has("DDBias") ? perChannel(l.in("DDBias"), x.rank()) : null;
        if (l.wants("DX")) {
            l.out("DX", layout.from(norm.x(ddx, dds)));
        }
        if (l.wants("DDY")) {
            l.out("DDY", layout.from(norm.output(ddx, dds, ddb)));
        }
        if (l.wants("DScale")) {
            l.out("DScale", l.reshape(norm.scale(ddx), x.dim(1)));
        }
    }

    private static @Nullable Operand image(Lowering l, ImageLayout layout, String slot) {
        return l.has(slot) ? layout.channelsFirst(l.in(slot)) : null;
    }

    /** [c] as [1, c, 1...]. */
    static Operand perChannel(Operand channels, int rank) {
        Operand result = channels.unsqueeze(0);
        while (result.rank() < rank) {
            result = result.unsqueeze(result.rank());
        }
        return result;
    }
}
