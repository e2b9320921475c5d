package io.seriatim.graph.ops.activation;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.PutAlongAxis;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.TakeAlongAxis;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.Where;
import io.seriatim.tensor.computation.network.CrossEntropy;
import io.seriatim.tensor.computation.network.CrossEntropyGrad;
import io.seriatim.tensor.computation.network.Softmax;
import io.seriatim.tensor.computation.network.SoftmaxGrad;
import java.util.Arrays;
import java.util.List;

/** Softmax, and cross entropy with and without it. */
public final class SoftmaxOperations {
    /** Paddle's logarithm of 0. */
    private static final double LEAST_LOG = -1e20;
    private static final String CROSSED = "softmax_with_cross_entropy";

    private SoftmaxOperations() {
    }

    public static void register(Operations registry) {
        softmax(registry, "softmax", false);
        softmax(registry, "log_softmax", true);
        crossed(registry);
        crossEntropy(registry);
        formerCrossEntropy(registry);
    }

    private static void floating(Inference inference, String slot) {
        inference.require(inference.dtype(slot).isFloating(),
                "%s must be of floating-point numbers, but is %s; cast it", slot,
                inference.dtype(slot));
    }

    private static void softmax(Operations registry, String type, boolean log) {
        Operation.define(type).in("X").out("Out").attr("axis", -1).infer(inference -> {
            floating(inference, "X");
            inference.axis("X", inference.attrs().getInt("axis"));
            inference.same("X", "Out");
        }).lower(l -> l.out("Out", l.run(new Softmax(l.attrs().getInt("axis"), log), l.in("X"))))
                .grad(type + "_grad(Out, Out@GRAD) -> X@GRAD",
                        l -> l.out("X@GRAD",
                                l.run(new SoftmaxGrad(l.attrs().getInt("axis"), log), l.in("Out"), l.in("Out@GRAD"))))
                .register(registry);
    }

    private static void crossed(Operations registry) {
        Operation.define(CROSSED).in("Logits", "Label").out("Softmax", "Loss").attr("soft_label", false)
                .attr("use_softmax", true)
                .attr("numeric_stable_mode", true).attr("ignore_index", -100).attr("axis", -1)
                .infer(SoftmaxOperations::inferCrossed)
                .lower(SoftmaxOperations::cross)
                .grad(CROSSED + "_grad(Label, Softmax, Loss@GRAD) -> Logits@GRAD",
                        inference -> inference.same("Softmax", "Logits@GRAD"),
                        SoftmaxOperations::crossGradient)
                .register(registry);
    }

    private static void inferCrossed(Inference inference) {
        floating(inference, "Logits");
        long[] logits = inference.dims("Logits");
        long[] labels = inference.dims("Label");
        boolean soft = inference.attrs().getBool("soft_label");
        inference.require(logits.length > 0, "Logits need at least one dimension");
        int axis = inference.axis("Logits", inference.attrs().getInt("axis"));
        long[] expected = logits.clone();
        expected[axis] = soft ? logits[axis] : 1;
        boolean without = !soft && labels.length == logits.length - 1;
        if (without) {
            expected = without(expected, axis);
        }
        inference.require(fits(expected, labels), "Label must have the shape %s, but has %s", Numbers.text(expected),
                Numbers.text(labels));
        checkType(inference, soft, inference.dtype("Logits"));
        inference.set("Softmax", inference.dtype("Logits"), logits);
        logits[axis] = 1;
        inference.set("Loss", inference.dtype("Logits"), logits);
    }

    private static void checkType(Inference inference, boolean soft, DType logits) {
        DType label = inference.dtype("Label");
        boolean fits = soft ? label == logits : !label.isFloating() && label != DType.BOOL;
        inference.require(fits,
                soft
                        ? "Label must hold probabilities of type %s, but is %s"
                        : "Label must hold class numbers for %s, but is %s",
                logits, label);
    }

    private static boolean fits(long[] expected, long[] dims) {
        boolean fits = expected.length == dims.length;
        for (int i = 0; fits && i < dims.length; i++) {
            fits = expected[i] < 0 || dims[i] < 0 || expected[i] == dims[i];
        }
        return fits;
    }

    private static long[] without(long[] dims, int axis) {
        long[] less = Arrays.copyOf(dims, dims.length - 1);
        System.arraycopy(dims, axis + 1, less, axis, less.length - axis);
        return less;
    }

    private static void cross(Lowering l) {
        Operand logits = l.in("Logits");
        if (l.attrs().getBool("use_softmax")) {
            List<Operand> results = l.runAll(crossEntropy(l), logits, labels(l, logits.shape()));
            l.out("Softmax", results.get(0));
            l.out("Loss", results.get(1));
            return;
        }
        int axis = l.attrs().getInt("axis");
        l.out("Softmax", logits);
        if (l.attrs().getBool("soft_label")) {
            Operand terms = l.binary(Binary.Function.MULTIPLY, log(l, logits), l.in("Label"));
            l.out("Loss", l.linear(l.run(new Reduction(Reduction.Function.SUM, List.of(axis), true), terms), -1, 0));
        } else {
            Chosen chosen = Chosen.of(l, labels(l, logits.shape()), axis);
            l.out("Loss", chosen.loss(l, chosen.take(l, logits)));
        }
    }

    private static CrossEntropy crossEntropy(Lowering l) {
        return new CrossEntropy(l.attrs().getInt("axis"), l.attrs().getBool("soft_label"),
                l.attrs().getInt("ignore_index"));
    }

    /** Labels with the shape of the loss, or probabilities as they are. */
    private static Operand labels(Lowering l, Shape logits) {
        Operand label = l.in("Label");
        return l.attrs().getBool("soft_label")
                ? label
                : classes(l, label).reshape(logits.with(l.attrs().getInt("axis"), 1).dims());
    }

    private static Operand classes(Lowering l, Operand label) {
        return label.dtype() == DType.INT32 ? label : l.cast(label, DType.INT64);
    }

    private static Operand log(Lowering l, Operand x) {
        return l.binary(Binary.Function.MAXIMUM, l.unary(Unary.Function.LOG, x), l.number(x.dtype(), LEAST_LOG));
    }

    private static void crossGradient(Lowering l) {
        Operand softmax = l.in("Softmax");
        Operand labels = labels(l, softmax.shape());
        Operand dloss = l.in("Loss@GRAD");
        if (l.attrs().getBool("use_softmax")) {
            l.out("Logits@GRAD", l.run(new CrossEntropyGrad(crossEntropy(l)), softmax, labels, dloss));
        } else if (l.attrs().getBool("soft_label")) {
            Operand slope = l.linear(l.binary(Binary.Function.DIVIDE, labels, softmax), -1, 0);
            l.out("Logits@GRAD", l.binary(Binary.Function.MULTIPLY, slope, dloss));
        } else {
            Chosen chosen = Chosen.of(l, labels, l.attrs().getInt("axis"));
            l.out("Logits@GRAD", chosen.gradient(l, softmax.shape(), chosen.take(l, softmax), dloss));
        }
    }

    /**
     * The class of each sample that its label names. For the label to ignore it is class 0, whose results are not used.
     */
    private record Chosen(Operand index, Operand ignored, int axis) {
        static Chosen of(Lowering l, Operand label, int axis) {
            Operand ignore = l.number(label.dtype(), l.attrs().getInt("ignore_index"));
            Operand ignored = l.binary(Binary.Function.EQUAL, label, ignore);
            return new Chosen(l.run(new Where(), ignored, l.number(label.dtype(), 0), label), ignored, axis);
        }

        Operand take(Lowering l, Operand x) {
            return l.run(new TakeAlongAxis(axis), x, index);
        }

        Operand loss(Lowering l, Operand probability) {
            return valid(l, l.linear(log(l, probability), -1, 0));
        }

        Operand valid(Lowering l, Operand values) {
            return l.run(new Where(), ignored, l.number(values.dtype(), 0), values);
        }

        Operand gradient(Lowering l, Shape shape, Operand probability, Operand dloss) {
            Operand slope = valid(l, l.linear(l.binary(Binary.Function.DIVIDE, dloss, probability), -1, 0));
            return l.run(new PutAlongAxis(axis, false), l.fill(0, TensorSpec.of(slope.dtype(), shape)), index, slope);
        }
    }

    /** The former form, of probabilities. Of all labels, or of the classes that they name. */
    private static void formerCrossEntropy(Operations registry) {
        Operation.define("cross_entropy").in("X", "Label").out("Y").attr("soft_label", false)
                .attr("ignore_index", -100).infer(SoftmaxOperations::inferFormer).lower(l -> {
                    Operand x = l.in("X");
                    if (l.attrs().getBool("soft_label")) {
                        Operand terms = l.binary(Binary.Function.MULTIPLY, log(l, x), l.in("Label"));
                        Operand sum = l.run(new Reduction(Reduction.Function.SUM, List.of(-1), true), terms);
                        l.out("Y", l.unary(Unary.Function.NEGATE, sum));
                        return;
                    }
                    Chosen chosen = Chosen.of(l, classes(l, l.in("Label")).reshape(x.shape().with(-1, 1).dims()), -1);
                    l.out("Y", chosen.loss(l, chosen.take(l, x)).reshape(l.outType("Y", 0).dims()));
                }).grad("cross_entropy_grad(X, Label, Y@GRAD) -> X@GRAD", l -> {
                    Operand x = l.in("X");
                    Operand dy = l.in("Y@GRAD").reshape(x.shape().with(-1, 1).dims());
                    if (l.attrs().getBool("soft_label")) {
                        Operand slope = l.binary(Binary.Function.DIVIDE,
                                l.binary(Binary.Function.MULTIPLY, l.in("Label"), dy), x);
                        l.out("X@GRAD", l.unary(Unary.Function.NEGATE, slope));
                        return;
                    }
                    Chosen chosen = Chosen.of(l, classes(l, l.in("Label")).reshape(dy.shape().dims()), -1);
                    l.out("X@GRAD", chosen.gradient(l, x.shape(), chosen.take(l, x), dy));
                }).register(registry);
    }

    private static void inferFormer(Inference inference) {
        if (!inference.attrs().getBool("soft_label")) {
            inferCrossEntropy(inference);
            return;
        }
        floating(inference, "X");
        long[] x = inference.dims("X");
        inference.require(x.length > 0, "X needs at least one dimension");
        inference.require(fits(x, inference.dims("Label")) && inference.dtype("Label") == inference.dtype("X"),
                "soft labels must have the type and the shape of X, but are %s of %s", inference.dtype("Label"),
                Numbers.text(inference.dims("Label")));
        x[x.length - 1] = 1;
        inference.set("Y", inference.dtype("X"), x);
    }

    private static void crossEntropy(Operations registry) {
        Operation.define("cross_entropy2").in("X", "Label").out("Y", "MatchX", "XShape").attr("ignore_index", -100)
                .infer(SoftmaxOperations::inferCrossEntropy).lower(l -> {
                    Operand x = l.in("X");
                    Chosen chosen = Chosen.of(l, classes(l, l.in("Label")).reshape(x.shape().with(-1, 1).dims()), -1);
                    Operand probability = chosen.take(l, x);
                    l.out("MatchX", chosen.valid(l, probability));
                    l.out("Y", chosen.loss(l, probability).reshape(l.outType("Y", 0).dims()));
                }).grad("cross_entropy_grad2(Label, MatchX, XShape, Y@GRAD) -> X@GRAD", inference -> {
                    long[] shape = inference.dims("XShape");
                    inference.require(shape.length >= 2, "XShape must be the shape of X and a 0, but is %s",
                            Numbers.text(shape));
                    inference.set("X@GRAD", inference.dtype("Y@GRAD"), Arrays.copyOf(shape, shape.length - 1));
                }, l -> {
                    Operand match = l.in("MatchX");
                    Chosen chosen = Chosen.of(l, classes(l, l.in("Label")).reshape(match.shape().dims()), -1);
                    Shape shape = l.outType("X@GRAD", 0).spec().shape();
                    l.out("X@GRAD", chosen.gradient(l, shape, match, l.in("Y@GRAD").reshape(match.shape().dims())));
                }).register(registry);
    }

    private static void inferCrossEntropy(Inference inference) {
        floating(inference, "X");
        long[] x = inference.dims("X");
        long[] label = inference.dims("Label");
        inference.require(x.length > 0, "X needs at least one dimension");
        long[] match = x.clone();
        match[x.length - 1] = 1;
        boolean fits = fits(match, label) || fits(Arrays.copyOf(x, x.length - 1), label);
        inference.require(fits, "Label must have the shape %s, with or without its last dimension, but has %s",
                Numbers.text(match),
                Numbers.text(label));
        checkType(inference, false, inference.dtype("X"));
        DType dtype = inference.dtype("X");
        long[] loss = Arrays.copyOf(match, label.length);
        inference.set("Y", dtype, loss);
        inference.set("MatchX", dtype, match);
        inference.set("XShape", dtype, Arrays.copyOf(x, x.length + 1));
    }
}
