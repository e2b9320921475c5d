package io.seriatim.onnx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The cases of ONNX's backend tests. */
final class NodeTest {
    /** All cases, which tools/onnx/node_tests.py makes: -Ponnx-suite. Those of -Dcases=REGEX, if it is set. */
    @Test
    void passesAllCasesButThoseThatAreListed() throws IOException {
        String folder = System.getProperty("seriatim.onnx", "");
        assumeFalse(folder.isEmpty(), "the node tests of ONNX are run by -Ponnx-suite");
        Map<String, String> without = without();
        Pattern chosen = Pattern.compile(System.getProperty("cases", ""));
        List<String> failures = new ArrayList<>();
        int passed = 0;
        for (NodeCases.Case each : NodeCases.of(Path.of(folder))) {
            if (!chosen.matcher(each.name()).find()) {
                continue;
            }
            String failure = failure(each);
            if (failure == null) {
                passed++;
            }
            if (failure == null == without.containsKey(each.name())) {
                failures.add(each.name() + ": " + (failure == null ? "passes, but is listed" : failure));
            }
        }
        System.out.println(passed + " cases pass");
        String out = System.getProperty("failures", "");
        if (!out.isEmpty()) {
            Files.write(Path.of(out), failures);
        }
        assertEquals("", String.join("\n", failures));
    }

    private static @Nullable String failure(NodeCases.Case each) {
        try {
            return NodeCases.failure(each);
        } catch (IOException | RuntimeException e) {
            return e.getClass().getSimpleName() + ": " + e.getMessage();
        }
    }

    /** The cases that do not pass, with their reasons. */
    private static Map<String, String> without() throws IOException {
        Map<String, String> reasons = new TreeMap<>();
        for (String line : text("/node-tests-without.txt").lines().toList()) {
            if (!line.isBlank() && !line.startsWith("#")) {
                String[] parts = line.split(": ", 2);
                reasons.put(parts[0], parts[1]);
            }
        }
        return reasons;
    }

    private static String text(String resource) throws IOException {
        try (InputStream in = NodeTest.class.getResourceAsStream(resource)) {
            return new String(Objects.requireNonNull(in, resource).readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
