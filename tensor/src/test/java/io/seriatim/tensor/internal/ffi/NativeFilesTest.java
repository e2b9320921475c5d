package io.seriatim.tensor.internal.ffi;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NativeFilesTest {
    private static final String RESOURCE = "org/bytedeco/dnnl/linux-arm64/libdnnl.so.3";

    @TempDir
    private Path temp;

    private Path jar(String path, String entry, byte... content) throws IOException {
        Path jar = temp.resolve(path);
        Files.createDirectories(Objects.requireNonNull(jar.getParent()));
        try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(jar))) {
            out.putNextEntry(new ZipEntry(entry));
            out.write(content);
        }
        return jar;
    }

    private static byte[] found(String modulePath) throws IOException {
        URL url = Objects.requireNonNull(NativeFiles.onModulePath(modulePath, "linux-arm64", RESOURCE), modulePath);
        try (InputStream in = url.openStream()) {
            return in.readAllBytes();
        }
    }

    @Test
    void theJarIsFoundOnTheModulePath() throws IOException {
        jar("li b/other-1.jar", RESOURCE, (byte) 1);
        jar("li b/dnnl-1-linux-x86_64.jar", "org/bytedeco/dnnl/linux-x86_64/libdnnl.so.3", (byte) 2);
        Path right = jar("li b/dnnl-1-linux-arm64.jar", RESOURCE, (byte) 3);
        Path other = jar("dnnl-2-linux-arm64.jar", RESOURCE, (byte) 4);
        String folder = temp.resolve("li b").toString();
        assertArrayEquals(new byte[]{3}, found(folder));
        assertArrayEquals(new byte[]{3}, found(right.toString()));
        assertArrayEquals(new byte[]{4}, found(other + File.pathSeparator + folder));
        assertArrayEquals(new byte[]{3}, found(temp.resolve("missing") + File.pathSeparator + folder));
    }

    @Test
    void withoutItNothingIsFound() throws IOException {
        jar("lib/dnnl-1-linux-arm64.jar", "org/bytedeco/dnnl/linux-arm64/other", (byte) 1);
        for (String path : new String[]{"", File.pathSeparator, temp.resolve("lib").toString(), "missing.jar"}) {
            assertNull(NativeFiles.onModulePath(path, "linux-arm64", RESOURCE), path);
        }
    }
}
