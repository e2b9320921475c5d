package io.seriatim.graph.ops.linalg;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.MatMul;
import java.util.Arrays;
import java.util.List;

/** integer_matmul: a product of 8-bit levels whose result are the sums, in int32. */
public final class IntegerProductOperations {
    private IntegerProductOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("integer_matmul").in("X", "Y").out("Out").infer(IntegerProductOperations::infer)
                .lower(l -> l.into(MatMul.PLAIN, List.of(l.in("X"), l.in("Y")), List.of(l.output("Out"))))
                .register(registry);
    }

    private static void infer(Inference inference) {
        DType dtype = inference.dtype("X");
        inference.require((dtype == DType.INT8 || dtype == DType.UINT8) && inference.dtype("Y") == DType.INT8,
                "X must be int8 or uint8 and Y int8, but they are %s and %s", dtype, inference.dtype("Y"));
        long[] x = inference.dims("X");
        long[] y = inference.dims("Y");
        inference.require(x.length >= 2 && y.length >= 2, "X and Y must have two dimensions or more");
        ProductInference.inner(inference, x[x.length - 1], y[y.length - 2]);
        long[] batch = inference.broadcast(Arrays.copyOf(x, x.length - 2), Arrays.copyOf(y, y.length - 2));
        long[] out = Arrays.copyOf(batch, batch.length + 2);
        out[batch.length] = x[x.length - 2];
        out[batch.length + 1] = y[y.length - 1];
        inference.set("Out", DType.INT32, out);
    }
}
