package io.seriatim.cli.bench.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.cli.bench.PeerUnavailableException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;

/** The script is one of a shell here. */
@EnabledIf("hasShell")
class TorchPeerTest {
    private static final String SHELL = "/bin/sh";

    @TempDir
    private Path folder;

    static boolean hasShell() {
        return Files.isExecutable(Path.of(SHELL));
    }

    private TorchPeer peer(String script) throws IOException {
        Files.writeString(folder.resolve("torch_bench.py"), script);
        return new TorchPeer(SHELL, folder);
    }

    @Test
    void printsFigures() throws IOException, InterruptedException, PeerUnavailableException {
        List<Figures> figures = peer("echo warning >&2; echo '{\"lib\": \"torch\", \"work\": \"'$2'\", \"threads\": '$1'}'").run("mlp", 2);
        assertEquals("[{\"lib\": \"torch\", \"work\": \"mlp\", \"threads\": 2}]", figures.toString());
    }

    @Test
    void saysWhyItCannot() throws IOException {
        TorchPeer failing = peer("echo first >&2; echo No module named torch >&2; exit 1");
        String message = String.valueOf(assertThrows(PeerUnavailableException.class, () -> failing.run("mlp", 1)).getMessage());
        assertTrue(message.contains("ended with 1: No module named torch; SERIATIM_PEER_PYTHON names"), message);
        TorchPeer silent = peer("exit 0");
        assertThrows(PeerUnavailableException.class, () -> silent.run("mlp", 1));
        TorchPeer missing = new TorchPeer(folder.resolve("no-python").toString(), folder);
        message = String.valueOf(assertThrows(PeerUnavailableException.class, () -> missing.run("mlp", 1)).getMessage());
        assertTrue(message.contains("cannot be started"), message);
    }
}
