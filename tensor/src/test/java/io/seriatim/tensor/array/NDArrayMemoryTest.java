package io.seriatim.tensor.array;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.DeviceMemoryException;
import io.seriatim.device.Devices;
import io.seriatim.engine.Engine;
import io.seriatim.engine.Lane;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When the memory of arrays is freed, and how long one waits for it. */
@Timeout(60)
class NDArrayMemoryTest {
    @Test
    void readersHoldTheMemoryOfClosedArrays() throws InterruptedException {
        try (Devices devices = Devices.builder().build(); Engine engine = Engine.create()) {
            NDArray a = NDArrays.on(engine, devices).ones(3);
            a.storage().pin();
            a.storage().pin();
            a.close();
            engine.waitForAll();
            a.storage().unpin();
            assertEquals(12, devices.host().memory().used());
            IllegalStateException e = assertThrows(IllegalStateException.class, a::toArray);
            assertTrue(String.valueOf(e.getMessage()).contains(a.var().name()), e.getMessage());
            a.storage().unpin();
            assertEquals(0, devices.host().memory().used());
        }
    }

    @Test
    void givesUpOnMemoryThatAStuckOperationHolds() throws InterruptedException {
        try (Devices devices = Devices.builder().cpuMemory(1 << 20).build();
                Engine engine = Engine.builder().workers(Lane.CPU, 2).build()) {
            NDArrays nd = NDArrays.on(engine, devices, Duration.ofMillis(200));
            NDArray large = nd.zeros(200_000);
            CountDownLatch running = new CountDownLatch(1);
            CountDownLatch gate = new CountDownLatch(1);
            engine.op("stuck").reads(large.var()).push(() -> {
                running.countDown();
                gate.await();
            });
            running.await();
            large.close();
            DeviceMemoryException e = assertThrows(DeviceMemoryException.class, () -> nd.zeros(100_000));
            assertTrue(String.valueOf(e.getMessage()).contains(large.var().name()), e.getMessage());
            gate.countDown();
            assertEquals(0, nd.zeros(100_000).get(7));
        }
    }

    @Test
    void workspacesCanBeClosedTwice() throws InterruptedException {
        try (Devices devices = Devices.builder().build(); Engine engine = Engine.create()) {
            Workspace workspace = NDArrays.on(engine, devices).workspace(100);
            CountDownLatch gate = new CountDownLatch(1);
            engine.op("uses it").mutates(workspace.var()).push(gate::await);
            workspace.close();
            workspace.close();
            assertEquals(100, devices.host().memory().used());
            gate.countDown();
            engine.waitForAll();
            assertEquals(0, devices.host().memory().used());
        }
    }
}
