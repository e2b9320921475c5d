package io.seriatim.tensor.array;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.engine.Engine;
import io.seriatim.engine.Lane;
import io.seriatim.engine.OperationFailedException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Failures on an accelerator, where many operations share a stream: each stays with its own operation. */
@Timeout(60)
class NDArrayFailureTest {
    /** Enough that workers come between one another. */
    private static final int ROUNDS = 2000;
    private static final Place SIM = Place.sim(0);

    @Test
    void eachOperationHasItsOwnFailureWhicheverWorkersLaunch() throws InterruptedException {
        try (Devices devices = Devices.builder().build();
                Engine engine = Engine.builder().workers(Lane.of(SIM.toString()), 4).build()) {
            NDArrays nd = NDArrays.on(engine, devices).at(SIM);
            NDArray table = nd.of(new float[]{1, 2, 3});
            NDArray outside = nd.of(new long[]{0, 3});
            NDArray inside = nd.of(new long[]{0, 1});
            List<NDArray> failing = new ArrayList<>();
            List<NDArray> right = new ArrayList<>();
            for (int i = 0; i < ROUNDS; i++) {
                failing.add(table.gather(outside, 0));
                right.add(table.gather(inside, 0));
            }
            for (int i = 0; i < ROUNDS; i++) {
                assertThrows(OperationFailedException.class, failing.get(i)::toArray, "gather number " + i);
                assertEquals(2, right.get(i).get(1), "gather number " + i);
            }
        }
    }

    @Test
    void whatReplacesAFailedResultDoesNotFail() throws InterruptedException {
        try (Devices devices = Devices.builder().build(); Engine engine = Engine.create()) {
            NDArrays nd = NDArrays.on(engine, devices).at(SIM);
            NDArray result = nd.of(new float[]{1, 2, 3}).gather(nd.of(new long[]{3, 0}), 0);
            assertThrows(OperationFailedException.class, result::toArray);
            result.fill(7);
            assertArrayEquals(new float[]{7, 7}, result.toArray(), 0);
        }
    }

    @Test
    void makersOfOneSetOfDevicesShareItsStreams() throws InterruptedException {
        try (Devices devices = Devices.builder().build(); Engine engine = Engine.create()) {
            NDArray one = NDArrays.on(engine, devices).at(SIM).of(new float[]{1, 2});
            NDArray two = NDArrays.on(engine, devices).at(SIM).of(new float[]{3, 4});
            assertArrayEquals(new float[]{4, 6}, one.add(two).toArray(), 0);
        }
    }

    /**
     * Memory goes from operation to operation while the device still works on what had it before: the detector must
     * know that all is ordered.
     */
    @Test
    void memoryIsUsedAgainInOrder() throws InterruptedException {
        try (Devices devices = Devices.builder().build();
                Engine engine = Engine.builder().workers(Lane.CPU, 3).workers(Lane.of(SIM.toString()), 2).build()) {
            NDArrays host = NDArrays.on(engine, devices);
            NDArray sum = host.at(SIM).zeros(100);
            for (int i = 0; i < ROUNDS; i++) {
                NDArray here = host.ones(100);
                NDArray doubled = here.add(here);
                NDArray there = doubled.copyTo(SIM);
                NDArray more = there.add(1);
                sum.addAssign(more);
                here.close();
                doubled.close();
                there.close();
                more.close();
            }
            assertEquals(3 * ROUNDS, sum.get(99));
        }
    }
}
