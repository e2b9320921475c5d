package io.seriatim.mxnet.operation;

import io.seriatim.tensor.Tensor;

/** The area that two boxes share, relative to that which both cover. */
final class BoxOverlaps {
    private BoxOverlaps() {
    }

    /** Of each box of the one with each of the other. */
    static double[] of(boolean center, Tensor x, Tensor y) {
        double[] a = x.toDoubleArray();
        double[] b = y.toDoubleArray();
        double[] out = new double[Math.multiplyExact(a.length / 4, b.length / 4)];
        for (int i = 0; i < a.length / 4; i++) {
            for (int j = 0; j < b.length / 4; j++) {
                out[i * (b.length / 4) + j] = of(center, a, 4 * i, b, 4 * j);
            }
        }
        return out;
    }

    static float of(boolean center, double[] a, int i, double[] b, int j) {
        float w = shared(center, a, i, b, j);
        float h = shared(center, a, i + 1, b, j + 1);
        float both = w * h;
        float all = area(center, a, i) + area(center, b, j) - both;
        return all <= 0 ? 0 : both / all;
    }

    private static float shared(boolean center, double[] a, int i, double[] b, int j) {
        float left = Math.max(low(center, a, i), low(center, b, j));
        float right = Math.min(high(center, a, i), high(center, b, j));
        return Math.max(0, right - left);
    }

    private static float low(boolean center, double[] box, int at) {
        return center ? (float) box[at] - (float) box[at + 2] / 2 : (float) box[at];
    }

    private static float high(boolean center, double[] box, int at) {
        return center ? (float) box[at] + (float) box[at + 2] / 2 : (float) box[at + 2];
    }

    private static float area(boolean center, double[] box, int at) {
        float w = center ? (float) box[at + 2] : (float) box[at + 2] - (float) box[at];
        float h = center ? (float) box[at + 3] : (float) box[at + 3] - (float) box[at + 1];
        return w < 0 || h < 0 ? 0 : w * h;
    }
}
