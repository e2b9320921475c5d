package io.seriatim.tensor.kernel;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A function of two elements. Inputs x, y, which broadcast, and one more for each {@link PostOp.Combine}; output of the broadcast shape, of x's type, or bool for comparisons and logic. */
public record Binary(Function function, List<PostOp> postOps) implements Computation {
    public enum Function {
        ADD, SUBTRACT, MULTIPLY, DIVIDE, MAXIMUM, MINIMUM, POWER, MODULO, FLOOR_DIVIDE, EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR;

        boolean isTest() {
            return ordinal() >= EQUAL.ordinal();
        }
    }

    public Binary {
        postOps = List.copyOf(postOps);
    }

    public static Binary of(Function function) {
        return new Binary(function, List.of());
    }

    @Override
    public String operation() {
        return "binary";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        int count = 2 + (int) postOps.stream().filter(PostOp.Combine.class::isInstance).count();
        Operands in = Operands.of(operation(), inputs, count, count);
        TensorSpec x = in.get(0, "x");
        TensorSpec y = in.get(1, "y");
        in.sameType(x, y, "x and y");
        Shape out;
        try {
            out = x.shape().broadcast(y.shape());
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(operation() + " " + function + ": " + e.getMessage(), e);
        }
        return new TensorSpec[]{TensorSpec.of(function.isTest() ? DType.BOOL : x.dtype(), out)};
    }
}
