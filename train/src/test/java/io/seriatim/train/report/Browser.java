package io.seriatim.train.report;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Chromium without a window and without network.
 *
 * @param program
 *            its file
 */
record Browser(Path program) {
    private static final List<String> NAMES = List.of("chromium", "chromium-browser", "google-chrome");
    private static final int SECONDS = 60;

    /** The first browser on the path. */
    static Optional<Browser> find() {
        return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
                .flatMap(folder -> NAMES.stream().map(name -> Path.of(folder, name))).filter(Files::isExecutable)
                .findFirst()
                .map(Browser::new);
    }

    static String missing() {
        return "There is none of " + NAMES + " on the path: the page was not opened in a browser";
    }

    /** The markup of the document after its scripts have run. */
    String open(Path page, Path profile) throws IOException, InterruptedException {
        Path dumped = profile.resolveSibling("dom.html");
        Path said = profile.resolveSibling("chromium.txt");
        Process process = new ProcessBuilder(program.toString(), "--headless", "--no-sandbox", "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run", "--disable-extensions", "--disable-background-networking",
                "--host-resolver-rules=MAP * ~NOTFOUND",
                "--user-data-dir=" + profile, "--window-size=1400,1000", "--virtual-time-budget=5000", "--dump-dom",
                page.toUri().toString()).redirectOutput(dumped.toFile()).redirectError(said.toFile()).start();
        try {
            if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
                throw new IOException(program + " did not end in " + SECONDS + " s: " + Files.readString(said));
            }
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        if (process.exitValue() != 0) {
            throw new IOException(program + " ended with " + process.exitValue() + ": " + Files.readString(said));
        }
        return Files.readString(dumped, StandardCharsets.UTF_8);
    }
}
