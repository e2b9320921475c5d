package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests which sizes are kept, and that the tests find a policy that is not the right one. */
class KeptSizesTest {
    private static final int MOST = 20;

    enum Bug {
        NONE, DISPLACES_ALWAYS, DISPLACES_NEVER, HAS_NO_MARGIN
    }

    static final class Numbered extends KeptSizes.Size {
        private final long key;
        private final long bytes;

        Numbered(long key, long bytes) {
            this.key = key;
            this.bytes = bytes;
        }

        @Override
        long key() {
            return key;
        }

        @Override
        long bytes() {
            return bytes;
        }
    }

    private static final class Mutant extends KeptSizes<Numbered> {
        private final Bug bug;

        Mutant(Bug bug) {
            super(MOST, () -> 1L << 40);
            this.bug = bug;
        }

        @Override
        boolean displaces(int candidate, int victims) {
            return switch (bug) {
                case NONE -> super.displaces(candidate, victims);
                case DISPLACES_ALWAYS -> true;
                case DISPLACES_NEVER -> false;
                case HAS_NO_MARGIN -> candidate > victims;
            };
        }
    }

    /** Uses sizes as the runs of a plan do. */
    static final class Runs {
        private final KeptSizes<Numbered> sizes;
        private final Set<Numbered> kept = new HashSet<>();
        private @Nullable Numbered before;
        private int hits;

        Runs(KeptSizes<Numbered> sizes) {
            this.sizes = sizes;
        }

        boolean run(long key, long bytes) {
            Numbered found = sizes.find(each -> each.key == key);
            if (found == null) {
                Numbered made = new Numbered(key, bytes);
                kept.add(made);
                for (Numbered gone : sizes.add(made)) {
                    assertTrue(kept.remove(gone), "a size is displaced once");
                }
                assertEquals(kept, Set.copyOf(sizes.all()));
                assertTrue(kept.contains(made), "the latest size is kept");
                before = made;
                return false;
            }
            if (found != before) {
                sizes.use(found);
            }
            before = found;
            hits++;
            return true;
        }

        /** Returns the part of hits among runs with some sizes. */
        double hits(LongStream keys) {
            long[] all = keys.toArray();
            int from = hits;
            for (long key : all) {
                run(key, 1);
            }
            return (hits - from) / (double) all.length;
        }
    }

    /** Rounds of a rotation of sizes. */
    private static LongStream rotation(long from, int count, int rounds) {
        return LongStream.range(0, (long) count * rounds).map(i -> from + i % count);
    }

    private static void atLeast(double expected, double found) {
        assertTrue(found >= expected, () -> "expected a hit rate of at least " + expected + ", found " + found);
    }

    /** What is asked of the policy. */
    enum Rule {
        TWICE_AS_MANY_IN_ROTATION {
            @Override
            void check(Runs runs) {
                runs.hits(rotation(100, 10, 3));
                runs.hits(rotation(0, 40, 5));
                atLeast(0.45, runs.hits(rotation(0, 40, 20)));
            }
        },
        ONE_MORE_IN_ROTATION {
            @Override
            void check(Runs runs) {
                runs.hits(rotation(0, MOST + 1, 5));
                atLeast(0.85, runs.hits(rotation(0, MOST + 1, 20)));
            }
        },
        SIZES_THAT_COME_ONCE {
            @Override
            void check(Runs runs) {
                runs.hits(rotation(0, 10, 5));
                atLeast(0, runs.hits(rotation(1000, 1000, 1)));
                assertEquals(1, runs.hits(rotation(0, 10, 1)));
            }
        },
        ONCE_BETWEEN_THE_OTHERS {
            @Override
            void check(Runs runs) {
                runs.hits(rotation(0, 10, 5));
                assertEquals(0.5, runs.hits(LongStream.range(0, 2000).map(i -> i % 2 == 0 ? i / 2 % 10 : 1000 + i)));
            }
        },
        OTHER_SIZES_ARE_FOLLOWED {
            @Override
            void check(Runs runs) {
                runs.hits(rotation(0, 15, 100));
                runs.hits(rotation(100, 15, 5));
                assertEquals(1, runs.hits(rotation(100, 15, 20)));
            }
        },
        ANOTHER_LONG_ROTATION_IS_FOLLOWED {
            @Override
            void check(Runs runs) {
                runs.hits(rotation(0, 40, 50));
                runs.hits(rotation(100, 80, 4));
                atLeast(0.2, runs.hits(rotation(100, 80, 10)));
            }
        },
        REPEATS_ARE_HITS {
            @Override
            void check(Runs runs) {
                runs.hits(rotation(0, 40, 10));
                assertEquals(0.75, runs.hits(LongStream.range(0, 400).map(i -> 1000 + i / 4)));
            }
        };

        abstract void check(Runs runs);
    }

    private static Set<Rule> failing(Bug bug) {
        Set<Rule> failing = EnumSet.noneOf(Rule.class);
        for (Rule rule : Rule.values()) {
            try {
                rule.check(new Runs(new Mutant(bug)));
            } catch (AssertionError e) {
                failing.add(rule);
            }
        }
        return failing;
    }

    @ParameterizedTest
    @EnumSource(Rule.class)
    void sizesThatComeOftenAreKept(Rule rule) {
        rule.check(new Runs(new Mutant(Bug.NONE)));
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void eachBugIsCaught(Bug bug) {
        assertFalse(failing(bug).isEmpty(), () -> bug + " is not caught");
    }

    @Test
    void oneSizeIsTheLatest() {
        Runs runs = new Runs(new KeptSizes<>(1, () -> 1L << 40));
        assertEquals(0, runs.hits(rotation(0, 2, 10)), "sizes in turn");
        assertEquals(0.9, runs.hits(LongStream.range(0, 100).map(i -> i / 10 % 2)), 1e-9, "ten runs of each");
    }

    @Test
    void twoSizesAreTheLatestAndTheFrequentOne() {
        Runs runs = new Runs(new KeptSizes<>(2, () -> 1L << 40));
        runs.hits(rotation(0, 2, 2));
        assertEquals(0.5, runs.hits(LongStream.range(0, 100).map(i -> i % 2 == 0 ? 0 : 10 + i)));
    }

    /** The latest size comes on top, and few sizes are kept whatever their bytes. */
    @Test
    void bytesAreBounded() {
        KeptSizes<Numbered> sizes = new KeptSizes<>(64, () -> 100);
        Runs runs = new Runs(sizes);
        Random random = new Random(7);
        List<Long> sums = new ArrayList<>();
        for (int i = 0; i < 3000; i++) {
            int key = (int) Math.abs(random.nextGaussian() * 20);
            runs.run(key, 1 + key % 10);
            sums.add(sizes.all().stream().mapToLong(Numbered::bytes).sum());
        }
        assertTrue(sums.stream().allMatch(sum -> sum <= 100 + 10), () -> "seed 7: " + sums);
        assertTrue(sums.getLast() > 80, () -> "seed 7: " + sums.getLast());
        KeptSizes<Numbered> large = new KeptSizes<>(64, () -> 100);
        Runs others = new Runs(large);
        for (int i = 0; i < 40; i++) {
            others.run(i % 10, 1000);
        }
        assertEquals(KeptSizes.FEW, large.all().size());
    }

    /** A size that needs the room of many displaces them only if it comes more often than all of them together. */
    @Test
    void aLargeSizeIsWorthAsManySmallOnesAsItDisplaces() {
        KeptSizes<Numbered> sizes = new KeptSizes<>(64, () -> 100);
        Runs runs = new Runs(sizes);
        for (int i = 0; i < 1000; i++) {
            runs.run(i % 20, 5);
            if (i % 20 == 0) {
                runs.run(100, 60);
            }
        }
        assertTrue(sizes.all().stream().filter(each -> each.key < 20).count() >= 19);
    }

    @Test
    void frequenciesThatAreRememberedAreBounded() {
        KeptSizes<Numbered> sizes = new KeptSizes<>(200, () -> 1L << 40);
        Runs runs = new Runs(sizes);
        int most = 0;
        for (int i = 0; i < 20_000; i++) {
            runs.run(i, 1);
            most = Math.max(most, sizes.remembered());
        }
        assertEquals(800, most);
        assertEquals(200, sizes.clear().size());
        assertEquals(List.of(), sizes.all());
    }

    @Test
    void theLimitOfBytesIsAPartOfTheMemory() {
        assertEquals(128L << 20, KernelMemory.of(1L << 30));
        assertEquals(128L << 20, KernelMemory.of(0));
        assertEquals(256L << 20, KernelMemory.of(16L << 30));
        assertEquals(512L << 20, KernelMemory.of(1L << 40));
        assertTrue(KernelMemory.limit() >= 128L << 20 && KernelMemory.limit() <= 512L << 20);
    }
}
