package io.seriatim.onnx.write;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SortedSet;
import org.junit.jupiter.api.Test;

/** docs/formats.md lists the types of operations that can be written as ONNX. */
final class WrittenOperatorsPageTest {
    private static final int WIDTH = 150;

    private static Path page() {
        Path here = Path.of("").toAbsolutePath();
        return (Files.exists(here.resolve("docs")) ? here : here.resolve("..")).resolve("docs/formats.md");
    }

    @Test
    void thePageListsWhatThereIs() throws IOException {
        String written = Files.readString(page());
        String begin = "<!-- operations written as ONNX -->\n";
        String end = "<!-- end of operations written as ONNX -->\n";
        int from = written.indexOf(begin);
        int to = written.indexOf(end);
        assertTrue(from >= 0 && to > from, "docs/formats.md has no part for operations written as ONNX");
        String text = written.substring(0, from) + begin + "\n" + lists() + "\n" + written.substring(to);
        if (Boolean.getBoolean("seriatim.write-formats-page")) {
            Files.writeString(page(), text);
            written = text;
        }
        assertEquals(text, written, "docs/formats.md is out of date; write it anew with: mvn test -pl onnx -am "
                + "-Dtest=WrittenOperatorsPageTest -Dsurefire.failIfNoSpecifiedTests=false "
                + "-DargLine=\"-Dseriatim.write-formats-page=true --enable-native-access=ALL-UNNAMED\"");
    }

    private static String lines(Iterable<String> names) {
        StringBuilder text = new StringBuilder();
        int width = 0;
        for (String name : names) {
            width += name.length() + 3;
            if (width > WIDTH) {
                width = name.length() + 3;
                text.append('\n');
            } else if (!text.isEmpty()) {
                text.append(' ');
            }
            text.append('`').append(name).append('`');
        }
        return text.append('\n').toString();
    }

    private static String lists() {
        SortedSet<String> types = ProgramWriter.types();
        return types.size() + " types of operations are written as ONNX:\n\n" + lines(types);
    }
}
