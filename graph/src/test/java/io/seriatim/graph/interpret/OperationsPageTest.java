package io.seriatim.graph.interpret;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** docs/operations.md is what the registry and the golden cases say, and renders as tables and links. */
class OperationsPageTest {
    private static final String ACCURACY = "\n## Accuracy of operations\n";
    private static final Pattern CELL_END = Pattern.compile("(?<!\\\\)\\|");
    private static final Pattern ANCHOR = Pattern.compile("\\]\\(#([^)]*)\\)");

    /** The root of the repository, from there or from the module. */
    private static Path root() {
        Path here = Path.of("").toAbsolutePath();
        return Files.exists(here.resolve("docs")) ? here : here.resolve("..");
    }

    private static Path page() {
        return root().resolve("docs").resolve("operations.md");
    }

    @Test
    void thePageListsWhatThereIs() throws IOException {
        String written = Files.exists(page()) ? Files.readString(page()) : "";
        // The rest of the page is written by tests of accuracy. Their figures stand in the first part, too.
        int end = written.indexOf(ACCURACY);
        String accuracy = end < 0 ? "" : written.substring(end);
        String text = OperationsPage.text(root().resolve("graph/src/main/java/io/seriatim/graph/ops"), accuracy);
        if (Boolean.getBoolean("seriatim.write-operations-page")) {
            written = text + accuracy;
            Files.writeString(page(), written);
        }
        assertEquals(written, text + accuracy,
                "docs/operations.md is out of date; write it anew, after the tables of OperationAccuracyTest and "
                        + "AccuracyTest, with: mvn test -pl graph -am "
                        + "-Dtest=OperationsPageTest "
                        + "-Dsurefire.failIfNoSpecifiedTests=false "
                        + "-DargLine=\"-Dseriatim.write-operations-page=true "
                        + "--enable-native-access=ALL-UNNAMED\"");
    }

    /** All rows of a table have the cells of its head, and the links to sections lead somewhere. */
    @Test
    void thePageRenders() throws IOException {
        List<String> wrong = new ArrayList<>();
        Set<String> anchors = new TreeSet<>();
        List<String> lines = Files.readAllLines(page());
        int cells = 0;
        for (String line : lines) {
            int found = line.startsWith("|") ? CELL_END.split(line, -1).length : 0;
            if (cells > 0 && found > 0 && found != cells) {
                wrong.add(found + " cells instead of " + cells + ": " + line);
            }
            if (line.chars().filter(each -> each == '`').count() % 2 != 0) {
                wrong.add("an odd number of backticks: " + line);
            }
            if (line.startsWith("#")) {
                anchors.add(line.replaceFirst("#+ ", "").toLowerCase(Locale.ROOT).replace(' ', '-'));
            }
            cells = found;
        }
        for (String line : lines) {
            Matcher link = ANCHOR.matcher(line);
            while (link.find()) {
                if (!anchors.contains(link.group(1))) {
                    wrong.add("no section #" + link.group(1));
                }
            }
        }
        assertEquals(List.of(), wrong);
    }
}
