package io.seriatim.graph.ops.linalg;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.linalg.MatrixSteps.Size;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.linalg.QrDecomposition;
import java.util.List;

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
        Operand x = l.in("X");
        Size ofR = Size.of(l.outType("R", 0));
        int rows = Math.toIntExact(ofR.rows());
        if (l.attrs().getText("mode").equals("r")) {
            l.out("Q", l.temporary(l.outType("Q", 0).spec()));
            l.out("R", MatrixSteps.run(l, ofR, in -> QrDecomposition.of(in.getFirst()).r(rows), x));
            return;
        }
        Size ofQ = Size.of(l.outType("Q", 0));
        int columns = Math.toIntExact(ofQ.columns());
        List<Operand> both = MatrixSteps.runAll(l, List.of(ofQ, ofR), in -> {
            QrDecomposition decomposition = QrDecomposition.of(in.getFirst());
            return List.of(decomposition.q(columns), decomposition.r(rows));
        }, x);
        l.out("Q", both.get(0));
        l.out("R", both.get(1));
    }

    private static void qrGradient(Inference inference) {
        long[] dims = inference.dims("R");
        int rank = dims.length;
        boolean known = rank < 2 || (dims[rank - 1] >= 0 && dims[rank - 2] >= 0);
        String mode = inference.attrs().getText("mode");
        inference.require(!mode.equals("r") && rank >= 2 && (!known || dims[rank - 1] == dims[rank - 2]),
                "the gradient needs Q and a square R, but mode is '%s' and R is %s; use mode reduced and at least "
                        + "as many rows as columns",
                mode, Numbers.text(dims));
        inference.same("X", "X@GRAD");
    }

    private static void qrGradient(Lowering l) {
        Operand q = l.in("Q");
        l.out("X@GRAD", MatrixSteps.runAs(l, Size.of(q),
                in -> QrDecomposition.gradient(in.get(0), in.get(1), in.get(2), in.get(3)),
                (steps, in) -> List.of(
                        MatrixGradients.ofQr(steps, in.get(0), in.get(1), in.get(2), in.get(3))),
                q, l.in("R"),
                l.in("Q@GRAD"), l.in("R@GRAD")));
    }
}
