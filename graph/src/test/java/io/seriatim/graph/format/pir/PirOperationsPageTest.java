package io.seriatim.graph.format.pir;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SortedSet;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** docs/formats.md lists the operations of PIR that are read and written. */
final class PirOperationsPageTest {
    private static final int WIDTH = 150;

    private static Path page() {
        Path here = Path.of("").toAbsolutePath();
        return (Files.exists(here.resolve("docs")) ? here : here.resolve("..")).resolve("docs/formats.md");
    }

    @Test
    void thePageListsWhatThereIs() throws IOException {
        String written = Files.readString(page());
        String begin = "<!-- operations of PIR -->\n";
        String end = "<!-- end of operations of PIR -->\n";
        int from = written.indexOf(begin);
        int to = written.indexOf(end);
        assertTrue(from >= 0 && to > from, "docs/formats.md has no part for operations of PIR");
        String text = written.substring(0, from) + begin + "\n" + lists() + "\n" + written.substring(to);
        if (Boolean.getBoolean("seriatim.write-formats-page")) {
            Files.writeString(page(), text);
            written = text;
        }
        assertEquals(text, written, "docs/formats.md is out of date; write it anew with: mvn test -pl graph -am "
                + "-Dtest=PirOperationsPageTest -Dsurefire.failIfNoSpecifiedTests=false "
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
        SortedSet<String> names = new TreeSet<>();
        PirTable.get().all().forEach(each -> names.add(each.name()));
        return names.size() + " operations of PIR have a counterpart in the table, apart from those of control flow, "
                + "constants and lists:\n\n" + lines(names);
    }
}
