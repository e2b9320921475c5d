package io.seriatim.tensor.internal.ffi;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NativePlatformTest {
    @TempDir
    private Path folder = Path.of("");

    @ParameterizedTest
    @CsvSource({"Linux,amd64,linux-x86_64", "Linux,aarch64,linux-arm64", "Mac OS X,aarch64,macosx-arm64",
            "Windows 11,amd64,windows-x86_64"})
    void namesTheArtifactOfAMachine(String os, String arch, String classifier) {
        NativePlatform platform = Objects.requireNonNull(NativePlatform.of(os, arch));
        assertEquals(classifier, platform.classifier());
        assertTrue(platform.libraries().getLast().contains("dnnl"), platform.toString());
    }

    @Test
    void knowsWhereThereIsNone() {
        assertNull(NativePlatform.of("SunOS", "sparc"));
        assertNull(NativePlatform.of("Linux", "riscv64"));
    }

    @Test
    void aMissingArtifactIsNamed() {
        NativePlatform other = new NativePlatform("plan9-mips", List.of("libdnnl.so.3"), null);
        IOException e = assertThrows(IOException.class, () -> NativeFiles.unpack(other));
        assertTrue(
                String.valueOf(e.getMessage()).contains("org.bytedeco:dnnl")
                        && String.valueOf(e.getMessage()).contains("plan9-mips"),
                e.getMessage());
    }

    @Test
    void filesAreUnpackedOnceAndWhole() throws IOException {
        NativePlatform platform = NativePlatform.current();
        Assumptions.assumeTrue(platform != null && Dnnl.get() != null, "there is no native library for this machine");
        NativePlatform there = Objects.requireNonNull(platform);
        String before = System.getProperty(NativeFiles.FOLDER);
        System.setProperty(NativeFiles.FOLDER, folder.toString());
        try {
            Path unpacked = NativeFiles.unpack(there);
            Path library = unpacked.resolve(there.libraries().getLast());
            Object first = Files.getLastModifiedTime(library);
            assertEquals(unpacked, NativeFiles.unpack(there));
            assertEquals(first, Files.getLastModifiedTime(library));
            Files.write(library, new byte[10]);
            NativeFiles.unpack(there);
            assertTrue(Files.size(library) > 1_000_000, "a damaged file was kept");
            byte[] whole = Files.readAllBytes(library);
            whole[whole.length / 2] ^= 1;
            Files.write(library, whole);
            NativeFiles.unpack(there);
            whole[whole.length / 2] ^= 1;
            assertArrayEquals(whole, Files.readAllBytes(library), "one bit");
            try (Stream<Path> files = Files.list(unpacked)) {
                assertTrue(files.noneMatch(file -> file.getFileName().toString().startsWith("unpacking")));
            }
        } finally {
            if (before == null) {
                System.clearProperty(NativeFiles.FOLDER);
            } else {
                System.setProperty(NativeFiles.FOLDER, before);
            }
        }
    }
}
