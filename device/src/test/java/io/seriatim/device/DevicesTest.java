package io.seriatim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DevicesTest {
    @Test
    void placesAreWordsWithAnIndex() {
        assertEquals(Place.CPU, Place.parse("cpu"));
        assertEquals(Place.CPU, Place.parse("cpu:0"));
        assertEquals(new Place("cuda", 3), Place.parse("cuda:3"));
        for (Place place : List.of(Place.CPU, new Place("cpu", 2), Place.sim(0))) {
            assertEquals(place, Place.parse(place.toString()));
        }
        assertEquals("cpu", Place.CPU.toString());
        assertEquals("sim:0", Place.sim(0).toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "CPU", "sim:", "sim:x", "sim:-1", "sim:1:2", ":1", "sim 0", "sim:99999999999"})
    void otherPlacesAreRefused(String text) {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> Place.parse(text));
        assertTrue(String.valueOf(e.getMessage()).contains("sim:0") || String.valueOf(e.getMessage()).contains("'"),
                e.getMessage());
    }

    @Test
    void aMissingDeviceSaysWhatWasLookedFor() {
        try (Devices devices = Devices.builder().build()) {
            DeviceNotFoundException e = assertThrows(DeviceNotFoundException.class,
                    () -> devices.get(Place.parse("cuda:0")));
            assertTrue(
                    String.valueOf(e.getMessage()).startsWith("'cuda:0'")
                            && String.valueOf(e.getMessage()).contains("add the module"),
                    e.getMessage());
            DeviceNotFoundException beyond = assertThrows(DeviceNotFoundException.class,
                    () -> devices.get(Place.sim(64)));
            assertTrue(String.valueOf(beyond.getMessage()).contains("64"), beyond.getMessage());
            assertSame(devices.get(Place.sim(1)), devices.get(Place.sim(1)));
            assertSame(devices.host(), devices.get(new Place("cpu", 1)));
            assertEquals(List.of(Place.CPU, Place.sim(0), Place.sim(1)), devices.found());
        }
    }

    @Test
    void optionsAreChecked() {
        assertThrows(IllegalArgumentException.class, () -> SimOptions.DEFAULT.withMemory(-1));
        assertThrows(IllegalArgumentException.class, () -> SimOptions.DEFAULT.withCopyBandwidth(-1));
        assertThrows(IllegalArgumentException.class, () -> SimOptions.DEFAULT.withLaunchLatency(Duration.ofNanos(-1)));
        System.setProperty("seriatim.test.bytes", "64m");
        assertEquals(64 << 20, Devices.bytes("seriatim.test.bytes", 1));
        System.setProperty("seriatim.test.bytes", "12");
        assertEquals(12, Devices.bytes("seriatim.test.bytes", 1));
        System.setProperty("seriatim.test.bytes", "many");
        assertThrows(IllegalArgumentException.class, () -> Devices.bytes("seriatim.test.bytes", 1));
        System.clearProperty("seriatim.test.bytes");
        assertEquals(1, Devices.bytes("seriatim.test.bytes", 1));
    }
}
