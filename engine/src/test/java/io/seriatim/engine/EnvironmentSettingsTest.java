package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Every value of a setting, from either source, and each bad value. */
class EnvironmentSettingsTest {
    private static EnvironmentSettings properties(String name, String value) {
        return new EnvironmentSettings(Map.of(name, value)::get, Map.<String, String>of()::get);
    }

    private static EnvironmentSettings variables(String name, String value) {
        return new EnvironmentSettings(Map.<String, String>of()::get, Map.of(name, value)::get);
    }

    private static String kindOf(EngineBuilder builder, EnvironmentSettings settings) {
        return builder.buildCore(settings).dispatcher.kind();
    }

    @Test
    void goodValues() {
        Map<String, String> kinds = Map.of("naive", "naive", "perDevice", "perDevice", "shuffled", "shuffled, seed 0",
                "shuffled:5", "shuffled, seed 5", "shuffled:-9223372036854775808",
                "shuffled, seed -9223372036854775808", "shuffled:+3", "shuffled, seed 3", " naive ", "naive");
        kinds.forEach((value, kind) -> {
            assertEquals(kind, kindOf(new EngineBuilder(), properties("seriatim.engine", value)));
            assertEquals(kind, kindOf(new EngineBuilder(), variables("SERIATIM_ENGINE", value)));
        });
        EnvironmentSettings both = new EnvironmentSettings(Map.of("seriatim.engine", "pooled")::get,
                Map.of("SERIATIM_ENGINE", "naive", "SERIATIM_WORKERS", "1")::get);
        assertEquals("pooled, 1 thread", kindOf(new EngineBuilder(), both));
        EngineBuilder six = new EngineBuilder();
        six.workers(Lane.CPU, 6);
        assertEquals("pooled, 6 threads", kindOf(six, both));
        assertTrue(new EngineBuilder().buildCore(variables("SERIATIM_CHECKED", "true")).checked);
        EngineBuilder unchecked = new EngineBuilder();
        unchecked.checked(false);
        assertEquals(false, unchecked.buildCore(variables("SERIATIM_CHECKED", "true")).checked);
        EngineBuilder checked = new EngineBuilder();
        checked.checked(true);
        assertTrue(checked.buildCore(variables("SERIATIM_CHECKED", "false")).checked);
    }

    @Test
    void aBlankValueIsNone() {
        for (String blank : List.of("", " ", "\t")) {
            EnvironmentSettings settings = new EnvironmentSettings(
                    Map.of("seriatim.engine", blank, "seriatim.workers", blank, "seriatim.checked", blank)::get,
                    Map.of("SERIATIM_ENGINE", "naive")::get);
            assertEquals(EngineBuilder.Type.NAIVE, settings.type());
            assertEquals(0, settings.workers());
            assertNull(settings.checked());
        }
    }

    @Test
    void aBadValueListsTheGoodOnes() {
        Map<String, List<String>> bad = Map.of("engine",
                List.of("Naive", "pooled(2)", "per-device", "shuffled:", "shuffled:x", "shuffled: 3",
                        "shuffled:9223372036854775808", "none"),
                "workers", List.of("0", "-1", "two", "1.5", "2147483648"), "checked", List.of("TRUE", "yes", "1"));
        Map<String, List<String>> good = Map.of("engine",
                List.of("naive", "pooled", "perDevice", "shuffled", "shuffled:SEED"), "workers",
                List.of("1", "integer"),
                "checked", List.of("true", "false"));
        bad.forEach((name, values) -> values.forEach(value -> {
            for (boolean property : new boolean[]{true, false}) {
                String key = property ? "seriatim." + name : "SERIATIM_" + name.toUpperCase(Locale.ROOT);
                String message = String.valueOf(assertThrows(IllegalArgumentException.class,
                        () -> {
                            if (property) {
                                properties(key, value);
                            } else {
                                variables(key, value);
                            }
                        }).getMessage());
                assertTrue(message.contains(key) && message.contains("'" + value + "'"), message);
                good.getOrDefault(name, List.of()).forEach(each -> assertTrue(message.contains(each), message));
            }
        }));
    }
}
