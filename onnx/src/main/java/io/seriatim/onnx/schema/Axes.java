package io.seriatim.onnx.schema;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Inference;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The axes on which an operation works. */
final class Axes {
    private Axes() {
    }

    /**
     * The axes that the operand Axes or the attribute axes gives.
     *
     * @return null if they are computed; then the dimensions of the result are set to unknown
     */
    static long @Nullable [] known(Inference inference) {
        long[] axes = inference.has("Axes") ? inference.values("Axes") : inference.attrs().getLongs("axes");
        if (axes == null) {
            ArgType x = inference.in("X");
            long[] dims = x.dims();
            Arrays.fill(dims, -1);
            inference.set("Out", x.dtype(), dims);
        }
        return axes;
    }
}
