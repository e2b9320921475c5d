package io.seriatim.onnx;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** docs/onnx-tests.md lists the cases of ONNX's backend tests that do not pass, with their reasons. */
final class NodeTestsPageTest {
    /** All cases that tools/onnx/node_tests.py makes. */
    private static final int ALL = 2024;
    private static final int WIDTH = 150;
    private static final String BEGIN = "<!-- cases that do not pass -->\n";

    private static Path page() {
        Path here = Path.of("").toAbsolutePath();
        return (Files.exists(here.resolve("docs")) ? here : here.resolve("..")).resolve("docs/onnx-tests.md");
    }

    /** The names of cases by reason. */
    private static Map<String, List<String>> byReason() throws IOException {
        Map<String, List<String>> names = new TreeMap<>();
        try (InputStream in =
                Objects.requireNonNull(NodeTest.class.getResourceAsStream("/node-tests-without.txt"))) {
            for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList()) {
                if (!line.startsWith("#")) {
                    String[] parts = line.split(": ", 2);
                    names.computeIfAbsent(parts[1], _ -> new ArrayList<>()).add(parts[0].substring("test_".length()));
                }
            }
        }
        return names;
    }

    private static String list() throws IOException {
        Map<String, List<String>> byReason = byReason();
        int without = byReason.values().stream().mapToInt(List::size).sum();
        StringBuilder text = new StringBuilder();
        text.append(ALL - without).append(" of ").append(ALL).append(" cases pass, ").append(without)
                .append(" do not:\n");
        List<Map.Entry<String, List<String>>> reasons = new ArrayList<>(byReason.entrySet());
        reasons.sort(Comparator.comparingInt(each -> -each.getValue().size()));
        for (Map.Entry<String, List<String>> each : reasons) {
            text.append("\n### ").append(each.getValue().size()).append(": ").append(each.getKey()).append("\n\n");
            int at = 0;
            for (String name : each.getValue()) {
                boolean breaks = at > 0 && at + name.length() + 3 > WIDTH;
                text.append(at == 0 ? "" : breaks ? "\n" : " ").append('`').append(name).append('`');
                at = (breaks ? 0 : at + 1) + name.length() + 2;
            }
            text.append("\n");
        }
        return text.toString();
    }

    @Test
    void thePageListsWhatDoesNotPass() throws IOException {
        String written = Files.readString(page());
        String text = written.substring(0, written.indexOf(BEGIN)) + BEGIN + "\n" + list();
        if (Boolean.getBoolean("seriatim.write-formats-page")) {
            Files.writeString(page(), text);
            written = text;
        }
        assertEquals(text, written, "docs/onnx-tests.md is out of date; write it anew with: mvn test -pl onnx -am "
                + "-Dtest=NodeTestsPageTest -Dsurefire.failIfNoSpecifiedTests=false "
                + "-DargLine=\"-Dseriatim.write-formats-page=true --enable-native-access=ALL-UNNAMED\"");
    }
}
