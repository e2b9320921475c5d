package io.seriatim.tensor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class StagedFilesTest {
    @TempDir
    private Path folder = Path.of("");

    /** The names with their contents; folders have none. */
    private Map<String, String> files() throws IOException {
        Map<String, String> files = new TreeMap<>();
        try (Stream<Path> list = Files.list(folder)) {
            for (Path each : list.toList()) {
                files.put(String.valueOf(each.getFileName()), Files.isDirectory(each) ? "/" : Files.readString(each));
            }
        }
        return files;
    }

    private StagedFiles staged(String... names) throws IOException {
        StagedFiles staged = StagedFiles.beside(folder.resolve("m.main"));
        fill(staged, names);
        return staged;
    }

    private static void fill(StagedFiles staged, String... names) throws IOException {
        for (String name : names) {
            staged.writeText(name, out -> out.write("new " + name));
        }
    }

    @Test
    void filesReplaceOthersTogether() throws IOException {
        Files.writeString(folder.resolve("m.a"), "old");
        Files.writeString(folder.resolve("m.c"), "old");
        Map<String, String> before = files();
        try (StagedFiles staged = staged("m.a", "m.b", "m.main")) {
            staged.remove("m.c");
            Map<String, String> meanwhile = files();
            assertEquals(1, meanwhile.keySet().stream().filter(name -> name.startsWith(".")).count());
            meanwhile.keySet().removeIf(name -> name.startsWith("."));
            assertEquals(before, meanwhile);
            staged.publish();
        }
        assertEquals(Map.of("m.a", "new m.a", "m.b", "new m.b", "m.main", "new m.main"), files());
    }

    @Test
    void withoutPublicationNothingChanges() throws IOException {
        Files.writeString(folder.resolve("m.a"), "old");
        Map<String, String> before = files();
        staged("m.a", "m.main").close();
        assertEquals(before, files());
        assertThrows(IOException.class, () -> {
            try (StagedFiles staged = staged("m.a")) {
                staged.write("m.main", _ -> {
                    throw new IOException("the disk is full");
                });
                staged.publish();
            }
        });
        assertEquals(before, files());
    }

    /** A folder in the place of each file in turn, made before all or right before the publication. */
    @Test
    void aFolderInThePlaceOfOneFileKeepsAll() throws IOException {
        List<String> names = List.of("m.a", "m.b", "m.main");
        for (String blocked : names) {
            for (boolean early : List.of(true, false)) {
                for (String name : names) {
                    Files.deleteIfExists(folder.resolve(name));
                    if (!name.equals(blocked)) {
                        Files.writeString(folder.resolve(name), "old");
                    }
                }
                if (early) {
                    Files.createDirectory(folder.resolve(blocked));
                }
                FileSystemException e = assertThrows(FileSystemException.class, () -> {
                    try (StagedFiles staged = staged()) {
                        fill(staged, names.toArray(String[]::new));
                        if (!early) {
                            Files.createDirectory(folder.resolve(blocked));
                        }
                        staged.publish();
                    }
                });
                assertTrue(String.valueOf(e.getMessage()).contains(blocked + ": a folder is in the place"),
                        e.getMessage());
                Map<String, String> after = new TreeMap<>(Map.of("m.a", "old", "m.b", "old", "m.main", "old"));
                after.put(blocked, "/");
                assertEquals(after, files(), blocked + " " + early);
            }
        }
    }

    /** A move that fails in the middle: what was moved before is moved back. */
    @Test
    void aFailedMoveRestoresAll() throws IOException {
        Files.writeString(folder.resolve("m.b"), "old");
        Files.writeString(folder.resolve("m.main"), "old");
        Map<String, String> before = files();
        Path below = Files.createDirectory(folder.resolve("below"));
        Files.writeString(below.resolve("x"), "old");
        before.put("below", "/");
        try (StagedFiles staged = staged("m.a", "m.b", "m.main")) {
            // It cannot be moved away, because its folder is not among the replaced files.
            staged.remove("below/x");
            assertThrows(IOException.class, staged::publish);
        }
        assertEquals("old", Files.readString(below.resolve("x")));
        assertEquals(before, files());
    }

    @Test
    void aFolderAppearsWithAllItsFiles() throws IOException {
        Path target = folder.resolve("12");
        try (StagedFiles staged = StagedFiles.folder(target)) {
            staged.writeText("a", out -> out.write("1"));
            staged.writeText("b", out -> out.write("2"));
            assertFalse(Files.exists(target));
            staged.publishAsFolder();
        }
        assertEquals(Map.of("12", "/"), files());
        try (Stream<Path> list = Files.list(target)) {
            assertEquals(2, list.count());
        }
    }

    @Test
    void whatAKilledProcessLeftIsDeletedAndWhatALiveOneWritesIsNot() throws IOException {
        Path file = Files.writeString(folder.resolve(".seriatim-1.part"), "left");
        Path left = Files.createDirectory(folder.resolve(".seriatim-2.part"));
        Files.writeString(left.resolve(".lock"), "");
        Files.writeString(left.resolve("m.a"), "left");
        Path half = Files.createDirectory(folder.resolve(".seriatim-3.part"));
        Files.setLastModifiedTime(half, FileTime.from(Instant.parse("2020-01-01T00:00:00Z")));
        Path begun = Files.createDirectory(folder.resolve(".seriatim-4.part"));
        Path other = Files.writeString(folder.resolve(".other.part"), "not ours");
        // A lock of this process stands for that of another one.
        Path live = folder.resolve(".seriatim-5.part");
        try (FileChannel channel = FileChannel.open(live, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            assertTrue(channel.tryLock().isValid());
            AtomicFile.writeText(folder.resolve("x"), out -> out.write("x"));
            for (Path gone : List.of(file, left, half)) {
                assertFalse(Files.exists(gone), gone::toString);
            }
            for (Path kept : List.of(begun, other, live)) {
                assertTrue(Files.exists(kept), kept::toString);
            }
        }
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void anInputIsNotReplacedUnderAnyName() throws IOException {
        Path input = Files.writeString(folder.resolve("m.a"), "old");
        Path below = Files.createDirectory(folder.resolve("below"));
        Path linked = Files.createSymbolicLink(folder.resolve("linked"), Path.of("."));
        List<Path> names = List.of(input, below.resolve("../m.a"), linked.resolve("m.a"),
                Files.createSymbolicLink(folder.resolve("soft"), input),
                Files.createLink(folder.resolve("hard"), input));
        for (Path read : names) {
            for (Path written : names) {
                try (InputFiles.Watch watch = InputFiles.watch()) {
                    assertEquals("old", Files.readString(InputFiles.regular(read)));
                    assertEquals(List.of(read), watch.files());
                    FileAlreadyExistsException e = assertThrows(FileAlreadyExistsException.class,
                            () -> AtomicFile.writeText(written, out -> out.write("new")));
                    assertTrue(String.valueOf(e.getMessage()).contains("is an input of the same command"),
                            e.getMessage());
                    ConfinedFolder confined = ConfinedFolder.of(folder);
                    if (!Files.isSymbolicLink(written) && folder.equals(written.getParent())) {
                        assertThrows(FileAlreadyExistsException.class, () -> confined
                                .write(String.valueOf(written.getFileName()), true, out -> out.write(1)));
                    }
                }
                assertEquals("old", Files.readString(written));
            }
        }
        // Without a command that watches, a program may write what it has read.
        AtomicFile.writeText(input, out -> out.write("new"));
        assertEquals("new", Files.readString(input));
        assertEquals("old", Files.readString(folder.resolve("hard")));
    }

    @Test
    void equalContentStays() throws IOException {
        Path input = Files.writeString(folder.resolve("m.a"), "new m.a");
        FileTime time = FileTime.from(Instant.parse("2020-01-01T00:00:00Z"));
        Files.setLastModifiedTime(input, time);
        try (InputFiles.Watch _ = InputFiles.watch(); StagedFiles staged = staged("m.a", "m.main")) {
            assertEquals("new m.a", Files.readString(InputFiles.regular(input)));
            staged.publish();
        }
        assertEquals(time, Files.getLastModifiedTime(input));
        assertEquals("new m.main", Files.readString(folder.resolve("m.main")));
    }

    @Test
    void aMissingFolderIsReported() {
        NoSuchFileException e = assertThrows(NoSuchFileException.class,
                () -> StagedFiles.beside(folder.resolve("no/m.main")));
        assertTrue(String.valueOf(e.getMessage()).endsWith("m.main: its folder is not there: make it first"),
                e.getMessage());
    }

    /** As when a signal ends the process while a thread writes. */
    @Test
    void aFolderIsDeletedWhileFilesAreMadeInIt() throws Exception {
        for (int round = 0; round < 20; round++) {
            Path hidden = Files.createDirectory(folder.resolve("hidden"));
            CountDownLatch begun = new CountDownLatch(1);
            FutureTask<Void> writer = new FutureTask<>(() -> {
                // Fewer files than the deletion has tries.
                for (int i = 0; i < 500; i++) {
                    Files.createFile(hidden.resolve("f" + i));
                    begun.countDown();
                }
                return null;
            });
            Thread.ofPlatform().start(writer);
            begun.await();
            TemporaryFiles.delete(hidden);
            assertFalse(Files.exists(hidden), "round " + round);
            try {
                writer.get();
            } catch (ExecutionException e) {
                assertInstanceOf(NoSuchFileException.class, e.getCause());
            }
            assertEquals(Map.of(), files());
        }
    }

    @Test
    void foldersAreMadeInTheHiddenFolder() throws IOException {
        try (StagedFiles staged = StagedFiles.beside(folder.resolve("m.main"))) {
            Path made = staged.createFolders("a/b");
            assertTrue(Files.isDirectory(made));
            assertEquals(staged.file("a").resolve("b"), made);
        }
        assertEquals(Map.of(), files());
    }
}
