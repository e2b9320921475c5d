package io.seriatim.cluster;

import java.nio.file.Path;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Failures of ranks that share memory. */
@EnabledOnOs(OS.LINUX)
class SharedMemoryFailuresTest extends FailuresTest {
    @TempDir
    Path folder = Path.of(".");

    @Override
    ClusterOptions connected(ClusterOptions options) {
        return options.unixSockets(folder);
    }
}
