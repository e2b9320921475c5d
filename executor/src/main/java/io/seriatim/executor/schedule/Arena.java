package io.seriatim.executor.schedule;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Allocates offsets in an arena by best fit: each request gets the smallest free gap that is large enough, and adjacent
 * gaps are merged. If tasks run in parallel, a task may use a gap only if all previous users of the gap are its
 * ancestors. If the arena would otherwise exceed its limit, the task gets additional dependencies on these users.
 */
final class Arena {
    /** The alignment of each allocation in bytes: a cache line, and the width of the largest vectors. */
    static final long ALIGNMENT = 64;
    private static final int MOST_TRIED = 24;
    private static final int MOST_USERS = 16;
    private static final int[] NONE = {};

    private record Gap(long size, long offset) {
    }

    /** A free gap and the tasks that used it last. */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Free(long size, int[] users) {
    }

    private final TreeMap<Gap, Free> bySize = new TreeMap<>(
            Comparator.comparingLong(Gap::size).thenComparingLong(Gap::offset));
    private final TreeMap<Long, Free> byOffset = new TreeMap<>();
    private final @Nullable Ancestors ancestors;
    private final long limit;
    private long end;

    /** Creates an empty arena. If {@code ancestors} is null, tasks run in program order. */
    Arena(@Nullable Ancestors ancestors, long limit) {
        this.ancestors = ancestors;
        this.limit = limit;
    }

    static long aligned(long bytes) {
        return Math.max(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    }

    /** Allocates memory for a task. Passes to {@code waits} the tasks that the task must additionally wait for. */
    long take(long bytes, int task, Consumer<int[]> waits) {
        return take(bytes, new int[]{task}, waits);
    }

    /** Allocates memory that several mutually unordered tasks may be the first to write. Returns its offset. */
    long take(long bytes, int[] tasks, Consumer<int[]> waits) {
        long size = aligned(bytes);
        Gap fitting = null;
        int tried = 0;
        for (Map.Entry<Gap, Free> entry : bySize.tailMap(new Gap(size, 0)).entrySet()) {
            if (isBefore(entry.getValue().users(), tasks)) {
                fitting = entry.getKey();
                break;
            }
            if (++tried == MOST_TRIED) {
                break;
            }
        }
        Map.Entry<Long, Free> last = byOffset.lastEntry();
        boolean atEnd = last != null && last.getKey() + last.getValue().size() == end;
        if (fitting == null && atEnd && last.getValue().size() < size && isBefore(last.getValue().users(), tasks)) {
            // The gap at the end of the arena is extended.
            remove(last.getKey(), last.getValue().size());
            end = last.getKey() + size;
            return last.getKey();
        }
        if (fitting == null && ancestors != null && end + size > limit) {
            fitting = bySize.ceilingKey(new Gap(size, 0));
            if (fitting != null) {
                waits.accept(gap(fitting).users());
            }
        }
        if (fitting == null) {
            long offset = end;
            end += size;
            return offset;
        }
        Free free = gap(fitting);
        remove(fitting.offset(), fitting.size());
        if (fitting.size() > size) {
            add(fitting.offset() + size, new Free(fitting.size() - size, free.users()));
        }
        return fitting.offset();
    }

    private Free gap(Gap gap) {
        return Objects.requireNonNull(bySize.get(gap));
    }

    private boolean isBefore(int[] users, int[] tasks) {
        if (ancestors != null) {
            for (int user : users) {
                for (int task : tasks) {
                    if (user != task && !ancestors.precedes(user, task)) {
                        return false;
                    }
                }
            }
        }
        return true;
    }

    /** Frees memory after its last users. */
    void give(long offset, long bytes, int[] users) {
        long start = offset;
        long length = aligned(bytes);
        int[] all = ancestors == null ? NONE : users;
        var before = byOffset.floorEntry(offset);
        if (before != null && before.getKey() + before.getValue().size() == offset
                && isJoined(before.getValue().users(), all)) {
            start = before.getKey();
            length += before.getValue().size();
            all = joined(before.getValue().users(), all);
            remove(before.getKey(), before.getValue().size());
        }
        var behind = byOffset.get(start + length);
        if (behind != null && isJoined(behind.users(), all)) {
            remove(start + length, behind.size());
            length += behind.size();
            all = joined(behind.users(), all);
        }
        add(start, new Free(length, all));
    }

    private static boolean isJoined(int[] users, int[] others) {
        return users.length + others.length <= MOST_USERS;
    }

    private static int[] joined(int[] users, int[] others) {
        if (users.length == 0) {
            return others;
        }
        int[] all = Arrays.copyOf(users, users.length + others.length);
        System.arraycopy(others, 0, all, users.length, others.length);
        return Arrays.stream(all).distinct().toArray();
    }

    private void add(long offset, Free free) {
        byOffset.put(offset, free);
        bySize.put(new Gap(free.size(), offset), free);
    }

    private void remove(long offset, long size) {
        byOffset.remove(offset);
        bySize.remove(new Gap(size, offset));
    }

    long bytes() {
        return end;
    }
}
