package io.seriatim.examples.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Files that users name are opened through {@code InputFiles}: otherwise a pipe or a device could be read for ever, and
 * a command could replace the file.
 */
class FileReadersTest {
    private static final Path ROOT = Path.of("..");
    private static final List<String> MODULES = List.of("tensor", "graph", "cluster", "executor", "onnx", "mxnet",
            "train", "cli");
    private static final Pattern OPENED = Pattern.compile("(Files\\.(newInputStream|newBufferedReader|readAllBytes"
            + "|readAllLines|readString|lines|newByteChannel)|FileChannel\\.open|new (ZipFile|FileInputStream|FileReader"
            + "|RandomAccessFile|Scanner))\\((?!InputFiles\\.)");
    /** Classes that open other files, or after a check. */
    private static final Set<String> OTHERS = Set.of(
            // Files that are written.
            "StagedFiles", "TemporaryFiles", "ConfinedFolder", "JsonLines", "RunLock",
            // Files of the system or of this project.
            "NativeFiles", "NativeFolder", "SharedMemory", "Memory", "Machine", "Processor", "Steps",
            // After InputFiles has been asked for the size, or the format has required a regular file.
            "JsonReader", "ProgramFiles", "TextFile", "ModelFormats", "PirFormat", "MxnetFormat");

    @Test
    void filesThatUsersNameAreRegular() throws IOException {
        List<String> found = new ArrayList<>();
        Set<String> unused = new HashSet<>(OTHERS);
        int readers = 0;
        for (String module : MODULES) {
            try (Stream<Path> all = Files.walk(ROOT.resolve(module).resolve("src/main/java"))) {
                for (Path file : all.filter(each -> each.toString().endsWith(".java")).toList()) {
                    String name = String.valueOf(file.getFileName()).replace(".java", "");
                    String text = Files.readString(file);
                    readers += text.contains("InputFiles.re") ? 1 : 0;
                    if (OPENED.matcher(text).find() && !unused.remove(name) && !OTHERS.contains(name)) {
                        found.add(file.toString());
                    }
                }
            }
        }
        assertEquals(List.of(), found, "files are opened without InputFiles.regular or requireRegular");
        assertEquals(Set.of(), unused, "exceptions that are not needed");
        assertTrue(readers >= 15, "there are only " + readers + " readers");
    }
}
