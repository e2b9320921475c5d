package io.seriatim.tensor.internal.ffi;

import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32;
import java.util.zip.CheckedInputStream;
import org.jspecify.annotations.Nullable;

/**
 * Unpacks native libraries out of their jar, once a user: the folder's name holds the length and the checksum that the jar states, and a file is moved into place only after it has
 * been checked against them. Nothing is ever downloaded.
 */
final class NativeFiles {
    static final String FOLDER = "seriatim.natives";

    private NativeFiles() {
    }

    /** The folder with all libraries of a platform. */
    static Path unpack(NativePlatform platform) throws IOException {
        Path folder = null;
        for (String name : platform.libraries().reversed()) {
            URL url = find(platform, name);
            if (folder == null) {
                folder = folder(platform, url);
                Files.createDirectories(folder);
            }
            unpack(url, folder, name);
        }
        return java.util.Objects.requireNonNull(folder);
    }

    private static URL find(NativePlatform platform, String name) throws IOException {
        String resource = "org/bytedeco/dnnl/" + platform.classifier() + "/" + name;
        URL url = NativeFiles.class.getClassLoader().getResource(resource);
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        if (url == null && context != null) {
            url = context.getResource(resource);
        }
        if (url == null) {
            throw new IOException("the class path has no " + resource + ": add the artifact org.bytedeco:dnnl with the classifier "
                    + platform.classifier());
        }
        return url;
    }

    private static Path folder(NativePlatform platform, URL library) throws IOException {
        String name = "dnnl-" + platform.classifier() + "-" + stamp(library);
        String chosen = System.getProperty(FOLDER);
        if (chosen != null && !chosen.isBlank()) {
            return Path.of(chosen, name);
        }
        String cache = System.getenv("XDG_CACHE_HOME");
        Path base = cache != null && !cache.isBlank() ? Path.of(cache) : Path.of(System.getProperty("user.home", "."), ".cache");
        return base.resolve("seriatim").resolve(name);
    }

    private static String stamp(URL url) throws IOException {
        if (url.openConnection() instanceof JarURLConnection jar) {
            return Long.toHexString(jar.getJarEntry().getSize()) + "-" + Long.toHexString(jar.getJarEntry().getCrc());
        }
        return Long.toHexString(url.openConnection().getContentLengthLong());
    }

    private static void unpack(URL url, Path folder, String name) throws IOException {
        long length = -1;
        long checksum = -1;
        if (url.openConnection() instanceof JarURLConnection jar) {
            length = jar.getJarEntry().getSize();
            checksum = jar.getJarEntry().getCrc();
        }
        Path target = folder.resolve(name);
        if (isWhole(target, length)) {
            return;
        }
        // Several processes may start at once: the others wait for the first one's file.
        try (FileChannel channel = FileChannel.open(folder.resolve(name + ".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock lock = channel.lock()) {
            if (lock.isValid() && !isWhole(target, length)) {
                write(url, folder, target, length, checksum);
            }
        }
    }

    private static boolean isWhole(Path file, long length) throws IOException {
        return Files.isRegularFile(file) && (length < 0 || Files.size(file) == length);
    }

    private static void write(URL url, Path folder, Path target, long length, long checksum) throws IOException {
        Path temporary = Files.createTempFile(folder, "unpacking", null);
        try {
            CRC32 crc = new CRC32();
            try (InputStream in = new CheckedInputStream(url.openStream(), crc)) {
                Files.copy(in, temporary, StandardCopyOption.REPLACE_EXISTING);
            }
            if (length >= 0 && (Files.size(temporary) != length || crc.getValue() != checksum)) {
                throw new IOException("the library " + target.getFileName() + " in " + url
                        + " is damaged: its length or checksum is not what the jar states");
            }
            move(temporary, target);
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    private static void move(Path from, Path to) throws IOException {
        try {
            Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
        } catch (FileAlreadyExistsException e) {
            // Where a move does not replace, another process has put the same file there.
            @Nullable
            IOException other = Files.isRegularFile(to) ? null : e;
            if (other != null) {
                throw other;
            }
        }
    }
}
