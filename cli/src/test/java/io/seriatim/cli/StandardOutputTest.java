package io.seriatim.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The behaviour of a process whose output cannot be written. */
@DisabledOnOs(OS.WINDOWS)
class StandardOutputTest {
    @TempDir
    private Path folder = Path.of("");

    private static String[] version(String shell) {
        List<String> java = ChildProcess.java("-XX:TieredStopAtLevel=1");
        java.addAll(List.of("io.seriatim.cli.Main", "--help"));
        return java.stream()
                .collect(() -> new ArrayList<>(List.of("bash", "-c", shell, "bash")), List::add, List::addAll)
                .toArray(String[]::new);
    }

    private void assertEnds(int code, String err, String shell) throws IOException, InterruptedException {
        Path told = folder.resolve("err.txt");
        try (ChildProcess process =
                ChildProcess.start(new ProcessBuilder(version(shell)).redirectError(told.toFile()))) {
            int ended = process.end();
            assertEquals(err, Files.readString(told).strip());
            assertEquals(code, ended);
        }
    }

    @Test
    void aFullDeviceIsReported() throws Exception {
        assumeTrue(Files.exists(Path.of("/dev/full")), "there is no /dev/full on this machine");
        assertEnds(1, "seriatim: The standard output could not be written: IOException: No space left on device",
                "exec \"$@\" >/dev/full");
    }

    @Test
    void aReaderThatHasReadEnoughIsNoMistakeToTellOf() throws Exception {
        assertEnds(1, "", "\"$@\" | true; exit ${PIPESTATUS[0]}");
    }
}
