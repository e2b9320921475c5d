package io.seriatim.onnx.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SortedSet;
import org.junit.jupiter.api.Test;

/** docs/formats.md lists the operators of ONNX that are read. */
final class ReadOperatorsPageTest {
    private static final int WIDTH = 150;

    private static Path page() {
        Path here = Path.of("").toAbsolutePath();
        return (Files.exists(here.resolve("docs")) ? here : here.resolve("..")).resolve("docs/formats.md");
    }

    @Test
    void thePageListsWhatThereIs() throws IOException {
        String written = Files.readString(page());
        String begin = "<!-- operators of ONNX that are read -->\n";
        String end = "<!-- end of operators of ONNX that are read -->\n";
        int from = written.indexOf(begin);
        int to = written.indexOf(end);
        assertTrue(from >= 0 && to > from, "docs/formats.md has no part for operators of ONNX that are read");
        String text = written.substring(0, from) + begin + "\n" + lists() + "\n" + written.substring(to);
        if (Boolean.getBoolean("seriatim.write-formats-page")) {
            Files.writeString(page(), text);
            written = text;
        }
        assertEquals(text, written, "docs/formats.md is out of date; write it anew with: mvn test -pl onnx -am "
                + "-Dtest=ReadOperatorsPageTest -Dsurefire.failIfNoSpecifiedTests=false "
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
        SortedSet<String> names = Operators.all().names();
        return names.size() + " operators are read:\n\n" + lines(names);
    }
}
