package io.seriatim.mxnet.operation;

import io.seriatim.graph.op.Attrs;
import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.Tensor;

/** Numbers of attributes and results. */
final class Results {
    private Results() {
    }

    static void write(Tensor to, double[] values) {
        Doubles.store(to, 0, values, 0, values.length);
    }

    static float[] floats(Attrs attrs, String name) {
        double[] values = attrs.getDoubles(name);
        float[] floats = new float[values.length];
        for (int i = 0; i < floats.length; i++) {
            floats[i] = (float) values[i];
        }
        return floats;
    }
}
