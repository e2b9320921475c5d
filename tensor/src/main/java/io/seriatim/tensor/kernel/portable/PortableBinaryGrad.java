package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.LoopNest;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.BinaryGrad;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.function.FloatLoops;
import io.seriatim.tensor.kernel.portable.function.FloatPowers;
import io.seriatim.tensor.numerics.Power;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The gradients of functions of two elements: a result's gradient is summed, in double, over the elements for which the
 * operand was repeated.
 */
final class PortableBinaryGrad {
    private static final PortableKernel.Body NOTHING = (_, _) -> {
        // This gradient is not wanted.
    };

    private static final Elementwise.Tile NEGATIVE = new Elementwise.Tile() {
        @Override
        public void floats(KernelContext context, int count) {
            FloatLoops.unary(Unary.Function.NEGATE, 0, 0, context.floats(0), context.floats(1), count);
        }

        @Override
        public void doubles(KernelContext context, int count) {
            for (int i = 0; i < count; i++) {
                context.doubles(1)[i] = -context.doubles(0)[i];
            }
        }
    };

    private PortableBinaryGrad() {
    }

    /** One of the two gradients: loops over its elements, and for each over where it was repeated. */
    private record Side(boolean left, LoopNest own, LoopNest repeats) {
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
            return new Side(left, LoopNest.of(Shape.of(own), strides), LoopNest.of(Shape.of(repeated), strides));
        }
    }

    static Kernel of(BinaryGrad grad, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        TensorSpec y = Objects.requireNonNull(arguments[1]);
        TensorSpec dout = Objects.requireNonNull(arguments[2]);
        TensorSpec dx = arguments[3];
        TensorSpec dy = arguments[4];
        // A comparison has no gradient; that is checked here, before the first run.
        derivative(grad.function(), true, 1, 1);
        PortableKernel.Body left = dx == null ? NOTHING : side(grad.function(), true, arguments, x, dout, dx);
        PortableKernel.Body right = dy == null ? NOTHING : side(grad.function(), false, arguments, y, dout, dy);
        // dx is computed last, since it may share memory with an operand that dy needs, too.
        return PortableKernel.of((all, context) -> {
            right.run(all, context);
            left.run(all, context);
        });
    }

    /** One of the two gradients, in the cheapest way that its shape and function allow. */
    private static PortableKernel.Body side(Binary.Function function, boolean left, @Nullable TensorSpec[] arguments,
            TensorSpec operand,
            TensorSpec dout, TensorSpec gradient) {
        int slot = left ? 3 : 4;
        if (operand.shape().equals(dout.shape())) {
            Elementwise walk = Elementwise.of(dout.dtype().arithmetic(), gradient, arguments[0], arguments[1],
                    arguments[2]);
            Elementwise.Tile tile = new Slope(function, left);
            return (all, context) -> walk.run(new Tensor[]{all.get(0), all.get(1), all.get(2), all.get(slot)}, context,
                    tile);
        }
        if (function == Binary.Function.ADD || function == Binary.Function.SUBTRACT) {
            return sum(operand, dout, gradient, slot, function == Binary.Function.SUBTRACT && !left);
        }
        Side side = Side.of(left, Objects.requireNonNull(arguments[0]), Objects.requireNonNull(arguments[1]), dout,
                gradient);
        return (all, _) -> run(function, side, all, all.get(slot));
    }

    /** If the slope is 1 or −1 everywhere, the gradients are only summed over repetitions. */
    private static PortableKernel.Body sum(TensorSpec operand, TensorSpec dout, TensorSpec gradient, int slot,
            boolean negative) {
        int rank = dout.shape().rank();
        int added = rank - operand.shape().rank();
        long[] dims = dout.shape().dims();
        List<Integer> axes = new ArrayList<>();
        for (int i = 0; i < rank; i++) {
            if (i < added || operand.shape().dim(i - added) == 1) {
                axes.add(i);
                dims[i] = 1;
            }
        }
        long[] own = gradient.strides();
        long[] strides = new long[rank];
        System.arraycopy(own, 0, strides, added, own.length);
        TensorSpec wide = new TensorSpec(gradient.dtype(), Shape.of(dims), Layout.strided(strides));
        Kernel reduction = PortableReduction.forward(new Reduction(Reduction.Function.SUM, axes, true),
                new TensorSpec[]{dout, wide});
        Elementwise walk = Elementwise.of(gradient.dtype().arithmetic(), gradient, gradient);
        return (all, context) -> {
            Tensor target = all.get(slot);
            reduction.run(new Tensor[]{all.get(2), new Tensor(target.buffer(), target.offset(), wide)}, context);
            if (negative) {
                walk.run(new Tensor[]{target, target}, context, NEGATIVE);
            }
        };
    }

    /** A tile of slopes times the result's gradient, for an operand that is not repeated. */
    private record Slope(Binary.Function function, boolean left) implements Elementwise.Tile {
        @Override
        public void floats(KernelContext context, int count) {
            float[] x = context.floats(0);
            float[] y = context.floats(1);
            float[] dout = context.floats(2);
            float[] to = context.floats(3);
            switch (function) {
                case ADD -> System.arraycopy(dout, 0, to, 0, count);
                case SUBTRACT -> FloatLoops.unary(Unary.Function.LINEAR, left ? 1 : -1, 0, dout, to, count);
                case MULTIPLY -> FloatLoops.binary(Binary.Function.MULTIPLY, dout, left ? y : x, to, count);
                case POWER -> {
                    if (left) {
                        ofBase(x, y, dout, to, count);
                    } else {
                        each(x, y, dout, to, count);
                    }
                }
                default -> each(x, y, dout, to, count);
            }
        }

        private void each(float[] x, float[] y, float[] dout, float[] to, int count) {
            for (int i = 0; i < count; i++) {
                to[i] = (float) (dout[i] * derivative(function, left, x[i], y[i]));
            }
        }

        private static float ofBase(float x, float y, float dout) {
            float lessened = y - 1;
            return y != 0 && lessened == y - 1.0
                    ? (float) (dout * (y * FloatPowers.unrounded(x, lessened)))
                    : (float) (dout * derivative(Binary.Function.POWER, true, x, y));
        }

        /**
         * The exponents are mostly one number, and that is 2 or 3. Each element's gradient follows from its operands
         * alone: its bits must not depend on how elements are divided into tiles.
         */
        private static void ofBase(float[] x, float[] y, float[] dout, float[] to, int count) {
            boolean isSquare = true;
            boolean isCube = true;
            for (int i = 0; i < count; i++) {
                isSquare &= y[i] == 2;
                isCube &= y[i] == 3;
            }
            if (isSquare) {
                for (int i = 0; i < count; i++) {
                    to[i] = (float) (dout[i] * (2.0 * x[i]));
                }
            } else if (isCube) {
                for (int i = 0; i < count; i++) {
                    to[i] = (float) (dout[i] * (3.0 * ((double) x[i] * x[i])));
                }
            } else {
                for (int i = 0; i < count; i++) {
                    to[i] = ofBase(x[i], y[i], dout[i]);
                }
            }
        }

        @Override
        public void doubles(KernelContext context, int count) {
            for (int i = 0; i < count; i++) {
                context.doubles(3)[i] = context.doubles(2)[i]
                        * derivative(function, left, context.doubles(0)[i], context.doubles(1)[i]);
            }
        }
    }

    private static void run(Binary.Function function, Side side, PortableKernel.Arguments all, Tensor gradient) {
        LoopNest own = side.own();
        for (long row = 0; row < own.rows(); row++) {
            for (long column = 0; column < own.rowLength(); column++) {
                double sum = sum(function, side, all, row, column);
                long element = own.offset(3, row) + column * own.rowStride(3);
                Doubles.set(gradient.memory(), gradient.dtype(), gradient.offset() + element * gradient.dtype().bytes(),
                        sum);
            }
        }
    }

    private static double sum(Binary.Function function, Side side, PortableKernel.Arguments all, long row,
            long column) {
        LoopNest repeats = side.repeats();
        double sum = 0;
        for (long r = 0; r < repeats.rows(); r++) {
            for (long i = 0; i < repeats.rowLength(); i++) {
                double x = value(all.get(0), 0, side, row, column, r, i);
                double y = value(all.get(1), 1, side, row, column, r, i);
                sum += value(all.get(2), 2, side, row, column, r, i) * derivative(function, side.left(), x, y);
            }
        }
        return sum;
    }

    private static double value(Tensor tensor, int operand, Side side, long row, long column, long repeatedRow,
            long repeatedColumn) {
        long element = side.own().offset(operand, row) + column * side.own().rowStride(operand)
                + side.repeats().offset(operand, repeatedRow)
                + repeatedColumn * side.repeats().rowStride(operand);
        return Doubles.get(tensor.memory(), tensor.dtype(), tensor.offset() + element * tensor.dtype().bytes());
    }

    private static double towardsZero(double x) {
        return x < 0 ? Math.ceil(x) : Math.floor(x);
    }

    private static double derivative(Binary.Function function, boolean left, double x, double y) {
        return switch (function) {
            case ADD -> 1;
            case SUBTRACT -> left ? 1 : -1;
            case MULTIPLY -> left ? y : x;
            case DIVIDE -> left ? 1 / y : -x / (y * y);
            case MAXIMUM -> x == y ? 0.5 : x > y == left ? 1 : 0;
            case MINIMUM -> x == y ? 0.5 : x < y == left ? 1 : 0;
            case PRELU -> left ? x < 0 ? y : 1 : Math.min(x, 0);
            case POWER -> left ? y == 0 ? 0 : y * Power.of(x, y - 1) : Power.of(x, y) * (x > 0 ? Math.log(x) : 0);
            case MODULO -> left ? 1 : -Math.floor(x / y);
            case REMAINDER -> left ? 1 : -towardsZero(x / y);
            case FLOOR_DIVIDE -> 0;
            default -> throw new IllegalArgumentException("binary_grad: " + function + " has no gradient");
        };
    }
}
