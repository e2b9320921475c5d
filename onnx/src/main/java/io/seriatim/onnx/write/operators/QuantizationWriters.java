package io.seriatim.onnx.write.operators;

import io.seriatim.onnx.emit.OpWriters;
import io.seriatim.onnx.emit.WrittenOp;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Levels of quantized numbers. PaddlePaddle's scale is the number of the largest level, ONNX's that of level 1, and
 * PaddlePaddle keeps the levels of activations as floating-point numbers. Levels of 8 bits become QuantizeLinear and
 * DequantizeLinear, which run-times turn into products of levels; others are computed.
 */
public final class QuantizationWriters {
    private static final int BITS = 8;
    /** Scales up to this count as 0; what is added to them before they divide. */
    private static final float SMALLEST = 1e-30f;
    private static final float ADDED = 1e-6f;

    private QuantizationWriters() {
    }

    /** Adds the writers. */
    public static void register(OpWriters all) {
        all.add("quantize_linear", QuantizationWriters::quantize);
        all.add("dequantize_linear", QuantizationWriters::dequantize);
        all.add("fake_quantize_abs_max", op -> ofOperand(op, -1, false));
        all.add("fake_quantize_dequantize_abs_max", op -> ofOperand(op, -1, true));
        all.add("fake_channel_wise_quantize_abs_max", op -> {
            if (op.attrs().getBool("is_test")) {
                throw op.error("reads its scales from its result, which ONNX cannot; write it with is_test = false");
            }
            ofOperand(op, op.attrs().getInt("quant_axis"), false);
        });
        all.add("fake_channel_wise_quantize_dequantize_abs_max",
                op -> ofOperand(op, op.attrs().getInt("quant_axis"), true));
        all.add("fake_quantize_range_abs_max", op -> fake(op, false));
        all.add("moving_average_abs_max_scale", op -> {
            requireTest(op);
            op.out("Out", op.node("Identity", op.in("X")));
        });
        all.add("fake_quantize_moving_average_abs_max", op -> fake(op, false));
        all.add("fake_quantize_dequantize_moving_average_abs_max", op -> fake(op, true));
    }

    /**
     * The scales of levels.
     *
     * @param axis
     *            that of the channels; −1 if there is one scale
     */
    private record Scales(String name, DType dtype, int axis) {
        static Scales given(WrittenOp op, String slot, int axis) {
            return new Scales(op.in(slot), op.dtype(slot), axis);
        }

        static Scales ofLinear(WrittenOp op) {
            return given(op, "Scale", op.attrs().getInt("quant_axis"));
        }
    }

    /** Levels of the largest magnitude that the operand has, as a whole or in a channel. */
    private static void ofOperand(WrittenOp op, int axis, boolean back) {
        String magnitudes = op.node("Abs", op.in("X"));
        String scales = axis < 0
                ? ReductionWriters.reduce(op, "ReduceMax", op.node("Reshape", magnitudes, op.ints(-1)), new long[]{0},
                        true)
                : ReductionWriters.reduce(op, "ReduceMax", magnitudes,
                        LongStream.range(0, op.rank("X")).filter(each -> each != axis).toArray(), false);
        op.out("OutScale", scales);
        result(op, new Scales(scales, op.dtype("X"), axis), back);
    }

    /** Levels of the scale that training has left, or the numbers of those levels. */
    private static void fake(WrittenOp op, boolean back) {
        requireTest(op);
        for (String state : List.of("Scale", "State", "Accum")) {
            if (op.has("In" + state)) {
                op.out("Out" + state, op.in("In" + state));
            }
        }
        result(op, Scales.given(op, "InScale", -1), back);
    }

    private static void result(WrittenOp op, Scales s, boolean back) {
        String levels = levels(op, s);
        if (!back) {
            op.out("Out", levels);
            return;
        }
        String bytes = op.graph().original(levels);
        op.out("Out", bytes == null
                ? op.node("Div", op.node("Mul", levels, along(op, s, scale(op, s, op.dtype("X")))),
                        op.scalar(op.dtype("X"), most(op)))
                : op.node("DequantizeLinear", axis(s), bytes, step(op, s, false), zero(op, s)));
    }

    private static void requireTest(WrittenOp op) {
        if (!op.attrs().getBool("is_test")) {
            throw op.error("is in its form for training, which ONNX does not have; take the program for inference");
        }
    }

    private static boolean observes(WrittenOp op) {
        requireTest(op);
        return op.attrs().getBool("only_observer");
    }

    private static int most(WrittenOp op) {
        return (1 << (op.attrs().getInt("bit_length") - 1)) - 1;
    }

    private static Map<String, Object> axis(Scales s) {
        int axis = s.axis;
        return axis < 0 ? Map.of() : Map.of("axis", axis);
    }

    private static void quantize(WrittenOp op) {
        if (observes(op)) {
            op.out("Y", op.node("Identity", op.in("X")));
        } else {
            op.out("Y", levels(op, Scales.ofLinear(op)));
        }
    }

    private static String levels(WrittenOp op, Scales s) {
        boolean away = op.attrs().getInt("round_type") != 0;
        if (away || op.attrs().getInt("bit_length") != BITS || op.dtype("X") != DType.FLOAT32) {
            return away ? awayFromZero(op, s) : toEven(op, s);
        }
        String levels = op.node("QuantizeLinear", axis(s), op.in("X"), step(op, s, true), zero(op, s));
        String numbers = op.cast(levels, DType.FLOAT32);
        op.graph().converted(numbers, levels);
        return numbers;
    }

    private static void dequantize(WrittenOp op) {
        if (observes(op)) {
            op.out("Y", op.node("Identity", op.in("X")));
            return;
        }
        Scales s = Scales.ofLinear(op);
        String levels = op.dtype("X") == DType.INT8 ? op.in("X") : op.dtype("X") == DType.FLOAT32 ? bytes(op) : null;
        if (levels == null) {
            String product = op.node("Mul", op.in("X"), along(op, s, scale(op, s, op.dtype("X"))));
            op.out("Y", op.node("Div", product, op.scalar(op.dtype("X"), most(op))));
        } else {
            op.out("Y", op.node("DequantizeLinear", axis(s), levels, step(op, s, false), zero(op, s)));
        }
    }

    /** Levels that are stored as floating-point numbers as bytes; null if they are none. */
    private static @Nullable String bytes(WrittenOp op) {
        String levels = op.graph().original(op.in("X"));
        if (levels != null) {
            return levels;
        }
        Tensor known = op.graph().tensor(op.in("X"));
        if (known == null || known.dtype() == DType.INT8) {
            // A variable of levels may be declared with the type that its weights had.
            return known == null ? null : op.in("X");
        }
        double[] numbers = known.toDoubleArray();
        boolean whole = Arrays.stream(numbers).allMatch(each -> each == (byte) each);
        return whole ? op.graph().constant(Tensor.of(DType.INT8, numbers, known.shape().dims())) : null;
    }

    /** The zero points that belong to the scales. Levels are symmetric. */
    private static String zero(WrittenOp op, Scales s) {
        if (s.axis < 0) {
            return op.scalar(DType.INT8, 0);
        }
        Tensor scales = op.graph().tensor(s.name);
        return scales == null
                ? op.cast(op.node("Mul", scale(op, s, DType.FLOAT32), op.scalar(DType.FLOAT32, 0)), DType.INT8)
                : op.graph().constant(Tensor.of(DType.INT8, new double[Math.toIntExact(scales.shape().size())],
                        scales.shape().size()));
    }

    /** PaddlePaddle's scales: one without dimensions, or those of the channels. */
    private static String scale(WrittenOp op, Scales s, DType dtype) {
        String scale = s.dtype == dtype ? s.name : op.cast(s.name, dtype);
        return op.node("Reshape", scale, s.axis < 0 ? op.ints() : op.ints(-1));
    }

    /** The numbers of level 1, computed at once if the scales are known. */
    private static String step(WrittenOp op, Scales s, boolean divides) {
        Tensor known = op.graph().tensor(s.name);
        int most = most(op);
        if (known == null) {
            String scale = scale(op, s, DType.FLOAT32);
            return op.node("Div", divides ? divisor(op, scale, DType.FLOAT32) : scale,
                    op.scalar(DType.FLOAT32, most));
        }
        double[] steps = known.toDoubleArray();
        for (int i = 0; i < steps.length; i++) {
            float scale = (float) steps[i];
            steps[i] = (divides && scale <= SMALLEST ? scale + ADDED : scale) / most;
        }
        long[] dims = s.axis < 0 ? new long[0] : new long[]{steps.length};
        return op.graph().constant(Tensor.of(DType.FLOAT32, steps, dims));
    }

    private static String divisor(WrittenOp op, String scale, DType dtype) {
        return op.node("Where", op.node("LessOrEqual", scale, op.scalar(dtype, SMALLEST)),
                op.node("Add", scale, op.scalar(dtype, ADDED)), scale);
    }

    /** Numbers of channels, so that they broadcast with the operand. */
    private static String along(WrittenOp op, Scales s, String numbers) {
        int axis = s.axis;
        if (axis < 0) {
            return numbers;
        }
        long[] dims = new long[op.rank("X")];
        Arrays.fill(dims, 1);
        dims[axis] = -1;
        return op.node("Reshape", numbers, op.ints(dims));
    }

    private static String factor(WrittenOp op, String scale, DType dtype) {
        return op.node("Mul", op.scalar(dtype, most(op)),
                op.node("Div", op.scalar(dtype, 1), divisor(op, scale, dtype)));
    }

    private static String toEven(WrittenOp op, Scales s) {
        DType dtype = op.dtype("X");
        String factor = along(op, s, factor(op, scale(op, s, dtype), dtype));
        String rounded = op.node("Round", op.node("Mul", factor, op.in("X")));
        return op.node("Clip", rounded, op.scalar(dtype, -most(op) - 1), op.scalar(dtype, most(op)));
    }

    private static String awayFromZero(WrittenOp op, Scales s) {
        DType dtype = op.dtype("X");
        String scale = scale(op, s, dtype);
        String limit = along(op, s, scale);
        String inside = op.node("Max", op.node("Min", op.in("X"), limit), op.node("Neg", limit));
        String scaled = op.node("Mul", along(op, s, factor(op, scale, dtype)), inside);
        String nearest = op.node("Round", scaled);
        String half = op.scalar(dtype, 0.5);
        String away = op.node("Add", scaled, op.node("Mul", op.node("Sign", scaled), half));
        String distance = op.node("Abs", op.node("Sub", scaled, nearest));
        return op.node("Where", op.node("Equal", distance, half), away, nearest);
    }
}
