package io.seriatim.graph.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The frames that are taken for a user's. */
class CallSiteTest {
    /** Operations' own classes append nothing: they describe types. */
    private static final String DESCRIPTIONS = "io.seriatim.graph.ops";

    @Test
    void allPackagesOfThisModuleAreItsOwn() throws IOException {
        Path root = Path.of("src/main/java");
        TreeSet<String> packages = new TreeSet<>();
        try (Stream<Path> files = Files.walk(root.resolve("io"))) {
            files.filter(file -> file.toString().endsWith(".java"))
                    .map(file -> root.relativize(file.getParent()).toString().replace('/', '.'))
                    .filter(name -> !name.startsWith(DESCRIPTIONS))
                    .forEach(packages::add);
        }
        assertEquals(packages, new TreeSet<>(CallSite.OWN));
    }

    @Test
    void framesOfTheJdkAndOfThisModuleAreNotUsers() {
        assertFalse(CallSite.isUsers("java.util.ArrayList"));
        assertFalse(CallSite.isUsers("io.seriatim.graph.Value"));
        assertTrue(CallSite.isUsers("io.seriatim.graph.use.Network"));
        assertTrue(CallSite.isUsers("com.example.Network"));
    }
}
