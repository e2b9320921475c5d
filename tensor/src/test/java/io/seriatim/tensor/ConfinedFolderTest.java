package io.seriatim.tensor;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConfinedFolderTest {
    @TempDir
    private Path folder = Path.of("");
    private Path root = Path.of("");
    private Path outside = Path.of("");

    @BeforeEach
    void make() throws IOException {
        folder = folder.toRealPath();
        root = Files.createDirectories(folder.resolve("allowed"));
        outside = Files.createDirectories(folder.resolve("outside"));
        Files.writeString(outside.resolve("secret"), "secret");
    }

    private ConfinedFolder confined(boolean byHandle) throws IOException {
        return ConfinedFolder.of(root, byHandle);
    }

    private static void write(ConfinedFolder to, String name, String text) throws IOException {
        to.write(name, true, out -> out.write(text.getBytes(UTF_8)));
    }

    private static String read(ConfinedFolder from, String name) throws IOException {
        return from.read(name, (in, size) -> {
            byte[] bytes = in.readAllBytes();
            assertEquals(size, bytes.length);
            return new String(bytes, UTF_8);
        });
    }

    /** By all three ways, of which none may leave anything behind. */
    private void refused(ConfinedFolder by, String name, String reason) throws IOException {
        List<Path> before = everything();
        for (FileSystemException e : List.of(assertThrows(FileSystemException.class, () -> by.check(name)),
                assertThrows(FileSystemException.class, () -> read(by, name)),
                assertThrows(FileSystemException.class, () -> write(by, name, "x")))) {
            assertTrue(String.valueOf(e.getReason()).contains(reason), e::toString);
        }
        assertEquals(before, everything());
        assertEquals("secret", Files.readString(outside.resolve("secret")));
    }

    private List<Path> everything() throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.sorted().toList();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void filesAreWrittenAndReadBelowIt(boolean byHandle) throws IOException {
        ConfinedFolder confined = confined(byHandle);
        write(confined, "x", "1");
        write(confined, "./deep//deeper/y", "2");
        write(confined, root + "/deep/z", "3");
        assertEquals("1", Files.readString(root.resolve("x")));
        assertEquals("2", read(confined, "deep/deeper/./y"));
        assertEquals("3", read(confined, "deep/z"));
        write(confined, "x", "4");
        assertEquals("4", read(confined, root + "/x"));
        FileAlreadyExistsException there = assertThrows(FileAlreadyExistsException.class,
                () -> confined.write("x", false, out -> {
                }));
        assertEquals("x", there.getFile());
        assertThrows(NoSuchFileException.class, () -> read(confined, "nothing"));
        assertThrows(NoSuchFileException.class, () -> read(confined, "no/thing"));
        confined.check("no/thing");
        try (Stream<Path> all = Files.walk(root)) {
            assertEquals(6, all.count(), "no temporary file is left");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whatFailsLeavesTheOldFile(boolean byHandle) throws IOException {
        ConfinedFolder confined = confined(byHandle);
        write(confined, "x", "old");
        assertThrows(IOException.class, () -> confined.write("x", true, out -> {
            out.write(new byte[1 << 20]);
            throw new IOException("full");
        }));
        assertEquals("old", read(confined, "x"));
        assertEquals(List.of(root, root.resolve("x")),
                everything().stream().filter(each -> each.startsWith(root)).toList());
    }

    static Stream<List<String>> names() {
        return Stream.of(List.of("", "names no file"), List.of(".", "names no file"), List.of("./", "names no file"),
                List.of("x/", "names no file"),
                List.of("x/.", "names no file"), List.of("/", "absolute"), List.of("/etc/passwd", "absolute"),
                List.of("//etc/passwd", "absolute"), List.of("..", "goes up"), List.of("../outside/secret", "goes up"),
                List.of("a/../../outside/secret", "goes up"), List.of("a/../x", "goes up"),
                List.of("x\0", "control character"),
                List.of("x\0/../y", "control character"), List.of("a\nb", "control character"),
                List.of("\u001bx", "control character"),
                List.of("C:x", "drive"), List.of("c:/x", "drive"), List.of("C:\\x", "drive"),
                List.of("a\\..\\b", "backslash"),
                List.of("\\\\server\\share\\x", "backslash"));
    }

    @ParameterizedTest
    @MethodSource("names")
    void namesThatLeadElsewhereAreRefused(List<String> nameAndReason) throws IOException {
        refused(confined(true), nameAndReason.getFirst(), nameAndReason.getLast());
        refused(confined(false), nameAndReason.getFirst(), nameAndReason.getLast());
    }

    @Test
    void absoluteNamesOfOtherFoldersAreRefused() throws IOException {
        Files.createDirectory(folder.resolve("allowed2"));
        refused(confined(true), outside.resolve("secret").toString(), "absolute");
        refused(confined(true), root + "2/x", "absolute");
        refused(confined(true), root + "/../outside/secret", "goes up");
        refused(confined(true), root + "/", "names no file");
        refused(confined(true), root.toString(), "absolute");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ab:c", "x/con", "NUL.txt", "com1", "LPT9.x", "x.", "x ", "aux /y"})
    void namesThatMeanSomethingElseOnWindowsAreRefusedThere(String name) throws IOException {
        assertThrows(FileSystemException.class, () -> ConfinedFolder.parts(name, name, true));
        assertEquals(List.of(name.split("/", -1)), ConfinedFolder.parts(name, name, false));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void linksAreNotFollowed(boolean byHandle) throws IOException {
        ConfinedFolder confined = confined(byHandle);
        Files.createSymbolicLink(root.resolve("file"), outside.resolve("secret"));
        Files.createSymbolicLink(root.resolve("folder"), outside);
        Files.createSymbolicLink(root.resolve("dangling"), outside.resolve("new"));
        Files.createDirectory(root.resolve("real"));
        Files.createSymbolicLink(root.resolve("real/up"), Path.of(".."));
        Files.createSymbolicLink(root.resolve("within"), Path.of("real"));
        for (String name : List.of("file", "folder/secret", "folder/new", "dangling", "real/up/x", "within/x")) {
            refused(confined, name, "symbolic link");
        }
        assertFalse(Files.exists(outside.resolve("new")));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void onlyRegularFilesAreFiles(boolean byHandle) throws Exception {
        Files.createDirectories(root.resolve("folder/below"));
        refused(confined(byHandle), "folder", "not a regular file");
        Files.createFile(root.resolve("plain"));
        refused(confined(byHandle), "plain/x", "not a folder");
        // A pipe that is opened waits for its other end.
        Process made = new ProcessBuilder("mkfifo", root.resolve("pipe").toString()).start();
        Assumptions.assumeTrue(made.waitFor(60, TimeUnit.SECONDS) && made.exitValue() == 0, "there is mkfifo");
        refused(confined(byHandle), "pipe", "not a regular file");
    }

    /** The folder is what it was when it was allowed. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anotherFolderInItsPlaceIsRefused(boolean byHandle) throws IOException {
        ConfinedFolder confined = confined(byHandle);
        Files.move(root, folder.resolve("moved"));
        Files.createSymbolicLink(root, outside);
        refused(confined, "secret", "has become another");
    }

    @Test
    void theFolderItselfMayBeALink() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("link"), root);
        ConfinedFolder confined = ConfinedFolder.of(link);
        assertEquals(root, confined.path());
        write(confined, link + "/x", "1");
        assertEquals("1", read(confined, root + "/x"));
    }

    /** Whatever is swapped while a file is written: nothing gets to the outside. */
    @Test
    void linksThatArePlantedMeanwhileLeadNowhere() throws IOException {
        ConfinedFolder confined = confined(true);
        Path inner = Files.createDirectory(root.resolve("inner"));
        confined.write("inner/x", true, out -> {
            Files.move(inner, root.resolve("away"));
            Files.createSymbolicLink(inner, outside);
            out.write(1);
        });
        assertEquals(List.of(outside, outside.resolve("secret")),
                everything().stream().filter(each -> each.startsWith(outside)).toList());
        assertTrue(Files.exists(root.resolve("away/x")), "it is where it was opened");
        confined.write("y", true, out -> Files.createSymbolicLink(root.resolve("z"), outside.resolve("secret")));
        FileSystemException planted = assertThrows(FileSystemException.class,
                () -> confined.write("w", true,
                        out -> Files.createSymbolicLink(root.resolve("w"), outside.resolve("secret"))));
        assertTrue(String.valueOf(planted.getReason()).contains("symbolic link"), planted::toString);
        assertEquals("secret", Files.readString(outside.resolve("secret")));
    }

    /**
     * Another process exchanges a folder and a link to the outside as fast as it can. Most accesses fail; none leads
     * out.
     */
    @Test
    void racesWithLinksLeadNowhere() throws Exception {
        ConfinedFolder confined = confined(true);
        Path inner = root.resolve("inner");
        AtomicBoolean done = new AtomicBoolean();
        AtomicInteger links = new AtomicInteger();
        Thread exchanging = Thread.ofPlatform().start(() -> {
            for (int i = 0; !done.get(); i++) {
                try {
                    if (Files.exists(inner)) {
                        Files.move(inner, root.resolve("aside" + i));
                    }
                    Files.createSymbolicLink(inner, outside);
                    links.incrementAndGet();
                    Files.delete(inner);
                } catch (FileAlreadyExistsException e) {
                    // The one who writes has made the folder again: the next round moves it aside.
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        });
        int written = 0;
        int refused = 0;
        for (int i = 0; i < 400; i++) {
            try {
                confined.write("inner/x", true, out -> out.write(1));
                written++;
            } catch (FileSystemException e) {
                refused++;
            }
            try {
                assertEquals("secret", read(confined, "inner/secret"));
                throw new AssertionError("the link was followed");
            } catch (FileSystemException e) {
                refused++;
            }
        }
        done.set(true);
        exchanging.join();
        assertEquals(800, written + refused);
        assertTrue(links.get() > 0, "links were planted");
        assertEquals(List.of(outside, outside.resolve("secret")),
                everything().stream().filter(each -> each.startsWith(outside)).toList());
    }

    @Test
    void whatIsNoFolderIsRefused() {
        assertThrows(FileSystemException.class, () -> ConfinedFolder.of(outside.resolve("secret")));
        assertThrows(NoSuchFileException.class, () -> ConfinedFolder.of(root.resolve("nothing")));
    }
}
