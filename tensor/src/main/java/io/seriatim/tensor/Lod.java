package io.seriatim.tensor;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Level-of-detail offsets, which divide the rows of a tensor into sequences of different lengths. Each level has the
 * offsets at which its sequences begin, from 0, and the end of the last one. The offsets of the last level count rows,
 * those of the others count sequences of the next level. Immutable; compared by content.
 */
public final class Lod {
    /** No levels: a tensor that is not divided into sequences. */
    public static final Lod NONE = new Lod(List.of());

    private final List<long[]> levels;

    private Lod(List<long[]> levels) {
        this.levels = levels;
    }

    /**
     * Offsets of some levels.
     *
     * @param levels
     *            the coarsest first; each begins with 0, does not decrease, and ends with the number of sequences of
     *            the next level
     * @return the offsets
     * @throws IllegalArgumentException
     *             if a level breaks these rules; the message names the level
     */
    public static Lod of(long[]... levels) {
        return of(List.of(levels));
    }

    /**
     * Offsets of some levels.
     *
     * @param levels
     *            as in {@link #of(long[][])}
     * @return the offsets
     * @throws IllegalArgumentException
     *             if a level breaks the rules; the message names the level
     */
    public static Lod of(List<long[]> levels) {
        List<long[]> copies = levels.stream().map(long[]::clone).toList();
        for (int i = 0; i < copies.size(); i++) {
            check(copies, i);
        }
        return copies.isEmpty() ? NONE : new Lod(copies);
    }

    private static void check(List<long[]> levels, int index) {
        long[] level = levels.get(index);
        if (level.length < 2 || level[0] != 0) {
            throw new IllegalArgumentException("Level " + index
                    + " of a LoD must begin with 0 and have an offset for the end of each sequence, but is "
                    + text(level));
        }
        for (int i = 1; i < level.length; i++) {
            if (level[i] < level[i - 1]) {
                throw new IllegalArgumentException("The offsets of level " + index
                        + " of a LoD must not decrease, but are " + text(level));
            }
        }
        long end = level[level.length - 1];
        if (index + 1 < levels.size() && end != levels.get(index + 1).length - 1) {
            throw new IllegalArgumentException("Level " + index + " of a LoD must end with the number of sequences of "
                    + "the next level, " + (levels.get(index + 1).length - 1) + ", but ends with " + end);
        }
    }

    private static String text(long[] level) {
        return level.length <= 16
                ? Arrays.toString(level)
                : Arrays.toString(Arrays.copyOf(level, 16)) + " and " + (level.length - 16) + " more";
    }

    /**
     * One level for sequences of some lengths.
     *
     * @param lengths
     *            the number of rows of each sequence
     * @return the offsets
     */
    public static Lod ofLengths(long... lengths) {
        long[] offsets = new long[lengths.length + 1];
        for (int i = 0; i < lengths.length; i++) {
            offsets[i + 1] = Math.addExact(offsets[i], lengths[i]);
        }
        return lengths.length == 0 ? NONE : of(offsets);
    }

    /**
     * The levels.
     *
     * @return copies of their offsets, the coarsest first
     */
    public List<long[]> levels() {
        return levels.stream().map(long[]::clone).toList();
    }

    /**
     * How many levels there are.
     *
     * @return from 0
     */
    public int depth() {
        return levels.size();
    }

    /**
     * Whether there are no levels.
     *
     * @return true of {@link #NONE}
     */
    public boolean isEmpty() {
        return levels.isEmpty();
    }

    /**
     * The offsets of a level.
     *
     * @param index
     *            from 0
     * @return a copy
     * @throws IndexOutOfBoundsException
     *             if there is no such level
     */
    public long[] level(int index) {
        return levels.get(index).clone();
    }

    /**
     * The offsets of the last level, which count rows.
     *
     * @return a copy
     * @throws IllegalStateException
     *             if there are no levels
     */
    public long[] last() {
        if (levels.isEmpty()) {
            throw new IllegalStateException("A LoD without levels has no offsets");
        }
        return levels.getLast().clone();
    }

    /**
     * The number of rows that are divided.
     *
     * @return the end of the last sequence; −1 if there are no levels
     */
    public long rows() {
        return levels.isEmpty() ? -1 : levels.getLast()[levels.getLast().length - 1];
    }

    /**
     * The coarser levels.
     *
     * @return without the last level
     */
    public Lod withoutLast() {
        return levels.size() < 2 ? NONE : new Lod(levels.subList(0, levels.size() - 1));
    }

    /**
     * The levels with another last one.
     *
     * @param offsets
     *            as many sequences as the last level has
     * @return the offsets
     */
    public Lod withLast(long... offsets) {
        List<long[]> changed = new ArrayList<>(levels.isEmpty() ? levels : levels.subList(0, levels.size() - 1));
        changed.add(offsets);
        return of(changed);
    }

    /**
     * The offsets of rows of the sequences of a level.
     *
     * @param index
     *            the level, from 0
     * @return one for each sequence of the level, and the end
     */
    public long[] rowOffsets(int index) {
        long[] offsets = level(index);
        for (long[] finer : levels.subList(index + 1, levels.size())) {
            for (int i = 0; i < offsets.length; i++) {
                offsets[i] = finer[(int) offsets[i]];
            }
        }
        return offsets;
    }

    /**
     * The offsets as a tensor, in which programs pass them on: those of one level as they are; for several levels a
     * matrix of one column that has their number, their sizes, and their offsets; and no elements for {@link #NONE}.
     *
     * @return int64, of the host
     */
    public Tensor toTensor() {
        if (levels.size() < 2) {
            return levels.isEmpty()
                    ? Tensor.allocate(DType.INT64, 0)
                    : Tensor.of(levels.getFirst(), levels.getFirst().length);
        }
        int size = 1 + levels.size() + levels.stream().mapToInt(level -> level.length).sum();
        long[] all = new long[size];
        int at = 0;
        all[at++] = levels.size();
        for (long[] level : levels) {
            all[at++] = level.length;
        }
        for (long[] level : levels) {
            System.arraycopy(level, 0, all, at, level.length);
            at += level.length;
        }
        return Tensor.of(all, size, 1);
    }

    /**
     * The offsets that a tensor holds.
     *
     * @param tensor
     *            in the form of {@link #toTensor}, of the host
     * @return the offsets
     * @throws IllegalArgumentException
     *             if it is not in that form, or breaks the rules of {@link #of(long[][])}
     */
    public static Lod of(Tensor tensor) {
        return ofElements(tensor.toLongArray(), tensor.shape().rank());
    }

    /**
     * The offsets that a tensor's elements hold.
     *
     * @param all
     *            the elements of a tensor in the form of {@link #toTensor}
     * @param rank
     *            its number of dimensions
     * @return the offsets
     * @throws IllegalArgumentException
     *             if it is not in that form, or breaks the rules of {@link #of(long[][])}
     */
    public static Lod ofElements(long[] all, int rank) {
        return rank == 1 ? one(all) : parse(all);
    }

    private static Lod one(long[] offsets) {
        return offsets.length == 0 ? NONE : of(offsets);
    }

    private static Lod parse(long[] all) {
        long count = all.length == 0 ? 0 : all[0];
        if (count < 0 || count >= all.length) {
            throw new IllegalArgumentException("A LoD of " + all.length + " numbers cannot have " + count + " levels");
        }
        List<long[]> levels = new ArrayList<>();
        int at = 1 + (int) count;
        for (int i = 1; i <= count; i++) {
            if (all[i] < 0 || all[i] > all.length - at) {
                throw new IllegalArgumentException("Level " + (i - 1) + " of a LoD cannot have " + all[i]
                        + " offsets: " + (all.length - at) + " numbers are left");
            }
            levels.add(Arrays.copyOfRange(all, at, at + (int) all[i]));
            at += (int) all[i];
        }
        return of(levels);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Lod lod && Arrays.deepEquals(levels.toArray(), lod.levels.toArray());
    }

    @Override
    public int hashCode() {
        return Arrays.deepHashCode(levels.toArray());
    }

    @Override
    public String toString() {
        return levels.stream().map(Lod::text).collect(Collectors.joining(", ", "[", "]"));
    }
}
