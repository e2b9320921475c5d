package io.seriatim.tensor.internal.ffi;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NativeFolderTest {
    private final byte[] first = bytes(1, 300_000);
    private final byte[] second = bytes(2, 1_000);

    @TempDir
    private Path temp = Path.of("");
    private Path folder = Path.of("");

    @BeforeEach
    void modes() throws IOException {
        Assumptions.assumeTrue(FileSystems.getDefault().supportedFileAttributeViews().contains("unix"),
                "files have owners and modes");
        folder = temp.toRealPath().resolve("base/natives");
    }

    private static byte[] bytes(long seed, int count) {
        byte[] bytes = new byte[count];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    private NativeFolder.Packed packed(String name, byte[] content) throws IOException {
        CRC32 crc = new CRC32();
        crc.update(content);
        return packed(name, content, crc.getValue());
    }

    /** A file stands for what is in the jar. */
    private NativeFolder.Packed packed(String name, byte[] content, long crc) throws IOException {
        Path file = Files.createTempFile(temp, "jar", name);
        Files.write(file, content);
        return new NativeFolder.Packed(name, content.length, crc, file.toUri().toURL());
    }

    private NativeFolder start() throws IOException {
        return start(NativeFolder.TICK_NANOS);
    }

    private NativeFolder start(long tickNanos) throws IOException {
        List<NativeFolder.Packed> libraries = List.of(packed("liba.so", first), packed("libb.so", second));
        NativeFolder started = new NativeFolder(folder, libraries, tickNanos);
        assertEquals(folder, started.unpack(false));
        assertArrayEquals(first, Files.readAllBytes(folder.resolve("liba.so")));
        assertArrayEquals(second, Files.readAllBytes(folder.resolve("libb.so")));
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(List.of("liba.so", "libb.so", "lock", "manifest"),
                    files.map(each -> each.getFileName().toString()).sorted().toList());
        }
        return started;
    }

    /** With no tick, a manifest is believed at once: nobody can set the time of a change of state, only wait. */
    private void seal() throws IOException {
        start(0);
        NativeFolder sealed = start(0);
        assertEquals(0, sealed.hashed() + sealed.written(), "the manifest is believed");
    }

    /**
     * Writes until the time of the file's last change is another one: the file system's clock has a tick of its own.
     */
    private static void change(Path file, byte[] content) throws IOException {
        Object before = Files.getAttribute(file, "unix:ctime");
        FileTime modified = Files.getLastModifiedTime(file);
        do {
            Files.write(file, content);
            Files.setLastModifiedTime(file, modified);
        } while (before.equals(Files.getAttribute(file, "unix:ctime")));
    }

    /** A change in the tick in which the manifest was written would not show in it. */
    @Test
    void manifestsWithinATickOfAChangeAreNotBelieved() throws IOException {
        long hour = TimeUnit.HOURS.toNanos(1);
        assertEquals(2, start(hour).written());
        for (int i = 0; i < 2; i++) {
            NativeFolder started = start(hour);
            assertEquals(0, started.written());
            assertEquals(2, started.hashed());
        }
        NativeFolder later = start(0);
        assertEquals(0, later.hashed() + later.written());
    }

    @Test
    void whatIsUnchangedIsNotReadAndWhatIsChangedIsRepaired() throws Exception {
        seal();
        Path library = folder.resolve("liba.so");
        byte[] damaged = first.clone();
        damaged[200_000] ^= 1;
        change(library, damaged);
        NativeFolder repaired = start(0);
        assertEquals(1, repaired.written(), "same length, same time, one bit");
        seal();
        // What only looks different is hashed and kept.
        Files.setLastModifiedTime(library, FileTime.from(Instant.EPOCH));
        NativeFolder touched = start(0);
        assertEquals(0, touched.written());
        assertEquals(2, touched.hashed());
    }

    @Test
    void everyDamageIsRepaired() throws Exception {
        start();
        Path library = folder.resolve("libb.so");
        for (byte[] content : List.of(new byte[0], bytes(3, 1_000), bytes(4, 2_000))) {
            Files.write(library, content);
            assertEquals(1, start().written());
        }
        Files.delete(library);
        assertEquals(1, start().written());
        Files.delete(library);
        Path other = Files.write(temp.resolve("other"), second);
        Files.createSymbolicLink(library, other);
        assertEquals(1, start().written(), "a link may lead to what others can write");
        assertFalse(Files.isSymbolicLink(library));
        assertTrue(Files.exists(other));
        Files.setPosixFilePermissions(library, PosixFilePermissions.fromString("rw-rw-rw-"));
        assertEquals(1, start().written(), "others may have written to it");
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(library)));
        Files.write(folder.resolve("unpacking123.tmp"), second);
        Files.delete(folder.resolve("manifest"));
        assertEquals(0, start().written(), "without a manifest the jar decides");
    }

    /** Neither a manifest that is damaged nor one that says something else is believed. */
    @Test
    void manifestsAreChecked() throws Exception {
        seal();
        Path manifest = folder.resolve("manifest");
        String good = Files.readString(manifest);
        for (String bad : List.of("", "x", good.substring(10), good.replace("liba.so ", "liba.so 1"), good + "\n",
                good.substring(0, good.length() / 2))) {
            Files.writeString(manifest, bad, UTF_8);
            assertEquals(2, start(0).hashed(), bad);
        }
        Files.setPosixFilePermissions(manifest, PosixFilePermissions.fromString("rw-rw-rw-"));
        assertEquals(2, start(0).hashed(), "others may have written it");
    }

    @Test
    void aFolderThatOthersMayWriteToIsRefused() throws Exception {
        start();
        for (String rights : List.of("rwxrwx---", "rwx----w-", "rwxrwxrwx")) {
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString(rights));
            refused("other users may write to this folder", "chmod go-w " + folder, "-Dseriatim.natives=DIR");
        }
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        start();
        Path base = folder.getParent();
        Files.setPosixFilePermissions(base, PosixFilePermissions.fromString("rwxrwxrwx"));
        refused("chmod go-w " + base, "mode 777");
        // In the folder that is only for this, such rights are taken away.
        new NativeFolder(folder, List.of(packed("liba.so", first))).unpack(true);
        assertEquals("rwxr-xr-x", PosixFilePermissions.toString(Files.getPosixFilePermissions(base)));
        Files.setPosixFilePermissions(temp, PosixFilePermissions.fromString("rwxrwxrwx"));
        refused("chmod go-w " + temp.toRealPath());
        Files.setPosixFilePermissions(temp, PosixFilePermissions.fromString("rwx------"));
    }

    @Test
    void aLinkOrAnotherUsersFolderIsRefused() throws Exception {
        Path elsewhere = Files.createDirectories(temp.resolve("elsewhere"));
        Files.createDirectories(folder.getParent());
        Files.createSymbolicLink(folder, elsewhere);
        refused("a symbolic link");
        Files.delete(folder);
        Files.createFile(folder);
        refused("but this is not a folder");
        Files.delete(folder);
        start();
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(folder)));
        try {
            Files.setAttribute(folder, "unix:uid", 12345);
        } catch (FileSystemException e) {
            Assumptions.abort("only root gives files away");
        }
        refused("belongs to another user", "-Dseriatim.natives=DIR");
    }

    private void refused(String... parts) throws IOException {
        NativeFolder refused = new NativeFolder(folder, List.of(packed("liba.so", first)));
        FileSystemException e = assertThrows(FileSystemException.class, () -> refused.unpack(false));
        for (String part : parts) {
            assertTrue(e.toString().contains(part), e::toString);
        }
    }

    @Test
    void aDamagedJarIsTold() throws IOException {
        NativeFolder.Packed damaged = packed("liba.so", first, 1);
        IOException e = assertThrows(IOException.class, () -> new NativeFolder(folder, List.of(damaged)).unpack(false));
        assertTrue(String.valueOf(e.getMessage()).contains("liba.so in its jar is damaged"), e::toString);
        assertFalse(Files.exists(folder.resolve("liba.so")));
    }

    @Test
    void manyStartAtOnce() throws Exception {
        try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
            List<Future<NativeFolder>> starts = new ArrayList<>();
            for (int i = 0; i < 16; i++) {
                starts.add(threads.submit(() -> {
                    NativeFolder each = new NativeFolder(folder,
                            List.of(packed("liba.so", first), packed("libb.so", second)));
                    each.unpack(false);
                    return each;
                }));
            }
            int written = 0;
            for (Future<NativeFolder> each : starts) {
                written += each.get().written();
            }
            assertEquals(2, written);
        }
        start();
    }
}
