package io.seriatim.benchmarks;

import io.seriatim.cli.bench.PeerUnavailableException;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.CodeSource;
import java.time.Duration;
import java.util.Enumeration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Where MXNet's shared libraries are: in the build folder's {@code peers}, where the jar that holds them is brought by Maven at the first use and unpacked.
 */
final class MxnetLibrary {
    static final String VERSION = "1.9.1";

    private static final String JAR = "mxnet-native-mkl-" + VERSION + "-linux-x86_64.jar";
    private static final String ARTIFACT = "ai.djl.mxnet:mxnet-native-mkl:" + VERSION + ":jar:linux-x86_64";
    private static final String COPY_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy";
    private static final String INSIDE = "native/lib/";
    private static final Duration LIMIT = Duration.ofMinutes(3);

    private final Path peers;

    MxnetLibrary(Path peers) {
        this.peers = peers;
    }

    /** The libraries in the build folder that a class was loaded from. */
    static MxnetLibrary beside(Class<?> type) throws PeerUnavailableException {
        return new MxnetLibrary(buildFolder(type).resolve("peers"));
    }

    /** The class path entry that a class was loaded from. */
    static Path classPathOf(Class<?> type) throws PeerUnavailableException {
        CodeSource source = type.getProtectionDomain().getCodeSource();
        if (source == null) {
            throw new PeerUnavailableException(type.getSimpleName() + " was not loaded from a file");
        }
        try {
            return Path.of(source.getLocation().toURI());
        } catch (URISyntaxException | IllegalArgumentException e) {
            throw new PeerUnavailableException(type.getSimpleName() + " was not loaded from a file but from " + source.getLocation(), e);
        }
    }

    private static Path buildFolder(Class<?> type) throws PeerUnavailableException {
        Path entry = classPathOf(type);
        Path parent = entry.getParent();
        if (parent == null || !parent.endsWith("target")) {
            throw new PeerUnavailableException("the comparison runs out of its build folder, benchmarks/target, but is in " + entry);
        }
        return parent;
    }

    /** Returns {@code libmxnet.so}, with the libraries that it needs beside it. */
    Path locate(Consumer<String> notice) throws PeerUnavailableException, InterruptedException {
        String system = System.getProperty("os.name") + " " + System.getProperty("os.arch");
        if (!system.equals("Linux amd64")) {
            throw new PeerUnavailableException("its library exists for Linux amd64 only, but this is " + system);
        }
        Path folder = peers.resolve("mxnet-" + VERSION);
        Path library = folder.resolve("libmxnet.so");
        if (!Files.exists(library)) {
            Path jar = peers.resolve(JAR);
            if (!Files.exists(jar)) {
                notice.accept("bringing " + ARTIFACT + " (47 MB) into " + peers + ", for at most " + LIMIT.toMinutes() + " minutes");
                resolve(jar);
            }
            unpack(jar, folder);
        }
        return library;
    }

    private void resolve(Path jar) throws PeerUnavailableException, InterruptedException {
        try {
            Files.createDirectories(peers);
            File log = peers.resolve("mxnet-resolve.log").toFile();
            Process maven = new ProcessBuilder("mvn", "-q", "-B", COPY_GOAL, "-Dartifact=" + ARTIFACT, "-DoutputDirectory=" + peers)
                    .directory(peers.toFile()).redirectErrorStream(true).redirectOutput(log).start();
            boolean ended;
            try {
                ended = maven.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS);
            } finally {
                maven.destroyForcibly();
            }
            if (!ended || maven.exitValue() != 0 || !Files.exists(jar)) {
                throw new PeerUnavailableException(ARTIFACT + " could not be resolved" + (ended ? "" : " in time") + ": see " + log);
            }
        } catch (IOException e) {
            throw new PeerUnavailableException(ARTIFACT + " could not be resolved, since mvn did not start: " + e.getMessage(), e);
        }
    }

    /** Unpacks beside the folder and then renames, so that a folder that is there is complete. */
    static void unpack(Path jar, Path folder) throws PeerUnavailableException {
        Path part = folder.resolveSibling(folder.getFileName() + ".part");
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            Files.createDirectories(part);
            for (Enumeration<? extends ZipEntry> entries = zip.entries(); entries.hasMoreElements();) {
                ZipEntry entry = entries.nextElement();
                if (entry.getName().startsWith(INSIDE) && !entry.isDirectory()) {
                    try (InputStream in = zip.getInputStream(entry)) {
                        // The last part of the name only: an entry cannot lead out of the folder.
                        Files.copy(in, part.resolve(Path.of(entry.getName()).getFileName()), StandardCopyOption.REPLACE_EXISTING);
                    }
                }
            }
            rename(part, folder);
        } catch (IOException e) {
            throw new PeerUnavailableException(jar + " could not be unpacked: " + e.getMessage() + "; delete it and run again", e);
        }
    }

    private static void rename(Path from, Path to) throws IOException {
        try {
            Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
        } catch (AtomicMoveNotSupportedException e) {
            Files.move(from, to);
        }
    }
}
