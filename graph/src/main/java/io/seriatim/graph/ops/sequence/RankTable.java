package io.seriatim.graph.ops.sequence;

import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * The sequences of a level by length, the longest first. As a variable, a matrix with a row for each sequence: its
 * number and its length. The offsets of the variable are the coarser levels.
 *
 * @param indexes
 *            the numbers of the sequences
 * @param lengths
 *            their lengths
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
public record RankTable(long[] indexes, long[] lengths) {
    public static RankTable of(Lod lod, int level) {
        long[] offsets = lod.level(level);
        int[] order = IntStream.range(0, offsets.length - 1).boxed()
                .sorted(Comparator.comparingLong((Integer i) -> offsets[i] - offsets[i + 1]))
                .mapToInt(Integer::intValue).toArray();
        long[] indexes = new long[order.length];
        long[] lengths = new long[order.length];
        for (int i = 0; i < order.length; i++) {
            indexes[i] = order[i];
            lengths[i] = offsets[order[i] + 1] - offsets[order[i]];
        }
        return new RankTable(indexes, lengths);
    }

    /** Reads the elements of a variable. */
    public static RankTable of(String type, long[] elements) {
        int count = elements.length / 2;
        long[] indexes = new long[count];
        long[] lengths = new long[count];
        boolean[] seen = new boolean[count];
        for (int i = 0; i < count; i++) {
            indexes[i] = elements[2 * i];
            lengths[i] = elements[2 * i + 1];
            boolean valid = indexes[i] >= 0 && indexes[i] < count && !seen[(int) indexes[i]] && lengths[i] >= 0
                    && (i == 0 || lengths[i] <= lengths[i - 1]);
            if (!valid) {
                throw new IllegalArgumentException("Operation '" + type + "': RankTable must hold each sequence once, "
                        + "the longest first, but row " + i + " is " + indexes[i] + ", " + lengths[i]);
            }
            seen[(int) indexes[i]] = true;
        }
        return new RankTable(indexes, lengths);
    }

    public static RankTable of(String type, Tensor table) {
        return of(type, table.toLongArray());
    }

    public long[] elements() {
        long[] elements = new long[2 * indexes.length];
        for (int i = 0; i < indexes.length; i++) {
            elements[2 * i] = indexes[i];
            elements[2 * i + 1] = lengths[i];
        }
        return elements;
    }

    /** How many sequences are longer than a number of steps. */
    public int longerThan(long steps) {
        return (int) Arrays.stream(lengths).filter(length -> length > steps).count();
    }
}
