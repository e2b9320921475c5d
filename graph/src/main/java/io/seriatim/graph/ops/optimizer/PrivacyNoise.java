package io.seriatim.graph.ops.optimizer;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import java.util.List;
import java.util.Objects;

/**
 * The scale and the normal number of a differentially private step, as Paddle computes them: the number comes by the
 * polar method from a generator of its own, a linear congruence (Park, Miller, 1988; minstd_rand of C++), that starts
 * with the seed in each step.
 */
final class PrivacyNoise {
    private static final long MULTIPLIER = 48271;
    private static final long MODULUS = 0x7FFFFFFFL;
    private static final double RANGE = MODULUS - 1;

    private final DType dtype;
    private long state;

    private PrivacyNoise(DType dtype, long seed) {
        this.dtype = dtype;
        state = Math.max(1, Long.remainderUnsigned(seed, MODULUS));
    }

    /** A number without dimensions. Paddle takes the time for seed 0, here it is the key of the run. */
    static Operand of(Lowering l, DType dtype) {
        int seed = l.attrs().getInt("seed");
        float sigma = l.attrs().getFloat("sigma");
        Operand noise = l.temporary(TensorSpec.of(dtype));
        List<Operand> inputs = seed == 0 ? List.of(l.randomKey()) : List.of();
        l.call("dpsgd", (in, out) -> {
            long start = Integer.toUnsignedLong(seed);
            if (seed == 0) {
                long[] key = Objects.requireNonNull(in.getFirst()).toLongArray();
                start = ((key[0] * 0x9E3779B97F4A7C15L + key[1]) * 0xD1B54A32D192ED03L) >>> 24;
            }
            float normal = new PrivacyNoise(dtype, start).normal();
            Elements.write(new double[]{normal * sigma}, Objects.requireNonNull(out.getFirst()));
        }, inputs, List.of(noise));
        return noise;
    }

    /** What the gradient is divided by: its norm, summed in single precision, over the largest that is allowed. */
    static Operand scale(Lowering l, Operand gradient) {
        float clip = l.attrs().getFloat("clip");
        Operand scale = l.temporary(TensorSpec.of(gradient.dtype()));
        l.call("dpsgd", (in, out) -> {
            float sum = 0;
            for (double element : Objects.requireNonNull(in.getFirst()).toDoubleArray()) {
                sum = (float) (sum + element * element);
            }
            float norm = (float) Math.sqrt(sum);
            double divisor = norm > clip ? norm / clip : 1;
            Elements.write(new double[]{divisor}, Objects.requireNonNull(out.getFirst()));
        }, List.of(gradient), List.of(scale));
        return scale;
    }

    private long next() {
        state = state * MULTIPLIER % MODULUS;
        return state - 1;
    }

    /** Evenly from 0 to below 1: two draws give a number of double precision. */
    private float uniform() {
        if (dtype != DType.FLOAT64) {
            return Math.min(next() / (float) RANGE, Math.nextDown(1f));
        }
        double low = next();
        return (float) Math.min((low + next() * RANGE) / (RANGE * RANGE), Math.nextDown(1d));
    }

    private float normal() {
        while (true) {
            float x = 2 * uniform() - 1;
            float y = 2 * uniform() - 1;
            float square = x * x + y * y;
            if (square < 1 && square != 0) {
                return x * (float) Math.sqrt(-2 * (float) Math.log(square) / square);
            }
        }
    }
}
