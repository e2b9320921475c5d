package io.seriatim.graph.ops.quantization;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.LevelTable;
import io.seriatim.tensor.computation.Quantize;
import java.util.List;
import java.util.Set;

/**
 * Quantization as exported models have it: quantize_linear rounds numbers to levels, dequantize_linear multiplies
 * levels by their scale. As in Paddle, the zero points are not used: levels are symmetric.
 */
public final class LinearQuantizationOperations {
    private static final Set<DType> LEVELS = Set.of(DType.INT8, DType.FLOAT32, DType.FLOAT64);

    private static final String[] STATE = {"OutScale", "OutState", "OutAccum"};

    private LinearQuantizationOperations() {
    }

    public static void register(Operations registry) {
        define("quantize_linear").runAs(LinearQuantizationOperations::written)
                .infer(LinearQuantizationOperations::inferQuantized)
                .lower(LinearQuantizationOperations::quantize).register(registry);
        define("dequantize_linear").runAs(op -> MovingAverage.without(op, STATE))
                .infer(LinearQuantizationOperations::inferDequantized)
                .lower(LinearQuantizationOperations::dequantize).register(registry);
        Operation.define("lookup_levels").in("X", "Table").out("Out")
                .infer(inference -> {
                    for (String slot : List.of("X", "Table")) {
                        inference.require(inference.dtype(slot) == DType.INT8 || inference.dtype(slot) == DType.UINT8,
                                "%s must be int8 or uint8, but is %s", slot, inference.dtype(slot));
                    }
                    long[] table = inference.dims("Table");
                    inference.require(table.length == 1 && (table[0] < 0 || table[0] == LevelTable.LEVELS),
                            "Table must be [%d], but is %s", LevelTable.LEVELS, Numbers.text(table));
                    inference.set("Out", inference.dtype("Table"), inference.dims("X"));
                }).lower(l -> l.into(new LevelTable(), List.of(l.in("X"), l.in("Table")), List.of(l.output("Out"))))
                .register(registry);
        Operation.define("quantize_to_int8").in("X", "Scale").out("Y").attr("bit_length", 8).attr("round_type", 0)
                .infer(inference -> {
                    Levels.check(inference);
                    inference.require(inference.attrs().getLong("bit_length") <= Byte.SIZE
                            && inference.attrs().getLong("bit_length") > 1,
                            "bit_length must be from 2 to 8, but is %d", inference.attrs().getLong("bit_length"));
                    inference.require(inference.dtype("X") == DType.FLOAT32, "X must be float32, but is %s",
                            inference.dtype("X"));
                    Levels.checkScales(inference, "Scale", 0, 1);
                    inference.set("Y", DType.INT8, inference.dims("X"));
                }).lower(l -> {
                    Levels levels = Levels.of(l.attrs());
                    Operand scale = l.reshape(l.cast(l.in("Scale"), DType.FLOAT32), 1);
                    l.out("Y", l.run(new Quantize(levels.most(), levels.away()), l.in("X"),
                            levels.factor(l, scale)));
                }).register(registry);
    }

    /** The outputs that the operation writes: the state of an average only in training, and only of whole tensors. */
    private static OpDesc written(OpDesc op) {
        if (MovingAverage.isTest(op, true)) {
            return MovingAverage.without(op, STATE);
        }
        boolean whole = op.attribute("quant_axis") instanceof Attribute.Int(int axis) && axis < 0;
        return whole ? op : MovingAverage.without(op, "OutState", "OutAccum");
    }

    private static Operation.Builder define(String type) {
        return Operation.define(type).in("X", "Scale", "ZeroPoint", "InAccum?", "InState?")
                .out("Y", "OutState?", "OutAccum?", "OutScale?")
                .attr("quant_axis", 0).attr("bit_length", 8).attr("round_type", 0).attr("is_test", true)
                .attr("only_observer", false).attr("moving_rate", 0.9f).shapesOnly("ZeroPoint");
    }

    /** The number of channels, or 1 if the whole tensor has one scale. */
    private static long scales(Inference inference) {
        Levels.check(inference);
        return inference.attrs().getLong("quant_axis") == -1
                ? 1
                : inference.dims("X")[Levels.channelAxis(inference)];
    }

    private static void inferQuantized(Inference inference) {
        DType dtype = inference.dtype("X");
        inference.require(dtype.isFloating(), "X must be of a floating-point type, but is %s: cast it", dtype);
        long scales = scales(inference);
        boolean tested = inference.attrs().getBool("is_test");
        if (tested && !inference.attrs().getBool("only_observer")) {
            Levels.checkScales(inference, "Scale", 0, scales);
        }
        inference.same("X", "Y");
        inference.set("OutScale", dtype, scales);
        MovingAverage.infer(inference, tested || inference.attrs().getLong("quant_axis") >= 0);
    }

    private static void quantize(Lowering l) {
        Operand x = l.in("X");
        int axis = l.attrs().getInt("quant_axis");
        Operand scale;
        if (l.attrs().getBool("is_test")) {
            scale = l.cast(l.in("Scale"), x.dtype());
        } else if (axis < 0) {
            scale = MovingAverage.step(l, Levels.scale(l, x));
        } else {
            scale = Levels.scales(l, x, axis);
            l.out("OutScale", scale);
        }
        if (l.attrs().getBool("only_observer")) {
            l.out("Y", x);
            return;
        }
        Operand each = axis < 0 ? l.reshape(scale, 1) : Levels.along(l, scale, x.rank(), axis);
        l.out("Y", Levels.of(l.attrs()).quantize(l, x, each).reshape(x.shape().dims()));
    }

    private static void inferDequantized(Inference inference) {
        DType dtype = inference.dtype("X");
        inference.require(LEVELS.contains(dtype), "X must be int8, float32 or float64, but is %s", dtype);
        long scales = scales(inference);
        boolean observer = inference.attrs().getBool("only_observer");
        if (!observer) {
            Levels.checkScales(inference, "Scale", 0, scales);
        }
        inference.set("Y", dtype == DType.INT8 && !observer ? DType.FLOAT32 : dtype, inference.dims("X"));
        for (String slot : STATE) {
            inference.set(slot, DType.FLOAT32, slot.equals("OutScale") ? scales : 1);
        }
    }

    private static void dequantize(Lowering l) {
        Operand x = l.in("X");
        if (l.attrs().getBool("only_observer")) {
            l.out("Y", x);
            return;
        }
        DType dtype = x.dtype() == DType.INT8 ? DType.FLOAT32 : x.dtype();
        int axis = l.attrs().getInt("quant_axis");
        Operand scale = l.cast(l.in("Scale"), dtype);
        Operand each = axis < 0 ? l.reshape(scale, 1) : Levels.along(l, scale, x.rank(), axis);
        l.out("Y", Levels.of(l.attrs()).dequantize(l, l.cast(x, dtype), each).reshape(x.shape().dims()));
    }
}
