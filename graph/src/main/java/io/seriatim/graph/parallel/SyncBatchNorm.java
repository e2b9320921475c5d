package io.seriatim.graph.parallel;

import io.seriatim.device.Place;
import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import java.util.List;

/** Normalisation over the rows of all ranks in place of each rank's own. */
final class SyncBatchNorm {
    private static final String SECOND = "batch_norm_grad_grad";

    private SyncBatchNorm() {
    }

    /** The operation that takes the place of one of a rank alone: the operation itself if it is no normalisation. */
    static OpDesc of(OpDesc op, List<Place> places) {
        if (op.type().equals(SECOND)) {
            throw new IllegalArgumentException("Batch normalisation over all ranks has no second gradient, but the "
                    + "program has one: take the statistics of each rank's rows");
        }
        if ((!op.type().equals("batch_norm") && !op.type().equals("batch_norm_grad")) || isOfRun(op)) {
            return op;
        }
        if (places.size() > 1) {
            throw new IllegalArgumentException("Batch normalisation over all ranks takes one place for each, but there "
                    + "are " + places + ": start more ranks with one place each");
        }
        OpDesc.Builder sync = OpDesc.of("sync_" + op.type());
        op.inputs().forEach(sync::in);
        op.outputs().forEach(sync::out);
        for (Attribute.Named each : op.attributes()) {
            sync.attr(each.name(), each.value());
        }
        return sync.build().builtWith(op);
    }

    /** Whether it takes the running statistics. */
    private static boolean isOfRun(OpDesc op) {
        Attrs attrs = new Attrs(op, Operations.system().get(op.type()));
        return attrs.getBool("use_global_stats")
                || (attrs.getBool("is_test") && !attrs.getBool("trainable_statistics"));
    }
}
