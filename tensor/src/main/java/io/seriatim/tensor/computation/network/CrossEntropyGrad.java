package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The gradient of softmax with cross entropy. Inputs softmax, labels, dloss; output dlogits = dloss · (softmax −
 * label), where a class number stands for 1 at that class and 0 elsewhere; 0 where the label is the one to ignore.
 *
 * @param forward
 *            the forward computation
 */
public record CrossEntropyGrad(CrossEntropy forward) implements Computation {
    @Override
    public String operation() {
        return "cross_entropy_grad";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 3, 3);
        TensorSpec softmax = in.get(0, "softmax");
        TensorSpec labels = in.get(1, "labels");
        TensorSpec dloss = in.get(2, "dloss");
        in.floating(softmax, "softmax");
        Shape loss = softmax.shape().with(forward.axis(), 1);
        forward.checkLabels(in, labels, softmax, loss);
        in.sameType(softmax, dloss, "softmax and dloss");
        in.require(dloss.shape().equals(loss), "dloss must have the shape %s, but has %s", loss, dloss.shape());
        return new TensorSpec[]{softmax.rowMajor()};
    }

    @Override
    public boolean inPlace(int input, @Nullable TensorSpec... arguments) {
        return input == 0 && Operands.alike(input, 3, arguments);
    }

    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        return forward.splits(arguments);
    }
}
