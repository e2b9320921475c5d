package io.seriatim.tensor.kernel.portable.function;

/**
 * The gradients of the gates of recurrent cells, in float32. Arrays hold the numbers of several sequences and have at
 * least {@link FloatGates#LEAST} elements, of which all loops compute as many. Each loop touches few arrays, so that
 * the JIT vectorises it.
 */
public final class FloatGateGrads {
    /** The least positive NaN. */
    private static final int NAN = 0x7f80_0001;
    private static final int SIGN = 31;

    private FloatGateGrads() {
    }

    private static int loop(int count) {
        return Math.max(count, FloatGates.LEAST);
    }

    /**
     * The output gate of an LSTM, h = o · tanh c.
     *
     * @param dh
     *            the gradient of the state
     * @param squashed
     *            tanh c
     * @param output
     *            the gate; gets its gradient before the logistic function
     * @param dc
     *            the gradient of the cell from later steps; that through the state is added
     * @param count
     *            how many
     */
    public static void output(float[] dh, float[] squashed, float[] output, float[] dc, int count) {
        int n = loop(count);
        for (int i = 0; i < n; i++) {
            float o = output[i];
            float t = squashed[i];
            float d = dh[i];
            dc[i] += d * o * (1 - t * t);
            output[i] = d * t * o * (1 - o);
        }
    }

    /**
     * The gates of the cell of an LSTM, c = f · before + i · g.
     *
     * @param dc
     *            the gradient of the cell; becomes that of the cell before the step
     * @param input
     *            i; gets its gradient before the logistic function
     * @param forget
     *            f; gets its gradient before the logistic function
     * @param candidate
     *            g; gets its gradient before the hyperbolic tangent
     * @param before
     *            the cell before the step
     * @param count
     *            how many
     */
    public static void cell(float[] dc, float[] input, float[] forget, float[] candidate, float[] before, int count) {
        int n = loop(count);
        for (int i = 0; i < n; i++) {
            float d = dc[i];
            float in = input[i];
            float g = candidate[i];
            float f = forget[i];
            input[i] = d * g * in * (1 - in);
            candidate[i] = d * in * (1 - g * g);
            forget[i] = d * before[i] * f * (1 - f);
            dc[i] = d * f;
        }
    }

    /**
     * What a GRU mixes, h = z · before + (1 − z) · n.
     *
     * @param dh
     *            the gradient of the state
     * @param keep
     *            z; gets its gradient before the logistic function
     * @param candidate
     *            n; gets its gradient before the hyperbolic tangent
     * @param before
     *            the state before the step
     * @param kept
     *            gets the gradient of the state before, as far as it was kept
     * @param count
     *            how many
     */
    public static void mix(float[] dh, float[] keep, float[] candidate, float[] before, float[] kept, int count) {
        int n = loop(count);
        for (int i = 0; i < n; i++) {
            float d = dh[i];
            float z = keep[i];
            float c = candidate[i];
            kept[i] = d * z;
            keep[i] = d * (before[i] - c) * z * (1 - z);
            candidate[i] = d * (1 - z) * (1 - c * c);
        }
    }

    /**
     * The reset gate of a GRU, r · value.
     *
     * @param gradient
     *            that of the product; gets that of the value
     * @param value
     *            what was reset
     * @param reset
     *            r; gets its gradient before the logistic function
     * @param count
     *            how many
     */
    public static void reset(float[] gradient, float[] value, float[] reset, int count) {
        int n = loop(count);
        for (int i = 0; i < n; i++) {
            float d = gradient[i];
            float r = reset[i];
            reset[i] = d * value[i] * r * (1 - r);
            gradient[i] = d * r;
        }
    }

    /**
     * The hyperbolic tangent y of a plain cell.
     *
     * @param dy
     *            its gradient
     * @param y
     *            the state
     * @param dx
     *            gets the gradient before the function
     * @param count
     *            how many
     */
    public static void tanh(float[] dy, float[] y, float[] dx, int count) {
        int n = loop(count);
        for (int i = 0; i < n; i++) {
            dx[i] = dy[i] * (1 - y[i] * y[i]);
        }
    }

    /**
     * The larger of a value and 0, y. The gradient passes where y is above 0, which is found without a branch.
     *
     * @param dy
     *            its gradient
     * @param y
     *            the state
     * @param dx
     *            gets the gradient before the function
     * @param count
     *            how many
     */
    public static void relu(float[] dy, float[] y, float[] dx, int count) {
        int n = loop(count);
        for (int i = 0; i < n; i++) {
            int bits = Float.floatToRawIntBits(y[i]);
            int positive = (-bits & ~bits & (bits - NAN)) >> SIGN;
            dx[i] = Float.intBitsToFloat(Float.floatToRawIntBits(dy[i]) & positive);
        }
    }
}
