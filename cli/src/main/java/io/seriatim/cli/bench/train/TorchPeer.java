package io.seriatim.cli.bench.train;

import io.seriatim.cli.bench.PeerUnavailableException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The works through PyTorch: {@code torch_bench.py THREADS WORK} prints a line of figures for each.
 *
 * @param python
 *            the interpreter that has PyTorch
 * @param folder
 *            where the script is
 */
record TorchPeer(String python, Path folder) {
    /** The environment variable that names the interpreter. */
    static final String PYTHON = "SERIATIM_PEER_PYTHON";

    private static final String SCRIPT = "torch_bench.py";

    static TorchPeer in(Path peers) {
        return new TorchPeer(Optional.ofNullable(System.getenv(PYTHON)).filter(name -> !name.isBlank()).orElse("python3"),
                peers.resolve("python"));
    }

    List<Figures> run(String work, int threads) throws InterruptedException, PeerUnavailableException {
        Process process = start(work, threads);
        try (InputStream out = process.getInputStream()) {
            String text = new String(out.readAllBytes(), StandardCharsets.UTF_8);
            int code = process.waitFor();
            List<Figures> figures = Figures.parse(text);
            if (code != 0 || figures.isEmpty()) {
                throw new PeerUnavailableException(
                        "'" + python + ' ' + SCRIPT + "' ended with " + code + ": " + text.strip().lines().reduce("", (_, last) -> last)
                                + "; " + PYTHON + " names the Python that has torch and torchvision");
            }
            return figures;
        } catch (IOException e) {
            throw new PeerUnavailableException("'" + python + ' ' + SCRIPT + "' cannot be read: " + e.getMessage());
        } finally {
            process.destroy();
        }
    }

    private Process start(String work, int threads) throws PeerUnavailableException {
        try {
            return new ProcessBuilder(python, SCRIPT, String.valueOf(threads), work).directory(folder.toFile())
                    .redirectErrorStream(true).start();
        } catch (IOException e) {
            throw new PeerUnavailableException(
                    "'" + python + ' ' + SCRIPT + "' cannot be started in " + folder + ": " + e.getMessage() + "; " + PYTHON
                            + " names the Python that has torch and torchvision");
        }
    }
}
