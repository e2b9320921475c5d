package io.seriatim.cli.demo;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.engine.Engine;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProgramsTest {
    private static final long LIMIT = 400_000;

    @Test
    void everyEngineMakesWhatTheLoopMakes() throws Exception {
        List<Group> groups = ClassFiles.groups(LIMIT);
        Result expected = SerialProgram.run(groups);
        for (Engine.Builder builder : List.of(Engine.builder().pooled(2), Engine.builder().shuffled(7),
                Engine.builder().naive())) {
            try (Engine engine = builder.build()) {
                assertTrue(EngineProgram.run(engine, groups).isSameAs(expected));
            }
        }
    }

    @Test
    void anotherOrderIsAnotherResult() throws Exception {
        List<Group> groups = ClassFiles.groups(LIMIT);
        assertTrue(groups.size() > 1, "needs two groups");
        assertFalse(SerialProgram.run(groups.reversed()).isSameAs(SerialProgram.run(groups)));
    }

    @Test
    void theMentionsOfAClassAreItsConstants() throws Exception {
        Path file = Path.of(URI.create("jrt:/java.base/java/lang/Object.class"));
        assertTrue(Steps.mentions(List.of(Files.readAllBytes(file))).containsKey("java/lang/Object"));
    }
}
