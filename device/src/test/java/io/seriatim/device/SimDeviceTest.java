package io.seriatim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class SimDeviceTest {
    @Test
    void hostCodeCannotTouchItsMemory() throws InterruptedException {
        try (Devices devices = Devices.builder().build()) {
            Device sim = devices.get(Place.sim(0));
            Buffer mine = sim.allocate(64).label("weights");
            Buffer other = sim.allocate(64);
            IllegalStateException e = assertThrows(IllegalStateException.class, mine::segment);
            assertTrue(String.valueOf(e.getMessage()).contains("sim:0")
                    && String.valueOf(e.getMessage()).contains("weights")
                    && String.valueOf(e.getMessage()).contains("copy it to the host"), e.getMessage());
            assertThrows(IllegalStateException.class, mine::address);
            sim.defaultStream().launch("undeclared", List.of(Access.write(mine)), () -> other.segment().fill((byte) 1));
            StreamFailedException failed = assertThrows(StreamFailedException.class, sim.defaultStream()::synchronize);
            assertTrue(failed.getCause() instanceof IllegalStateException, String.valueOf(failed.getCause()));
        }
    }

    @Test
    void workThatWaitsForItselfFails() {
        try (Devices devices = Devices.builder().build()) {
            Stream stream = devices.get(Place.sim(0)).newStream("s");
            CompletableFuture<Event> later = new CompletableFuture<>();
            stream.launch("waits for itself", List.of(), () -> later.get().synchronize());
            Event end = stream.record();
            later.complete(end);
            StreamFailedException e = assertThrows(StreamFailedException.class, end::synchronize);
            assertTrue(String.valueOf(e.getCause()).contains("can never end"), String.valueOf(e.getCause()));
        }
    }

    @Test
    void leavesNoThread() throws InterruptedException {
        Devices devices = Devices.builder().build();
        Device sim = devices.get(Place.sim(5));
        Stream closed = sim.newStream("closed");
        closed.launch("op", List.of(), () -> {
        });
        closed.close();
        sim.defaultStream().launch("op", List.of(), () -> {
        });
        Event pending = sim.newStream("open").record();
        devices.close();
        pending.synchronize();
        assertFalse(
                Thread.getAllStackTraces().keySet().stream().anyMatch(thread -> thread.getName().startsWith("sim:5/")));
        assertThrows(IllegalStateException.class, () -> sim.allocate(1));
        assertThrows(IllegalStateException.class, () -> devices.get(Place.sim(6)));
    }

    @Test
    void memoryOfAnotherStreamWaitsForIt() throws InterruptedException {
        try (Devices devices = Devices.builder().build()) {
            Device sim = devices.get(Place.sim(0));
            Stream home = sim.newStream("home");
            Stream visitor = sim.newStream("visitor");
            Buffer first = sim.allocate(1000, home);
            CountDownLatch gate = new CountDownLatch(1);
            visitor.launch("long", List.of(Access.write(first)), () -> {
                gate.await();
                first.segment().fill((byte) 1);
            });
            first.close();
            Buffer second = sim.allocate(1000, home);
            assertFalse(first.block() == second.block(), "memory was reused while a stream used it");
            gate.countDown();
            visitor.synchronize();
            home.synchronize();
            Buffer third = sim.allocate(1000, home);
            assertTrue(first.block() == third.block(), "memory was not reused after its stream was done");
            home.launch("uses it", List.of(Access.write(third)),
                    () -> third.segment().set(ValueLayout.JAVA_BYTE, 0, (byte) 2));
            home.synchronize();
            assertEquals(2, devices.get(Place.sim(0)).memory().buffers());
        }
    }

    @Test
    void memoryIsReusedAtOnceOnItsStream() {
        try (Devices devices = Devices.builder().build()) {
            Device sim = devices.get(Place.sim(0));
            Buffer first = sim.allocate(1000);
            sim.defaultStream().launch("op", List.of(Access.write(first)), () -> first.segment().fill((byte) 1));
            first.close();
            assertTrue(sim.allocate(990).block() == first.block());
        }
    }
}
