package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Exhausted memory or stack neither loses an operation nor breaks an engine. Each program runs in a separate JVM. */
@Timeout(value = 120, unit = TimeUnit.MINUTES)
@Tag("slow")
class TortureTest {
    private static final long PROCESSES = TestSupport.scaled(150, 1);

    @ParameterizedTest
    @ValueSource(strings = {"heap", "stack"})
    void anEngineOutlivesTheEndOf(String what, @TempDir Path folder) throws Exception {
        List<Long> seeds = new ArrayList<>();
        for (long i = 0; i < PROCESSES; i++) {
            seeds.add(EngineUnderTest.SEED + i);
        }
        for (long seed : seeds) {
            List<String> options = new ArrayList<>(
                    List.of("-XX:+UseSerialGC", "-Xmx48m", "-XX:MaxJavaStackTraceDepth=40"));
            if ((seed - EngineUnderTest.SEED) % 2 == 1) {
                // Limits the workers' stacks, too.
                options.add("-Xss256k");
            }
            String output = ForkedJvm.run(120, folder.resolve("output" + seed), options, TortureProgram.class, what,
                    Long.toString(seed));
            assertTrue(output.contains("alive"), () -> "seed " + seed + ": " + output);
        }
    }
}
