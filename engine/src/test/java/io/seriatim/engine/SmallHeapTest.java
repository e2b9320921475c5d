package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Memory stays bounded no matter how many operations are pushed. */
@Timeout(value = 40, unit = TimeUnit.MINUTES)
class SmallHeapTest {
    private static final long OPERATIONS = TestSupport.scaled(50_000_000, 500_000);

    @Test
    void millionsOfOperationsOnASmallHeap(@TempDir Path folder) throws Exception {
        String output = ForkedJvm.run(TestSupport.scaled(2_000, 90), folder.resolve("output"),
                List.of("-Xmx128m", "-XX:+ExitOnOutOfMemoryError"),
                SmallHeapProgram.class, Long.toString(OPERATIONS));
        assertTrue(output.contains("ran " + OPERATIONS), output);
    }
}
