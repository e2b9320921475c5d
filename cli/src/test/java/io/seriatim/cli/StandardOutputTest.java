package io.seriatim.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The behaviour of a process whose output cannot be written. */
@DisabledOnOs(OS.WINDOWS)
class StandardOutputTest {
    private static String[] version(String shell) {
        List<String> java = List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1", "-cp",
                System.getProperty("jdk.module.path", "") + File.pathSeparator + System.getProperty("java.class.path"),
                "io.seriatim.cli.Main", "--help");
        return java.stream()
                .collect(() -> new ArrayList<>(List.of("bash", "-c", shell, "bash")), List::add, List::addAll)
                .toArray(String[]::new);
    }

    private static void assertEnds(int code, String err, String shell) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(version(shell)).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
        String told = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(err, told.strip());
        assertEquals(code, process.waitFor());
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
