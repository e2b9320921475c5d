package io.seriatim.train.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Npy;
import io.seriatim.tensor.Npz;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DataFilesTest {
    private static final String TEXT = "a text of more than twenty characters\n";

    @TempDir
    Path folder;

    private static String message(Path path) {
        return String.valueOf(assertThrows(FileFormatException.class, () -> DataFiles.open(path)).getMessage());
    }

    @Test
    void recognisesFolders() throws IOException {
        Files.writeString(folder.resolve("notes.txt"), TEXT);
        assertEquals(38, assertInstanceOf(TextData.class, DataFiles.open(folder)).training().length()
                + assertInstanceOf(TextData.class, DataFiles.open(folder)).validation().length());
        Files.writeString(folder.resolve("t.csv"), "1,0\n2,1\n");
        assertEquals(2, assertInstanceOf(LabelledData.class, DataFiles.open(folder)).classes());
        Npy.write(folder.resolve("x.npy"), Tensor.of(new float[]{1, 2}, 2, 1));
        Npy.write(folder.resolve("y.npy"), Tensor.of(new float[]{1, 2}, 2, 1));
        assertEquals(0, assertInstanceOf(LabelledData.class, DataFiles.open(folder)).classes());
        IdxBytes.write(folder, "t10k", 20, 2, 2, 1);
        assertEquals("image", assertInstanceOf(LabelledData.class, DataFiles.open(folder)).input().name());
    }

    @Test
    void recognisesFiles() throws IOException {
        assertInstanceOf(TextData.class, DataFiles.open(Files.writeString(folder.resolve("README"), TEXT)));
        assertInstanceOf(TextData.class, DataFiles.open(Files.writeString(folder.resolve("Code.java"), TEXT)));
        assertInstanceOf(LabelledData.class, DataFiles.open(Files.writeString(folder.resolve("T.CSV"), "1,0\n2,1\n")));
        Path archive = folder.resolve("archive");
        Npz.write(archive, Map.of("x", Tensor.of(new float[]{1, 2}, 2, 1), "y", Tensor.of(new long[]{0, 1}, 2)));
        assertInstanceOf(LabelledData.class, DataFiles.open(archive));
    }

    @Test
    void saysWhatWasLookedFor() throws IOException {
        String message = message(folder);
        for (String wanted : new String[]{folder + ": the folder has no data", "t10k-images-idx3-ubyte",
                "x.npy with y.npy", "*.npz",
                "*.csv", "*.txt"}) {
            assertTrue(message.contains(wanted), message);
        }
        assertEquals(1, message.lines().count());
        Path missing = folder.resolve("missing");
        assertEquals(missing + ": there is no such file or folder",
                assertThrows(NoSuchFileException.class, () -> DataFiles.open(missing)).getMessage());
    }

    @Test
    void aFileThatIsNotEnoughIsNamed() throws IOException {
        IdxBytes.write(folder, "t10k", 20, 2, 2, 1);
        Path images = folder.resolve("t10k-images-idx3-ubyte");
        assertTrue(message(images).contains("name the folder that holds both"), message(images));
        Files.write(images, IdxBytes.compressed(Files.readAllBytes(images)));
        assertTrue(message(images).contains("name the folder that holds both"), message(images));
        Path array = folder.resolve("x.npy");
        Npy.write(array, Tensor.of(new float[]{1, 2}, 2, 1));
        assertTrue(message(array).contains("a single array is not enough: name the folder that holds x.npy with y.npy"),
                message(array));
        Path notWhole = Files.write(folder.resolve("a.gz"), new byte[]{0x1f, (byte) 0x8b, 8});
        assertTrue(message(notWhole).contains("a.gz, byte 1: a text must be in UTF-8"), message(notWhole));
        Path noArchive = Files.writeString(folder.resolve("a.npz"), "no archive");
        assertTrue(message(noArchive).contains("a.npz"), message(noArchive));
    }
}
