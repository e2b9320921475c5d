package io.seriatim.graph.ops.normalisation;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.ImageLayout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.network.GroupNorm;
import io.seriatim.tensor.computation.network.GroupNormGrad;
import io.seriatim.tensor.computation.network.LayerNorm;
import io.seriatim.tensor.computation.network.LayerNormGrad;
import io.seriatim.tensor.kernel.Computation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Layer, group and instance normalisation. */
public final class NormalisationOperations {
    private static final float EPSILON = 1e-5f;

    private NormalisationOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("layer_norm").in("X", "Scale?", "Bias?").out("Y", "Mean~", "Variance~")
                .attr("epsilon", EPSILON)
                .attr("begin_norm_axis", 1)
                .infer(NormalisationOperations::inferLayer).lower(NormalisationOperations::layer)
                .grad("layer_norm_grad(Bias, Mean, Scale, Variance, X, Y@GRAD) -> Bias@GRAD, Scale@GRAD, X@GRAD",
                        NormalisationOperations::layerGradient)
                .register(registry);
        Operation.define("group_norm").in("X", "Scale?", "Bias?").out("Y", "Mean~", "Variance~")
                .attr("epsilon", EPSILON).attr("groups", -1)
                .attr("data_layout", "NCHW").infer(NormalisationOperations::inferGroup)
                .lower(NormalisationOperations::group)
                .grad("group_norm_grad(Bias, Mean, Scale, Variance, X, Y, Y@GRAD) -> Bias@GRAD, Scale@GRAD, X@GRAD",
                        NormalisationOperations::groupGradient)
                .register(registry);
        registerInstance(registry);
    }

    private static void registerInstance(Operations registry) {
        String first = "instance_norm_grad(SavedMean, SavedVariance, Scale, X, Y@GRAD) -> Bias@GRAD, Scale@GRAD, "
                + "X@GRAD";
        String second = "instance_norm_double_grad(fwd_scale=Scale, grad_bias@GRAD=Bias@GRAD@GRAD, "
                + "grad_scale@GRAD=Scale@GRAD@GRAD, "
                + "grad_x@GRAD=X@GRAD@GRAD, grad_y=Y@GRAD, saved_mean=SavedMean, saved_variance=SavedVariance, x=X)"
                + " -> fwd_scale@GRAD=Scale@GRAD, grad_y@GRAD=Y@GRAD@GRAD, x@GRAD=X@GRAD";
        Operation.Builder forward = Operation.define("instance_norm").in("X", "Scale?", "Bias?")
                .out("Y", "SavedMean~", "SavedVariance~")
                .attr("epsilon", EPSILON).infer(NormalisationOperations::inferInstance)
                .lower(NormalisationOperations::instance);
        forward.gradOperation(first, NormalisationOperations::inferInstanceGradient)
                .lower(NormalisationOperations::instanceGradient)
                .grad(second, NormalisationOperations::inferInstanceSecond, NormalisationOperations::instanceSecond)
                .register(registry);
        forward.grad(first).register(registry);
    }

    private static void parameters(Inference inference, long length, String of) {
        for (String slot : List.of("Scale", "Bias")) {
            if (inference.has(slot)) {
                long[] dims = inference.dims(slot);
                inference.require(dims.length == 1 && (length < 0 || dims[0] < 0 || dims[0] == length),
                        "%s must have one value for each of the %d %s, but is %s", slot, length, of,
                        Numbers.text(dims));
            }
        }
    }

    private static void inferLayer(Inference inference) {
        long[] x = inference.dims("X");
        int axis = inference.attrs().getInt("begin_norm_axis");
        inference.require(axis > 0 && axis < x.length,
                "the attribute 'begin_norm_axis' must be from 1 to %d, but is %d", x.length - 1,
                axis);
        parameters(inference, Inference.size(Arrays.copyOfRange(x, axis, x.length)), "elements that are normalised");
        inference.same("X", "Y");
        for (String slot : List.of("Mean", "Variance")) {
            inference.set(slot, inference.dtype("X").arithmetic(), Arrays.copyOf(x, axis));
        }
    }

    private static void layer(Lowering l) {
        Operand x = l.in("X");
        LayerNorm norm = new LayerNorm(l.attrs().getInt("begin_norm_axis"), l.attrs().getFloat("epsilon"),
                l.has("Scale"), l.has("Bias"));
        List<Operand> results = l.runAll(norm, given(x, l.optional("Scale"), l.optional("Bias")));
        l.out("Y", results.getFirst());
        statistic(l, "Mean", results.get(1));
        statistic(l, "Variance", results.get(2));
    }

    private static void statistic(Lowering l, String slot, Operand value) {
        if (l.wants(slot)) {
            l.out(slot, value.reshape(l.output(slot).shape().dims()));
        }
    }

    private static Operand[] given(@Nullable Operand... operands) {
        List<Operand> given = new ArrayList<>();
        for (Operand operand : operands) {
            if (operand != null) {
                given.add(operand);
            }
        }
        return given.toArray(Operand[]::new);
    }

    private static void layerGradient(Lowering l) {
        LayerNorm norm = new LayerNorm(l.attrs().getInt("begin_norm_axis"), l.attrs().getFloat("epsilon"),
                l.has("Scale"),
                l.wants("Bias@GRAD"));
        Operand mean = l.in("Mean");
        Operand variance = l.in("Variance");
        gradients(l, new LayerNormGrad(norm), l.in("X"), l.in("Y@GRAD"), mean.reshape(mean.shape().size()),
                variance.reshape(mean.shape().size()));
    }

    private static void gradients(Lowering l, Computation gradient, Operand x, Operand dy, Operand mean,
            Operand variance) {
        List<Operand> results = l.runAll(gradient, given(x, dy, l.optional("Scale"), mean, variance));
        if (l.wants("X@GRAD")) {
            ImageLayout layout = layout(l, x.rank());
            l.out("X@GRAD", layout.from(results.getFirst()));
        }
        if (l.has("Scale")) {
            l.out("Scale@GRAD", results.get(1));
        }
        if (l.wants("Bias@GRAD")) {
            l.out("Bias@GRAD", results.getLast());
        }
    }

    /** Only group_norm knows a layout. */
    private static ImageLayout layout(Lowering l, int rank) {
        return l.attrs().has("data_layout") && rank > 2
                ? ImageLayout.of(l.attrs(), "data_layout")
                : ImageLayout.CHANNELS_FIRST;
    }

    private static void inferGroup(Inference inference) {
        long[] x = inference.dims("X");
        int groups = inference.attrs().getInt("groups");
        inference.require(x.length >= 2, "X needs at least two dimensions, but has %d", x.length);
        long channels = x[x.length == 2 ? 1 : ImageLayout.of(inference.attrs(), "data_layout").channels(x.length)];
        inference.require(groups >= 1 && (channels < 0 || channels % groups == 0),
                "the channels (%d) must be a multiple of the attribute 'groups' (%d)",
                channels, groups);
        parameters(inference, channels, "channels");
        inference.same("X", "Y");
        for (String slot : List.of("Mean", "Variance")) {
            inference.set(slot, inference.dtype("X").arithmetic(), x[0], groups);
        }
    }

    private static void group(Lowering l) {
        ImageLayout layout = layout(l, l.in("X").rank());
        Operand x = layout.channelsFirst(l.in("X"));
        GroupNorm norm = new GroupNorm(l.attrs().getInt("groups"), l.attrs().getFloat("epsilon"), l.has("Scale"),
                l.has("Bias"));
        List<Operand> results = l.runAll(norm, given(x, l.optional("Scale"), l.optional("Bias")));
        if (l.wants("Y")) {
            l.out("Y", layout.from(results.getFirst()));
        }
        l.out("Mean", results.get(1));
        l.out("Variance", results.get(2));
    }

    private static void groupGradient(Lowering l) {
        ImageLayout layout = layout(l, l.in("X").rank());
        GroupNorm norm = new GroupNorm(l.attrs().getInt("groups"), l.attrs().getFloat("epsilon"), l.has("Scale"),
                l.wants("Bias@GRAD"));
        gradients(l, new GroupNormGrad(norm), layout.channelsFirst(l.in("X")), layout.channelsFirst(l.in("Y@GRAD")),
                l.in("Mean"),
                l.in("Variance"));
    }

    private static void inferInstance(Inference inference) {
        long[] x = inference.dims("X");
        inference.require(x.length >= 2 && x.length <= 5, "X needs 2 to 5 dimensions, but has %d", x.length);
        parameters(inference, x[1], "channels");
        inference.same("X", "Y");
        for (String slot : List.of("SavedMean", "SavedVariance")) {
            inference.set(slot, inference.dtype("X").arithmetic(), Inference.size(x[0], x[1]));
        }
    }

    /** Each channel is a group of its own. SavedVariance is 1 / √(variance + ε), as in Paddle. */
    private static void instance(Lowering l) {
        Operand x = l.in("X");
        float epsilon = l.attrs().getFloat("epsilon");
        GroupNorm norm = new GroupNorm(Math.toIntExact(x.dim(1)), epsilon, l.has("Scale"), l.has("Bias"));
        List<Operand> results = l.runAll(norm, given(x, l.optional("Scale"), l.optional("Bias")));
        l.out("Y", results.getFirst());
        statistic(l, "SavedMean", results.get(1));
        if (l.wants("SavedVariance")) {
            statistic(l, "SavedVariance", l.unary(Unary.Function.RSQRT, l.linear(results.get(2), 1, epsilon)));
        }
    }

    private static void inferInstanceGradient(Inference inference) {
        inference.same("X", "X@GRAD");
        for (String slot : List.of("Scale@GRAD", "Bias@GRAD")) {
            inference.set(slot, inference.dtype(inference.has("Scale") ? "Scale" : "X"), inference.dims("X")[1]);
        }
    }

    private static void instanceGradient(Lowering l) {
        Operand x = l.in("X");
        Shape perImage = Shape.of(x.dim(0), x.dim(1));
        GroupNorm norm = new GroupNorm(Math.toIntExact(x.dim(1)), 0, l.has("Scale"), l.wants("Bias@GRAD"));
        Operand variance = l.unary(Unary.Function.SQUARE, l.unary(Unary.Function.RECIPROCAL, l.in("SavedVariance")));
        gradients(l, new GroupNormGrad(norm), x, l.in("Y@GRAD"), l.in("SavedMean").reshape(perImage.dims()),
                variance.reshape(perImage.dims()));
    }

    private static void inferInstanceSecond(Inference inference) {
        inference.same("x", "x@GRAD");
        inference.same("x", "grad_y@GRAD");
        if (inference.outputs("fwd_scale@GRAD") > 0) {
            inference.same("fwd_scale", "fwd_scale@GRAD");
        }
    }

    private static void instanceSecond(Lowering l) {
        Operand x = l.in("x");
        List<Integer> pixels = IntStream.range(2, x.rank()).boxed().toList();
        NormSecondGradient norm = new NormSecondGradient(l, x, l.optional("grad_y"), perImage(l.in("saved_mean"), x),
                perImage(l.in("saved_variance"), x), perChannel(l, "fwd_scale", x.rank()), pixels, true);
        Operand ddx = l.optional("grad_x@GRAD");
        Operand dds = perChannel(l, "grad_scale@GRAD", x.rank());
        if (l.wants("x@GRAD")) {
            l.out("x@GRAD", norm.x(ddx, dds));
        }
        if (l.wants("grad_y@GRAD")) {
            l.out("grad_y@GRAD", norm.output(ddx, dds, perChannel(l, "grad_bias@GRAD", x.rank())));
        }
        if (l.wants("fwd_scale@GRAD")) {
            l.out("fwd_scale@GRAD", l.reshape(norm.scale(ddx), x.dim(1)));
        }
    }

    private static @Nullable Operand perChannel(Lowering l, String slot, int rank) {
        return l.has(slot) ? BatchNormOperations.perChannel(l.in(slot), rank) : null;
    }

    /** [n · c] as [n, c, 1...]. */
    private static Operand perImage(Operand statistic, Operand x) {
        long[] dims = new long[x.rank()];
        Arrays.fill(dims, 1);
        dims[0] = x.dim(0);
        dims[1] = x.dim(1);
        return statistic.reshape(dims);
    }
}
