package io.seriatim.executor;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.TreeMap;

/**
 * Places in one piece of memory: what does not live at the same time may lie in the same place. Requests come in the order in which they begin; each gets the smallest free gap that it fits into, and gaps
 * beside one another become one.
 */
final class Arena {
    /** Where memory begins, as the widest vectors want it. */
    static final long ALIGNMENT = 64;

    private record Gap(long size, long offset) {
    }

    private record Held(int until, long offset, long size) {
    }

    private final TreeMap<Gap, Long> bySize = new TreeMap<>(Comparator.comparingLong(Gap::size).thenComparingLong(Gap::offset));
    private final TreeMap<Long, Long> byOffset = new TreeMap<>();
    private final PriorityQueue<Held> held = new PriorityQueue<>(Comparator.comparingInt(Held::until));
    private final boolean reuses;
    private long end;

    Arena(boolean reuses) {
        this.reuses = reuses;
    }

    /** Memory from one operation to another. Returns its offset. */
    long place(long bytes, int from, int until) {
        long size = Math.max(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
        List<Held> ended = new ArrayList<>();
        while (reuses && !held.isEmpty() && held.peek().until() < from) {
            ended.add(held.poll());
        }
        ended.forEach(each -> free(each.offset(), each.size()));
        long offset = take(size);
        held.add(new Held(until, offset, size));
        return offset;
    }

    private long take(long size) {
        Gap gap = bySize.ceilingKey(new Gap(size, 0));
        if (gap == null) {
            // A gap at the end may be widened.
            var lastGap = byOffset.lastEntry();
            if (lastGap != null && lastGap.getKey() + lastGap.getValue() == end) {
                remove(lastGap.getKey(), lastGap.getValue());
                end = lastGap.getKey() + size;
                return lastGap.getKey();
            }
            long offset = end;
            end += size;
            return offset;
        }
        remove(gap.offset(), gap.size());
        if (gap.size() > size) {
            add(gap.offset() + size, gap.size() - size);
        }
        return gap.offset();
    }

    private void free(long offset, long size) {
        long start = offset;
        long length = size;
        var before = byOffset.floorEntry(offset);
        if (before != null && before.getKey() + before.getValue() == offset) {
            start = before.getKey();
            length += before.getValue();
            remove(before.getKey(), before.getValue());
        }
        var behind = byOffset.get(offset + size);
        if (behind != null) {
            remove(offset + size, behind);
            length += behind;
        }
        add(start, length);
    }

    private void add(long offset, long size) {
        byOffset.put(offset, size);
        bySize.put(new Gap(size, offset), offset);
    }

    private void remove(long offset, long size) {
        byOffset.remove(offset);
        bySize.remove(new Gap(size, offset));
    }

    long bytes() {
        return end;
    }
}
