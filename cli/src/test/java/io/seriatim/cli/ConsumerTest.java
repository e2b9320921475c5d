package io.seriatim.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The programs of a stranger, which {@code tools/release/check.sh} runs with a staged release: the same sources, with
 * the classes of this build.
 */
class ConsumerTest {
    private static final Path SOURCES = Path.of("../tools/release/consumer/src/main/java/app");
    private static final int LIMIT = 30;
    private static final int RETRIES = 20;

    @TempDir
    private Path temp = Path.of("");

    private void compile() throws IOException {
        StringWriter told = new StringWriter();
        PrintWriter out = new PrintWriter(told);
        List<String> words = new ArrayList<>(List.of("-Xlint:all,-path,-classfile", "-Werror", "-cp",
                ChildProcess.java().getLast(), "-d", temp.resolve("classes").toString()));
        try (Stream<Path> sources = Files.list(SOURCES)) {
            sources.map(Path::toString).forEach(words::add);
        }
        int code = ToolProvider.findFirst("javac").orElseThrow().run(out, out, words.toArray(String[]::new));
        assertEquals(0, code, told::toString);
    }

    private ChildProcess start(String program, Path... paths) throws IOException {
        List<String> line = ChildProcess.java("-Xmx512m", "-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED");
        line.set(line.size() - 1, line.getLast() + File.pathSeparator + temp.resolve("classes"));
        line.add("app." + program);
        Stream.of(paths).map(Path::toString).forEach(line::add);
        return ChildProcess.start(new ProcessBuilder(line).redirectErrorStream(true));
    }

    private String printed(String program, Path... paths) throws Exception {
        try (ChildProcess process = start(program, paths)) {
            assertEquals(0, process.end(), process::out);
            return process.out();
        }
    }

    private static void command(Object... words) {
        CommandRun run = CommandRun.of(words);
        assertEquals(0, run.code(), run::err);
    }

    private static int posted(String address, byte[] body) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) URI.create(address).toURL().openConnection();
        connection.setDoOutput(true);
        try (OutputStream out = connection.getOutputStream()) {
            out.write(body);
        }
        return connection.getResponseCode();
    }

    @Test
    void aTrainedNetworkClassifiesPicturesAndIsServed() throws Exception {
        compile();
        Path pictures = Files.createDirectory(temp.resolve("pictures"));
        printed("Pictures", pictures);
        command("train", "lenet", "--data", pictures, "--steps", 40, "--out", temp.resolve("run"));
        Path model = temp.resolve("model.onnx");
        command("convert", temp.resolve("run/model.pdmodel"), model);
        for (int i = 0; i < 2; i++) {
            assertEquals("class " + i, printed("Classify", model, temp.resolve("class" + i + ".npy")).strip());
        }
        try (ChildProcess server = start("Serve", model)) {
            server.await(line -> line.matches("\\d+"));
            String address = "http://localhost:" + server.out().lines().toList().getLast();
            byte[] picture = Files.readAllBytes(temp.resolve("class1.npy"));
            int status = posted(address, picture);
            // Where other processes take all processors, a deadline may pass: a client asks again.
            for (int i = 0; i < RETRIES && status == 503; i++) {
                status = posted(address, picture);
            }
            assertEquals(200, status, server::out);
            assertEquals(400, posted(address, "nonsense".getBytes(StandardCharsets.UTF_8)));
        }
    }

    @Test
    void aTableWithTextsIsLearned() throws Exception {
        compile();
        command("init", temp.resolve("project"));
        Path made = Files.createDirectory(temp.resolve("table"));
        List<String> lines = printed("TrainTable", temp.resolve("project/travel.csv"), made).lines().toList();
        assertTrue(lines.containsAll(List.of("Ghent, 4 km: cycles", "Bern, 14 km: rides")), lines::toString);
        assertTrue(Files.exists(made.resolve("table.json")), "the encoding is saved");
    }

    @Test
    void theProgramsAreShort() throws IOException {
        for (String name : List.of("Classify", "TrainTable", "Serve")) {
            long count = Files.readAllLines(SOURCES.resolve(name + ".java")).stream()
                    .dropWhile(line -> !line.startsWith("final class")).filter(line -> !line.isBlank()).count();
            assertTrue(count > 5 && count < LIMIT, name + ": " + count);
        }
    }
}
