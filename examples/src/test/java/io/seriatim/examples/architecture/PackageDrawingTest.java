package io.seriatim.examples.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PackageDrawingTest {
    private static final Path ROOT = Path.of("..");
    private static final Path DRAWING = ROOT.resolve("docs/images/packages.svg");
    private static final int MOST_FILES = 50;
    /** Its types change together and are package-private: see docs/decisions/069-the-core-in-one-package.md. */
    private static final Path ENGINE = ROOT.resolve("engine/src/main/java/io/seriatim/engine");
    private static final String REWRITE = "seriatim.write-package-drawing";

    /** Packages of different modules cannot form a cycle, so every cycle is inside a module. */
    @Test
    void noPackageImportsOneThatImportsIt() throws IOException {
        PackageImports all = PackageImports.read(ROOT);
        PackageImports acyclic = all.withoutCycles();
        all.imports().forEach((from, to) -> assertEquals(acyclic.imports().get(from), to, "a cycle through " + from));
    }

    @Test
    void noPackageIsTooLarge() throws IOException {
        Map<String, Integer> files = new TreeMap<>();
        for (String module : PackageImports.read(ROOT).modules().keySet()) {
            try (Stream<Path> all = Files.walk(ROOT.resolve(module).resolve("src/main/java"))) {
                all.filter(file -> file.toString().endsWith(".java"))
                        .forEach(file -> files.merge(String.valueOf(file.getParent()), 1, Integer::sum));
            }
        }
        assertTrue(files.size() > 30, files::toString);
        assertTrue(files.containsKey(ENGINE.toString()), files::toString);
        files.remove(ENGINE.toString());
        files.values().removeIf(count -> count <= MOST_FILES);
        assertEquals(Map.of(), files);
    }

    @Test
    void theDrawingShowsTheSources() throws IOException {
        String drawn = PackageDrawing.of(PackageImports.read(ROOT));
        if (Boolean.getBoolean(REWRITE)) {
            Files.writeString(DRAWING, drawn);
        }
        assertEquals(Files.readString(DRAWING), drawn,
                "imports have changed: mvn -pl examples -am test -Dtest=PackageDrawingTest -D" + REWRITE
                        + "=true -Dsurefire.failIfNoSpecifiedTests=false draws them anew");
    }

    @Test
    void importsThatFollowFromOthersAreNotDrawn() {
        PackageImports imports = new PackageImports(Map.of("m", List.of("a", "b", "c")),
                Map.of("a", Set.of("b", "c"), "b", Set.of("c"), "c", Set.of()));
        assertEquals(List.of(), imports.cycle());
        assertEquals(Map.of("a", Set.of("b"), "b", Set.of("c"), "c", Set.of()), imports.reduced());
        String drawn = PackageDrawing.of(imports);
        assertEquals(2, drawn.split("fill=\"none\"", -1).length - 1, drawn);
        assertTrue(drawn.contains(">a</text>") && drawn.contains(">b</text>"), drawn);
    }

    @Test
    void aCycleIsFound() {
        Map<String, Set<String>> imports = Map.of("a", Set.of("b"), "b", Set.of("c"), "c", Set.of("b"));
        PackageImports cyclic = new PackageImports(Map.of("m", List.of("a", "b", "c")), imports);
        assertEquals(List.of("b", "c"), cyclic.cycle());
        assertEquals(Set.of(), cyclic.withoutCycles().imports().get("c"));
        assertTrue(PackageDrawing.of(cyclic).contains("cycle: c → b"));
    }
}
