package io.seriatim.graph.ops.quantization;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Rounding;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Unary;
import java.util.Arrays;
import java.util.List;

/** quant_linear: numbers rounded to bytes times a weight of bytes, with exact sums, which are then scaled back. */
public final class QuantizedProductOperations {
    private QuantizedProductOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("quant_linear").in("x", "w", "bias?").out("out").attr("in_num_col_dims", 1)
                .attr("activation_type", "").attr("padding_weights", false).attr("scale_in", 1f)
                .attr("scale_weights", new float[]{1}).attr("quant_round_type", 1).attr("quant_max_bound", 127f)
                .attr("quant_min_bound", -127f)
                .refuse((_, attrs) -> attrs.getBool("padding_weights")
                        ? "weights with padding are for one of PaddlePaddle's libraries: save the model without them"
                        : null)
                .infer(QuantizedProductOperations::infer).lower(QuantizedProductOperations::lower).register(registry);
    }

    private static void infer(Inference inference) {
        long[] x = inference.dims("x");
        long[] w = inference.dims("w");
        int leading = inference.attrs().getInt("in_num_col_dims");
        inference.require(inference.dtype("x").isFloating() && inference.dtype("w") == DType.INT8,
                "x must be of a floating-point type and w int8, but they are %s and %s", inference.dtype("x"),
                inference.dtype("w"));
        inference.require(leading >= 1 && leading < x.length && w.length == 2,
                "in_num_col_dims must be from 1 to %d and w a matrix, but they are %d and %s", x.length - 1, leading,
                Numbers.text(w));
        long inner = Inference.size(Arrays.copyOfRange(x, leading, x.length));
        inference.require(inner < 0 || w[0] < 0 || inner == w[0], "the rows of x have %d numbers, but w has %d rows",
                inner, w[0]);
        double[] scales = inference.attrs().getDoubles("scale_weights");
        inference.require(w[1] < 0 || scales.length == w[1] || scales.length == 1,
                "scale_weights must hold a number for each of the %d columns of w, but holds %d", w[1],
                scales.length);
        String activation = inference.attrs().getText("activation_type");
        inference.require(activation.isEmpty() || activation.equals("relu"),
                "activation_type must be empty or relu, but is '%s'", activation);
        if (inference.has("bias")) {
            Levels.checkScales(inference, "bias", 0, w[1]);
        }
        Rounding.checkBounds(inference);
        long[] out = Arrays.copyOf(x, leading + 1);
        out[leading] = w[1];
        inference.set("out", inference.dtype("x"), out);
    }

    private static void lower(Lowering l) {
        Operand w = l.in("w");
        long rows = l.in("x").shape().size() / Math.max(1, w.dim(0));
        float most = l.attrs().getFloat("quant_max_bound");
        float scale = l.attrs().getFloat("scale_in");
        Operand bytes = Rounding.toBytes(l, l.in("x").reshape(rows, w.dim(0)), scale,
                l.attrs().getFloat("quant_min_bound"), most, l.attrs().getLong("quant_round_type") == 1);
        Operand sums = l.temporary(TensorSpec.of(DType.FLOAT32, rows, w.dim(1)));
        l.into(MatMul.PLAIN, List.of(bytes, w), List.of(sums));
        double[] divisors = Arrays.stream(l.attrs().getDoubles("scale_weights"))
                .map(each -> (double) most * most * scale * each).toArray();
        Operand result = l.binary(Binary.Function.DIVIDE, sums,
                l.constant(Tensor.of(DType.FLOAT32, divisors, divisors.length)));
        if (l.has("bias")) {
            result = l.binary(Binary.Function.ADD, result, l.cast(l.in("bias"), DType.FLOAT32).reshape(w.dim(1)));
        }
        if (l.attrs().getText("activation_type").equals("relu")) {
            result = l.unary(Unary.Function.RELU, result);
        }
        l.out("out", result.reshape(l.outType("out", 0).dims()));
    }
}
