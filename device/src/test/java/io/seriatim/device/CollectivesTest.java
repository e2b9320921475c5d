package io.seriatim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Collectives.Part;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Compares collectives with a serial program, under the race detector. */
@Timeout(60)
class CollectivesTest {
    static Stream<Arguments> groups() {
        return Stream.of(1, 2, 3, 4).flatMap(ranks -> Stream.of(0, 1, 7, 100).map(count -> Arguments.of(ranks, count)));
    }

    /** Creates devices with one float buffer each, whose values depend on rank and index. */
    private static final class Group implements AutoCloseable {
        final Devices devices = Devices.builder().sim(SimOptions.DEFAULT.withLaunchLatency(Duration.ofNanos(5000)))
                .build();
        final List<Device> ranks = new ArrayList<>();
        final List<Buffer> inputs = new ArrayList<>();

        Group(int size, int count) {
            for (int r = 0; r < size; r++) {
                Device device = devices.get(Place.sim(r));
                ranks.add(device);
                Buffer buffer = device.allocate(4L * count).label("rank " + r);
                int rank = r;
                device.defaultStream().launch("init", List.of(Access.write(buffer)), () -> {
                    for (int i = 0; i < count; i++) {
                        buffer.segment().setAtIndex(ValueLayout.JAVA_FLOAT, i, value(rank, i));
                    }
                });
                inputs.add(buffer);
            }
        }

        static float value(int rank, int i) {
            return (rank + 1) * 1.25f + i;
        }

        float[] read(int rank, Buffer buffer) throws InterruptedException {
            try (Buffer host = devices.host().allocate(buffer.bytes())) {
                ranks.get(rank).defaultStream().copy("read", Access.read(buffer), Access.write(host));
                ranks.get(rank).defaultStream().synchronize();
                return host.segment().toArray(ValueLayout.JAVA_FLOAT);
            }
        }

        List<Part> parts(List<Buffer> outputs) {
            List<Part> parts = new ArrayList<>();
            for (int r = 0; r < ranks.size(); r++) {
                parts.add(new Part(ranks.get(r).defaultStream(), Access.read(inputs.get(r)),
                        Access.write(outputs.get(r))));
            }
            return parts;
        }

        List<Buffer> outputs(long bytes) {
            return ranks.stream().map(device -> device.allocate(bytes)).toList();
        }

        @Override
        public void close() {
            devices.close();
        }
    }

    @ParameterizedTest
    @MethodSource("groups")
    void allReduceSumsInTheOrderOfRanks(int size, int count) throws InterruptedException {
        try (Group group = new Group(size, count)) {
            Collectives.allReduce(group.parts(group.inputs), Element.FLOAT32, Reduction.SUM);
            for (int r = 0; r < size; r++) {
                float[] got = group.read(r, group.inputs.get(r));
                for (int i = 0; i < count; i++) {
                    float sum = Group.value(0, i);
                    for (int k = 1; k < size; k++) {
                        sum += Group.value(k, i);
                    }
                    assertEquals(sum, got[i]);
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("groups")
    void theOthersMoveWhatTheyShould(int size, int count) throws InterruptedException {
        try (Group group = new Group(size, count)) {
            List<Buffer> all = group.outputs(4L * count * size);
            Collectives.allGather(group.parts(all));
            List<Buffer> share = group.outputs(4L * count);
            List<Part> scattered = new ArrayList<>();
            for (int r = 0; r < size; r++) {
                scattered.add(new Part(group.ranks.get(r).defaultStream(), Access.read(all.get(r)),
                        Access.write(share.get(r))));
            }
            Collectives.reduceScatter(scattered, Element.FLOAT32, Reduction.MAX);
            Collectives.broadcast(group.parts(group.inputs), size - 1);
            for (int r = 0; r < size; r++) {
                float[] gathered = group.read(r, all.get(r));
                float[] scatteredShare = group.read(r, share.get(r));
                float[] broadcast = group.read(r, group.inputs.get(r));
                for (int i = 0; i < count; i++) {
                    for (int k = 0; k < size; k++) {
                        assertEquals(Group.value(k, i), gathered[k * count + i]);
                    }
                    assertEquals(Group.value(r, i), scatteredShare[i]);
                    assertEquals(Group.value(size - 1, i), broadcast[i]);
                }
            }
        }
    }

    @Test
    void sendsFromOneToAnother() throws InterruptedException {
        try (Group group = new Group(2, 10)) {
            Collectives.send(group.ranks.get(0).defaultStream(), Access.read(group.inputs.get(0)),
                    group.ranks.get(1).defaultStream(),
                    Access.write(group.inputs.get(1)));
            assertEquals(Group.value(0, 9), group.read(1, group.inputs.get(1))[9]);
        }
    }

    @Test
    void reducesAllTypes() {
        MemorySegment a = Arena.ofAuto().allocate(8, 8);
        MemorySegment b = Arena.ofAuto().allocate(8, 8);
        a.set(ValueLayout.JAVA_SHORT, 0, Float.floatToFloat16(1.5f));
        b.set(ValueLayout.JAVA_SHORT, 0, Float.floatToFloat16(2.25f));
        Element.FLOAT16.reduce(Reduction.SUM, a, 0, b, 0);
        assertEquals(3.75f, Float.float16ToFloat(a.get(ValueLayout.JAVA_SHORT, 0)));
        a.set(ValueLayout.JAVA_SHORT, 0, (short) (Float.floatToRawIntBits(1.5f) >>> 16));
        b.set(ValueLayout.JAVA_SHORT, 0, (short) (Float.floatToRawIntBits(-4f) >>> 16));
        Element.BFLOAT16.reduce(Reduction.PRODUCT, a, 0, b, 0);
        assertEquals(-6f, Float.intBitsToFloat(a.get(ValueLayout.JAVA_SHORT, 0) << 16));
        a.set(ValueLayout.JAVA_LONG, 0, 5L);
        b.set(ValueLayout.JAVA_LONG, 0, -7L);
        Element.INT64.reduce(Reduction.MIN, a, 0, b, 0);
        assertEquals(-7, a.get(ValueLayout.JAVA_LONG, 0));
        a.set(ValueLayout.JAVA_DOUBLE, 0, Double.NaN);
        Element.FLOAT64.reduce(Reduction.MAX, a, 0, b, 0);
        assertTrue(Double.isNaN(a.get(ValueLayout.JAVA_DOUBLE, 0)));
    }

    @Test
    void refusesUnequalParts() {
        try (Group group = new Group(3, 4)) {
            List<Buffer> wrong = group.outputs(20);
            IllegalArgumentException e = assertThrows(IllegalArgumentException.class,
                    () -> Collectives.allReduce(group.parts(wrong), Element.FLOAT32, Reduction.SUM));
            assertTrue(
                    String.valueOf(e.getMessage()).contains("all-reduce")
                            && String.valueOf(e.getMessage()).contains("16 to 20"),
                    e.getMessage());
            assertThrows(IllegalArgumentException.class,
                    () -> Collectives.allReduce(List.of(), Element.FLOAT32, Reduction.SUM));
            assertThrows(IllegalArgumentException.class,
                    () -> Collectives.reduceScatter(group.parts(group.inputs), Element.FLOAT32, Reduction.SUM));
            assertThrows(IllegalArgumentException.class, () -> Collectives.broadcast(group.parts(group.inputs), 3));
            Part twice = Part.inPlace(group.ranks.get(0).defaultStream(), group.inputs.get(0));
            assertThrows(IllegalArgumentException.class,
                    () -> Collectives.allReduce(List.of(twice, twice), Element.FLOAT32, Reduction.SUM));
        }
    }
}
