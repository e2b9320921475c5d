package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.LoopNest;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.ComplexPart;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.UnaryGrad;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.function.ComplexFunctions;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Functions of complex numbers, one by one. Real and imaginary parts are loaded into tiles of their own and computed in
 * double precision; since a tile is loaded before it is stored, the output may be one of the inputs.
 */
final class ComplexElementwise extends PortableKernel {
    private final LoopNest nest;
    private final int inputs;
    private final boolean complexResult;
    private final Tile tile;

    /** Computes a tile: of input i, the parts are in the tiles 2i and 2i + 1, and those of the result follow. */
    @FunctionalInterface
    interface Tile {
        void compute(KernelContext context, int count);
    }

    private ComplexElementwise(LoopNest nest, int inputs, boolean complexResult, Tile tile) {
        this.nest = nest;
        this.inputs = inputs;
        this.complexResult = complexResult;
        this.tile = tile;
    }

    private static Kernel of(@Nullable TensorSpec[] arguments, Tile tile) {
        int inputs = arguments.length - 1;
        TensorSpec output = Objects.requireNonNull(arguments[inputs]);
        Shape shape = output.shape();
        long[][] strides = new long[arguments.length][];
        for (int i = 0; i < inputs; i++) {
            strides[i] = Tensor.broadcastStrides(Objects.requireNonNull(arguments[i]), shape);
        }
        strides[inputs] = output.strides();
        return new ComplexElementwise(LoopNest.of(shape, strides), inputs, output.dtype().isComplex(), tile);
    }

    static Kernel conjugate(@Nullable TensorSpec[] arguments) {
        return of(arguments, (context, count) -> {
            System.arraycopy(context.doubles(0), 0, context.doubles(2), 0, count);
            for (int i = 0; i < count; i++) {
                context.doubles(3)[i] = -context.doubles(1)[i];
            }
        });
    }

    static Kernel part(ComplexPart.Function function, @Nullable TensorSpec[] arguments) {
        boolean magnitude = function == ComplexPart.Function.MAGNITUDE;
        return of(arguments, (context, count) -> {
            double[] re = context.doubles(0);
            double[] im = context.doubles(1);
            double[] to = context.doubles(2);
            for (int i = 0; i < count; i++) {
                to[i] = magnitude ? Math.hypot(re[i], im[i]) : Math.atan2(im[i], re[i]);
            }
        });
    }

    static @Nullable Kernel unary(Unary unary, @Nullable TensorSpec[] arguments) {
        ComplexFunctions.Function function = ComplexFunctions.of(unary);
        return function == null ? null : of(arguments, (context, count) -> {
            double[] re = context.doubles(0);
            double[] im = context.doubles(1);
            double[] toRe = context.doubles(2);
            double[] toIm = context.doubles(3);
            double[] result = context.doubles(4);
            for (int i = 0; i < count; i++) {
                function.apply(re[i], im[i], result);
                toRe[i] = result[0];
                toIm[i] = result[1];
            }
        });
    }

    /** The gradient times the conjugate of the slope, at x or given the result y. */
    static @Nullable Kernel unaryGrad(UnaryGrad grad, @Nullable TensorSpec[] arguments) {
        boolean atResult = arguments[0] == null;
        ComplexFunctions.Function slope = ComplexFunctions.slope(grad, atResult);
        if (slope == null || (atResult && arguments[1] == null)) {
            return null;
        }
        Kernel kernel = of(new TensorSpec[]{arguments[atResult ? 1 : 0], arguments[2], arguments[3]},
                (context, count) -> {
                    double[] re = context.doubles(0);
                    double[] im = context.doubles(1);
                    double[] dyRe = context.doubles(2);
                    double[] dyIm = context.doubles(3);
                    double[] toRe = context.doubles(4);
                    double[] toIm = context.doubles(5);
                    double[] result = context.doubles(6);
                    for (int i = 0; i < count; i++) {
                        slope.apply(re[i], im[i], result);
                        toRe[i] = dyRe[i] * result[0] + dyIm[i] * result[1];
                        toIm[i] = dyIm[i] * result[0] - dyRe[i] * result[1];
                    }
                });
        return PortableKernel.of((all, context) -> kernel.run(
                new Tensor[]{all.get(atResult ? 1 : 0), all.get(2), all.get(3)}, context));
    }

    static @Nullable Kernel binary(Binary binary, @Nullable TensorSpec[] arguments) {
        if (!binary.postOps().isEmpty()) {
            return null;
        }
        return switch (binary.function()) {
            case ADD -> of(arguments, (context, count) -> {
                for (int i = 0; i < count; i++) {
                    context.doubles(4)[i] = context.doubles(0)[i] + context.doubles(2)[i];
                    context.doubles(5)[i] = context.doubles(1)[i] + context.doubles(3)[i];
                }
            });
            case SUBTRACT -> of(arguments, (context, count) -> {
                for (int i = 0; i < count; i++) {
                    context.doubles(4)[i] = context.doubles(0)[i] - context.doubles(2)[i];
                    context.doubles(5)[i] = context.doubles(1)[i] - context.doubles(3)[i];
                }
            });
            case MULTIPLY -> of(arguments, ComplexElementwise::multiply);
            case DIVIDE -> of(arguments, ComplexElementwise::divide);
            case EQUAL -> of(arguments, (context, count) -> compare(context, count, 1));
            case NOT_EQUAL -> of(arguments, (context, count) -> compare(context, count, 0));
            default -> null;
        };
    }

    private static void multiply(KernelContext context, int count) {
        double[] a = context.doubles(0);
        double[] b = context.doubles(1);
        double[] c = context.doubles(2);
        double[] d = context.doubles(3);
        double[] re = context.doubles(4);
        double[] im = context.doubles(5);
        for (int i = 0; i < count; i++) {
            re[i] = a[i] * c[i] - b[i] * d[i];
            im[i] = a[i] * d[i] + b[i] * c[i];
        }
    }

    private static void divide(KernelContext context, int count) {
        double[] a = context.doubles(0);
        double[] b = context.doubles(1);
        double[] c = context.doubles(2);
        double[] d = context.doubles(3);
        double[] re = context.doubles(4);
        double[] im = context.doubles(5);
        for (int i = 0; i < count; i++) {
            double norm = c[i] * c[i] + d[i] * d[i];
            re[i] = (a[i] * c[i] + b[i] * d[i]) / norm;
            im[i] = (b[i] * c[i] - a[i] * d[i]) / norm;
        }
    }

    private static void compare(KernelContext context, int count, int equal) {
        for (int i = 0; i < count; i++) {
            boolean same = context.doubles(0)[i] == context.doubles(2)[i]
                    && context.doubles(1)[i] == context.doubles(3)[i];
            context.doubles(4)[i] = same ? equal : 1 - equal;
        }
    }

    @Override
    void compute(@Nullable Tensor[] arguments, KernelContext context) {
        for (long row = 0; row < nest.rows(); row++) {
            for (long column = 0; column < nest.rowLength(); column += KernelContext.TILE) {
                int count = (int) Math.min(KernelContext.TILE, nest.rowLength() - column);
                for (int i = 0; i < inputs; i++) {
                    load(Objects.requireNonNull(arguments[i]), i, row, column, count, context);
                }
                tile.compute(context, count);
                store(Objects.requireNonNull(arguments[inputs]), row, column, count, context);
            }
        }
    }

    private long at(Tensor tensor, int operand, long row, long column) {
        return tensor.offset()
                + (nest.offset(operand, row) + column * nest.rowStride(operand)) * tensor.dtype().bytes();
    }

    private void load(Tensor x, int operand, long row, long column, int count, KernelContext context) {
        DType part = x.dtype().real();
        long at = at(x, operand, row, column);
        long stride = 2 * nest.rowStride(operand);
        Doubles.load(x.memory(), part, at, stride, context.doubles(2 * operand), 0, count);
        Doubles.load(x.memory(), part, at + part.bytes(), stride, context.doubles(2 * operand + 1), 0, count);
    }

    private void store(Tensor out, long row, long column, int count, KernelContext context) {
        long at = at(out, inputs, row, column);
        long stride = nest.rowStride(inputs);
        if (complexResult) {
            DType part = out.dtype().real();
            Doubles.store(out.memory(), part, at, 2 * stride, context.doubles(2 * inputs), 0, count);
            Doubles.store(out.memory(), part, at + part.bytes(), 2 * stride, context.doubles(2 * inputs + 1), 0,
                    count);
        } else {
            Doubles.store(out.memory(), out.dtype(), at, stride, context.doubles(2 * inputs), 0, count);
        }
    }
}
