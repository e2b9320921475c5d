package io.seriatim.graph.ops.linalg;

import io.seriatim.graph.numerics.Householder;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Matrices as products of others. */
public final class DecompositionOperations {
    private DecompositionOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("qr").in("X").out("Q", "R").attr("mode", "reduced").infer(DecompositionOperations::qr)
                .lower(DecompositionOperations::qr)
                .grad("qr_grad(Q, Q@GRAD, R, R@GRAD, X) -> X@GRAD", DecompositionOperations::qrGradient,
                        DecompositionOperations::qrGradient)
                .register(registry);
    }

    private static void qr(Inference inference) {
        MatrixSteps.requireMatrices(inference, "X");
        DType dtype = inference.dtype("X");
        long[] dims = inference.dims("X");
        long[] leading = MatrixSteps.leading(dims);
        String mode = inference.attrs().getText("mode");
        inference.require(List.of("reduced", "complete", "r").contains(mode),
                "mode must be reduced, complete or r, but is '%s'", mode);
        long rows = dims[leading.length];
        long columns = dims[leading.length + 1];
        boolean known = rows >= 0 && columns >= 0;
        long least = known ? Math.min(rows, columns) : -1;
        boolean complete = mode.equals("complete");
        inference.set("Q", dtype,
                mode.equals("r") ? new long[]{0} : MatrixSteps.dims(leading, rows, complete ? rows : least));
        inference.set("R", dtype, MatrixSteps.dims(leading, complete ? rows : least, columns));
    }

    private static void qr(Lowering l) {
        boolean wantsQ = !l.attrs().getText("mode").equals("r");
        Operand q = l.temporary(l.outType("Q", 0).spec());
        Operand r = l.temporary(l.outType("R", 0).spec());
        l.call("qr", (in, out) -> factor(of(in, 0), wantsQ ? of(out, 0) : null, of(out, 1)), List.of(l.in("X")),
                List.of(q, r));
        l.out("Q", q);
        l.out("R", r);
    }

    private static Tensor of(List<? extends @Nullable Tensor> tensors, int index) {
        return Objects.requireNonNull(tensors.get(index));
    }

    private static void factor(Tensor x, @Nullable Tensor q, Tensor r) {
        int rows = dim(x, 2);
        int columns = dim(x, 1);
        int kept = dim(r, 2);
        double[] values = x.toDoubleArray();
        double[] allQ = new double[q == null ? 0 : Math.toIntExact(q.shape().size())];
        double[] allR = new double[Math.toIntExact(r.shape().size())];
        int size = rows * columns;
        int count = size == 0 ? 0 : values.length / size;
        for (int i = 0; i < count; i++) {
            Householder factors = Householder.of(Arrays.copyOfRange(values, i * size, (i + 1) * size), rows, columns);
            System.arraycopy(factors.upper(kept), 0, allR, i * kept * columns, kept * columns);
            if (q != null) {
                int width = dim(q, 1);
                System.arraycopy(factors.orthogonal(width), 0, allQ, i * rows * width, rows * width);
            }
        }
        Elements.write(allR, r);
        if (q != null) {
            Elements.write(allQ, q);
        }
    }

    private static int dim(Tensor tensor, int fromEnd) {
        Shape shape = tensor.shape();
        return Math.toIntExact(shape.dims()[shape.rank() - fromEnd]);
    }

    private static void qrGradient(Inference inference) {
        long[] dims = inference.dims("R");
        int rank = dims.length;
        boolean known = rank < 2 || (dims[rank - 1] >= 0 && dims[rank - 2] >= 0);
        String mode = inference.attrs().getText("mode");
        inference.require(!mode.equals("r") && rank >= 2 && (!known || dims[rank - 1] == dims[rank - 2]),
                "the gradient needs Q and a square R, but mode is '%s' and R is %s; use mode reduced and at least "
                        + "as many rows as columns",
                mode, Arrays.toString(dims));
        inference.same("X", "X@GRAD");
    }

    private static void qrGradient(Lowering l) {
        Operand r = l.in("R");
        Operand gradient = l.temporary(l.outType("X@GRAD", 0).spec());
        l.call("qr_grad", (in, out) -> qrGradient(of(in, 0), of(in, 1), of(in, 2), of(in, 3), of(out, 0)),
                List.of(l.in("Q"), r, l.in("Q@GRAD"), l.in("R@GRAD")), List.of(gradient));
        l.out("X@GRAD", gradient);
    }

    private static void qrGradient(Tensor q, Tensor r, Tensor ofQ, Tensor ofR, Tensor out) {
        int rows = dim(q, 2);
        int n = dim(r, 1);
        double[] result = new double[Math.toIntExact(out.shape().size())];
        int count = result.length == 0 ? 0 : result.length / (rows * n);
        for (int i = 0; i < count; i++) {
            double[] gradient = Householder.gradient(part(q, i, rows * n), part(r, i, n * n), part(ofQ, i, rows * n),
                    part(ofR, i, n * n), rows, n);
            System.arraycopy(gradient, 0, result, i * rows * n, rows * n);
        }
        Elements.write(result, out);
    }

    private static double[] part(Tensor tensor, int index, int size) {
        return Arrays.copyOfRange(tensor.toDoubleArray(), index * size, (index + 1) * size);
    }
}
