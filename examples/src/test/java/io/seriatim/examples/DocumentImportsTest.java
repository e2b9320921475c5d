package io.seriatim.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The guide has an import for each type and static method of this project that the code of the pages uses. */
class DocumentImportsTest {
    /** The sources in which the code of the pages is compiled. */
    static final List<Path> SOURCES = List.of(Document.test("GuideTest.java"),
            Document.main("train/SpiralTraining.java"),
            Path.of("../engine/src/test/java/io/seriatim/engine/ReadmeTest.java"),
            Path.of("../executor/src/test/java/io/seriatim/executor/ReadmeTest.java"),
            Path.of("../graph/src/test/java/io/seriatim/graph/DocumentTest.java"),
            Path.of("../spark/src/test/java/io/seriatim/spark/DocumentTest.java"));

    private static final List<String> PAGES = List.of("../README.md", "guide.md", "networks.md");
    private static final Pattern IMPORT = Pattern
            .compile("^import (?:static )?io\\.seriatim\\.(?!examples)[\\w.]+\\.(\\w+);$", Pattern.MULTILINE);
    private static final Pattern BLOCK = Pattern.compile("```java(.*?)```", Pattern.DOTALL);

    /** The lines by the simple names that they import. */
    private static Map<String, String> imports(String text) {
        Map<String, String> imports = new TreeMap<>();
        IMPORT.matcher(text).results().forEach(line -> imports.put(line.group(1), line.group()));
        return imports;
    }

    /** The words of the code, but not those behind a dot. */
    private static Set<String> words(String page) {
        Set<String> words = new TreeSet<>();
        BLOCK.matcher(page).results().forEach(block -> Pattern.compile("(?<![.\\w])\\w+")
                .matcher(block.group(1).replaceAll("(?m)^import .*$|//.*|\"[^\"]*\"", "")).results()
                .forEach(word -> words.add(word.group())));
        return words;
    }

    @Test
    void theGuideShowsTheImports() throws IOException {
        Map<String, String> known = new TreeMap<>();
        for (Path source : SOURCES) {
            known.putAll(imports(Files.readString(source)));
        }
        Set<String> used = new TreeSet<>();
        for (String page : PAGES) {
            used.addAll(words(Document.of(page).text()));
        }
        used.retainAll(known.keySet());
        assertTrue(used.containsAll(Set.of("Engine", "Executor", "Network", "Trainer", "fetches")), used::toString);
        known.keySet().retainAll(used);
        assertEquals(String.join("\n", known.values()),
                String.join("\n", imports(Document.of("guide.md").text()).values()));
    }
}
