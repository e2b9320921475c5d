package io.seriatim.graph;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** docs/operations.md is what the registry and the golden cases say. */
class OperationsPageTest {
    @Test
    void thePageListsWhatThereIs() throws IOException {
        Path root = Path.of("").toAbsolutePath();
        Path page = (Files.exists(root.resolve("docs")) ? root.resolve("docs") : root.resolve("../docs")).resolve("operations.md");
        String text = OperationsPage.text();
        if (Boolean.getBoolean("seriatim.write-operations-page")) {
            Files.writeString(page, text);
        }
        assertEquals(Files.exists(page) ? Files.readString(page) : "", text,
                "docs/operations.md is out of date; write it anew with: mvn test -pl graph -am -Dtest=OperationsPageTest "
                        + "-Dsurefire.failIfNoSpecifiedTests=false -DargLine=\"-Dseriatim.write-operations-page=true --enable-native-access=ALL-UNNAMED\"");
    }
}
