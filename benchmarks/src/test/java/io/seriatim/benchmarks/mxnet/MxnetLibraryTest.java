package io.seriatim.benchmarks.mxnet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.seriatim.benchmarks.common.PeerFolder;
import io.seriatim.benchmarks.common.PeerUnavailableException;
import io.seriatim.benchmarks.engine.EnginePeer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MxnetLibraryTest {
    @TempDir
    private Path folder = Path.of(".");

    @Test
    void thePeerIsFoundAsAService() {
        assertEquals(List.of("MXNet 1.9.1"),
                ServiceLoader.load(EnginePeer.class).stream().map(peer -> peer.get().name()).toList());
    }

    @Test
    void onlyLibrariesAreUnpackedAndNoneOutsideTheFolder() throws Exception {
        Path jar = jar("native/lib/libmxnet.so", "native/lib/../../../libevil.so", "META-INF/LICENSE");
        Path to = folder.resolve("peers/mxnet");
        MxnetLibrary.unpack(jar, to);
        assertEquals(List.of("libevil.so", "libmxnet.so"), names(to));
        assertFalse(Files.exists(folder.resolve("libevil.so")));
        assertEquals(List.of("mxnet"), names(folder.resolve("peers")));
    }

    @Test
    void aBrokenJarIsNamed() throws Exception {
        Path jar = Files.writeString(folder.resolve("broken.jar"), "no zip");
        PeerUnavailableException e = assertThrows(PeerUnavailableException.class,
                () -> MxnetLibrary.unpack(jar, folder.resolve("to")));
        assertTrue(String.valueOf(e.getMessage()).startsWith(jar + " could not be unpacked"), e.getMessage());
        assertFalse(Files.exists(folder.resolve("to")));
    }

    @Test
    void whatIsThereIsNotResolvedAgain() throws Exception {
        assumeTrue(System.getProperty("os.name").equals("Linux") && System.getProperty("os.arch").equals("amd64"),
                "the library is for Linux amd64");
        Path library = folder.resolve("mxnet-1.9.1/libmxnet.so");
        Files.createDirectories(folder.resolve("mxnet-1.9.1"));
        Files.createFile(library);
        List<String> notices = new ArrayList<>();
        assertEquals(library, new MxnetLibrary(new PeerFolder(folder)).locate(notices::add));
        assertEquals(List.of(), notices);
    }

    private Path jar(String... names) throws IOException {
        Path jar = folder.resolve("a.jar");
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(jar))) {
            for (String name : names) {
                zip.putNextEntry(new ZipEntry(name));
                zip.closeEntry();
            }
        }
        return jar;
    }

    private static List<String> names(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }
}
