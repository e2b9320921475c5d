package io.seriatim.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Three ranks as processes, one of which is killed or stopped. */
@DisabledOnOs(OS.WINDOWS)
class ProcessesTest {
    private static final int RANKS = 3;

    @TempDir
    Path folder = Path.of(".");

    private static String line(BufferedReader reader) throws Exception {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return String.valueOf(reader.readLine());
            } catch (IOException e) {
                return e.toString();
            }
        }).get(Ranks.LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    private void check(int victim, String signal, String says, boolean isSharing) throws Exception {
        List<Process> processes = new ArrayList<>();
        try {
            List<BufferedReader> outputs = new ArrayList<>();
            for (int rank = 0; rank < RANKS; rank++) {
                Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp",
                        System.getProperty("java.class.path"), RankProcess.class.getName(), folder.toString(),
                        Integer.toString(rank), Integer.toString(RANKS), Boolean.toString(isSharing))
                        .redirectErrorStream(true).start();
                processes.add(process);
                outputs.add(process.inputReader(StandardCharsets.UTF_8));
            }
            for (BufferedReader each : outputs) {
                assertEquals("running", line(each));
            }
            String pid = Long.toString(processes.get(victim).pid());
            assertEquals(0, new ProcessBuilder("kill", signal, pid).inheritIO().start().waitFor());
            for (int rank = 0; rank < RANKS; rank++) {
                if (rank != victim) {
                    String line = line(outputs.get(rank));
                    assertTrue(line.startsWith("failed because of rank " + victim + ": rank " + victim + " " + says),
                            line);
                    assertTrue(processes.get(rank).waitFor(Ranks.LIMIT_SECONDS, TimeUnit.SECONDS));
                }
            }
        } finally {
            processes.forEach(Process::destroyForcibly);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aProcessThatIsKilledIsNamedByTheOthers(boolean isSharing) throws Exception {
        check(1, "-KILL", "", isSharing);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aProcessThatIsStoppedIsNamedByTheOthers(boolean isSharing) throws Exception {
        check(2, "-STOP", "has been silent for 3000 ms", isSharing);
    }
}
