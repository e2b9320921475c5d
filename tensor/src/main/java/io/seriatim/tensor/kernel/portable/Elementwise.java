package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.Longs;
import io.seriatim.tensor.LoopNest;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Walks operands that broadcast to one shape, a tile at a time: loads a tile of each input, computes, and stores the
 * tile of the output. Since a tile is loaded before it is stored, the output may be one of the inputs.
 */
final class Elementwise {
    private final LoopNest nest;
    private final DType arithmetic;
    private final int inputs;

    /** One tile, in the arithmetic of the type; the result goes into the tile with the number of inputs. */
    interface Tile {
        default void floats(KernelContext context, int count) {
            throw new IllegalStateException("this computation is not prepared for float32");
        }

        default void doubles(KernelContext context, int count) {
            throw new IllegalStateException("this computation is not prepared for float64");
        }

        default void longs(KernelContext context, int count) {
            throw new IllegalStateException("this computation is not prepared for int64");
        }
    }

    private Elementwise(LoopNest nest, DType arithmetic, int inputs) {
        this.nest = nest;
        this.arithmetic = arithmetic;
        this.inputs = inputs;
    }

    /** Walks the shape of the output. An operand that is left out is not loaded. */
    static Elementwise of(DType arithmetic, TensorSpec output, @Nullable TensorSpec... inputs) {
        Shape shape = output.shape();
        long[][] strides = new long[inputs.length + 1][];
        for (int i = 0; i < inputs.length; i++) {
            TensorSpec input = inputs[i];
            strides[i] = input == null ? new long[shape.rank()] : Tensor.broadcastStrides(input, shape);
        }
        strides[inputs.length] = output.strides();
        return new Elementwise(LoopNest.of(shape, strides), arithmetic, inputs.length);
    }

    /** A kernel whose arguments are the inputs, then the output. */
    Kernel kernel(Tile tile) {
        return new PortableKernel() {
            @Override
            void compute(@Nullable Tensor[] arguments, KernelContext context) {
                Elementwise.this.run(arguments, context, tile);
            }
        };
    }

    void run(@Nullable Tensor[] arguments, KernelContext context, Tile tile) {
        switch (arithmetic) {
            case FLOAT32 -> floats(arguments, context, tile);
            case FLOAT64 -> doubles(arguments, context, tile);
            default -> longs(arguments, context, tile);
        }
    }

    private long at(Tensor tensor, int operand, long row, long column) {
        return tensor.offset()
                + (nest.offset(operand, row) + column * nest.rowStride(operand)) * tensor.dtype().bytes();
    }

    private void floats(@Nullable Tensor[] arguments, KernelContext context, Tile tile) {
        Tensor out = Objects.requireNonNull(arguments[inputs]);
        for (long row = 0; row < nest.rows(); row++) {
            for (long column = 0; column < nest.rowLength(); column += KernelContext.TILE) {
                int count = (int) Math.min(KernelContext.TILE, nest.rowLength() - column);
                for (int i = 0; i < inputs; i++) {
                    Tensor x = arguments[i];
                    if (x != null) {
                        Floats.load(x.memory(), x.dtype(), at(x, i, row, column), nest.rowStride(i), context.floats(i),
                                0, count);
                    }
                }
                tile.floats(context, count);
                Floats.store(out.memory(), out.dtype(), at(out, inputs, row, column), nest.rowStride(inputs),
                        context.floats(inputs), 0,
                        count);
            }
        }
    }

    private void doubles(@Nullable Tensor[] arguments, KernelContext context, Tile tile) {
        Tensor out = Objects.requireNonNull(arguments[inputs]);
        for (long row = 0; row < nest.rows(); row++) {
            for (long column = 0; column < nest.rowLength(); column += KernelContext.TILE) {
                int count = (int) Math.min(KernelContext.TILE, nest.rowLength() - column);
                for (int i = 0; i < inputs; i++) {
                    Tensor x = arguments[i];
                    if (x != null) {
                        Doubles.load(x.memory(), x.dtype(), at(x, i, row, column), nest.rowStride(i),
                                context.doubles(i), 0, count);
                    }
                }
                tile.doubles(context, count);
                Doubles.store(out.memory(), out.dtype(), at(out, inputs, row, column), nest.rowStride(inputs),
                        context.doubles(inputs), 0,
                        count);
            }
        }
    }

    private void longs(@Nullable Tensor[] arguments, KernelContext context, Tile tile) {
        Tensor out = Objects.requireNonNull(arguments[inputs]);
        for (long row = 0; row < nest.rows(); row++) {
            for (long column = 0; column < nest.rowLength(); column += KernelContext.TILE) {
                int count = (int) Math.min(KernelContext.TILE, nest.rowLength() - column);
                for (int i = 0; i < inputs; i++) {
                    Tensor x = arguments[i];
                    if (x != null) {
                        Longs.load(x.memory(), x.dtype(), at(x, i, row, column), nest.rowStride(i), context.longs(i), 0,
                                count);
                    }
                }
                tile.longs(context, count);
                Longs.store(out.memory(), out.dtype(), at(out, inputs, row, column), nest.rowStride(inputs),
                        context.longs(inputs), 0,
                        count);
            }
        }
    }
}
