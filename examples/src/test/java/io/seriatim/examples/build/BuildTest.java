package io.seriatim.examples.build;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.engine.Engine;
import io.seriatim.engine.OperationFailedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BuildTest {
    private static final Path SHOP = Path.of("shop");

    @TempDir
    private Path folder;

    @Test
    void everyEngineWritesWhatTheLoopWrites() throws Exception {
        Project project = Project.read(SHOP);
        Build.serial(project, folder.resolve("serial"));
        Map<String, Engine.Builder> engines = Map.of("pooled", Engine.builder().pooled(2), "naive",
                Engine.builder().naive(), "seed 1",
                Engine.builder().shuffled(1), "seed 2", Engine.builder().shuffled(2), "seed 3",
                Engine.builder().shuffled(3));
        for (Map.Entry<String, Engine.Builder> one : engines.entrySet()) {
            try (Engine engine = one.getValue().build()) {
                Build.parallel(engine, project, folder.resolve(one.getKey()));
            }
            assertTrue(Build.same(folder.resolve("serial"), folder.resolve(one.getKey())), one.getKey());
        }
    }

    @Test
    void anErrorInOneFileEndsOnlyWhatNeedsIt() throws Exception {
        Path broken = copy(SHOP, folder.resolve("broken"));
        Path letter = broken.resolve("mail/Letter.java");
        Files.writeString(letter, Files.readString(letter).replace("String text", "Text text"));
        Build.serial(Project.read(SHOP), folder.resolve("whole"));
        Path built = folder.resolve("built");

        try (Engine engine = Engine.builder().pooled(2).build()) {
            Project project = Project.read(broken);
            OperationFailedException failure = assertThrows(OperationFailedException.class,
                    () -> Build.parallel(engine, project, built));
            assertEquals("compile mail", failure.operation());
        }

        for (String name : List.of("money", "catalog", "orders", "statistics")) {
            assertEquals(-1,
                    Files.mismatch(built.resolve(name + ".jar"), folder.resolve("whole").resolve(name + ".jar")), name);
        }
        assertFalse(Files.exists(built.resolve("mail.jar")));
        assertFalse(Files.exists(built.resolve("invoices.jar")));
        List<String> report = Files.readAllLines(built.resolve(Report.FILE));
        assertEquals(List.of("money", "mail", "catalog", "orders", "invoices", "statistics"),
                report.stream().filter(line -> line.contains(": ")).map(line -> line.substring(0, line.indexOf(':')))
                        .toList());
        assertEquals("mail: 'compile mail' failed: Letter.java:4: cannot find symbol", report.get(1));
        assertEquals("invoices: not built, because 'compile mail' failed", report.get(4));
    }

    @Test
    void theSerialProgramEndsAtTheFirstError() throws IOException {
        Path broken = copy(SHOP, folder.resolve("broken"));
        Files.writeString(broken.resolve("mail/Letter.java"), "package shop.mail; record");
        assertThrows(Steps.DoesNotCompileException.class,
                () -> Build.serial(Project.read(broken), folder.resolve("built")));
    }

    @Test
    void theProgramBuildsBothWays() throws Exception {
        Build.main(SHOP.toString(), folder.resolve("out").toString());
        assertTrue(Build.same(folder.resolve("out/serial"), folder.resolve("out/parallel")));
        assertTrue(Files.readString(folder.resolve("out/trace.json")).contains("\"compile invoices\""));
    }

    @Test
    void aModuleFollowsThoseThatItUses() throws IOException {
        Files.writeString(folder.resolve("project.txt"), "orders: money\nmoney:\n");
        assertEquals(
                folder.resolve("project.txt")
                        + ": a module is named once, after those that it uses, but 'orders: money' follows []",
                assertThrows(IOException.class, () -> Project.read(folder)).getMessage());
        Files.writeString(folder.resolve("project.txt"), "orders\n");
        String message = String.valueOf(assertThrows(IOException.class, () -> Project.read(folder)).getMessage());
        assertTrue(message.endsWith("but one is 'orders'"), message);
    }

    private static Path copy(Path from, Path to) throws IOException {
        try (Stream<Path> walk = Files.walk(from)) {
            for (Path file : walk.toList()) {
                Path target = to.resolve(from.relativize(file).toString());
                if (Files.isDirectory(file)) {
                    Files.createDirectories(target);
                } else {
                    Files.copy(file, target);
                }
            }
        }
        return to;
    }
}
