package io.seriatim.device;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The contract of all devices. */
@Timeout(30)
class DeviceContractTest {
    private static final int BYTES = 4096;

    /** Opens a device of a set that the test closes. */
    record Subject(String name, Devices devices, Device device) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Subject> devices() {
        SimOptions slow = SimOptions.DEFAULT.withLaunchLatency(Duration.ofNanos(20_000)).withCopyBandwidth(1L << 30);
        return Stream.of(subject("host", Place.CPU, SimOptions.DEFAULT),
                subject("simulated", Place.sim(0), SimOptions.DEFAULT),
                subject("slow", Place.sim(0), slow),
                subject("without detector", Place.sim(0), SimOptions.DEFAULT.withRaceDetection(false)));
    }

    private static Subject subject(String name, Place place, SimOptions options) {
        Devices devices = Devices.builder().sim(options).build();
        return new Subject(name, devices, devices.get(place));
    }

    private static void fill(Queue s, Buffer buffer, int value) {
        s.stream.launch("fill " + value, List.of(Access.write(buffer)), () -> buffer.segment().fill((byte) value));
    }

    /** An alias of the stream type whose name does not clash with java.util.stream.Stream. */
    private record Queue(io.seriatim.device.Stream stream) {
    }

    private static byte[] read(Devices devices, io.seriatim.device.Stream stream, Buffer buffer)
            throws InterruptedException {
        try (Buffer host = devices.host().allocate(buffer.bytes())) {
            stream.copy("read back", Access.read(buffer), Access.write(host));
            stream.synchronize();
            host.hostCheck("test", 0, host.bytes(), false);
            return host.segment().toArray(ValueLayout.JAVA_BYTE);
        }
    }

    @ParameterizedTest
    @MethodSource("devices")
    void aStreamRunsInOrder(Subject subject) throws InterruptedException {
        try (Devices devices = subject.devices(); io.seriatim.device.Stream stream = subject.device().newStream("s")) {
            List<Integer> order = Collections.synchronizedList(new ArrayList<>());
            for (int i = 0; i < 50; i++) {
                int number = i;
                stream.launch("op" + i, List.of(), () -> order.add(number));
            }
            stream.synchronize();
            assertEquals(IntStream.range(0, 50).boxed().toList(), order);
            assertNotNull(devices.host());
        }
    }

    @ParameterizedTest
    @MethodSource("devices")
    void eventsOrderStreams(Subject subject) throws InterruptedException {
        try (Devices devices = subject.devices()) {
            io.seriatim.device.Stream one = subject.device().newStream("one");
            io.seriatim.device.Stream two = subject.device().newStream("two");
            Buffer buffer = subject.device().allocate(BYTES, one);
            for (int round = 1; round < 20; round++) {
                fill(new Queue(one), buffer, round);
                two.waitFor(one.record());
                int expected = round;
                two.launch("check", List.of(Access.read(buffer)),
                        () -> assertEquals(expected, buffer.segment().get(ValueLayout.JAVA_BYTE, BYTES - 1)));
                one.waitFor(two.record());
            }
            two.synchronize();
            one.synchronize();
            assertTrue(one.record().failure() == null);
            assertNotNull(devices);
        }
    }

    @ParameterizedTest
    @MethodSource("devices")
    void copiesArriveBothWays(Subject subject) throws InterruptedException {
        try (Devices devices = subject.devices()) {
            io.seriatim.device.Stream stream = subject.device().defaultStream();
            Buffer host = devices.host().allocate(BYTES);
            for (int i = 0; i < BYTES; i++) {
                host.segment().set(ValueLayout.JAVA_BYTE, i, (byte) i);
            }
            Buffer there = subject.device().allocate(BYTES);
            Buffer second = subject.device().allocate(BYTES);
            stream.copy("in", Access.read(host), Access.write(there));
            stream.copy("within", new Access(there, 0, 100, false), new Access(second, 7, 100, true));
            byte[] expected = new byte[100];
            for (int i = 0; i < expected.length; i++) {
                expected[i] = (byte) i;
            }
            byte[] got = read(devices, stream, second);
            assertArrayEquals(expected, Arrays.copyOfRange(got, 7, 107));
            IllegalArgumentException e = assertThrows(IllegalArgumentException.class,
                    () -> stream.copy("uneven", new Access(there, 0, 10, false), Access.write(second)));
            assertTrue(
                    String.valueOf(e.getMessage()).contains("uneven") && String.valueOf(e.getMessage()).contains("10")
                            && String.valueOf(e.getMessage()).contains("4096"),
                    e.getMessage());
            assertThrows(IndexOutOfBoundsException.class, () -> new Access(there, 4000, 97, false));
        }
    }

    @ParameterizedTest
    @MethodSource("devices")
    void aFailureBelongsToTheNextEvent(Subject subject) throws InterruptedException {
        try (Devices devices = subject.devices()) {
            io.seriatim.device.Stream stream = subject.device().newStream("s");
            io.seriatim.device.Stream other = subject.device().newStream("other");
            List<String> ran = Collections.synchronizedList(new ArrayList<>());
            IllegalStateException cause = new IllegalStateException("planted");
            stream.launch("fails", List.of(), () -> {
                throw cause;
            });
            stream.launch("skipped", List.of(), () -> ran.add("skipped"));
            Event failed = stream.record();
            stream.launch("after", List.of(), () -> ran.add("after"));
            Event good = stream.record();
            good.synchronize();
            StreamFailedException e = assertThrows(StreamFailedException.class, failed::synchronize);
            assertSame(cause, e.getCause());
            assertSame(cause, failed.failure());
            assertNull(good.failure());
            assertEquals(List.of("after"), ran);
            other.waitFor(failed);
            other.launch("inherits", List.of(), () -> ran.add("inherits"));
            assertThrows(StreamFailedException.class, other::synchronize);
            assertEquals(List.of("after"), ran);
            assertNotNull(devices);
        }
    }

    @ParameterizedTest
    @MethodSource("devices")
    void freeingMemoryDoesNotHideAFailure(Subject subject) {
        try (Devices devices = subject.devices()) {
            io.seriatim.device.Stream stream = subject.device().newStream("s");
            Buffer buffer = subject.device().allocate(BYTES);
            stream.launch("fails", List.of(Access.write(buffer)), () -> {
                throw new IllegalStateException("planted");
            });
            buffer.close();
            subject.device().trim();
            assertTrue(stream.mark().failure() == null);
            assertThrows(StreamFailedException.class, stream::synchronize);
            assertNotNull(devices);
        }
    }

    @ParameterizedTest
    @MethodSource("devices")
    void tellsListenersOnce(Subject subject) throws Exception {
        try (Devices devices = subject.devices()) {
            io.seriatim.device.Stream stream = subject.device().newStream("s");
            CountDownLatch gate = new CountDownLatch(subject.device().place().isHost() ? 0 : 1);
            stream.launch("waits", List.of(), gate::await);
            Event event = stream.record();
            CompletableFuture<String> early = new CompletableFuture<>();
            event.onDone(failure -> early.complete(String.valueOf(failure)));
            gate.countDown();
            assertEquals("null", early.get());
            event.synchronize();
            CompletableFuture<String> late = new CompletableFuture<>();
            event.onDone(failure -> late.complete(String.valueOf(failure)));
            assertEquals("null", late.getNow("not called"));
            assertNotNull(devices);
        }
    }

    @ParameterizedTest
    @MethodSource("devices")
    void refusesWhatIsClosed(Subject subject) throws InterruptedException {
        try (Devices devices = subject.devices()) {
            io.seriatim.device.Stream stream = subject.device().newStream("short");
            Buffer buffer = subject.device().allocate(BYTES).label("table");
            buffer.close();
            buffer.close();
            IllegalStateException e = assertThrows(IllegalStateException.class,
                    () -> stream.launch("late", List.of(Access.read(buffer)), () -> {
                    }));
            assertTrue(String.valueOf(e.getMessage()).contains("table"), e.getMessage());
            stream.close();
            stream.close();
            assertThrows(IllegalStateException.class, () -> stream.launch("late", List.of(), () -> {
            }));
            // On a closed stream no work is left to wait for.
            stream.synchronize();
            assertEquals(0, subject.device().memory().used());
            assertNotNull(devices);
        }
    }

    @ParameterizedTest
    @MethodSource("devices")
    void refusesBadSizes(Subject subject) {
        try (Devices devices = subject.devices()) {
            assertThrows(IllegalArgumentException.class, () -> subject.device().allocate(-1));
            DeviceMemoryException e = assertThrows(DeviceMemoryException.class,
                    () -> subject.device().allocate(1L << 60));
            assertTrue(String.valueOf(e.getMessage()).contains(subject.device().place().toString()), e.getMessage());
            assertEquals(0, subject.device().allocate(0).bytes());
            assertNotNull(devices);
        }
    }

    @ParameterizedTest
    @MethodSource("devices")
    void workOnTheHostRunsAtItsPointOfTheStream(Subject subject) throws InterruptedException {
        try (Devices devices = subject.devices()) {
            io.seriatim.device.Stream stream = subject.device().newStream("s");
            Buffer there = subject.device().allocate(BYTES, stream).label("weights");
            Buffer first = devices.host().allocate(BYTES);
            Buffer second = devices.host().allocate(BYTES);
            List<Byte> seen = Collections.synchronizedList(new ArrayList<>());
            fill(new Queue(stream), there, 1);
            stream.copy("out", Access.read(there), Access.write(first));
            stream.launchHost("look", List.of(Access.read(first)),
                    () -> seen.add(first.segment().get(ValueLayout.JAVA_BYTE, BYTES - 1)));
            fill(new Queue(stream), there, 2);
            stream.copy("out", Access.read(there), Access.write(second));
            stream.launchHost("look again", List.of(Access.read(second)),
                    () -> seen.add(second.segment().get(ValueLayout.JAVA_BYTE, BYTES - 1)));
            stream.synchronize();
            assertEquals(List.of((byte) 1, (byte) 2), seen);
        }
    }

    @ParameterizedTest
    @MethodSource("devices")
    void aFailureOnTheHostBelongsToTheNextEvent(Subject subject) {
        try (Devices devices = subject.devices()) {
            io.seriatim.device.Stream stream = subject.device().newStream("s");
            List<String> ran = Collections.synchronizedList(new ArrayList<>());
            IllegalStateException cause = new IllegalStateException("planted");
            stream.launchHost("fails", List.of(), () -> {
                throw cause;
            });
            stream.launchHost("skipped", List.of(), () -> ran.add("skipped"));
            StreamFailedException e = assertThrows(StreamFailedException.class, stream::synchronize);
            assertSame(cause, e.getCause());
            assertEquals(List.of(), ran);
            assertNotNull(devices);
        }
    }

    @ParameterizedTest
    @MethodSource("devices")
    void workOnTheHostCannotDeclareMemoryOfADevice(Subject subject) throws InterruptedException {
        try (Devices devices = subject.devices()) {
            io.seriatim.device.Stream stream = subject.device().newStream("s");
            Buffer buffer = subject.device().allocate(BYTES, stream).label("weights");
            List<Access> accesses = List.of(Access.read(buffer));
            if (subject.device().place().isHost()) {
                stream.launchHost("look", accesses, () -> {
                });
                stream.synchronize();
            } else {
                IllegalArgumentException e = assertThrows(IllegalArgumentException.class,
                        () -> stream.launchHost("look", accesses, () -> {
                        }));
                String message = String.valueOf(e.getMessage());
                assertTrue(message.contains("'look'") && message.contains("weights") && message.contains("copy it"),
                        message);
            }
            assertNotNull(devices);
        }
    }
}
