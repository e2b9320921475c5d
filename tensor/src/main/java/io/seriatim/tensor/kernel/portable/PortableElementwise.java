package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.LoopNest;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.Unsigned;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.LevelTable;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Quantize;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.UnaryGrad;
import io.seriatim.tensor.computation.Where;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.function.BinaryFunctions;
import io.seriatim.tensor.kernel.portable.function.DoubleLoops;
import io.seriatim.tensor.kernel.portable.function.FloatLoops;
import io.seriatim.tensor.kernel.portable.function.FloatSines;
import io.seriatim.tensor.kernel.portable.function.IntLoops;
import io.seriatim.tensor.kernel.portable.function.LongLoops;
import io.seriatim.tensor.kernel.portable.function.UnaryFunctions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Functions of one and two elements. */
final class PortableElementwise {
    private static final int MASK = 0xff;

    /** Shorter rows are computed in tiles of several. */
    private static final int LEAST_ROW = 16;

    private static final List<Unary.Function> WHOLE = List.of(Unary.Function.RELU, Unary.Function.CLIP,
            Unary.Function.SQUARE,
            Unary.Function.ABS, Unary.Function.LINEAR,
            Unary.Function.NEGATE, Unary.Function.FLOOR, Unary.Function.CEIL, Unary.Function.ROUND, Unary.Function.SIGN,
            Unary.Function.LOGICAL_NOT, Unary.Function.IS_NAN,
            Unary.Function.IS_INF, Unary.Function.IS_FINITE);

    private PortableElementwise() {
    }

    static @Nullable Kernel unary(Unary unary, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        DType arithmetic = x.dtype().arithmetic();
        if (arithmetic == DType.INT64 && !WHOLE.contains(unary.function())) {
            return null;
        }
        boolean unsigned = x.dtype() == DType.UINT64;
        return Elementwise.of(arithmetic, Objects.requireNonNull(arguments[1]), x).kernel(new Elementwise.Tile() {
            @Override
            public void floats(KernelContext context, int count) {
                FloatLoops.unary(unary.function(), unary.alpha(), unary.beta(), context.floats(0), context.floats(1),
                        count);
            }

            @Override
            public void doubles(KernelContext context, int count) {
                double[] from = context.doubles(0);
                double[] to = context.doubles(1);
                for (int i = 0; i < count; i++) {
                    to[i] = UnaryFunctions.apply(unary.function(), from[i], unary.alpha(), unary.beta());
                }
            }

            @Override
            public void longs(KernelContext context, int count) {
                long[] from = context.longs(0);
                long[] to = context.longs(1);
                for (int i = 0; i < count; i++) {
                    to[i] = unsigned ? unsigned(unary, from[i]) : whole(unary, from[i]);
                }
            }
        });
    }

    private static long whole(Unary unary, long x) {
        return switch (unary.function()) {
            case RELU -> Math.max(0, x);
            case CLIP -> x < unary.alpha() ? (long) unary.alpha() : x > unary.beta() ? (long) unary.beta() : x;
            case SQUARE -> x * x;
            case ABS -> Math.abs(x);
            case LINEAR -> isWhole(unary.alpha()) && isWhole(unary.beta())
                    ? ((long) unary.alpha()) * x + (long) unary.beta()
                    : (long) ((double) unary.alpha() * x + unary.beta());
            case NEGATE -> -x;
            case SIGN -> Long.signum(x);
            case LOGICAL_NOT -> x == 0 ? 1 : 0;
            case IS_NAN, IS_INF -> 0;
            case IS_FINITE -> 1;
            default -> x;
        };
    }

    /** Of a uint64, as its bits. */
    private static long unsigned(Unary unary, long x) {
        return switch (unary.function()) {
            case RELU, ABS -> x;
            case SIGN -> x == 0 ? 0 : 1;
            case CLIP -> {
                double value = Unsigned.toDouble(x);
                yield value < unary.alpha()
                        ? Unsigned.fromDouble(unary.alpha())
                        : value > unary.beta() ? Unsigned.fromDouble(unary.beta()) : x;
            }
            case LINEAR -> isWhole(unary.alpha()) && isWhole(unary.beta())
                    ? ((long) unary.alpha()) * x + (long) unary.beta()
                    : Unsigned.fromDouble((double) unary.alpha() * Unsigned.toDouble(x) + unary.beta());
            default -> whole(unary, x);
        };
    }

    private static boolean isWhole(float value) {
        return (long) value == value;
    }

    static Kernel unaryGrad(UnaryGrad grad, @Nullable TensorSpec[] arguments) {
        boolean hasX = arguments[0] != null;
        boolean hasY = arguments[1] != null;
        TensorSpec dx = Objects.requireNonNull(arguments[3]);
        DType arithmetic = dx.dtype().arithmetic();
        return Elementwise.of(arithmetic, dx, arguments[0], arguments[1], arguments[2]).kernel(new Elementwise.Tile() {
            @Override
            public void floats(KernelContext context, int count) {
                grad(grad, hasX, hasY, context.floats(0), context.floats(1), context.floats(2), context.floats(3),
                        count);
            }

            @Override
            public void doubles(KernelContext context, int count) {
                grad(grad, hasX, hasY, context.doubles(0), context.doubles(1), context.doubles(2), context.doubles(3),
                        count);
            }
        });
    }

    static void grad(UnaryGrad grad, boolean hasX, boolean hasY, float[] x, float[] y, float[] dy, float[] dx,
            int count) {
        if (grad.function() == Unary.Function.RELU && (hasX || hasY)) {
            FloatLoops.reluGrad(hasX ? x : y, dy, dx, count);
            return;
        }
        if (grad.function() == Unary.Function.SIGMOID && !hasX && hasY) {
            FloatLoops.sigmoidGrad(y, dy, dx, count);
            return;
        }
        if (grad.function() == Unary.Function.TANH && !hasX && hasY) {
            FloatLoops.tanhGrad(y, dy, dx, count);
            return;
        }
        if (grad.function() == Unary.Function.SIN && hasX) {
            FloatSines.sinGrad(x, dy, dx, count);
            return;
        }
        if (grad.function() == Unary.Function.COS && hasX) {
            FloatSines.cosGrad(x, dy, dx, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            dx[i] = (float) (dy[i] * derivative(grad, hasX, hasY, x[i], y[i]));
        }
    }

    static void grad(UnaryGrad grad, boolean hasX, boolean hasY, double[] x, double[] y, double[] dy, double[] dx,
            int count) {
        for (int i = 0; i < count; i++) {
            dx[i] = dy[i] * derivative(grad, hasX, hasY, x[i], y[i]);
        }
    }

    /** Computed from x, or from y alone if y determines it. */
    private static double derivative(UnaryGrad grad, boolean hasX, boolean hasY, double x, double y) {
        if (hasX) {
            return UnaryFunctions.derivative(grad.function(), x, grad.alpha(), grad.beta());
        }
        if (!hasY) {
            return UnaryFunctions.constant(grad.function(), grad.alpha());
        }
        return UnaryFunctions.derivativeOfResult(grad.function(), y, grad.alpha());
    }

    static Kernel quantize(Quantize quantize, @Nullable TensorSpec[] arguments) {
        float least = quantize.least();
        float most = quantize.most();
        boolean away = quantize.away();
        return Elementwise.of(DType.FLOAT32, Objects.requireNonNull(arguments[2]), arguments[0], arguments[1])
                .kernel(new Elementwise.Tile() {
                    @Override
                    public void floats(KernelContext context, int count) {
                        float[] x = context.floats(0);
                        float[] factor = context.floats(1);
                        float[] levels = context.floats(2);
                        for (int i = 0; i < count; i++) {
                            float level = x[i] * factor[i];
                            double nearest = away ? Math.floor(Math.abs(level) + 0.5) : Math.rint(level);
                            levels[i] = Math.clamp((float) (away ? Math.copySign(nearest, level) : nearest), least,
                                    most);
                        }
                    }
                });
    }

    static Kernel lookup(LevelTable table, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        TensorSpec out = Objects.requireNonNull(arguments[2]);
        LoopNest nest = LoopNest.of(out.shape(), x.strides(), out.strides());
        int first = x.dtype() == DType.INT8 ? Byte.MIN_VALUE : 0;
        return PortableKernel.of((tensors, context) -> {
            int[] values = context.intArray(LevelTable.LEVELS);
            Tensor given = tensors.get(1);
            for (int i = 0; i < LevelTable.LEVELS; i++) {
                values[(first + i) & MASK] = given.memory().get(ValueLayout.JAVA_BYTE, given.offset() + i);
            }
            MemorySegment from = tensors.get(0).memory();
            MemorySegment to = tensors.get(2).memory();
            for (long row = 0; row < nest.rows(); row++) {
                long in = tensors.get(0).offset() + nest.offset(0, row);
                long at = tensors.get(2).offset() + nest.offset(1, row);
                if (nest.rowStride(0) == 1 && nest.rowStride(1) == 1) {
                    look(values, from.asSlice(in, nest.rowLength()), to.asSlice(at, nest.rowLength()));
                    continue;
                }
                for (long i = 0; i < nest.rowLength(); i++) {
                    byte level = from.get(ValueLayout.JAVA_BYTE, in + i * nest.rowStride(0));
                    to.set(ValueLayout.JAVA_BYTE, at + i * nest.rowStride(1), (byte) values[level & MASK]);
                }
            }
        });
    }

    private static void look(int[] values, MemorySegment from, MemorySegment to) {
        int count = Math.toIntExact(from.byteSize());
        for (int i = 0; i < count; i++) {
            to.set(ValueLayout.JAVA_BYTE, i, (byte) values[from.get(ValueLayout.JAVA_BYTE, i) & MASK]);
        }
    }

    static @Nullable Kernel binary(Binary binary, @Nullable TensorSpec[] arguments) {
        TensorSpec out = Objects.requireNonNull(arguments[arguments.length - 1]);
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        DType arithmetic = x.dtype().arithmetic();
        int inputs = arguments.length - 1;
        boolean accumulates = binary.postOps().stream().anyMatch(PostOp.Accumulate.class::isInstance);
        if (inputs > 6 || accumulates || (!binary.postOps().isEmpty() && arithmetic == DType.INT64)) {
            return null;
        }
        FloatBinary common = FloatBinary.of(binary, x, Objects.requireNonNull(arguments[1]), out);
        if (common != null) {
            return common;
        }
        Kernel sums = ints(binary, x, Objects.requireNonNull(arguments[1]), out);
        if (sums != null) {
            return sums;
        }
        // An array: iterating over a list would allocate an iterator.
        PostOp[] postOps = binary.postOps().toArray(PostOp[]::new);
        boolean unsigned = x.dtype() == DType.UINT64;
        return Elementwise.of(arithmetic, out, Arrays.copyOf(arguments, inputs)).kernel(new Elementwise.Tile() {
            @Override
            public void floats(KernelContext context, int count) {
                float[] result = context.floats(inputs);
                FloatLoops.binary(binary.function(), context.floats(0), context.floats(1), result, count);
                int next = 2;
                for (PostOp postOp : postOps) {
                    if (postOp instanceof PostOp.Apply(var function, var alpha, var beta)) {
                        FloatLoops.unary(function, alpha, beta, result, result, count);
                    } else if (postOp instanceof PostOp.Combine(var function)) {
                        FloatLoops.binary(function, result, context.floats(next++), result, count);
                    }
                }
            }

            @Override
            public void doubles(KernelContext context, int count) {
                double[] result = context.doubles(inputs);
                if (postOps.length == 0) {
                    DoubleLoops.binary(binary.function(), context.doubles(0), context.doubles(1), result, count);
                    return;
                }
                for (int i = 0; i < count; i++) {
                    double value = BinaryFunctions.apply(binary.function(), context.doubles(0)[i],
                            context.doubles(1)[i]);
                    int next = 2;
                    for (PostOp postOp : postOps) {
                        if (postOp instanceof PostOp.Apply(var function, var alpha, var beta)) {
                            value = UnaryFunctions.apply(function, value, alpha, beta);
                        } else if (postOp instanceof PostOp.Combine(var function)) {
                            value = BinaryFunctions.apply(function, value, context.doubles(next++)[i]);
                        }
                    }
                    result[i] = value;
                }
            }

            @Override
            public void longs(KernelContext context, int count) {
                long[] a = context.longs(0);
                long[] b = context.longs(1);
                long[] result = context.longs(2);
                if (LongLoops.binary(binary.function(), unsigned, a, b, result, count)) {
                    return;
                }
                for (int i = 0; i < count; i++) {
                    result[i] = unsigned
                            ? BinaryFunctions.applyUnsigned(binary.function(), a[i], b[i])
                            : BinaryFunctions.apply(binary.function(), a[i], b[i]);
                }
            }
        });
    }

    /** Sums, differences and products of int32 along rows in int32 itself; null for others. */
    private static @Nullable Kernel ints(Binary binary, TensorSpec x, TensorSpec y, TensorSpec out) {
        boolean common = switch (binary.function()) {
            case ADD, SUBTRACT, MULTIPLY -> true;
            default -> false;
        };
        if (!common || !binary.postOps().isEmpty() || x.dtype() != DType.INT32 || y.dtype() != DType.INT32
                || out.dtype() != DType.INT32) {
            return null;
        }
        LoopNest nest = LoopNest.of(out.shape(), Tensor.broadcastStrides(x, out.shape()),
                Tensor.broadcastStrides(y, out.shape()), out.strides());
        if (nest.rowLength() < LEAST_ROW) {
            return null;
        }
        return PortableKernel.of((all, context) -> {
            int[] left = context.ints(0);
            int[] right = context.ints(1);
            Tensor result = all.get(2);
            for (long row = 0; row < nest.rows(); row++) {
                for (long from = 0; from < nest.rowLength(); from += KernelContext.TILE) {
                    int count = (int) Math.min(KernelContext.TILE, nest.rowLength() - from);
                    IntLoops.load(all.get(0), at(all.get(0), nest, 0, row, from), nest.rowStride(0), left, 0, count);
                    IntLoops.load(all.get(1), at(all.get(1), nest, 1, row, from), nest.rowStride(1), right, 0, count);
                    IntLoops.combine(binary.function(), left, right, count);
                    IntLoops.store(result, at(result, nest, 2, row, from), nest.rowStride(2), left, count);
                }
            }
        });
    }

    private static long at(Tensor tensor, LoopNest nest, int operand, long row, long from) {
        return tensor.offset() + (nest.offset(operand, row) + from * nest.rowStride(operand)) * Integer.BYTES;
    }

    /** Of the bits of the elements, whatever their type: as whole numbers they are chosen without a branch. */
    static Kernel where(Where where, @Nullable TensorSpec[] arguments) {
        TensorSpec out = Objects.requireNonNull(arguments[3]);
        DType bits = Objects.requireNonNull(PortableCopy.bits(out.dtype()));
        return Elementwise.ofBits(bits, out, arguments[0], arguments[1], arguments[2])
                .kernel(new Elementwise.Tile() {
                    @Override
                    public void longs(KernelContext context, int count) {
                        LongLoops.select(context.longs(0), context.longs(1), context.longs(2), context.longs(3), count);
                    }
                });
    }
}
