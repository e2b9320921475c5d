package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The packages of this module have no import cycle, none is too large, and only the API package refers to the API. */
class PackagesTest {
    private static final String API = "io.seriatim.executor";
    private static final int MOST_FILES = 50;
    private static final Pattern IMPORT =
            Pattern.compile("^import (?:static )?(io\\.seriatim\\.executor(?:\\.[a-z]+)*)\\.[A-Z]",
                    Pattern.MULTILINE);

    private static Map<String, Set<String>> imports(Map<String, Integer> files) throws IOException {
        Map<String, Set<String>> imports = new TreeMap<>();
        Path root = Path.of("src/main/java");
        try (Stream<Path> all = Files.walk(root.resolve("io"))) {
            for (Path file : all.filter(each -> each.toString().endsWith(".java")).toList()) {
                String name = root.relativize(file.getParent()).toString().replace('/', '.');
                files.merge(name, 1, Integer::sum);
                Set<String> uses = imports.computeIfAbsent(name, _ -> new TreeSet<>());
                Matcher found = IMPORT.matcher(Files.readString(file));
                while (found.find()) {
                    if (!found.group(1).equals(name)) {
                        uses.add(found.group(1));
                    }
                }
            }
        }
        return imports;
    }

    /** Returns a cycle through a package, or an empty list. */
    private static List<String> cycle(String at, Map<String, Set<String>> imports, Set<String> path) {
        if (path.contains(at)) {
            return new ArrayList<>(path);
        }
        path.add(at);
        for (String next : imports.getOrDefault(at, Set.of())) {
            List<String> found = cycle(next, imports, path);
            if (!found.isEmpty()) {
                return found;
            }
        }
        path.remove(at);
        return List.of();
    }

    @Test
    void noPackageImportsOneThatImportsIt() throws IOException {
        Map<String, Set<String>> imports = imports(new HashMap<>());
        assertTrue(imports.size() >= 8, imports::toString);
        for (String each : imports.keySet()) {
            assertEquals(List.of(), cycle(each, imports, new LinkedHashSet<>()));
        }
    }

    @Test
    void aCycleIsFound() {
        Map<String, Set<String>> imports = Map.of("a", Set.of("b"), "b", Set.of("c"), "c", Set.of("a"));
        assertEquals(List.of("a", "b", "c"), cycle("a", imports, new LinkedHashSet<>()));
    }

    @Test
    void onlyTheApiKnowsTheApi() throws IOException {
        imports(new HashMap<>()).forEach((name, uses) -> assertTrue(!uses.contains(API), name));
    }

    @Test
    void noPackageIsTooLarge() throws IOException {
        Map<String, Integer> files = new TreeMap<>();
        imports(files);
        files.values().removeIf(count -> count <= MOST_FILES);
        assertEquals(Map.of(), files);
    }
}
