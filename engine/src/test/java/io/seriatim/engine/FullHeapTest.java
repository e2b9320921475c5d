package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * E4: a worker that has claimed an operation of its batch, and an operation that ends, need no memory, not even where
 * the JVM has to link a call that is made for the first time.
 */
class FullHeapTest {
    @Test
    void firstCallsNeedNoMemory(@TempDir Path folder) throws Exception {
        String output = ForkedJvm.run(120, folder.resolve("output"),
                List.of("-XX:+UseSerialGC", "-Xmx16m", "-XX:MaxJavaStackTraceDepth=40"), FullHeapProgram.class);
        assertTrue(output.contains("whole"), output);
    }
}
