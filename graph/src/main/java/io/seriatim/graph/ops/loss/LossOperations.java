package io.seriatim.graph.ops.loss;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.Where;
import java.util.List;

/** Losses of numbers and probabilities. */
public final class LossOperations {
    /** Labels that are no further apart are equal. */
    private static final double EQUAL_LABELS = 1e-6;
    private static final String CROSSED = "sigmoid_cross_entropy_with_logits";

    /** Paddle's logarithm of 0 here, and what it divides by at least. */
    private static final double LEAST_LOG = -100;

    private static final double LEAST_VARIANCE = 1e-12;

    private static final double LEAST_COUNT = 1e-5;

    private LossOperations() {
    }

    public static void register(Operations registry) {
        sigmoidCrossEntropy(registry);
        binaryCrossEntropy(registry);
        huber(registry);
    }

    /** Both of floating-point numbers, of one type and shape. */
    private static void alike(Inference inference, String first, String second) {
        inference.require(inference.dtype(first).isFloating() && inference.dtype(first) == inference.dtype(second),
                "%s and %s must be of one floating-point type, but are %s and %s", first, second,
                inference.dtype(first),
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

    private static void sigmoidCrossEntropy(Operations registry) {
        Operation.define(CROSSED).in("X", "Label", "pos_weight?").out("Out").attr("normalize", false)
                .attr("ignore_index", -100)
                .attr("weighs_labels", false)
                .infer(inference -> {
                    alike(inference, "X", "Label");
                    if (inference.has("pos_weight")) {
                        checkWeight(inference);
                    }
                    inference.same("X", "Out");
                }).lower(l -> l.out("Out", counted(l, weighsLabels(l) ? weighedLabels(l) : weighedElements(l))))
                .grad(CROSSED + "_grad(X, Label, pos_weight, Out@GRAD) -> X@GRAD", l -> {
                    Operand sigmoid = l.unary(Unary.Function.SIGMOID, l.in("X"));
                    Operand slope;
                    if (weighsLabels(l)) {
                        Operand negative = l.binary(Binary.Function.SUBTRACT, sigmoid, one(l));
                        slope = l.binary(Binary.Function.ADD, l.binary(Binary.Function.SUBTRACT, one(l), l.in("Label")),
                                l.binary(Binary.Function.MULTIPLY, labelWeight(l), negative));
                    } else {
                        slope = l.binary(Binary.Function.SUBTRACT, weighted(l, sigmoid), l.in("Label"));
                    }
                    l.out("X@GRAD", counted(l, l.binary(Binary.Function.MULTIPLY, slope, l.in("Out@GRAD"))));
                }).register(registry);
    }

    /** PaddlePaddle 3 is given the weight of the label 1, PaddlePaddle 2 a weight of each element. */
    private static boolean weighsLabels(Lowering l) {
        return l.has("pos_weight") && l.attrs().getBool("weighs_labels");
    }

    private static Operand one(Lowering l) {
        return l.number(l.in("X").dtype(), 1);
    }

    /** ln(1 + e^−|x|). */
    private static Operand tail(Lowering l) {
        return l.run(new Unary(Unary.Function.SOFTPLUS, 1, 20),
                l.unary(Unary.Function.NEGATE, l.unary(Unary.Function.ABS, l.in("X"))));
    }

    private static Operand weighedElements(Lowering l) {
        Operand x = l.in("X");
        Operand main = l.binary(Binary.Function.SUBTRACT, l.unary(Unary.Function.RELU, x),
                l.binary(Binary.Function.MULTIPLY, x, l.in("Label")));
        return l.binary(Binary.Function.ADD, main, weighted(l, tail(l)));
    }

    /** (1 − label) · x + weight · ln(1 + e^−x). */
    private static Operand weighedLabels(Lowering l) {
        Operand x = l.in("X");
        Operand rest = l.binary(Binary.Function.ADD, tail(l),
                l.unary(Unary.Function.RELU, l.unary(Unary.Function.NEGATE, x)));
        Operand main = l.binary(Binary.Function.MULTIPLY,
                l.binary(Binary.Function.SUBTRACT, one(l), l.in("Label")), x);
        return l.binary(Binary.Function.ADD, main, l.binary(Binary.Function.MULTIPLY, labelWeight(l), rest));
    }

    /** 1 + (weight − 1) · label. */
    private static Operand labelWeight(Lowering l) {
        Operand more = l.binary(Binary.Function.SUBTRACT, l.in("pos_weight"), one(l));
        return l.binary(Binary.Function.ADD, l.binary(Binary.Function.MULTIPLY, l.in("Label"), more), one(l));
    }

    private static void checkWeight(Inference inference) {
        long[] x = inference.dims("X");
        long[] weight = inference.dims("pos_weight");
        long[] both = inference.broadcast(x, weight);
        boolean larger = weight.length > x.length;
        for (int i = 0; !larger && i < x.length; i++) {
            larger = x[i] == 1 && both[i] > 1;
        }
        inference.require(!larger,
                "pos_weight must broadcast to X, but has %s for %s", Numbers.text(weight), Numbers.text(x));
        inference.require(inference.dtype("pos_weight") == inference.dtype("X"),
                "pos_weight must have X's type, but is %s",
                inference.dtype("pos_weight"));
    }

    private static Operand weighted(Lowering l, Operand values) {
        Operand weight = l.optional("pos_weight");
        return weight == null ? values : l.binary(Binary.Function.MULTIPLY, values, weight);
    }

    /**
     * 0 where the label, truncated as in Paddle, is the one to ignore; if so wanted, divided by the number of the
     * others.
     */
    private static Operand counted(Lowering l, Operand values) {
        Operand label = l.cast(l.in("Label"), DType.INT64);
        Operand ignore = l.number(DType.INT64, l.attrs().getInt("ignore_index"));
        // NaN is no label, but would be 0 as a whole number.
        Operand number = l.binary(Binary.Function.EQUAL, l.in("Label"), l.in("Label"));
        Operand ignored = l.binary(Binary.Function.LOGICAL_AND, l.binary(Binary.Function.EQUAL, label, ignore),
                number);
        Operand valid = l.run(new Where(), ignored, l.number(values.dtype(), 0), values);
        if (!l.attrs().getBool("normalize")) {
            return valid;
        }
        // Paddle ignores truncated labels, but counts those that are not equal.
        DType dtype = values.dtype();
        Operand distance = l.unary(Unary.Function.ABS, l.binary(Binary.Function.SUBTRACT, l.in("Label"),
                l.number(dtype, l.attrs().getInt("ignore_index"))));
        Operand others = l.cast(l.binary(Binary.Function.GREATER, distance, l.number(dtype, EQUAL_LABELS)), dtype);
        Operand count = l.binary(Binary.Function.MAXIMUM,
                l.run(new Reduction(Reduction.Function.SUM, List.of(), false), others),
                l.number(values.dtype(), LEAST_COUNT));
        return l.binary(Binary.Function.DIVIDE, valid, count);
    }

    private static void binaryCrossEntropy(Operations registry) {
        Operation.define("bce_loss").in("X", "Label").out("Out").infer(inference -> {
            alike(inference, "X", "Label");
            inference.same("X", "Out");
        }).lower(l -> {
            Operand x = l.in("X");
            Operand label = l.in("Label");
            Operand missed = l.binary(Binary.Function.MULTIPLY, l.linear(label, 1, -1), log(l, l.linear(x, -1, 1)));
            l.out("Out",
                    l.binary(Binary.Function.SUBTRACT, missed, l.binary(Binary.Function.MULTIPLY, label, log(l, x))));
        }).grad("bce_loss_grad(X, Label, Out@GRAD) -> X@GRAD", l -> {
            Operand x = l.in("X");
            Operand variance = l.binary(Binary.Function.MAXIMUM,
                    l.binary(Binary.Function.MULTIPLY, l.linear(x, -1, 1), x),
                    l.number(x.dtype(), LEAST_VARIANCE));
            Operand slope = l.binary(Binary.Function.DIVIDE, l.binary(Binary.Function.SUBTRACT, x, l.in("Label")),
                    variance);
            l.out("X@GRAD", l.binary(Binary.Function.MULTIPLY, slope, l.in("Out@GRAD")));
        }).register(registry);
    }

    private static Operand log(Lowering l, Operand x) {
        return l.binary(Binary.Function.MAXIMUM, l.unary(Unary.Function.LOG, x), l.number(x.dtype(), LEAST_LOG));
    }

    private static void huber(Operations registry) {
        Operation.define("huber_loss").in("X", "Y").out("Out", "Residual~").required("delta", Attribute.Real.class)
                .infer(inference -> {
                    alike(inference, "X", "Y");
                    double delta = inference.attrs().getDouble("delta");
                    inference.require(delta >= 0, "delta must be 0 or more, but is %s", delta);
                    inference.same("Y", "Out");
                    inference.same("Y", "Residual");
                }).lower(l -> {
                    Operand residual = l.binary(Binary.Function.SUBTRACT, l.in("Y"), l.in("X"));
                    // With the residual r clipped to c, both branches of the loss are c · (r − c/2).
                    Operand clipped = clipped(l, residual);
                    Operand factor = l.binary(Binary.Function.SUBTRACT, residual, l.linear(clipped, 0.5, 0));
                    l.out("Residual", residual);
                    l.out("Out", l.binary(Binary.Function.MULTIPLY, clipped, factor));
                }).grad("huber_loss_grad(Residual, Out@GRAD) -> X@GRAD, Y@GRAD", inference -> {
                    inference.same("Residual", "X@GRAD");
                    inference.same("Residual", "Y@GRAD");
                }, l -> {
                    Operand dy = l.binary(Binary.Function.MULTIPLY, clipped(l, l.in("Residual")), l.in("Out@GRAD"));
                    if (l.wants("X@GRAD")) {
                        l.out("X@GRAD", l.unary(Unary.Function.NEGATE, dy));
                    }
                    l.out("Y@GRAD", dy);
                }).register(registry);
    }

    private static Operand clipped(Lowering l, Operand residual) {
        float delta = l.attrs().getFloat("delta");
        return l.run(new Unary(Unary.Function.CLIP, -delta, delta), residual);
    }
}
