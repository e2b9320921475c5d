package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Runs the program of the README, and checks that the README contains the same text. */
class ReadmeTest {
    /** The state that the program changes. */
    private static final class State {
        int a;
        int b;
        int c;
        int d;
    }

    private final State x = new State();

    private static int load() {
        return 2;
    }

    @Test
    void theProgramRunsAsItSays() throws Exception {
        try (Engine engine = Engine.create()) {
            Var a = engine.newVar("a"), b = engine.newVar("b"), c = engine.newVar("c"), d = engine.newVar("d");
            engine.op("load").mutates(a).push(() -> x.a = load());
            engine.op("plus1").reads(a).mutates(b).push(() -> x.b = x.a + 1);
            engine.op("plus2").reads(a).mutates(c).push(() -> x.c = x.a + 2);
            engine.op("times").reads(b, c).mutates(d).push(() -> x.d = x.b * x.c);
            engine.op("again").mutates(a).push(() -> x.a = x.a * 2);
            engine.waitToRead(d);
        }
        assertEquals(List.of(4, 3, 4, 12), List.of(x.a, x.b, x.c, x.d));
    }

    @Test
    void theReadmeShowsThisProgram() throws Exception {
        String readme = Files.readString(Path.of("..", "README.md"));
        String section = readme.substring(readme.indexOf("## The engine in ten lines"));
        String program = section.substring(section.indexOf("```java") + "```java".length());
        program = program.substring(0, program.indexOf("```"));
        String source = Files.readString(Path.of("src", "test", "java", "io", "seriatim", "engine", "ReadmeTest.java"));
        List<String> lines = program.lines().map(line -> line.replaceFirst("//.*", "").strip())
                .filter(line -> !line.isEmpty()).toList();
        assertEquals(8, lines.size() - 1, "lines of the program");
        for (String line : lines) {
            assertTrue(source.contains(line), () -> "the README has a line that is not tested: " + line);
        }
    }
}
