package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Softmax with cross entropy along an axis. Inputs logits; labels: class numbers (int32 or int64) of the logits' shape
 * with the axis of length 1, or probabilities of the logits' type and shape. Outputs the softmax, and the loss with the
 * axis of length 1: −log softmax at the label, or −Σ label · log softmax; 0 where the label is the one to ignore.
 *
 * @param axis
 *            of the classes, from −rank
 * @param soft
 *            whether labels are probabilities
 * @param ignoreIndex
 *            a label without loss
 */
public record CrossEntropy(int axis, boolean soft, long ignoreIndex) implements Computation {
    @Override
    public String operation() {
        return "cross_entropy";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 2, 2);
        TensorSpec logits = in.get(0, "logits");
        TensorSpec labels = in.get(1, "labels");
        in.floating(logits, "logits");
        in.require(logits.shape().rank() > 0, "logits need at least one dimension");
        Shape loss = logits.shape().with(axis, 1);
        checkLabels(in, labels, logits, loss);
        return new TensorSpec[]{logits.rowMajor(), TensorSpec.of(logits.dtype(), loss)};
    }

    void checkLabels(Operands in, TensorSpec labels, TensorSpec logits, Shape loss) {
        if (soft) {
            in.sameType(logits, labels, "logits and labels that are probabilities");
            in.require(labels.shape().equals(logits.shape()),
                    "labels that are probabilities must have the logits' shape");
        } else {
            in.whole(labels, "labels");
            in.require(labels.shape().equals(loss), "labels must have the shape %s, but have %s", loss, labels.shape());
        }
    }

    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        TensorSpec logits = arguments[0];
        return logits == null ? List.of() : Split.elementwiseBut(logits.shape().axis(axis), logits.shape(), arguments);
    }
}
