package io.seriatim.graph.quantization;

import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The operations of PaddleSlim's older files: activations are rounded to levels in floating-point numbers by
 * fake_quantize operations, multiplied by levels of weights, and the sums are scaled by fake_dequantize operations.
 */
final class FakeQuantization {
    private static final Set<String> QUANTIZE = Set.of("fake_quantize_range_abs_max",
            "fake_quantize_moving_average_abs_max");
    private static final Set<String> WITH_STATE = Set.of("fake_quantize_range_abs_max",
            "fake_quantize_moving_average_abs_max", "fake_quantize_dequantize_moving_average_abs_max",
            "moving_average_abs_max_scale");
    private static final String OF_TENSOR = "fake_dequantize_max_abs";
    private static final String OF_CHANNELS = "fake_channel_wise_dequantize_max_abs";
    private static final int BITS = 8;

    /** The scales of a product: those of the weights are null if they are part of the divisor. */
    record Scales(String activations, @Nullable String weights, float divisor) {
    }

    private FakeQuantization() {
    }

    /** The variables that an operation changes: in a test, scales and their state are named as outputs but kept. */
    static List<String> written(OpDesc op) {
        return WITH_STATE.contains(op.type()) && isTest(op) ? op.output("Out") : op.outputNames();
    }

    private static boolean isTest(OpDesc op) {
        return op.attribute("is_test") instanceof Attribute.Bool(boolean test) && test;
    }

    /** Whether an operation scales the sums of a product of levels. */
    static boolean isOfProduct(OpDesc op) {
        return op.type().equals(OF_TENSOR) || op.type().equals(OF_CHANNELS);
    }

    /** Whether an operation rounds numbers to levels with a scale that stays as it is. */
    static boolean quantizes(OpDesc op) {
        return QUANTIZE.contains(op.type()) && isTest(op) && op.input("X").size() == 1
                && op.input("InScale").size() == 1 && bits(op) >= 2 && bits(op) <= BITS;
    }

    private static int bits(OpDesc op) {
        return number(op, "bit_length", BITS);
    }

    private static int number(OpDesc op, String name, int byDefault) {
        return op.attribute(name) instanceof Attribute.Int(int value) ? value : byDefault;
    }

    /**
     * The scales with which sums are multiplied; null if they are others than those of the activations and of the
     * output channels.
     *
     * @param quantize
     *            what writes the activations
     * @param product
     *            the product
     * @param dequantize
     *            what reads the sums
     * @param sums
     *            the sums
     */
    static @Nullable Scales scales(OpDesc quantize, OpDesc product, OpDesc dequantize, VarDesc sums) {
        if (!quantizes(quantize) || dequantize.input("X").size() != 1 || dequantize.output("Out").size() != 1) {
            return null;
        }
        String scale = quantize.input("InScale").getFirst();
        if (dequantize.type().equals(OF_TENSOR)) {
            boolean fits = dequantize.input("Scale").equals(List.of(scale))
                    && dequantize.attribute("max_range") instanceof Attribute.Real(float range) && range > 0
                    && Float.isFinite(range);
            return fits && dequantize.attribute("max_range") instanceof Attribute.Real(float range)
                    ? new Scales(scale, null, range)
                    : null;
        }
        List<String> scales = dequantize.input("Scales");
        if (!dequantize.type().equals(OF_CHANNELS) || scales.size() != 2 || !scales.get(1).equals(scale)
                || !(dequantize.attribute("quant_bits") instanceof Attribute.Ints(List<Integer> bits))
                || bits.size() < 2 || bits.stream().anyMatch(each -> each < 2 || each > BITS)
                || number(dequantize, "x_num_col_dims", 1) != channels(product, sums)) {
            return null;
        }
        return new Scales(scale, scales.getFirst(), (float) most(bits.get(0)) * most(bits.get(1)));
    }

    private static int most(int bits) {
        return (1 << (bits - 1)) - 1;
    }

    /** The axis of the output channels; −1 if it is not known. */
    private static int channels(OpDesc product, VarDesc sums) {
        int rank = sums.type() instanceof VarType.Dense dense ? dense.tensor().dims().size() : 0;
        if (product.type().contains("conv")) {
            return product.attribute("data_format") instanceof Attribute.Text(String format)
                    && format.equals("NHWC") ? rank - 1 : 1;
        }
        return rank - 1;
    }
}
