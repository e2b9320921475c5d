package io.seriatim.onnx.schema;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;

/** Row-major operands for functions that run on the host. */
final class Copies {
    private Copies() {
    }

    static Operand rowMajor(Lowering l, Operand operand) {
        return operand.isRowMajor() ? operand : l.run(Copy.PLAIN, operand);
    }

    static Operand temporary(Lowering l, Operand like) {
        return l.temporary(TensorSpec.of(like.dtype(), like.shape()));
    }

    /** Copies between row-major tensors of one type and size. */
    static void into(Tensor from, Tensor to) {
        to.elements().copyFrom(from.elements());
    }
}
