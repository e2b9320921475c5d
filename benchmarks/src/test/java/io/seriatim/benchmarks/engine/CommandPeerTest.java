package io.seriatim.benchmarks.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CommandPeerTest {
    private static final Path JAVA = Path.of(System.getProperty("java.home"), "bin", "java");

    @TempDir
    private Path folder = Path.of(".");

    @Test
    void theLinesOfThePeersAreUnderstood() {
        Map<String, Lap> laps = CommandPeer
                .parse(List.of("calibrating...",
                        "openmp     chain        ops=20000 serial=2.4 ns/op min=560 median=712 ns/op ok",
                        "openmp     fan          ops=20000 serial=1.1 ns/op min=18.5 median=189 ns/op WRONG"));
        assertEquals(Map.of("chain", new Lap(560, 712, ResultCheck.SAME), "fan", new Lap(18.5, 189, ResultCheck.WRONG)),
                laps);
    }

    @Test
    void oneStartServesAllWorkloadsOfARound() throws Exception {
        Path starts = folder.resolve("starts");
        try (CommandPeer peer = program(
                """
                        void main(String[] args) throws Exception {
                            var starts = java.nio.file.Path.of("%s");
                            java.nio.file.Files.writeString(starts, String.join(" ", args) + ";", java.nio.file.StandardOpenOption.CREATE,
                                    java.nio.file.StandardOpenOption.APPEND);
                            for (String workload : java.util.List.of("chain", "fan")) {
                                IO.println("p " + workload + " ops=1 serial=1.0 ns/op min=1 median=2 ns/op ok");
                            }
                        }
                        """
                        .formatted(starts))) {
            Work chain = Work.of("chain", 10, 7, 1);
            Work fan = Work.of("fan", 10, 7, 1);
            assertEquals(new Lap(1, 2, ResultCheck.SAME), peer.run(chain));
            assertEquals(new Lap(1, 2, ResultCheck.SAME), peer.run(fan));
            assertEquals("10 7 3;", Files.readString(starts));
            peer.run(chain);
            assertEquals("10 7 3;10 7 3;", Files.readString(starts));
            PeerUnavailableException e = assertThrows(PeerUnavailableException.class,
                    () -> peer.run(Work.of("random", 10, 7, 1)));
            assertEquals("p printed no figures of random: see what it prints when run by hand", e.getMessage());
        }
    }

    @Test
    void anExitCodeIsToldWithTheLastLine() throws Exception {
        try (CommandPeer peer = program("void main() { IO.println(\"no library\"); System.exit(3); }")) {
            PeerUnavailableException e = assertThrows(PeerUnavailableException.class,
                    () -> peer.run(Work.of("chain", 10, 0, 1)));
            assertEquals("p ended with exit code 3: no library", e.getMessage());
        }
    }

    @Test
    void aProgramThatIsNotThereIsNamed() {
        try (CommandPeer peer = new CommandPeer("p", folder.resolve("nothing").toString(), 1)) {
            PeerUnavailableException e = assertThrows(PeerUnavailableException.class,
                    () -> peer.run(Work.of("chain", 10, 0, 1)));
            assertTrue(String.valueOf(e.getMessage()).startsWith("p cannot be started: "), e.getMessage());
        }
    }

    private CommandPeer program(String source) throws Exception {
        Path file = Files.writeString(folder.resolve("Peer.java"), source);
        return new CommandPeer("p", JAVA + " " + file, 3);
    }
}
