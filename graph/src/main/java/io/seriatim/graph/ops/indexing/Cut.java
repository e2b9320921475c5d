package io.seriatim.graph.ops.indexing;

import io.seriatim.graph.op.Operand;
import java.util.List;

/**
 * Which elements of an axis are taken.
 *
 * @param axis
 *            from 0
 * @param from
 *            the first index
 * @param step
 *            from one to the next; negative to go back
 * @param count
 *            how many
 */
record Cut(int axis, long from, long step, long count) {
    /** From start to before end, both from the end if negative, and no further than the axis goes. */
    static Cut of(int axis, long start, long end, long length) {
        long from = clamped(start, 0, length, length);
        return new Cut(axis, from, 1, Math.max(0, clamped(end, 0, length, length) - from));
    }

    /** As Python slices. */
    static Cut of(int axis, long start, long end, long step, long length) {
        long lowest = step > 0 ? 0 : -1;
        long from = clamped(start, lowest, length + lowest, length);
        long to = clamped(end, lowest, length + lowest, length);
        long distance = step > 0 ? to - from : from - to;
        return new Cut(axis, from, step, distance <= 0 ? 0 : (distance - 1) / Math.abs(step) + 1);
    }

    /** Whether steps from start come to end at all, or pass it before they begin. */
    static boolean leads(long start, long end, long step, long length) {
        long lowest = step > 0 ? 0 : -1;
        long from = clamped(start, lowest, length + lowest, length);
        long to = clamped(end, lowest, length + lowest, length);
        return step > 0 ? from <= to : from >= to;
    }

    private static long clamped(long index, long lowest, long highest, long length) {
        return Math.clamp(index < 0 ? index + length : index, lowest, highest);
    }

    static Operand view(Operand whole, List<Cut> cuts) {
        Operand view = whole;
        for (Cut cut : cuts) {
            view = view.slice(cut.axis, cut.from, cut.step, cut.count);
        }
        return view;
    }
}
