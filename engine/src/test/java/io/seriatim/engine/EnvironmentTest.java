package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Properties and environment variables choose the engine of a program that names no kind, in a JVM of its own. */
class EnvironmentTest {
    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path folder;

    private List<String> run(Map<String, String> environment, String... properties) throws Exception {
        return ForkedJvm.run(60, folder.resolve("output"), List.of(properties), environment, SettingsProgram.class)
                .lines().map(String::strip).filter(line -> !line.isEmpty()).toList();
    }

    /** The lines that the program printed itself. */
    private static List<String> printed(List<String> lines) {
        return lines.stream().filter(line -> line.matches("[A-Za-z ]+: \\(.*")).toList();
    }

    @Test
    void nothingIsSet() throws Exception {
        List<String> lines = run(Map.of());
        assertEquals(List.of("create: (perDevice)", "builder: (perDevice)", "two workers: (perDevice)",
                "unchecked: (perDevice)", "naive: (naive)", "pooled: (pooled, 3 threads)", "perDevice: (perDevice)",
                "shuffled: (shuffled, seed 9)"), lines);
    }

    /** Only a builder that names no kind is affected, and only where it has no setting of its own. */
    @Test
    void variablesAreSet() throws Exception {
        List<String> lines = run(Map.of("SERIATIM_ENGINE", "pooled", "SERIATIM_WORKERS", "5", "SERIATIM_CHECKED",
                "true"));
        assertEquals(List.of("create: (pooled, 5 threads) checked", "builder: (pooled, 5 threads) checked",
                "two workers: (pooled, 2 threads) checked", "unchecked: (pooled, 5 threads)", "naive: (naive)",
                "pooled: (pooled, 3 threads)", "perDevice: (perDevice)", "shuffled: (shuffled, seed 9)"),
                printed(lines));
        List<String> logged = lines.stream().filter(line -> line.contains("SERIATIM_ENGINE=pooled")).toList();
        assertEquals(1, logged.size(), () -> "logged once: " + lines);
        assertTrue(logged.get(0).contains("SERIATIM_WORKERS=5") && logged.get(0).contains("SERIATIM_CHECKED=true"),
                logged::toString);
    }

    @Test
    void propertiesComeFirst() throws Exception {
        List<String> lines = run(
                Map.of("SERIATIM_ENGINE", "nonsense", "SERIATIM_WORKERS", "5", "SERIATIM_CHECKED", "true"),
                "-Dseriatim.engine=shuffled:-7", "-Dseriatim.checked=false");
        assertEquals("create: (shuffled, seed -7)", printed(lines).get(0));
        List<String> bad = run(Map.of("SERIATIM_ENGINE", "Naive"));
        assertTrue(bad.get(0).contains("SERIATIM_ENGINE is 'Naive'") && bad.get(0).contains("shuffled:SEED"),
                bad::toString);
        assertEquals("naive: (naive)", printed(bad).get(0));
    }
}
