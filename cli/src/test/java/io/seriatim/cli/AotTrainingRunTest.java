package io.seriatim.cli;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The launcher passes over a recording that fails: here it must not. */
class AotTrainingRunTest {
    @Test
    void itRunsToItsEnd(@TempDir Path folder) throws Exception {
        AotTrainingRun.run(folder);
        assertTrue(Files.isDirectory(folder.resolve("run")));
    }
}
