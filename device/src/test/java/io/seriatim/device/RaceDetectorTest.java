package io.seriatim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Deliberate races are detected, and correct schedules cause no false positives. */
@Timeout(120)
@Tag("slow")
class RaceDetectorTest {
    private static final long SEED = 20261121;
    private static final int SCHEDULES = 100_000;
    private static final int STEPS = 10;
    private static final Stream.Body NOTHING = () -> {
    };

    @Test
    void findsAMissingEvent() {
        try (Devices devices = Devices.builder().build()) {
            Device sim = devices.get(Place.sim(0));
            Stream producer = sim.newStream("producer");
            Stream consumer = sim.newStream("consumer");
            Buffer buffer = sim.allocate(100, producer);
            producer.launch("makes", List.of(Access.write(buffer)), NOTHING);
            DataRaceException e = assertThrows(DataRaceException.class,
                    () -> consumer.launch("takes", List.of(Access.read(buffer)), NOTHING));
            assertEquals("makes", e.earlier());
            assertEquals("takes", e.later());
            String message = String.valueOf(e.getMessage());
            assertTrue(
                    message.contains("'makes'") && message.contains("'takes'") && message.contains("producer")
                            && message.contains("consumer") && message.contains("Record an event"),
                    message);
        }
    }

    @Test
    void findsAWriteUnderAReader() {
        try (Devices devices = Devices.builder().build()) {
            Device sim = devices.get(Place.sim(0));
            Stream one = sim.newStream("one");
            Stream two = sim.newStream("two");
            Buffer buffer = sim.allocate(100, one);
            one.launch("reads", List.of(new Access(buffer, 0, 50, false)), NOTHING);
            two.launch("reads too", List.of(Access.read(buffer)), NOTHING);
            two.launch("writes the other half", List.of(new Access(buffer, 50, 50, true)), NOTHING);
            DataRaceException e = assertThrows(DataRaceException.class,
                    () -> two.launch("writes", List.of(new Access(buffer, 49, 1, true)), NOTHING));
            assertEquals("reads", e.earlier());
        }
    }

    @Test
    void findsAHostReadWithoutAWait() throws InterruptedException {
        try (Devices devices = Devices.builder().build()) {
            Device sim = devices.get(Place.sim(0));
            Buffer there = sim.allocate(64);
            Buffer host = devices.host().allocate(64);
            sim.defaultStream().launch("makes", List.of(Access.write(there)), NOTHING);
            sim.defaultStream().copy("copies out", Access.read(there), Access.write(host));
            DataRaceException e = assertThrows(DataRaceException.class, () -> host.hostAccess("looks", 0, 64, false));
            assertEquals("copies out", e.earlier());
            assertEquals("looks", e.later());
            sim.defaultStream().synchronize();
            host.hostAccess("looks", 0, 64, false);
        }
    }

    @Test
    void findsACopyBetweenDevicesWithoutAnEvent() {
        try (Devices devices = Devices.builder().build()) {
            Device left = devices.get(Place.sim(0));
            Device right = devices.get(Place.sim(1));
            Buffer from = left.allocate(64);
            Buffer to = right.allocate(64);
            left.defaultStream().launch("makes", List.of(Access.write(from)), NOTHING);
            assertThrows(DataRaceException.class,
                    () -> right.defaultStream().copy("takes", Access.read(from), Access.write(to)));
        }
    }

    /** A mutant of the allocator, which forgets the streams that used a buffer and reuses its memory at once. */
    @Test
    void findsAnEarlyReuseOfFreedMemory() {
        try (Devices devices = Devices.builder().build()) {
            Device sim = devices.get(Place.sim(0));
            Stream home = sim.newStream("home");
            Stream visitor = sim.newStream("visitor");
            Buffer old = sim.allocate(256, home);
            home.launch("makes", List.of(Access.write(old)), NOTHING);
            visitor.waitFor(home.record());
            visitor.launch("still reads", List.of(Access.read(old)), NOTHING);
            old.block().visitors = List.of();
            old.close();
            Buffer reused = sim.allocate(256, home);
            assertEquals(old.block(), reused.block());
            DataRaceException e = assertThrows(DataRaceException.class,
                    () -> home.launch("overwrites", List.of(Access.write(reused)), NOTHING));
            assertEquals("still reads", e.earlier());
            assertEquals("overwrites", e.later());
        }
    }

    /**
     * A random program of launches and copies on some streams. It is made correct by events where an oracle requires
     * them.
     */
    private static final class Schedule {
        private final SplittableRandom random;
        private final List<Stream> streams;
        private final List<Buffer> buffers;
        /** For each buffer, the last step that wrote it and the steps that have read it since. */
        private final List<Set<Integer>> writers = new ArrayList<>();
        private final List<Set<Integer>> readers = new ArrayList<>();
        /** The stream of each step, and the steps that each stream is ordered after. */
        private final List<Integer> streamOf = new ArrayList<>();
        private final List<Set<Integer>> heard = new ArrayList<>();
        private final List<Event> events = new ArrayList<>();
        private final List<Set<Integer>> heardAt = new ArrayList<>();
        private boolean racy;

        Schedule(SplittableRandom random, List<Stream> streams, List<Buffer> buffers) {
            this.random = random;
            this.streams = streams;
            this.buffers = buffers;
            buffers.forEach(_ -> {
                writers.add(new HashSet<>());
                readers.add(new HashSet<>());
            });
            streams.forEach(_ -> heard.add(new HashSet<>()));
        }

        /** Runs the program without the edge to omit, if one is given; returns the number of edges. */
        int run(int omitted) {
            int edges = 0;
            // Memory is first used by the stream that it was allocated for.
            List<Event> allocated = streams.stream().map(Stream::record).toList();
            streams.forEach(stream -> allocated.forEach(stream::waitFor));
            for (int step = 0; step < STEPS; step++) {
                int s = random.nextInt(streams.size());
                int read = random.nextInt(buffers.size());
                int written = random.nextInt(buffers.size());
                Set<Integer> needed = new HashSet<>(writers.get(read));
                needed.addAll(writers.get(written));
                needed.addAll(readers.get(written));
                int missing = -1;
                for (int earlier : needed) {
                    if (!heard.get(s).contains(earlier) && streamOf.get(earlier) != s) {
                        if (edges++ == omitted) {
                            missing = earlier;
                        } else {
                            streams.get(s).waitFor(events.get(earlier));
                            heard.get(s).addAll(heardAt.get(earlier));
                        }
                    }
                }
                // Another event of the same step may already have established the order.
                racy |= missing >= 0 && !heard.get(s).contains(missing);
                launch(step, s, read, written);
            }
            return edges;
        }

        private void launch(int step, int s, int read, int written) {
            streams.get(s).launch("step " + step,
                    List.of(Access.read(buffers.get(read)), Access.write(buffers.get(written))), NOTHING);
            heard.get(s).add(step);
            streamOf.add(s);
            readers.get(read).add(step);
            writers.get(written).clear();
            writers.get(written).add(step);
            readers.get(written).clear();
            events.add(streams.get(s).record());
            heardAt.add(new HashSet<>(heard.get(s)));
        }

        boolean isRacy() {
            return racy;
        }
    }

    @Test
    void isSilentOnCorrectSchedulesAndFindsEachMissingEdge() throws InterruptedException {
        try (Devices devices = Devices.builder().build()) {
            Device left = devices.get(Place.sim(0));
            Device right = devices.get(Place.sim(1));
            List<Stream> streams = List.of(left.newStream("a"), left.newStream("b"), right.newStream("c"));
            SplittableRandom seeds = new SplittableRandom(SEED);
            int planted = 0;
            for (int i = 0; i < SCHEDULES; i++) {
                List<Buffer> buffers = List.of(left.allocate(64, streams.get(0)), left.allocate(64, streams.get(1)),
                        right.allocate(64, streams.get(2)));
                SplittableRandom random = new SplittableRandom(seeds.nextLong());
                SplittableRandom again = random.split();
                // Uses the same random numbers twice: the first run counts the edges.
                long seed = again.nextLong();
                int edges = new Schedule(new SplittableRandom(seed), streams, buffers).run(-1);
                if (i % 10 == 0 && edges > 0) {
                    settle(streams);
                    List<Buffer> fresh = List.of(left.allocate(128, streams.get(0)), left.allocate(128, streams.get(1)),
                            right.allocate(128, streams.get(2)));
                    Schedule mutant = new Schedule(new SplittableRandom(seed), streams, fresh);
                    boolean found = isFound(mutant);
                    assertEquals(mutant.isRacy(), found, () -> "schedule of seed " + seed);
                    planted += mutant.isRacy() ? 1 : 0;
                    settle(streams);
                    fresh.forEach(Buffer::close);
                }
                buffers.forEach(Buffer::close);
                if (i % 500 == 0) {
                    settle(streams);
                }
            }
            assertTrue(planted > 1000, "only " + planted + " mutants");
        }
    }

    private static boolean isFound(Schedule mutant) {
        try {
            mutant.run(0);
        } catch (DataRaceException e) {
            return true;
        }
        return false;
    }

    private static void settle(List<Stream> streams) throws InterruptedException {
        for (Stream stream : streams) {
            stream.synchronize();
        }
    }
}
