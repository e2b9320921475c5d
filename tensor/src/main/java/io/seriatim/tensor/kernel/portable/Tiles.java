package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.Longs;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.function.IntLoops;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A shape in tiles, for functions of each element by itself, whose order is free. The axes are walked in the order of
 * the memory of one operand, the leader: the result, unless more of the large operands lie in another order.
 * Neighbouring axes that are contiguous in all operands are merged. A tile has rows along an outer axis and columns
 * along the innermost, so that short rows, repeated ones and transposed operands are moved in blocks. Immutable, so
 * that any number of threads may use it.
 */
final class Tiles {
    /** Of a tile with a transposed operand, whose lines are then short but whole on both sides. */
    private static final int SQUARE = 32;
    /** Elements of a tile, whose operands are not transposed for fewer. */
    private static final int FEWEST = 128;

    private final long[] outer;
    private final long[][] outerStrides;
    private final long tall;
    private final long wide;
    private final long[] tallStrides;
    private final long[] wideStrides;
    private final int rows;
    private final int columns;
    private final long bands;
    private final long tilesOfBand;
    private final long count;
    private final boolean linear;

    /** Loops of some lengths, the outermost first, with a stride of each operand for each loop. */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Loop(long length, long[] strides) {
        boolean isContinuedBy(Loop inner) {
            for (int k = 0; k < strides.length; k++) {
                if (strides[k] != inner.strides[k] * inner.length) {
                    return false;
                }
            }
            return true;
        }
    }

    private Tiles(List<Loop> loops, int operands, int most) {
        int loopsLeft = Math.max(0, loops.size() - 2);
        outer = new long[loopsLeft];
        outerStrides = new long[operands][loopsLeft];
        long blocks = 1;
        for (int i = 0; i < loopsLeft; i++) {
            outer[i] = loops.get(i).length();
            blocks *= outer[i];
            for (int k = 0; k < operands; k++) {
                outerStrides[k][i] = loops.get(i).strides()[k];
            }
        }
        Loop none = new Loop(1, new long[operands]);
        Loop first = loops.size() < 2 ? none : loops.get(loops.size() - 2);
        Loop last = loops.isEmpty() ? none : loops.getLast();
        tall = first.length();
        wide = last.length();
        tallStrides = first.strides();
        wideStrides = last.strides();
        int across = (int) Math.min(wide, most);
        if (isTransposed() && across > SQUARE) {
            across = (int) Math.min(across, Math.max(SQUARE, most / Math.max(1, tall)));
        }
        columns = Math.max(1, across);
        rows = (int) Math.max(1, Math.min(tall, most / columns));
        bands = (tall + rows - 1) / rows;
        tilesOfBand = (wide + columns - 1) / columns;
        count = blocks * bands * tilesOfBand;
        linear = blocks == 1 && tall == 1;
    }

    /** Whether the columns of an operand are lines of its memory. */
    private boolean isTransposed() {
        for (int k = 0; k < wideStrides.length; k++) {
            if (Math.abs(wideStrides[k]) > 1 && tallStrides[k] != 0
                    && Math.abs(tallStrides[k]) < Math.abs(wideStrides[k])) {
                return true;
            }
        }
        return false;
    }

    /**
     * Makes tiles.
     *
     * @param shape
     *            the shape
     * @param result
     *            the index of the operand that is written
     * @param most
     *            the most elements of a tile
     * @param strides
     *            the strides of each operand, one for each dimension, in elements
     */
    static Tiles of(Shape shape, int result, int most, long[]... strides) {
        List<Loop> loops = new ArrayList<>();
        for (int i = 0; i < shape.rank(); i++) {
            if (shape.dim(i) != 1) {
                long[] own = new long[strides.length];
                for (int k = 0; k < strides.length; k++) {
                    own[k] = strides[k][i];
                }
                loops.add(new Loop(shape.dim(i), own));
            }
        }
        int leader = leader(loops, result);
        // A stable sort: what the leader does not tell apart stays in the order of the axes.
        loops.sort((a, b) -> Long.compare(Math.abs(b.strides()[leader]), Math.abs(a.strides()[leader])));
        List<Loop> merged = new ArrayList<>();
        for (Loop loop : loops) {
            if (!merged.isEmpty() && merged.getLast().isContinuedBy(loop)) {
                loop = new Loop(merged.removeLast().length() * loop.length(), loop.strides());
            }
            merged.add(loop);
        }
        int last = merged.size() - 1;
        for (int k = 0; k < strides.length && last > 1; k++) {
            int own = innermost(merged, k);
            if (own >= 0 && own < last && merged.get(last).strides()[k] != 0 && merged.get(own).length() >= Math
                    .min(merged.get(last - 1).length(), FEWEST / merged.get(last).length())) {
                // The lines of a transposed operand are the rows of the tiles.
                merged.add(last - 1, merged.remove(own));
                break;
            }
        }
        return new Tiles(merged, strides.length, most);
    }

    /** The operand in whose order most of those that vary along all axes lie; the result, where none is more. */
    private static int leader(List<Loop> loops, int result) {
        int operands = loops.isEmpty() ? 0 : loops.getFirst().strides().length;
        int best = result;
        int most = alike(loops, operands, result);
        for (int k = 0; k < operands; k++) {
            int alike = alike(loops, operands, k);
            if (alike > most) {
                most = alike;
                best = k;
            }
        }
        return best;
    }

    private static int alike(List<Loop> loops, int operands, int leader) {
        int alike = 0;
        for (int k = 0; k < operands; k++) {
            alike += isFull(loops, k) && isFull(loops, leader)
                    && innermost(loops, k) == innermost(loops, leader) ? 1 : 0;
        }
        return alike;
    }

    private static boolean isFull(List<Loop> loops, int operand) {
        for (Loop loop : loops) {
            if (loop.strides()[operand] == 0) {
                return false;
            }
        }
        return true;
    }

    /** The loop along which an operand has neighbours; −1 if it repeats one element. */
    private static int innermost(List<Loop> loops, int operand) {
        int best = -1;
        for (int i = 0; i < loops.size(); i++) {
            long stride = Math.abs(loops.get(i).strides()[operand]);
            if (stride != 0 && (best < 0 || stride <= Math.abs(loops.get(best).strides()[operand]))) {
                best = i;
            }
        }
        return best;
    }

    /** How many tiles there are; 0 without elements. */
    long count() {
        return count;
    }

    private int rowsOf(long tile) {
        return bands == 1 ? rows : (int) Math.min(rows, tall - tile / tilesOfBand % bands * rows);
    }

    private int columnsOf(long tile) {
        return tilesOfBand == 1
                ? columns
                : (int) Math.min(columns, wide - (linear ? tile : tile % tilesOfBand) * columns);
    }

    /** Whether all tiles begin with the same elements of an operand, in which only the number of rows may differ. */
    boolean repeat(int operand) {
        return tallStrides[operand] == 0 && (tilesOfBand == 1 || wideStrides[operand] == 0)
                && Arrays.stream(outerStrides[operand]).allMatch(stride -> stride == 0);
    }

    /** The number of elements of a tile. */
    int size(long tile) {
        return rowsOf(tile) * columnsOf(tile);
    }

    /** The offset of a tile's first element in an operand, in elements. */
    long offset(int operand, long tile) {
        if (linear) {
            return tile * columns * wideStrides[operand];
        }
        if (tile == 0) {
            return 0;
        }
        long band = tile / tilesOfBand;
        long left = band / bands;
        long offset = (tile - band * tilesOfBand) * columns * wideStrides[operand]
                + (band - left * bands) * rows * tallStrides[operand];
        long[] strides = outerStrides[operand];
        for (int i = outer.length - 1; i > 0; i--) {
            long next = left / outer[i];
            offset += (left - next * outer[i]) * strides[i];
            left = next;
        }
        return outer.length == 0 ? offset : offset + left * strides[0];
    }

    private long at(int operand, Tensor tensor, long tile) {
        return tensor.offset() + offset(operand, tile) * tensor.dtype().bytes();
    }

    void load(int operand, Tensor tensor, DType as, long tile, float[] into, KernelContext context) {
        Floats.loadBlock(tensor.memory(), as, at(operand, tensor, tile), tallStrides[operand],
                rowsOf(tile), wideStrides[operand], columnsOf(tile), into, context.floatArray(KernelContext.TILE));
    }

    void load(int operand, Tensor tensor, long tile, double[] into, KernelContext context) {
        Doubles.loadBlock(tensor.memory(), tensor.dtype(), at(operand, tensor, tile), tallStrides[operand],
                rowsOf(tile), wideStrides[operand], columnsOf(tile), into, context.doubleArray(KernelContext.TILE));
    }

    void load(int operand, Tensor tensor, DType as, long tile, long[] into, KernelContext context) {
        Longs.loadBlock(tensor.memory(), as, at(operand, tensor, tile), tallStrides[operand], rowsOf(tile),
                wideStrides[operand], columnsOf(tile), into, context.longs(KernelContext.SLOTS - 1));
    }

    /** Loads int32, int8 or uint8. */
    void load(int operand, Tensor tensor, long tile, int[] into) {
        int all = rowsOf(tile);
        int each = columnsOf(tile);
        long tallStride = tallStrides[operand];
        long at = at(operand, tensor, tile);
        if (all == 1 || tallStride == each * wideStrides[operand]) {
            IntLoops.load(tensor, at, wideStrides[operand], into, 0, all * each);
            return;
        }
        for (int row = 0; row < all; row++) {
            if (row > 0 && tallStride == 0) {
                System.arraycopy(into, 0, into, row * each, each);
            } else {
                IntLoops.load(tensor, at + row * tallStride * tensor.dtype().bytes(), wideStrides[operand], into,
                        row * each, each);
            }
        }
    }

    /** Stores int32. */
    void store(int operand, Tensor tensor, long tile, int[] values) {
        int each = columnsOf(tile);
        for (int row = 0; row < rowsOf(tile); row++) {
            IntLoops.store(tensor, at(operand, tensor, tile) + row * tallStrides[operand] * Integer.BYTES,
                    wideStrides[operand], values, row * each, each);
        }
    }

    void store(int operand, Tensor tensor, DType as, long tile, float[] values, KernelContext context) {
        Floats.storeBlock(tensor.memory(), as, at(operand, tensor, tile), tallStrides[operand],
                rowsOf(tile), wideStrides[operand], columnsOf(tile), values, context.floatArray(KernelContext.TILE));
    }

    void store(int operand, Tensor tensor, long tile, double[] values, KernelContext context) {
        Doubles.storeBlock(tensor.memory(), tensor.dtype(), at(operand, tensor, tile), tallStrides[operand],
                rowsOf(tile), wideStrides[operand], columnsOf(tile), values,
                context.doubleArray(KernelContext.TILE));
    }

    void store(int operand, Tensor tensor, DType as, long tile, long[] values, KernelContext context) {
        Longs.storeBlock(tensor.memory(), as, at(operand, tensor, tile), tallStrides[operand], rowsOf(tile),
                wideStrides[operand], columnsOf(tile), values, context.longs(KernelContext.SLOTS - 1));
    }
}
