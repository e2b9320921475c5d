package io.seriatim.benchmarks.common;

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The folder {@code peers} in the build folder, to which Maven downloads jars at their first use. Neither the product
 * nor its build needs them.
 *
 * @param path
 *            the folder, which need not exist
 */
public record PeerFolder(Path path) {
    private static final String COPY_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy";
    private static final Duration LIMIT = Duration.ofMinutes(3);

    /** Returns the folder in the build folder that a class was loaded from. */
    public static PeerFolder beside(Class<?> type) throws PeerUnavailableException {
        Path entry = classPathOf(type);
        Path parent = entry.getParent();
        if (parent == null || !parent.endsWith("target")) {
            throw new PeerUnavailableException(
                    "the comparison runs out of its build folder, benchmarks/target, but is in " + entry);
        }
        return new PeerFolder(parent.resolve("peers"));
    }

    /** Returns the class path entry that a class was loaded from. */
    public static Path classPathOf(Class<?> type) throws PeerUnavailableException {
        CodeSource source = type.getProtectionDomain().getCodeSource();
        if (source == null) {
            throw new PeerUnavailableException(type.getSimpleName() + " was not loaded from a file");
        }
        try {
            return Path.of(source.getLocation().toURI());
        } catch (URISyntaxException | IllegalArgumentException e) {
            throw new PeerUnavailableException(
                    type.getSimpleName() + " was not loaded from a file but from " + source.getLocation(), e);
        }
    }

    /**
     * Returns a jar, after downloading it if it is missing.
     *
     * @param name
     *            the name of the file
     * @param artifact
     *            its Maven coordinates
     * @param size
     *            the size, for a message
     */
    public Path jar(String name, String artifact, String size, Consumer<String> notice)
            throws PeerUnavailableException, InterruptedException {
        Path jar = path.resolve(name);
        if (!Files.exists(jar)) {
            notice.accept("bringing " + artifact + " (" + size + ") into " + path + ", for at most " + LIMIT.toMinutes()
                    + " minutes");
            resolve(jar, artifact);
        }
        return jar;
    }

    private void resolve(Path jar, String artifact) throws PeerUnavailableException, InterruptedException {
        try {
            Files.createDirectories(path);
            File log = path.resolve(jar.getFileName() + ".log").toFile();
            Process maven = new ProcessBuilder("mvn", "-q", "-B", COPY_GOAL, "-Dartifact=" + artifact,
                    "-DoutputDirectory=" + path)
                    .directory(path.toFile()).redirectErrorStream(true).redirectOutput(log).start();
            boolean ended;
            try {
                ended = maven.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS);
            } finally {
                maven.destroyForcibly();
            }
            if (!ended || maven.exitValue() != 0 || !Files.exists(jar)) {
                throw new PeerUnavailableException(
                        artifact + " could not be resolved" + (ended ? "" : " in time") + ": see " + log);
            }
        } catch (IOException e) {
            throw new PeerUnavailableException(
                    artifact + " could not be resolved, since mvn did not start: " + e.getMessage(), e);
        }
    }
}
