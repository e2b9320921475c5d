package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.internal.Doubles;
import io.seriatim.tensor.internal.Nest;
import io.seriatim.tensor.kernel.Binary;
import io.seriatim.tensor.kernel.BinaryGrad;
import io.seriatim.tensor.kernel.Kernel;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The gradients of functions of two elements: a result's gradient is summed, in double, over the elements that the operand was repeated for. */
final class PortableBinaryGrad {
    private PortableBinaryGrad() {
    }

    /** One of the two gradients: loops over its elements, and for each over where it was repeated. */
    private record Side(boolean left, Nest own, Nest repeats) {
        /** Operands of both nests: x, y, dout, and the gradient itself. */
        static Side of(boolean left, TensorSpec x, TensorSpec y, TensorSpec dout, TensorSpec gradient) {
            Shape shape = dout.shape();
            TensorSpec operand = left ? x : y;
            long[] own = shape.dims();
            long[] repeated = shape.dims();
            int added = shape.rank() - operand.shape().rank();
            for (int i = 0; i < own.length; i++) {
                boolean repeats = i < added || operand.shape().dim(i - added) == 1;
                (repeats ? own : repeated)[i] = 1;
            }
            long[][] strides = {Tensor.broadcastStrides(x, shape), Tensor.broadcastStrides(y, shape), dout.strides(),
                    Tensor.broadcastStrides(gradient, shape)};
            return new Side(left, Nest.of(Shape.of(own), strides), Nest.of(Shape.of(repeated), strides));
        }
    }

    static Kernel of(BinaryGrad grad, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        TensorSpec y = Objects.requireNonNull(arguments[1]);
        TensorSpec dout = Objects.requireNonNull(arguments[2]);
        TensorSpec dx = arguments[3];
        TensorSpec dy = arguments[4];
        // A test has no gradient: found now, not at the first run.
        derivative(grad.function(), true, 1, 1);
        Side left = dx == null ? null : Side.of(true, x, y, dout, dx);
        Side right = dy == null ? null : Side.of(false, x, y, dout, dy);
        return PortableKernel.of((all, _) -> {
            if (left != null) {
                run(grad, left, all, all.get(3));
            }
            if (right != null) {
                run(grad, right, all, all.get(4));
            }
        });
    }

    private static void run(BinaryGrad grad, Side side, PortableKernel.Arguments all, Tensor gradient) {
        Nest own = side.own();
        for (long row = 0; row < own.rows(); row++) {
            for (long column = 0; column < own.rowLength(); column++) {
                double sum = sum(grad, side, all, row, column);
                long element = own.offset(3, row) + column * own.rowStride(3);
                Doubles.set(gradient.memory(), gradient.dtype(), gradient.offset() + element * gradient.dtype().bytes(), sum);
            }
        }
    }

    private static double sum(BinaryGrad grad, Side side, PortableKernel.Arguments all, long row, long column) {
        Nest repeats = side.repeats();
        double sum = 0;
        for (long r = 0; r < repeats.rows(); r++) {
            for (long i = 0; i < repeats.rowLength(); i++) {
                double x = value(all.get(0), 0, side, row, column, r, i);
                double y = value(all.get(1), 1, side, row, column, r, i);
                sum += value(all.get(2), 2, side, row, column, r, i) * derivative(grad.function(), side.left(), x, y);
            }
        }
        return sum;
    }

    private static double value(Tensor tensor, int operand, Side side, long row, long column, long repeatedRow, long repeatedColumn) {
        long element = side.own().offset(operand, row) + column * side.own().rowStride(operand)
                + side.repeats().offset(operand, repeatedRow)
                + repeatedColumn * side.repeats().rowStride(operand);
        return Doubles.get(tensor.memory(), tensor.dtype(), tensor.offset() + element * tensor.dtype().bytes());
    }

    private static double derivative(Binary.Function function, boolean left, double x, double y) {
        return switch (function) {
            case ADD -> 1;
            case SUBTRACT -> left ? 1 : -1;
            case MULTIPLY -> left ? y : x;
            case DIVIDE -> left ? 1 / y : -x / (y * y);
            case MAXIMUM -> x == y ? 0.5 : x > y == left ? 1 : 0;
            case MINIMUM -> x == y ? 0.5 : x < y == left ? 1 : 0;
            case POWER -> left ? y == 0 ? 0 : y * Math.pow(x, y - 1) : Math.pow(x, y) * (x > 0 ? Math.log(x) : 0);
            case MODULO -> left ? 1 : -Math.floor(x / y);
            case FLOOR_DIVIDE -> 0;
            default -> throw new IllegalArgumentException("binary_grad: " + function + " has no gradient");
        };
    }
}
