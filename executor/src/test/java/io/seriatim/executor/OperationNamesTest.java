package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.op.Operations;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The executor does not refer to any operation type by name. Schemas declare all properties that the executor needs, so
 * that it treats operations of a provider like those of the graph module.
 */
class OperationNamesTest {
    private static final Pattern LITERAL = Pattern.compile("\"([^\"\\\\]+)\"");

    /** Literals that are equal to an operation type by coincidence, with their meaning. */
    private static final Map<String, String> ALLOWED = Map.of(
            "Task.java memcpy_h2d", "how traces call a transfer that the executor adds itself",
            "Task.java memcpy_d2h", "how traces call a transfer that the executor adds itself");

    @Test
    void noSourceNamesAnOperationType() throws IOException {
        Set<String> found = new TreeSet<>();
        try (Stream<Path> files = Files.walk(Path.of("src/main/java"))) {
            for (Path file : files.filter(each -> each.toString().endsWith(".java")).toList()) {
                Matcher literals = LITERAL.matcher(Files.readString(file));
                while (literals.find()) {
                    String type = literals.group(1);
                    if (Operations.system().find(type) != null || Operations.system().isBoundary(type)) {
                        found.add(file.getFileName() + " " + type);
                    }
                }
            }
        }
        assertTrue(Operations.system().find("matmul_v2") != null, "types are known here");
        assertEquals(new TreeSet<>(ALLOWED.keySet()), found,
                "declare what the executor must know of an operation in its schema, see Operation.Builder");
    }
}
