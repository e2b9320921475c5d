package io.seriatim.cli;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The launcher goes on without a cache where a recording fails, so that only a test tells. */
class AotTrainingRunTest {
    @Test
    void itRunsToItsEnd(@TempDir Path folder) throws Exception {
        AotTrainingRun.run(folder);
        for (String network : List.of("names", "lenet", "mlp")) {
            assertTrue(Files.isDirectory(folder.resolve(network)), network);
        }
    }

    @Test
    void theLauncherNamesThisClass() throws Exception {
        String launcher = Files.readString(Path.of("..", "seriatim"));
        assertTrue(launcher.contains(" " + AotTrainingRun.class.getName() + " "), launcher);
    }
}
