package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ArenaTest {
    private record Place(long offset, long bytes, int from, int until) {
        boolean clashes(Place other) {
            return from <= other.until && other.from <= until && offset < other.offset + other.bytes && other.offset < offset + bytes;
        }
    }

    @Test
    void whatLivesTogetherLiesApart() {
        for (long seed = 0; seed < 50; seed++) {
            Random random = new Random(seed);
            Arena arena = new Arena(true);
            List<Place> places = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                long bytes = random.nextInt(10_000);
                int until = i + random.nextInt(20);
                places.add(new Place(arena.place(bytes, i, until), bytes, i, until));
            }
            for (Place a : places) {
                assertTrue(a.offset() % Arena.ALIGNMENT == 0 && a.offset() + a.bytes() <= arena.bytes(), "seed " + seed);
                for (Place b : places) {
                    assertTrue(a == b || !a.clashes(b), () -> a + " and " + b);
                }
            }
        }
    }

    @Test
    void aChainNeedsTwoPlaces() {
        Arena arena = new Arena(true);
        for (int i = 0; i < 1_000; i++) {
            arena.place(640, i, i + 1);
        }
        assertEquals(2 * 640, arena.bytes());
    }

    @Test
    void withoutReuseEachHasItsOwn() {
        Arena arena = new Arena(false);
        for (int i = 0; i < 10; i++) {
            arena.place(1, i, i);
        }
        assertEquals(10 * Arena.ALIGNMENT, arena.bytes());
    }
}
