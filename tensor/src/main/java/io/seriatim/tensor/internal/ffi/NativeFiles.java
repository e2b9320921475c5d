package io.seriatim.tensor.internal.ffi;

import java.io.File;
import java.io.IOException;
import java.net.JarURLConnection;
import java.net.URI;
import java.net.URL;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.zip.ZipFile;
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
        String folder = null;
        for (String name : platform.libraries().reversed()) {
            URL url = find(platform, name);
            folder = folder == null ? "dnnl-" + platform.classifier() + "-" + stamp(url) : folder;
            libraries.add(packed(name, url));
        }
        Objects.requireNonNull(folder);
        String chosen = chosen();
        if (chosen != null) {
            return new NativeFolder(Path.of(chosen, folder), libraries).unpack(false);
        }
        try {
            return new NativeFolder(cache().resolve(folder), libraries).unpack(true);
        } catch (IOException e) {
            return inTemporaryFolder(folder, libraries, e);
        }
    }

    /** A home folder may be missing or read-only, such as in a container. */
    private static Path inTemporaryFolder(String folder, List<NativeFolder.Packed> libraries, IOException first)
            throws IOException {
        // Each user needs a folder of his own there, as the libraries of others are not loaded.
        String user = System.getProperty("user.name", "").replaceAll("[^A-Za-z0-9._-]", "_");
        try {
            return new NativeFolder(
                    Path.of(System.getProperty("java.io.tmpdir"), "seriatim-" + user + "-" + folder), libraries)
                    .unpack(false);
        } catch (IOException e) {
            first.addSuppressed(e);
            throw new IOException(first + ", and neither " + e + ": choose another folder with -D" + FOLDER + "=DIR",
                    first);
        }
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
            url = onModulePath(System.getProperty("jdk.module.path", ""), platform.classifier(), resource);
        }
        if (url == null) {
            throw new IOException("neither the class path nor the module path has " + resource
                    + ": add the artifact io.seriatim:seriatim-natives-" + platform.classifier()
                    + " (of type pom), or org.bytedeco:dnnl with the classifier " + platform.classifier());
        }
        return url;
    }

    /**
     * Looks for a resource in the jars of the module path whose names end with the classifier. No module requires them,
     * as they require a module of Java classes that is not used, so class loaders do not see them.
     */
    static @Nullable URL onModulePath(String modulePath, String classifier, String resource) throws IOException {
        String end = classifier + ".jar";
        for (String entry : modulePath.split(Pattern.quote(File.pathSeparator), -1)) {
            Path path = Path.of(entry);
            List<Path> jars = new ArrayList<>();
            if (!entry.isEmpty() && Files.isDirectory(path)) {
                try (DirectoryStream<Path> inside = Files.newDirectoryStream(path, "*" + end)) {
                    inside.forEach(jars::add);
                }
                Collections.sort(jars);
            } else if (entry.endsWith(end)) {
                jars.add(path);
            }
            for (Path jar : jars) {
                boolean found = false;
                if (Files.isRegularFile(jar)) {
                    try (ZipFile file = new ZipFile(jar.toFile())) {
                        found = file.getEntry(resource) != null;
                    }
                }
                if (found) {
                    return URI.create("jar:" + jar.toUri() + "!/" + resource).toURL();
                }
            }
        }
        return null;
    }

    private static Path cache() {
        String cache = System.getenv("XDG_CACHE_HOME");
        Path base = cache != null && !cache.isBlank()
                ? Path.of(cache)
                : Path.of(System.getProperty("user.home", "."), ".cache");
        return base.resolve("seriatim");
    }

    private static String stamp(URL url) throws IOException {
        if (url.openConnection() instanceof JarURLConnection jar) {
            return Long.toHexString(jar.getJarEntry().getSize()) + "-" + Long.toHexString(jar.getJarEntry().getCrc());
        }
        return Long.toHexString(url.openConnection().getContentLengthLong());
    }
}
