package io.seriatim.cli.demo.devices;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.engine.Engine;
import io.seriatim.tensor.array.NDArray;
import io.seriatim.tensor.array.NDArrays;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class TwoDevicesCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    private Path folder;

    private int demo(String... args) {
        return new CommandLine(TwoDevicesCommand.class).setOut(new PrintWriter(out)).setErr(new PrintWriter(err))
                .execute(args);
    }

    @Test
    void twoDevicesGiveTheBitsOfOne() throws IOException {
        assertEquals(0, demo("--steps", "3", "--batch", "32", "--out", folder.toString()), err::toString);
        assertTrue(out.toString().contains("bitwise the same"), out::toString);
        String svg = Files.readString(folder.resolve("timeline.svg"));
        for (String lane : List.of("cpu", "sim:0", "sim:1", "sim:0/copy", "copy from sim:1", "matmul")) {
            assertTrue(svg.contains(lane), () -> lane + " is not in the picture");
        }
    }

    @Test
    void refusesAnOddBatch() {
        assertEquals(2, demo("--batch", "7"));
        assertTrue(err.toString().contains("--batch"), err::toString);
    }

    /** The sum of two halves is not bitwise equal to the whole, but close. */
    @Test
    void theHalvesAreNearTheWhole() throws InterruptedException {
        float[] halves = weights(List.of(Place.sim(0), Place.sim(1)));
        assertArrayEquals(weights(List.of(Place.CPU)), halves, 2e-5f);
    }

    private static float[] weights(List<Place> places) throws InterruptedException {
        try (Devices devices = Devices.builder().build(); Engine engine = Engine.create()) {
            DataParallel program = new DataParallel(NDArrays.on(engine, devices), places, 32, 5);
            NDArray first = program.step();
            program.step();
            assertTrue(first.get() > 0);
            return program.weights().getFirst().toArray();
        }
    }
}
