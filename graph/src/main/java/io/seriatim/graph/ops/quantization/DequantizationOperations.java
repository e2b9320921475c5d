package io.seriatim.graph.ops.quantization;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.Where;

/** Levels turned back into numbers: of floating-point types that hold levels, and of 8 and 16 bits. */
public final class DequantizationOperations {
    private static final int LOGARITHMS = 128;

    private DequantizationOperations() {
    }

    public static void register(Operations registry) {
        ofTensor(registry);
        ofChannels(registry);
        ofWholeNumbers(registry);
        ofLogarithms(registry);
    }

    private static void ofTensor(Operations registry) {
        Operation.define("fake_dequantize_max_abs").in("X", "Scale").out("Out")
                .required("max_range", Attribute.Real.class).infer(inference -> {
                    floating(inference);
                    Levels.checkNumber(inference, "Scale");
                    inference.same("X", "Out");
                }).lower(l -> {
                    Operand x = l.in("X");
                    Operand product = l.binary(Binary.Function.MULTIPLY, x, l.cast(number(l), x.dtype()));
                    l.out("Out", Levels.divided(l, product, l.attrs().getFloat("max_range")));
                }).register(registry);
    }

    private static void floating(Inference inference) {
        inference.require(inference.dtype("X").isFloating(), "X must be of a floating-point type, but is %s: cast it",
                inference.dtype("X"));
    }

    /** The scale, without dimensions. */
    private static Operand number(Lowering l) {
        return l.in("Scale").reshape();
    }

    /**
     * With one tensor of scales, those of the channels of a weight; with two, those of the channels of a product's
     * weight, and that of the other factor.
     */
    private static void ofChannels(Operations registry) {
        Operation.define("fake_channel_wise_dequantize_max_abs").in("X", "Scales*").out("Out")
                .attr("quant_bits", new int[]{8}).attr("quant_axis", 0).attr("x_num_col_dims", 1)
                .infer(DequantizationOperations::inferChannels).lower(l -> {
                    Operand x = l.in("X");
                    int count = l.count("Scales");
                    long[] bits = l.attrs().getLongs("quant_bits");
                    Operand scales = l.cast(l.in("Scales"), x.dtype());
                    Operand product = l.binary(Binary.Function.MULTIPLY, x,
                            Levels.along(l, scales, x.rank(), axis(l.attrs().getInt("quant_axis"),
                                    l.attrs().getInt("x_num_col_dims"), count)));
                    long range = Levels.most((int) bits[0]);
                    if (count == 2) {
                        range *= Levels.most((int) bits[1]);
                        product = l.binary(Binary.Function.MULTIPLY, product,
                                l.cast(l.in("Scales", 1), x.dtype()).reshape());
                    }
                    l.out("Out", Levels.divided(l, product, (double) range));
                }).register(registry);
    }

    private static int axis(int ofWeight, int ofProduct, int count) {
        return count == 1 ? ofWeight : ofProduct;
    }

    private static void inferChannels(Inference inference) {
        floating(inference);
        int count = inference.count("Scales");
        inference.require(count == 1 || count == 2, "Scales must hold one tensor or two, but holds %d", count);
        long[] bits = inference.attrs().getLongs("quant_bits");
        inference.require(bits.length >= count, "quant_bits must hold %d numbers, one for each tensor of Scales, "
                + "but is %s", count, Numbers.text(bits));
        for (int i = 0; i < count; i++) {
            Levels.checkBits(inference, "quant_bits", bits[i]);
        }
        long[] x = inference.dims("X");
        int axis;
        if (count == 1) {
            axis = Levels.channelAxis(inference);
        } else {
            axis = inference.attrs().getInt("x_num_col_dims");
            inference.require(axis >= 0 && axis < x.length,
                    "x_num_col_dims must be one of the %d dimensions of X, but is %d", x.length, axis);
            Levels.checkScales(inference, "Scales", 1, 1);
        }
        Levels.checkScales(inference, "Scales", 0, x[axis]);
        inference.same("X", "Out");
    }

    private static void ofWholeNumbers(Operations registry) {
        Operation.define("dequantize_abs_max").in("X", "Scale").out("Out").required("max_range", Attribute.Real.class)
                .infer(inference -> {
                    DType dtype = inference.dtype("X");
                    inference.require(dtype == DType.INT8 || dtype == DType.INT16, "X must be int8 or int16, but is %s",
                            dtype);
                    Levels.checkNumber(inference, "Scale");
                    inference.set("Out", DType.FLOAT32, inference.dims("X"));
                }).lower(l -> {
                    Operand product = l.binary(Binary.Function.MULTIPLY, l.cast(l.in("X"), DType.FLOAT32),
                            l.cast(number(l), DType.FLOAT32));
                    l.out("Out", Levels.divided(l, product, l.attrs().getFloat("max_range")));
                }).register(registry);
    }

    /** A byte is the index of a number in a table, and the sign of that number. */
    private static void ofLogarithms(Operations registry) {
        Operation.define("dequantize_log").in("X", "Dict").out("Out").infer(inference -> {
            inference.require(inference.dtype("X") == DType.INT8, "X must be int8, but is %s", inference.dtype("X"));
            long size = Inference.size(inference.dims("Dict"));
            inference.require(inference.dtype("Dict") == DType.FLOAT32 && (size < 0 || size >= LOGARITHMS),
                    "Dict must hold %d numbers of type float32, but holds %d of %s", LOGARITHMS, size,
                    inference.dtype("Dict"));
            inference.set("Out", DType.FLOAT32, inference.dims("X"));
        }).lower(l -> {
            Operand x = l.cast(l.in("X"), DType.INT32);
            Operand negative = l.binary(Binary.Function.LESS, x, l.number(DType.INT32, 0));
            Operand index = l.run(new Where(), negative,
                    l.binary(Binary.Function.ADD, x, l.number(DType.INT32, LOGARITHMS)), x);
            Operand table = l.in("Dict").reshape(l.in("Dict").shape().size());
            Operand size = l.run(new Gather(0, Gather.NO_PADDING), table, index);
            l.out("Out", l.run(new Where(), negative, l.unary(Unary.Function.NEGATE, size), size));
        }).register(registry);
    }
}
