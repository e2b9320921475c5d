package io.seriatim.cli;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** If the recording fails, the launcher works without a cache; so only a test detects the failure. */
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
