package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.internal.Doubles;
import io.seriatim.tensor.internal.Floats;
import io.seriatim.tensor.internal.Longs;
import io.seriatim.tensor.internal.Nest;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Walks operands that broadcast to one shape, a tile at a time: loads a tile of each input, computes, stores the output's. Since a tile is loaded before it is stored, the output may be one
 * of the inputs.
 */
final class Elementwise {
    private final Nest nest;
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

    private Elementwise(Nest nest, DType arithmetic, int inputs) {
        this.nest = nest;
        this.arithmetic = arithmetic;
        this.inputs = inputs;
    }

    /** For inputs, and an output whose shape is walked. An operand that is left out is not loaded. */
    static Elementwise of(DType arithmetic, TensorSpec output, @Nullable TensorSpec... inputs) {
        Shape shape = output.shape();
        long[][] strides = new long[inputs.length + 1][];
        for (int i = 0; i < inputs.length; i++) {
            TensorSpec input = inputs[i];
            strides[i] = input == null ? new long[shape.rank()] : Tensor.broadcastStrides(input, shape);
        }
        strides[inputs.length] = output.strides();
        return new Elementwise(Nest.of(shape, strides), arithmetic, inputs.length);
    }

    /** A kernel whose arguments are the inputs, then the output. */
    Kernel kernel(Tile tile) {
        return PortableKernel.of((all, context) -> run(all.all(), context, tile));
    }

    void run(@Nullable Tensor[] arguments, KernelContext context, Tile tile) {
        for (long row = 0; row < nest.rows(); row++) {
            for (long column = 0; column < nest.rowLength(); column += KernelContext.TILE) {
                int count = (int) Math.min(KernelContext.TILE, nest.rowLength() - column);
                for (int i = 0; i < inputs; i++) {
                    load(arguments[i], i, row, column, count, context);
                }
                switch (arithmetic) {
                    case FLOAT32 -> tile.floats(context, count);
                    case FLOAT64 -> tile.doubles(context, count);
                    default -> tile.longs(context, count);
                }
                store(Objects.requireNonNull(arguments[inputs]), row, column, count, context);
            }
        }
    }

    private long at(Tensor tensor, int operand, long row, long column) {
        return tensor.offset() + (nest.offset(operand, row) + column * nest.rowStride(operand)) * tensor.dtype().bytes();
    }

    private void load(@Nullable Tensor tensor, int operand, long row, long column, int count, KernelContext context) {
        if (tensor == null) {
            return;
        }
        long at = at(tensor, operand, row, column);
        switch (arithmetic) {
            case FLOAT32 -> Floats.load(tensor.memory(), tensor.dtype(), at, nest.rowStride(operand), context.floats(operand), 0, count);
            case FLOAT64 -> Doubles.load(tensor.memory(), tensor.dtype(), at, nest.rowStride(operand), context.doubles(operand), 0, count);
            default -> Longs.load(tensor.memory(), tensor.dtype(), at, nest.rowStride(operand), context.longs(operand), 0, count);
        }
    }

    private void store(Tensor tensor, long row, long column, int count, KernelContext context) {
        long at = at(tensor, inputs, row, column);
        switch (arithmetic) {
            case FLOAT32 -> Floats.store(tensor.memory(), tensor.dtype(), at, nest.rowStride(inputs), context.floats(inputs), 0, count);
            case FLOAT64 -> Doubles.store(tensor.memory(), tensor.dtype(), at, nest.rowStride(inputs), context.doubles(inputs), 0, count);
            default -> Longs.store(tensor.memory(), tensor.dtype(), at, nest.rowStride(inputs), context.longs(inputs), 0, count);
        }
    }
}
