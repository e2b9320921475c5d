package io.seriatim.tensor.computation;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import org.jspecify.annotations.Nullable;

/**
 * The gradient of dropout. Inputs dy, mask; output dx = dy · mask · scale.
 *
 * @param forward
 *            the forward computation
 */
public record DropoutGrad(Dropout forward) implements Computation {
    @Override
    public String operation() {
        return "dropout_grad";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, 2, 2);
        TensorSpec dy = in.get(0, "dy");
        TensorSpec mask = in.get(1, "mask");
        in.floating(dy, "dy");
        in.require(mask.dtype() == DType.UINT8 && mask.shape().equals(dy.shape()),
                "the mask must be uint8 of dy's shape, but is %s", mask);
        return new TensorSpec[]{dy.rowMajor()};
    }

    @Override
    public boolean inPlace(int input, @Nullable TensorSpec... arguments) {
        return input == 0 && Operands.alike(input, 2, arguments);
    }
}
