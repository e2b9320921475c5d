package io.seriatim.executor.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ArenaTest {
    private record Place(long offset, long bytes, int from, int until) {
        boolean clashes(Place other) {
            return from <= other.until && other.from <= until && offset < other.offset + other.bytes
                    && other.offset < offset + bytes;
        }
    }

    @Test
    void whatLivesTogetherLiesApart() {
        for (long seed = 0; seed < 50; seed++) {
            Random random = new Random(seed);
            Arena arena = new Arena(null, Long.MAX_VALUE);
            List<Place> places = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                int task = i;
                places.stream().filter(place -> place.until() == task - 1)
                        .forEach(place -> arena.give(place.offset(), place.bytes(), new int[]{task - 1}));
                long bytes = random.nextInt(10_000);
                places.add(new Place(arena.take(bytes, i, _ -> {
                }), bytes, i, i + random.nextInt(20)));
            }
            for (Place a : places) {
                assertTrue(a.offset() % Arena.ALIGNMENT == 0 && a.offset() + a.bytes() <= arena.bytes(),
                        "seed " + seed);
                for (Place b : places) {
                    assertTrue(a.equals(b) || !a.clashes(b), () -> a + " and " + b);
                }
            }
        }
    }

    @Test
    void aChainNeedsTwoPlaces() {
        Arena arena = new Arena(null, Long.MAX_VALUE);
        long before = -1;
        for (int i = 0; i < 1_000; i++) {
            long place = arena.take(640, i, _ -> {
            });
            if (before >= 0) {
                arena.give(before, 640, new int[]{i});
            }
            before = place;
        }
        assertEquals(2 * 640, arena.bytes());
    }

    @Test
    void parallelTasksShareMemoryOnlyInOrder() {
        // Tasks 0 and 1 are independent, 2 waits for 0, and 3 waits for 0 and 1.
        Ancestors ancestors = Ancestors.of(new int[][]{{}, {}, {0}, {0, 1}});
        Arena arena = new Arena(ancestors, Long.MAX_VALUE);
        // The memory between the gaps is in use, so that they are not merged.
        arena.take(64, 0, _ -> {
        });
        arena.take(64, 0, _ -> {
        });
        arena.give(0, 64, new int[]{0});
        assertEquals(128, arena.take(64, 1, _ -> {
        }), "1 may run while 0 does");
        arena.give(128, 64, new int[]{1});
        assertEquals(0, arena.take(64, 2, _ -> {
        }), "2 comes after 0");
        assertEquals(128, arena.take(64, 3, _ -> {
        }), "3 comes after 1");
    }

    @Test
    void aFullArenaMakesTasksWait() {
        Arena arena = new Arena(Ancestors.of(new int[][]{{}, {}}), 64);
        long first = arena.take(64, 0, _ -> {
        });
        arena.give(first, 64, new int[]{0});
        List<Integer> waits = new ArrayList<>();
        assertEquals(0, arena.take(64, 1, users -> Arrays.stream(users).forEach(waits::add)));
        assertEquals(List.of(0), waits);
    }
}
