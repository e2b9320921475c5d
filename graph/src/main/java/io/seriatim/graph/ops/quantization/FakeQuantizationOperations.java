package io.seriatim.graph.ops.quantization;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Numbers rounded to levels, and perhaps back to numbers, in the type that they have: what training needs to take the
 * errors of quantization into account. The gradient passes through as it comes.
 */
public final class FakeQuantizationOperations {
    /** Spelt as in Paddle. */
    private static final String GRADIENT = "stright_throuth_estimator_grad(Out@GRAD) -> X@GRAD";

    private static final int LARGEST_WINDOW = 1 << 24;

    private FakeQuantizationOperations() {
    }

    public static void register(Operations registry) {
        ofTensor(registry);
        ofChannels(registry);
        ofWindow(registry);
        ofMovingAverage(registry);
        observe(registry);
        straightThrough(registry);
    }

    private static Operation.Builder define(String type) {
        return Operation.define(type).in("X").out("Out", "OutScale").attr("bit_length", 8).attr("round_type", 1);
    }

    private static void inferOut(Inference inference) {
        inference.require(inference.dtype("X").isFloating(), "X must be of a floating-point type, but is %s: cast it",
                inference.dtype("X"));
        inference.same("X", "Out");
    }

    private static void infer(Inference inference) {
        Levels.check(inference);
        inferOut(inference);
    }

    private static void ofTensor(Operations registry) {
        for (boolean back : new boolean[]{false, true}) {
            Operation.Builder builder = define(back ? "fake_quantize_dequantize_abs_max" : "fake_quantize_abs_max")
                    .infer(inference -> {
                        infer(inference);
                        inference.set("OutScale", inference.dtype("X"), 1);
                    }).lower(l -> {
                        Operand scale = Levels.scale(l, l.in("X"));
                        l.out("OutScale", scale);
                        quantize(l, scale, back);
                    });
            (back ? builder.grad(GRADIENT) : builder).register(registry);
        }
    }

    private static void quantize(Lowering l, Operand scale, boolean back) {
        Levels levels = Levels.of(l.attrs());
        Operand rounded = levels.quantize(l, l.in("X"), scale);
        Operand result = back ? levels.dequantize(l, rounded, scale) : rounded;
        // The scale has a dimension also where X has none.
        l.out("Out", result.reshape(l.outType("Out", 0).dims()));
    }

    private static void ofChannels(Operations registry) {
        define("fake_channel_wise_quantize_abs_max").attr("quant_axis", 0).attr("is_test", false)
                .runAs(FakeQuantizationOperations::withOldScale)
                .infer(FakeQuantizationOperations::inferChannels)
                .lower(l -> {
                    boolean tested = l.attrs().getBool("is_test");
                    quantizeChannels(l, tested ? l.in("OutScale") : newScales(l), false);
                }).register(registry);
        define("fake_channel_wise_quantize_dequantize_abs_max").attr("quant_axis", 0)
                .infer(FakeQuantizationOperations::inferChannels)
                .lower(l -> quantizeChannels(l, newScales(l), true))
                .grad(GRADIENT).register(registry);
    }

    /** In a test the scales are read from the variable to which training wrote them. */
    private static OpDesc withOldScale(OpDesc op) {
        if (!MovingAverage.isTest(op, false) || op.output("OutScale").isEmpty()) {
            return op;
        }
        return MovingAverage.without(readsToo(op, "OutScale"), "OutScale");
    }

    private static OpDesc readsToo(OpDesc op, String output) {
        Map<String, List<String>> inputs = new TreeMap<>(op.inputs());
        inputs.put(output, op.output(output));
        return op.with(inputs, op.outputs());
    }

    private static void inferChannels(Inference inference) {
        infer(inference);
        long channels = inference.dims("X")[Levels.channelAxis(inference)];
        inference.set("OutScale", inference.dtype("X"), channels);
        if (inference.has("OutScale")) {
            Levels.checkScales(inference, "OutScale", 0, channels);
        }
    }

    private static Operand newScales(Lowering l) {
        Operand scales = Levels.scales(l, l.in("X"), l.attrs().getInt("quant_axis"));
        l.out("OutScale", scales);
        return scales;
    }

    private static void quantizeChannels(Lowering l, Operand scales, boolean back) {
        quantize(l, Levels.along(l, l.cast(scales, l.in("X").dtype()), l.in("X").rank(),
                l.attrs().getInt("quant_axis")), back);
    }

    /** The scale is the largest magnitude of some last batches, which OutScales keeps. */
    private static void ofWindow(Operations registry) {
        define("fake_quantize_range_abs_max").in("InScale", "Iter?").out("OutScales?")
                .attr("window_size", 10000).attr("is_test", false)
                .runAs(op -> MovingAverage.isTest(op, false)
                        ? MovingAverage.runForm(op)
                        : op.output("OutScales").isEmpty() ? op : readsToo(op, "OutScales"))
                .infer(FakeQuantizationOperations::inferWindow).lower(l -> {
                    if (l.attrs().getBool("is_test")) {
                        quantize(l, number(l, "InScale"), false);
                        return;
                    }
                    Operand current = Levels.scale(l, l.in("X"));
                    Operand window = l.mutable("OutScales", "OutScales");
                    Operand scale = l.temporary(TensorSpec.of(current.dtype(), 1));
                    l.call("window of scales", FakeQuantizationOperations::slide,
                            List.of(current, number(l, "InScale"), l.in("Iter")), List.of(window, scale));
                    l.out("OutScale", scale);
                    quantize(l, scale, false);
                }).register(registry);
    }

    private static void inferWindow(Inference inference) {
        infer(inference);
        Levels.checkNumber(inference, "InScale");
        long size = inference.attrs().getLong("window_size");
        inference.require(size >= 1 && size <= LARGEST_WINDOW, "window_size must be from 1 to %d, but is %d",
                LARGEST_WINDOW, size);
        if (!inference.attrs().getBool("is_test")) {
            inference.require(inference.has("Iter") && inference.outputs("OutScales") > 0,
                    "in training it needs variables in the slots Iter and OutScales");
            long numbers = Inference.size(inference.dims("Iter"));
            inference.require(numbers == 1 || numbers < 0, "Iter must hold one number, but holds %d", numbers);
        }
        if (inference.has("OutScales")) {
            Levels.checkScales(inference, "OutScales", 0, size);
        }
        inference.set("OutScale", inference.dtype("X"), 1);
        inference.set("OutScales", inference.dtype("X"), size);
    }

    private static Operand number(Lowering l, String slot) {
        return l.cast(l.in(slot), l.in("X").dtype()).reshape(1);
    }

    /** The largest of the window grows at once, and is searched anew when it leaves the window. */
    private static void slide(List<@Nullable Tensor> in, List<@Nullable Tensor> out) {
        double current = tensor(in, 0).toDoubleArray()[0];
        double most = tensor(in, 1).toDoubleArray()[0];
        long step = tensor(in, 2).toLongArray()[0];
        Tensor kept = tensor(out, 0);
        double[] window = kept.toDoubleArray();
        if (step < 0) {
            throw new IllegalArgumentException(
                    "Operation 'fake_quantize_range_abs_max': Iter must hold a number from 0 on, but holds " + step);
        }
        int place = (int) (step % window.length);
        double removed = window[place];
        window[place] = current;
        if (most < current) {
            most = current;
        } else if (Math.abs(removed - most) < 1e-6) {
            int filled = (int) Math.min(step, window.length);
            most = Math.abs(window[0]);
            for (int i = 1; i < filled; i++) {
                most = Math.max(most, Math.abs(window[i]));
            }
        }
        Elements.write(window, kept);
        Elements.write(new double[]{most}, tensor(out, 1));
    }

    private static Tensor tensor(List<@Nullable Tensor> tensors, int index) {
        return Objects.requireNonNull(tensors.get(index));
    }

    private static void ofMovingAverage(Operations registry) {
        for (boolean back : new boolean[]{false, true}) {
            String type = back
                    ? "fake_quantize_dequantize_moving_average_abs_max"
                    : "fake_quantize_moving_average_abs_max";
            Operation.Builder builder = define(type).in("InScale", "InAccum?", "InState?")
                    .out("OutState?", "OutAccum?").attr("moving_rate", 0.9f).attr("is_test", false)
                    .runAs(MovingAverage::runForm).infer(inference -> {
                        infer(inference);
                        Levels.checkNumber(inference, "InScale");
                        inference.set("OutScale", inference.dtype("X"), 1);
                        MovingAverage.infer(inference, inference.attrs().getBool("is_test"));
                    }).lower(l -> {
                        boolean tested = l.attrs().getBool("is_test");
                        quantize(l, tested
                                ? number(l, "InScale")
                                : MovingAverage.step(l, Levels.scale(l, l.in("X"))), back);
                    });
            (back ? builder.grad(GRADIENT) : builder).register(registry);
        }
    }

    private static void observe(Operations registry) {
        Operation.define("moving_average_abs_max_scale").in("X", "InAccum?", "InState?")
                .out("Out?", "OutScale", "OutState?", "OutAccum?").attr("moving_rate", 0.9f).attr("is_test", false)
                .runAs(MovingAverage::runForm).infer(inference -> {
                    inferOut(inference);
                    // As in Paddle, which infers the scale together with Out.
                    if (inference.isForRun() || inference.outputs("Out") > 0) {
                        inference.set("OutScale", inference.dtype("X"), 1);
                    } else {
                        inference.asDeclared("OutScale");
                    }
                    MovingAverage.infer(inference, inference.attrs().getBool("is_test"));
                }).lower(l -> {
                    l.out("Out", l.in("X"));
                    if (!l.attrs().getBool("is_test")) {
                        MovingAverage.step(l, Levels.scale(l, l.in("X")));
                    }
                }).grad(GRADIENT).register(registry);
    }

    /** The gradient of its gradient passes through as well. */
    private static void straightThrough(Operations registry) {
        Operation.define("stright_throuth_estimator_grad").in("Out@GRAD").out("X@GRAD").infer(inference -> {
            DType dtype = inference.dtype("Out@GRAD");
            inference.require(dtype.isFloating(), "Out@GRAD must be of a floating-point type, but is %s", dtype);
            inference.same("Out@GRAD", "X@GRAD");
        }).lower(l -> l.out("X@GRAD", l.in("Out@GRAD")))
                .grad("assign(X=X@GRAD@GRAD) -> Out=Out@GRAD@GRAD").register(registry);
    }
}
