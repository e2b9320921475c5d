package io.seriatim.graph.interpret;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** docs/operations.md is what the registry and the golden cases say. */
class OperationsPageTest {
    private static final String ACCURACY = "\n## Accuracy of operations\n";

    @Test
    void thePageListsWhatThereIs() throws IOException {
        Path root = Path.of("").toAbsolutePath();
        Path page = (Files.exists(root.resolve("docs")) ? root.resolve("docs") : root.resolve("../docs"))
                .resolve("operations.md");
        String text = OperationsPage.text();
        String written = Files.exists(page) ? Files.readString(page) : "";
        // The rest of the page is written by tests of accuracy.
        int end = written.indexOf(ACCURACY);
        String accuracy = end < 0 ? "" : written.substring(end);
        if (Boolean.getBoolean("seriatim.write-operations-page")) {
            written = text + accuracy;
            Files.writeString(page, written);
        }
        assertEquals(written, text + accuracy,
                "docs/operations.md is out of date; write it anew with: mvn test -pl graph -am "
                        + "-Dtest=OperationsPageTest "
                        + "-Dsurefire.failIfNoSpecifiedTests=false "
                        + "-DargLine=\"-Dseriatim.write-operations-page=true "
                        + "--enable-native-access=ALL-UNNAMED\"");
    }
}
