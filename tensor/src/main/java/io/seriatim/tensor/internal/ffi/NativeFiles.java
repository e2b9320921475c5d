package io.seriatim.tensor.internal.ffi;

import java.io.IOException;
import java.net.JarURLConnection;
import java.net.URL;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Unpacks native libraries from their jar, once per user. The folder's name contains the length and the checksum that
 * the jar declares; {@link NativeFolder} ensures that the loaded files are those of the jar. Nothing is downloaded.
 */
final class NativeFiles {
    static final String FOLDER = "seriatim.natives";

    private NativeFiles() {
    }

    /** The folder with all libraries of a platform. */
    static Path unpack(NativePlatform platform) throws IOException {
        List<NativeFolder.Packed> libraries = new ArrayList<>();
        Path folder = null;
        for (String name : platform.libraries().reversed()) {
            URL url = find(platform, name);
            folder = folder == null ? folder(platform, url) : folder;
            libraries.add(packed(name, url));
        }
        return new NativeFolder(Objects.requireNonNull(folder), libraries).unpack(chosen() == null);
    }

    private static @Nullable String chosen() {
        String chosen = System.getProperty(FOLDER);
        return chosen == null || chosen.isBlank() ? null : chosen;
    }

    private static NativeFolder.Packed packed(String name, URL url) throws IOException {
        return url.openConnection() instanceof JarURLConnection jar
                ? new NativeFolder.Packed(name, jar.getJarEntry().getSize(), jar.getJarEntry().getCrc(), url)
                : new NativeFolder.Packed(name, -1, 0, url);
    }

    private static URL find(NativePlatform platform, String name) throws IOException {
        String resource = "org/bytedeco/dnnl/" + platform.classifier() + "/" + name;
        URL url = NativeFiles.class.getClassLoader().getResource(resource);
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        if (url == null && context != null) {
            url = context.getResource(resource);
        }
        if (url == null) {
            throw new IOException(
                    "the class path has no " + resource + ": add the artifact org.bytedeco:dnnl with the classifier "
                            + platform.classifier());
        }
        return url;
    }

    private static Path folder(NativePlatform platform, URL library) throws IOException {
        String name = "dnnl-" + platform.classifier() + "-" + stamp(library);
        String chosen = chosen();
        if (chosen != null) {
            return Path.of(chosen, name);
        }
        String cache = System.getenv("XDG_CACHE_HOME");
        Path base = cache != null && !cache.isBlank()
                ? Path.of(cache)
                : Path.of(System.getProperty("user.home", "."), ".cache");
        return base.resolve("seriatim").resolve(name);
    }

    private static String stamp(URL url) throws IOException {
        if (url.openConnection() instanceof JarURLConnection jar) {
            return Long.toHexString(jar.getJarEntry().getSize()) + "-" + Long.toHexString(jar.getJarEntry().getCrc());
        }
        return Long.toHexString(url.openConnection().getContentLengthLong());
    }
}
