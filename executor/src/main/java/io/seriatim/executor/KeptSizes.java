package io.seriatim.executor;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A cache of what is made for a combination of sizes, such as a compiled plan, which keeps the sizes that come often.
 * Bounded by number and by bytes. Thread-safe; a use of a size that is kept takes no lock, except once in many uses.
 */
class KeptSizes<S extends KeptSizes.Size> {
    /*
     * The policy is that of W-TinyLFU [1] with a window of one and exact counts. The latest size that was added is
     * always kept, so that runs that repeat it find it. The next one that is added takes its place, and it joins the
     * others if there is room, or if it has come more often lately than those that would make room for it: the ones
     * with the lowest frequency, of these the least recently used. Otherwise it is displaced itself. With room for one
     * size there are no others, and the latest one is kept.
     *
     * Each use adds USE to the frequency of a size. All frequencies are halved after twice as many uses as sizes are
     * kept, so that a change of the sizes in use is followed. The callers leave out uses that repeat the size before:
     * they find it in any case.
     *
     * A size joins only if its frequency exceeds the other's by more than one use. Therefore sizes that come once
     * never displace another, and sizes in strict rotation do not displace each other: the k-th last use of a size
     * comes after the (k + 1)-th last use of every other size, and a later use is halved less often. So without its
     * last use the frequency of a size is at most that of any other, and with it greater by at most USE. With a
     * smaller margin, a rotation of more sizes than there is room for can displace each size before it comes again, as
     * in an LRU cache.
     *
     * The frequencies of sizes that are displaced are remembered up to a number of sizes. Neither time nor random
     * numbers decide: one thread that uses the same sizes in the same order gets the same result.
     *
     * [1] G. Einziger, R. Friedman and B. Manes: TinyLFU: a highly efficient cache admission policy. ACM Transactions
     * on Storage 13 (4), 2017.
     */
    /** What a use adds to a frequency. Frequencies that are halved eight times still tell a size that has come. */
    static final int USE = 256;
    /** Sizes of this number are kept whatever their bytes. */
    static final int FEW = 8;
    /** The number of uses, as a multiple of the sizes that are kept, after which frequencies are halved. */
    private static final int USES_PER_SIZE = 2;
    private static final int LEAST_REMEMBERED = 512;
    private static final int MOST_REMEMBERED = 1 << 16;

    private final int most;
    private final LongSupplier mostBytes;
    private final int mostRemembered;
    @GuardedBy("this")
    private @Nullable S latest;
    /** All that are kept but the latest. */
    @GuardedBy("this")
    private final List<S> others = new ArrayList<>();
    /** The frequencies of sizes that were displaced, the one that was displaced first first. */
    @GuardedBy("this")
    private final Map<Long, Integer> displaced = new LinkedHashMap<>();
    private final AtomicLong uses = new AtomicLong();
    /** The number of uses at which frequencies are halved next. Written with the lock. */
    private volatile long nextHalving = (long) FEW * USES_PER_SIZE;

    /** What is kept for a combination of sizes. */
    abstract static class Size {
        private final AtomicInteger frequency = new AtomicInteger();
        private volatile long lastUse;

        /** Returns the same number for the same sizes; if other sizes have it too, these are counted together. */
        abstract long key();

        /** Returns the memory that is needed to keep it, in bytes. */
        abstract long bytes();

        /** Returns how often it has come lately. */
        final int frequency() {
            return frequency.get();
        }

        /** Returns the number of uses of all sizes at its last one. */
        final long lastUse() {
            return lastUse;
        }

        private static void begin(Size made, int frequency) {
            made.frequency.set(frequency);
        }

        private static void use(Size used, long now) {
            used.frequency.addAndGet(USE);
            used.lastUse = now;
        }

        private static void halve(Size size) {
            size.frequency.updateAndGet(frequency -> frequency / 2);
        }
    }

    /**
     * Creates a cache without sizes.
     *
     * @param most
     *            the most sizes that are kept
     * @param mostBytes
     *            the most bytes of the sizes that are kept beside the latest one; asked for if they are more than a few
     */
    KeptSizes(int most, LongSupplier mostBytes) {
        this.most = most;
        this.mostBytes = mostBytes;
        this.mostRemembered = Math.clamp(4L * most, LEAST_REMEMBERED, MOST_REMEMBERED);
    }

    /** Records that a size that was added has come again, after another one. */
    final void use(S size) {
        long now = uses.incrementAndGet();
        Size.use(size, now);
        if (now >= nextHalving) {
            halve(now);
        }
    }

    private synchronized void halve(long now) {
        if (now < nextHalving) {
            return;
        }
        nextHalving = now + (long) USES_PER_SIZE * Math.max(FEW, size());
        others.forEach(Size::halve);
        if (latest != null) {
            Size.halve(latest);
        }
        displaced.replaceAll((_, frequency) -> frequency / 2);
        displaced.values().removeIf(frequency -> frequency == 0);
    }

    /** Adds a size, which counts as a use of it, and returns the sizes that are no longer kept. */
    final List<S> add(S made) {
        List<S> gone = new ArrayList<>();
        synchronized (this) {
            S candidate = latest;
            Integer before = displaced.remove(made.key());
            Size.begin(made, before == null ? 0 : before);
            latest = made;
            use(made);
            if (candidate != null) {
                List<S> victims = victims(candidate);
                if (victims == null) {
                    gone.add(candidate);
                } else {
                    others.removeAll(victims);
                    others.add(candidate);
                    gone.addAll(victims);
                }
            }
            gone.forEach(this::remember);
        }
        return gone;
    }

    /** Returns the sizes that make room for a candidate; null if they have come as often as it has. */
    @GuardedBy("this")
    private @Nullable List<S> victims(S candidate) {
        List<S> rest = new ArrayList<>(others);
        List<S> victims = new ArrayList<>();
        long bytes = candidate.bytes() + others.stream().mapToLong(Size::bytes).sum();
        int frequencies = 0;
        while (rest.size() + 2 > most || (rest.size() + 2 > FEW && bytes > mostBytes.getAsLong())) {
            if (rest.isEmpty()) {
                return null;
            }
            S victim = Collections.min(rest, Comparator.<S>comparingInt(each -> each.frequency())
                    .thenComparingLong(each -> each.lastUse()));
            frequencies += victim.frequency();
            if (!displaces(candidate.frequency(), frequencies)) {
                return null;
            }
            rest.remove(victim);
            victims.add(victim);
            bytes -= victim.bytes();
        }
        return victims;
    }

    /** Returns whether a size displaces others, by its frequency and the sum of theirs. */
    boolean displaces(int candidate, int victims) {
        return candidate > victims + USE;
    }

    @GuardedBy("this")
    private void remember(S gone) {
        displaced.remove(gone.key());
        displaced.put(gone.key(), gone.frequency());
        if (displaced.size() > mostRemembered) {
            displaced.remove(displaced.keySet().iterator().next());
        }
    }

    /** Returns a size that is kept and suits; null if there is none. */
    final synchronized @Nullable S find(Predicate<? super S> suits) {
        if (latest != null && suits.test(latest)) {
            return latest;
        }
        for (S each : others) {
            if (suits.test(each)) {
                return each;
            }
        }
        return null;
    }

    /** Returns the sizes that are kept. */
    final synchronized List<S> all() {
        List<S> all = new ArrayList<>(others);
        if (latest != null) {
            all.add(latest);
        }
        return all;
    }

    private synchronized int size() {
        return others.size() + (latest == null ? 0 : 1);
    }

    /** Returns the number of displaced sizes whose frequencies are remembered. */
    final synchronized int remembered() {
        return displaced.size();
    }

    /** Removes all sizes and returns them. */
    final synchronized List<S> clear() {
        List<S> all = all();
        others.clear();
        latest = null;
        displaced.clear();
        return all;
    }
}
