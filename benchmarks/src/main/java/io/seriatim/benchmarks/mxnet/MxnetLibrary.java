package io.seriatim.benchmarks.mxnet;

import io.seriatim.benchmarks.common.PeerFolder;
import io.seriatim.benchmarks.common.PeerUnavailableException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Enumeration;
import java.util.function.Consumer;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Finds MXNet's shared libraries, in the folder {@code peers} of the build folder. At the first use Maven downloads the
 * jar, which is then unpacked.
 */
final class MxnetLibrary {
    static final String VERSION = "1.9.1";

    private static final String JAR = "mxnet-native-mkl-" + VERSION + "-linux-x86_64.jar";
    private static final String ARTIFACT = "ai.djl.mxnet:mxnet-native-mkl:" + VERSION + ":jar:linux-x86_64";
    private static final String INSIDE = "native/lib/";

    private final PeerFolder peers;

    MxnetLibrary(PeerFolder peers) {
        this.peers = peers;
    }

    /** Returns {@code libmxnet.so}, with the libraries that it depends on in the same folder. */
    Path locate(Consumer<String> notice) throws PeerUnavailableException, InterruptedException {
        String system = System.getProperty("os.name") + " " + System.getProperty("os.arch");
        if (!system.equals("Linux amd64")) {
            throw new PeerUnavailableException("its library exists for Linux amd64 only, but this is " + system);
        }
        Path folder = peers.path().resolve("mxnet-" + VERSION);
        Path library = folder.resolve("libmxnet.so");
        if (!Files.exists(library)) {
            unpack(peers.jar(JAR, ARTIFACT, "47 MB", notice), folder);
        }
        return library;
    }

    /** Unpacks to a temporary folder and then renames it, so that an existing folder is complete. */
    static void unpack(Path jar, Path folder) throws PeerUnavailableException {
        Path part = folder.resolveSibling(folder.getFileName() + ".part");
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            Files.createDirectories(part);
            for (Enumeration<? extends ZipEntry> entries = zip.entries(); entries.hasMoreElements();) {
                ZipEntry entry = entries.nextElement();
                if (entry.getName().startsWith(INSIDE) && !entry.isDirectory()) {
                    try (InputStream in = zip.getInputStream(entry)) {
                        // Uses the last part of the name only, so that an entry cannot lead out of the folder.
                        Files.copy(in, part.resolve(Path.of(entry.getName()).getFileName()),
                                StandardCopyOption.REPLACE_EXISTING);
                    }
                }
            }
            rename(part, folder);
        } catch (IOException e) {
            throw new PeerUnavailableException(
                    jar + " could not be unpacked: " + e.getMessage() + "; delete it and run again", e);
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
