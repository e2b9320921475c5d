package io.seriatim.tensor.array;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.engine.Engine;
import io.seriatim.engine.Lane;
import io.seriatim.engine.OperationFailedException;
import io.seriatim.engine.Var;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Operations of a user's own on arrays. */
@Timeout(60)
class ArrayBodyTest {
    /** The engines. */
    enum Kind {
        NAIVE, POOLED, PER_DEVICE, SHUFFLED;

        Engine open() {
            return switch (this) {
                case NAIVE -> Engine.builder().naive().build();
                case POOLED -> Engine.builder().pooled(2).build();
                case PER_DEVICE -> Engine.builder().workers(Lane.CPU, 2).checked(true).build();
                case SHUFFLED -> Engine.builder().shuffled(11).build();
            };
        }
    }

    private static void store(Tensor tensor, float... values) {
        Floats.store(tensor, 0, values, 0, values.length);
    }

    private static float[] reversed(float[] values) {
        float[] result = new float[values.length];
        for (int i = 0; i < values.length; i++) {
            result[i] = values[values.length - 1 - i];
        }
        return result;
    }

    @ParameterizedTest
    @EnumSource
    void bodiesTakeTheirTurnAmongOperationsAtEveryPlace(Kind kind) throws InterruptedException {
        try (Devices devices = Devices.builder().build(); Engine engine = kind.open()) {
            NDArrays host = NDArrays.on(engine, devices);
            for (Place place : List.of(Place.CPU, Place.sim(0))) {
                NDArray a = host.at(place).of(new float[]{1, 2, 3});
                NDArray b = host.at(place).zeros(2, 3);
                for (int i = 0; i < 10; i++) {
                    a.addAssign(1);
                    host.push("reverse", List.of(a), List.of(b.select(0, 1)),
                            (reads, writes) -> store(writes.getFirst(), reversed(reads.getFirst().toFloatArray())));
                    a.addAssign(b.select(0, 1));
                    a.multiplyAssign(0.5);
                }
                float[] x = {1, 2, 3};
                float[] y = {};
                for (int i = 0; i < 10; i++) {
                    y = reversed(new float[]{x[0] + 1, x[1] + 1, x[2] + 1});
                    x = new float[]{(x[0] + 1 + y[0]) * 0.5f, (x[1] + 1 + y[1]) * 0.5f, (x[2] + 1 + y[2]) * 0.5f};
                }
                assertArrayEquals(x, a.toArray());
                assertArrayEquals(new float[]{0, 0, 0, y[0], y[1], y[2]}, b.toArray(), "the rest of the array stays");
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aFailureStaysInWhatIsWrittenUntilItIsOverwritten(Kind kind) throws InterruptedException {
        IOException planted = new IOException("planted");
        try (Devices devices = Devices.builder().build(); Engine engine = kind.open()) {
            NDArrays host = NDArrays.on(engine, devices);
            Var var = engine.newVar("mine");
            NDArray here = host.zeros(2);
            NDArray there = host.at(Place.sim(0)).zeros(2);
            NDArray read = host.ones(2);
            host.push("mine", List.of(read), List.of(here, there), (_, _) -> {
                throw planted;
            }, var);
            for (NDArray array : List.of(here, there, here.add(1))) {
                assertSame(planted, assertThrows(OperationFailedException.class, array::toArray).getCause());
            }
            assertInstanceOf(OperationFailedException.class, engine.failure(var));
            assertArrayEquals(new float[]{1, 1}, read.toArray());
            host.push("again", List.of(read), List.of(here, there),
                    (_, writes) -> writes.forEach(write -> store(write, 5, 6)));
            assertArrayEquals(new float[]{5, 6}, here.toArray());
            assertArrayEquals(new float[]{5, 6}, there.toArray());
        }
    }

    @Test
    void refusesWhatCannotBeOrdered() {
        try (Engine engine = Engine.create(); Engine other = Engine.create()) {
            NDArrays nd = NDArrays.on(engine);
            ArrayBody none = (reads, _) -> assertTrue(reads.isEmpty(), "must not run");
            NDArray a = nd.zeros(4);
            NDArray foreign = NDArrays.on(other).zeros(4);
            assertSame(other, foreign.engine());
            assertTrue(
                    String.valueOf(assertThrows(IllegalArgumentException.class,
                            () -> nd.push("mine", List.of(foreign), List.of(a), none))
                            .getMessage()).contains("another engine"));
            assertTrue(String.valueOf(assertThrows(IllegalArgumentException.class,
                    () -> nd.push("mine", List.of(), List.of(a.slice(0, 0, 3), a.slice(0, 2, 4)), none)).getMessage())
                    .contains("overlap"));
            NDArray closed = nd.zeros(4);
            closed.close();
            assertThrows(IllegalStateException.class, () -> nd.push("mine", List.of(closed), List.of(), none));
        }
    }
}
