package io.seriatim.executor.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.seriatim.device.Buffer;
import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class WorkspaceTest {
    private final List<String> closed = new ArrayList<>();
    private final Map<String, Buffer> arenas = new HashMap<>();

    private final class Thing implements AutoCloseable {
        private final String name;

        Thing(String name, Map<Place, Buffer> given) {
            this.name = name;
            arenas.put(name, Objects.requireNonNull(given.get(Place.CPU)));
        }

        @Override
        public void close() {
            closed.add(name);
        }
    }

    private Thing frame(Workspace<String, Thing> in, String plan, long bytes) {
        return in.frame(plan, Map.of(Place.CPU, bytes), given -> new Thing(plan, given));
    }

    @Test
    void plansShareTheArena() {
        try (Workspace<String, Thing> in = new Workspace<>(Devices.system(), 8, Thing::close)) {
            Thing large = frame(in, "large", 1000);
            Thing small = frame(in, "small", 10);
            assertNotSame(large, small);
            assertSame(arenas.get("large"), arenas.get("small"));
            assertSame(large, frame(in, "large", 1000));
            assertEquals(1000, in.bytes(Place.CPU));
            assertEquals(List.of(), closed);
        }
        assertEquals(List.of("small", "large"), closed);
    }

    /** An arena that is too small is replaced, and grows by half at least. */
    @Test
    void risingSizesReplaceTheArenaSeldom() {
        try (Workspace<String, Thing> in = new Workspace<>(Devices.system(), 1000, Thing::close)) {
            int replaced = 0;
            long before = 0;
            for (int i = 1; i <= 1000; i++) {
                frame(in, "plan " + i, 100L * i);
                replaced += in.bytes(Place.CPU) == before ? 0 : 1;
                before = in.bytes(Place.CPU);
            }
            assertEquals(18, replaced);
        }
    }

    @Test
    void theLeastRecentlyUsedFrameIsClosed() {
        try (Workspace<String, Thing> in = new Workspace<>(Devices.system(), 2, Thing::close)) {
            frame(in, "a", 1);
            frame(in, "b", 1);
            frame(in, "a", 1);
            frame(in, "c", 1);
            assertEquals(List.of("b"), closed);
            in.closeFrames(1, "a"::equals);
            in.closeFrames(1, _ -> true);
            assertEquals(List.of("b", "a"), closed, "nothing was evicted between the two calls");
        }
    }

    @Test
    void aFrameThatCannotBeMadeLeavesNothing() {
        Workspace<String, Thing> in = new Workspace<>(Devices.system(), 2, Thing::close);
        frame(in, "a", 1);
        assertThrows(IllegalStateException.class, () -> in.frame("b", Map.of(Place.CPU, 2L), _ -> {
            throw new IllegalStateException("planned");
        }));
        assertEquals(List.of("a"), closed);
        assertEquals(0, in.bytes(Place.CPU));
        frame(in, "b", 3);
        assertEquals(3, in.bytes(Place.CPU));
        in.close();
        in.close();
        assertEquals(List.of("a", "b"), closed);
    }
}
