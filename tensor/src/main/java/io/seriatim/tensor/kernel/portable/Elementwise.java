package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
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
    private final Tiles tiles;
    private final DType arithmetic;
    private final int inputs;
    private final @Nullable DType bits;

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

    private Elementwise(Tiles tiles, DType arithmetic, int inputs, @Nullable DType bits) {
        this.tiles = tiles;
        this.arithmetic = arithmetic;
        this.inputs = inputs;
        this.bits = bits;
    }

    /** Walks the shape of the output. An operand that is left out is not loaded. */
    static Elementwise of(DType arithmetic, TensorSpec output, @Nullable TensorSpec... inputs) {
        return of(arithmetic, null, output, inputs);
    }

    /** All but the first operand, a condition, are walked as whole numbers with the same bits. */
    static Elementwise ofBits(DType bits, TensorSpec output, @Nullable TensorSpec... inputs) {
        return of(DType.INT64, bits, output, inputs);
    }

    private static Elementwise of(DType arithmetic, @Nullable DType bits, TensorSpec output,
            @Nullable TensorSpec... inputs) {
        Shape shape = output.shape();
        long[][] strides = new long[inputs.length + 1][];
        for (int i = 0; i < inputs.length; i++) {
            TensorSpec input = inputs[i];
            strides[i] = input == null ? new long[shape.rank()] : Tensor.broadcastStrides(input, shape);
        }
        strides[inputs.length] = output.strides();
        return new Elementwise(Tiles.of(shape, inputs.length, KernelContext.TILE, strides), arithmetic, inputs.length,
                bits);
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

    private void floats(@Nullable Tensor[] arguments, KernelContext context, Tile tile) {
        Tensor out = Objects.requireNonNull(arguments[inputs]);
        for (long part = 0; part < tiles.count(); part++) {
            for (int i = 0; i < inputs; i++) {
                Tensor x = arguments[i];
                if (x != null) {
                    tiles.load(i, x, x.dtype(), part, context.floats(i), context);
                }
            }
            tile.floats(context, tiles.size(part));
            tiles.store(inputs, out, out.dtype(), part, context.floats(inputs), context);
        }
    }

    private void doubles(@Nullable Tensor[] arguments, KernelContext context, Tile tile) {
        Tensor out = Objects.requireNonNull(arguments[inputs]);
        for (long part = 0; part < tiles.count(); part++) {
            for (int i = 0; i < inputs; i++) {
                Tensor x = arguments[i];
                if (x != null) {
                    tiles.load(i, x, part, context.doubles(i), context);
                }
            }
            tile.doubles(context, tiles.size(part));
            tiles.store(inputs, out, part, context.doubles(inputs), context);
        }
    }

    private void longs(@Nullable Tensor[] arguments, KernelContext context, Tile tile) {
        Tensor out = Objects.requireNonNull(arguments[inputs]);
        for (long part = 0; part < tiles.count(); part++) {
            for (int i = 0; i < inputs; i++) {
                Tensor x = arguments[i];
                if (x != null) {
                    tiles.load(i, x, bits == null || i == 0 ? x.dtype() : bits, part, context.longs(i), context);
                }
            }
            tile.longs(context, tiles.size(part));
            tiles.store(inputs, out, bits == null ? out.dtype() : bits, part, context.longs(inputs), context);
        }
    }
}
