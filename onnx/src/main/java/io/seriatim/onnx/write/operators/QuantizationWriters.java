package io.seriatim.onnx.write.operators;

import io.seriatim.onnx.emit.OpWriters;
import io.seriatim.onnx.emit.WrittenOp;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
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
        all.add("fake_quantize_moving_average_abs_max", op -> fake(op, false));
        all.add("fake_quantize_dequantize_moving_average_abs_max", op -> fake(op, true));
    }

    /** The slot of the scales, which has another name where a moving average is kept. */
    private static String slot(WrittenOp op) {
        return op.has("Scale") ? "Scale" : "InScale";
    }

    /** The axis of the channels; −1 if there is one scale. */
    private static int channels(WrittenOp op) {
        return op.has("Scale") ? op.attrs().getInt("quant_axis") : -1;
    }

    /** Levels of the scale that training has left, or the numbers of those levels. */
    private static void fake(WrittenOp op, boolean back) {
        if (!op.attrs().getBool("is_test")) {
            throw op.error("is in its form for training, which ONNX does not have");
        }
        for (String state : List.of("Scale", "State", "Accum")) {
            if (op.has("In" + state)) {
                op.out("Out" + state, op.in("In" + state));
            }
        }
        String levels = levels(op);
        if (!back) {
            op.out("Out", levels);
            return;
        }
        String bytes = op.graph().original(levels);
        op.out("Out", bytes == null
                ? op.node("Div", op.node("Mul", levels, scale(op, op.dtype("X"))), op.scalar(op.dtype("X"), most(op)))
                : op.node("DequantizeLinear", bytes, step(op, false), zero(op)));
    }

    private static boolean observes(WrittenOp op) {
        if (!op.attrs().getBool("is_test")) {
            throw op.error("is in its form for training, which ONNX does not have");
        }
        return op.attrs().getBool("only_observer");
    }

    private static int most(WrittenOp op) {
        return (1 << (op.attrs().getInt("bit_length") - 1)) - 1;
    }

    private static Map<String, Object> axis(WrittenOp op) {
        int axis = channels(op);
        return axis < 0 ? Map.of() : Map.of("axis", axis);
    }

    private static void quantize(WrittenOp op) {
        if (observes(op)) {
            op.out("Y", op.node("Identity", op.in("X")));
        } else {
            op.out("Y", levels(op));
        }
    }

    private static String levels(WrittenOp op) {
        boolean away = op.attrs().getInt("round_type") != 0;
        if (away || op.attrs().getInt("bit_length") != BITS || op.dtype("X") != DType.FLOAT32) {
            return away ? awayFromZero(op) : toEven(op);
        }
        String levels = op.node("QuantizeLinear", axis(op), op.in("X"), step(op, true), zero(op));
        String numbers = op.cast(levels, DType.FLOAT32);
        op.graph().converted(numbers, levels);
        return numbers;
    }

    private static void dequantize(WrittenOp op) {
        if (observes(op)) {
            op.out("Y", op.node("Identity", op.in("X")));
            return;
        }
        String levels = op.dtype("X") == DType.INT8 ? op.in("X") : op.dtype("X") == DType.FLOAT32 ? bytes(op) : null;
        if (levels == null) {
            String product = op.node("Mul", op.in("X"), along(op, scale(op, op.dtype("X"))));
            op.out("Y", op.node("Div", product, op.scalar(op.dtype("X"), most(op))));
        } else {
            op.out("Y", op.node("DequantizeLinear", axis(op), levels, step(op, false), zero(op)));
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
    private static String zero(WrittenOp op) {
        if (channels(op) < 0) {
            return op.scalar(DType.INT8, 0);
        }
        Tensor scales = op.graph().tensor(op.in(slot(op)));
        return scales == null
                ? op.cast(op.node("Mul", scale(op, DType.FLOAT32), op.scalar(DType.FLOAT32, 0)), DType.INT8)
                : op.graph().constant(Tensor.of(DType.INT8, new double[Math.toIntExact(scales.shape().size())],
                        scales.shape().size()));
    }

    /** PaddlePaddle's scales: one without dimensions, or those of the channels. */
    private static String scale(WrittenOp op, DType dtype) {
        String scale = op.dtype(slot(op)) == dtype ? op.in(slot(op)) : op.cast(op.in(slot(op)), dtype);
        return op.node("Reshape", scale, channels(op) < 0 ? op.ints() : op.ints(-1));
    }

    /** The numbers of level 1, computed at once if the scales are known. */
    private static String step(WrittenOp op, boolean divides) {
        Tensor known = op.graph().tensor(op.in(slot(op)));
        int most = most(op);
        if (known == null) {
            String scale = scale(op, DType.FLOAT32);
            return op.node("Div", divides ? divisor(op, scale, DType.FLOAT32) : scale,
                    op.scalar(DType.FLOAT32, most));
        }
        double[] steps = known.toDoubleArray();
        for (int i = 0; i < steps.length; i++) {
            float scale = (float) steps[i];
            steps[i] = (divides && scale <= SMALLEST ? scale + ADDED : scale) / most;
        }
        long[] dims = channels(op) < 0 ? new long[0] : new long[]{steps.length};
        return op.graph().constant(Tensor.of(DType.FLOAT32, steps, dims));
    }

    private static String divisor(WrittenOp op, String scale, DType dtype) {
        return op.node("Where", op.node("LessOrEqual", scale, op.scalar(dtype, SMALLEST)),
                op.node("Add", scale, op.scalar(dtype, ADDED)), scale);
    }

    /** Numbers of channels, so that they broadcast with the operand. */
    private static String along(WrittenOp op, String numbers) {
        int axis = channels(op);
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

    private static String toEven(WrittenOp op) {
        DType dtype = op.dtype("X");
        String factor = along(op, factor(op, scale(op, dtype), dtype));
        String rounded = op.node("Round", op.node("Mul", factor, op.in("X")));
        return op.node("Clip", rounded, op.scalar(dtype, -most(op) - 1), op.scalar(dtype, most(op)));
    }

    private static String awayFromZero(WrittenOp op) {
        DType dtype = op.dtype("X");
        String scale = scale(op, dtype);
        String limit = along(op, scale);
        String inside = op.node("Max", op.node("Min", op.in("X"), limit), op.node("Neg", limit));
        String scaled = op.node("Mul", along(op, factor(op, scale, dtype)), inside);
        String nearest = op.node("Round", scaled);
        String half = op.scalar(dtype, 0.5);
        String away = op.node("Add", scaled, op.node("Mul", op.node("Sign", scaled), half));
        String distance = op.node("Abs", op.node("Sub", scaled, nearest));
        return op.node("Where", op.node("Equal", distance, half), away, nearest);
    }
}
