package io.seriatim.graph.ops.sequence;

import io.seriatim.tensor.Lod;
import java.util.ArrayList;
import java.util.List;

/**
 * Some sequences of a level, one after the other.
 *
 * @param lod
 *            their offsets, from that level on
 * @param rows
 *            the indexes of their rows
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
public record SubSequences(Lod lod, long[] rows) {
    /**
     * Chooses sequences.
     *
     * @param lod
     *            offsets; with no such level, rows are chosen
     * @param level
     *            whose sequences
     * @param chosen
     *            their numbers
     */
    public static SubSequences of(Lod lod, int level, long[] chosen) {
        List<long[]> levels = new ArrayList<>();
        long[] current = chosen;
        for (int i = level; i < lod.depth(); i++) {
            long[] offsets = lod.level(i);
            long[] own = new long[current.length + 1];
            for (int k = 0; k < current.length; k++) {
                int sequence = (int) current[k];
                own[k + 1] = own[k] + offsets[sequence + 1] - offsets[sequence];
            }
            long[] next = new long[(int) own[current.length]];
            for (int k = 0; k < current.length; k++) {
                for (int part = 0; part < own[k + 1] - own[k]; part++) {
                    next[(int) own[k] + part] = offsets[(int) current[k]] + part;
                }
            }
            levels.add(own);
            current = next;
        }
        boolean none = levels.isEmpty() || chosen.length == 0;
        return new SubSequences(none ? Lod.NONE : Lod.of(levels), current);
    }

    /** One lod after the other: sequences of several tensors as those of one. */
    public static Lod joined(List<Lod> parts) {
        int depth = parts.stream().mapToInt(Lod::depth).max().orElse(0);
        List<long[]> levels = new ArrayList<>();
        for (int i = 0; i < depth; i++) {
            List<Long> lengths = new ArrayList<>();
            for (Lod part : parts) {
                if (i < part.depth()) {
                    long[] offsets = part.level(i);
                    for (int k = 0; k + 1 < offsets.length; k++) {
                        lengths.add(offsets[k + 1] - offsets[k]);
                    }
                }
            }
            levels.add(Lod.ofLengths(lengths.stream().mapToLong(Long::longValue).toArray()).last());
        }
        return Lod.of(levels);
    }
}
