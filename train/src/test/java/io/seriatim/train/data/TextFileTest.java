package io.seriatim.train.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.FileFormatException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TextFileTest {
    @TempDir
    Path folder;

    private static String text(TextData data, Tokens tokens) {
        return data.vocabulary().decode(tokens.toArray());
    }

    private static String message(Path path) {
        return String.valueOf(assertThrows(FileFormatException.class, () -> TextFile.read(path)).getMessage());
    }

    @Test
    void splitsByPositionOfCharacters() throws IOException {
        String all = "Zwölf Boxkämpfer 😀 jagen Viktor\r\n";
        Path file = Files.writeString(folder.resolve("text"), "\uFEFF" + all);
        TextData data = TextFile.read(file);
        int characters = all.codePointCount(0, all.length());
        assertEquals(characters, data.training().length() + data.validation().length());
        assertEquals(characters / 10, data.validation().length());
        assertEquals(all, text(data, data.training()) + text(data, data.validation()));
        assertEquals(Vocabulary.of(all), data.vocabulary());
        TextData again = TextFile.read(file);
        assertArrayEquals(data.training().toArray(), again.training().toArray());
    }

    @Test
    void readsTheTextsOfAFolderByName() throws IOException {
        Files.writeString(folder.resolve("b.txt"), "\uFEFFsecond without end");
        Files.writeString(folder.resolve("a.TXT"), "first line\n");
        Files.writeString(folder.resolve("c.txt"), "third");
        Files.writeString(folder.resolve("0.md"), "not this");
        Files.createDirectory(folder.resolve("d.txt"));
        TextData data = TextFile.read(folder);
        assertEquals("first line\nsecond without end\nthird",
                text(data, data.training()) + text(data, data.validation()));
    }

    @Test
    void saysWhatIsWrong() throws IOException {
        Path missing = folder.resolve("missing.txt");
        assertEquals(missing + ": there is no such file or folder",
                assertThrows(NoSuchFileException.class, () -> TextFile.read(missing)).getMessage());
        assertTrue(message(folder).contains("must have *.txt files, but has none"), message(folder));
        Path empty = Files.createFile(folder.resolve("empty.txt"));
        assertEquals(empty + ": a text must have at least 20 characters, but has 0", message(empty));
        Path binary = Files.write(folder.resolve("binary"), new byte[]{'a', 'b', (byte) 0xc3, 'c'});
        assertEquals(binary + ", byte 2: a text must be in UTF-8, but this byte is not", message(binary));
        Path cut = Files.write(folder.resolve("cut"), new byte[]{'a', (byte) 0xc3});
        assertTrue(message(cut).contains("byte 1: "), message(cut));
        Path short19 = Files.writeString(folder.resolve("short"), "1234567890123456789");
        assertTrue(message(short19).contains("has 19"), message(short19));
        StringBuilder many = new StringBuilder();
        for (int i = 0x10000; i <= 0x20000; i++) {
            many.appendCodePoint(i);
        }
        Path wide = Files.writeString(folder.resolve("wide"), many);
        assertTrue(message(wide).contains("from 1 to 65536 distinct characters, but the text has 65537"),
                message(wide));
    }

    @Test
    void aHugeFileIsRefusedBeforeMemoryIsTaken() throws IOException {
        Path huge = folder.resolve("huge.txt");
        try (RandomAccessFile file = new RandomAccessFile(huge.toFile(), "rw")) {
            file.setLength((1L << 29) + 1);
        }
        assertTrue(message(huge).contains("at most 512 MiB"), message(huge));
    }
}
