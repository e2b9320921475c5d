package io.seriatim.graph.parallel;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;

/** Normalisation over the rows of all ranks in place of each rank's own, for ranks of one place. */
final class SyncBatchNorm {
    private static final String GRADIENT = "batch_norm_grad";
    private static final String SECOND = "batch_norm_grad_grad";

    private SyncBatchNorm() {
    }

    /** The operation that takes the place of one of a rank alone: the operation itself if it is no normalisation. */
    static OpDesc of(OpDesc op) {
        if (!isOfBatch(op)) {
            return op;
        }
        OpDesc.Builder sync = OpDesc.of("sync_" + op.type());
        op.inputs().forEach(sync::in);
        op.outputs().forEach(sync::out);
        for (Attribute.Named each : op.attributes()) {
            sync.attr(each.name(), each.value());
        }
        return sync.build().builtWith(op);
    }

    /** Whether an operation normalises with mean and variance of the batch, or is the gradient of such a one. */
    static boolean isOfBatch(OpDesc op) {
        if (op.type().equals(SECOND)) {
            throw new IllegalArgumentException(
                    "Batch normalisation over the rows of all places and ranks has no second "
                            + "gradient, but the program has one: take the statistics of each place's rows");
        }
        return (op.type().equals("batch_norm") || op.type().equals(GRADIENT)) && !isOfRun(op);
    }

    /** Whether it takes the running statistics. */
    private static boolean isOfRun(OpDesc op) {
        Attrs attrs = new Attrs(op, Operations.system().get(op.type()));
        return attrs.getBool("use_global_stats")
                || (attrs.getBool("is_test") && !attrs.getBool("trainable_statistics"));
    }
}
