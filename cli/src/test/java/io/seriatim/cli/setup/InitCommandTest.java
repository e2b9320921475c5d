package io.seriatim.cli.setup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.cli.ChildProcess;
import io.seriatim.cli.CommandRun;
import io.seriatim.tensor.onednn.OneDnn;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class InitCommandTest {
    private static final int LIMIT = 30;
    private static final int RETRIES = 20;
    private static final Set<String> FILES = Set.of(".gitignore", "README.md", "pom.xml", "travel.csv",
            "src/main/java/app/Serve.java", "src/main/java/app/Train.java");

    @TempDir
    private Path temp = Path.of("");

    private static Set<String> files(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(Files::isRegularFile)
                    .map(file -> folder.relativize(file).toString().replace(File.separatorChar, '/'))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    private Path project() throws IOException {
        Path project = temp.resolve("project");
        CommandRun run = CommandRun.of("init", project);
        assertEquals(0, run.code(), run::err);
        assertEquals(new TreeSet<>(FILES), files(project));
        return project;
    }

    /** Both classes, as javac and java see them that have the modules on the class path. */
    private static ChildProcess start(Path project, String... words) throws IOException {
        List<String> line = ChildProcess.java("-Xmx512m", "-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED");
        line.set(line.size() - 1, line.getLast() + File.pathSeparator + project.resolve("classes"));
        line.addAll(List.of(words));
        return ChildProcess.start(new ProcessBuilder(new ArrayList<>(line)).directory(project.toFile())
                .redirectErrorStream(true));
    }

    private static void compile(Path project) {
        StringWriter told = new StringWriter();
        PrintWriter out = new PrintWriter(told);
        Path sources = project.resolve("src/main/java/app");
        int code = ToolProvider.findFirst("javac").orElseThrow().run(out, out, "-Xlint:all,-path,-classfile", "-Werror",
                "-cp", ChildProcess.java().getLast(), "-d", project.resolve("classes").toString(),
                sources.resolve("Train.java").toString(), sources.resolve("Serve.java").toString());
        assertEquals(0, code, told::toString);
    }

    /** What a server answers. */
    private record Answer(int status, String body) {
        static Answer of(String address) throws IOException {
            HttpURLConnection connection = (HttpURLConnection) URI.create(address).toURL().openConnection();
            int status = connection.getResponseCode();
            try (InputStream in = status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
                return new Answer(status, new String(in.readAllBytes(), StandardCharsets.UTF_8));
            }
        }
    }

    /** Where other processes take all processors, a deadline may pass: a client asks again. */
    private static Answer patiently(String address) throws IOException {
        Answer answer = Answer.of(address);
        for (int i = 0; i < RETRIES && answer.status() == 503; i++) {
            answer = Answer.of(address);
        }
        return answer;
    }

    @Test
    void theProjectTrainsAndServes() throws Exception {
        Path project = project();
        compile(project);
        try (ChildProcess training = start(project, "app.Train")) {
            assertEquals(0, training.end(), training::out);
        }
        assertTrue(files(project).containsAll(Set.of("model.json", "table.json")));
        try (ChildProcess server = start(project, "-Dport=0", "app.Serve")) {
            server.await(line -> line.startsWith("serving "));
            String address = server.out().lines().toList().getLast().substring("serving ".length());
            Answer answer = patiently(address + "/?city=Ghent&distance=5");
            assertEquals(200, answer.status(), answer::body);
            assertTrue(answer.body().startsWith("[cycles, rides, walks] ["), answer::body);
            String[] scores = answer.body().replaceFirst(".*\\] \\[", "").replace("]", "").strip().split(", ", -1);
            assertTrue(Double.parseDouble(scores[0]) > 0.5, answer::body);
            Answer mistake = Answer.of(address + "/?city=Ghent&distance=far");
            assertEquals(400, mistake.status(), mistake::body);
            assertTrue(mistake.body().contains("distance"), mistake::body);
            Answer misspelt = Answer.of(address + "/?city=Ghent&distance=5&cty=Bern");
            assertEquals(400, misspelt.status(), misspelt::body);
            assertTrue(misspelt.body().contains("'cty'") && misspelt.body().contains("[city, distance]"),
                    misspelt::body);
            assertEquals(400, Answer.of(address + "/").status());
        }
    }

    @Test
    void theClassesAreShort() throws IOException {
        Path sources = project().resolve("src/main/java/app");
        for (String name : List.of("Train.java", "Serve.java")) {
            List<String> lines = Files.readAllLines(sources.resolve(name));
            long count = lines.stream().dropWhile(line -> !line.matches("(final class|record) .*"))
                    .filter(line -> !line.isBlank()).count();
            assertTrue(count > 5 && count < LIMIT, name + ": " + count);
        }
    }

    /** Its versions are those of this build. */
    @Test
    void theDescriptorNamesTheArtifacts() throws IOException {
        String version = CommandRun.of("--version").out().lines().findFirst().orElseThrow().replace("seriatim ", "");
        Path project = project();
        String pom = Files.readString(project.resolve("pom.xml"));
        assertTrue(pom.contains("<artifactId>seriatim-train</artifactId>\n      <version>" + version + "</version>"),
                pom);
        String build = Files.readString(Path.of("../pom.xml"));
        for (String property : List.of("version.plugin.compiler", "version.plugin.exec", "version.dnnl")) {
            String value = build.replaceFirst("(?s).*<" + property + ">(.*?)</.*", "$1");
            boolean shown = !property.equals("version.dnnl") || OneDnn.status().platform() != null;
            assertEquals(shown, pom.contains("<version>" + value + "</version>"), property + pom);
        }
        for (String file : files(project)) {
            assertEquals(-1, Files.readString(project.resolve(file)).indexOf("{{"), file);
        }
    }

    @ParameterizedTest
    @CsvSource({"My Tool,my-tool", "a.b_c,a-b-c", "--x<&>--,x", "变,app"})
    void theArtifactHasTheNameOfTheFolder(String folder, String artifact) throws IOException {
        assertEquals(0, CommandRun.of("init", "--", temp.resolve(folder)).code());
        String pom = Files.readString(temp.resolve(folder).resolve("pom.xml"));
        assertTrue(pom.contains("<artifactId>" + artifact + "</artifactId>"), pom);
    }

    @ParameterizedTest
    @ValueSource(strings = {"pom.xml", "other.txt", ".git", "src/main/java/Old.java"})
    void aFolderThatIsNotEmptyIsRefused(String name) throws IOException {
        Path file = temp.resolve("full").resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, "old");
        CommandRun run = CommandRun.of("init", temp.resolve("full"));
        assertEquals(2, run.code());
        assertTrue(run.err().contains("must be new or empty, but") && run.err().contains(name.split("/", -1)[0]),
                run::err);
        assertEquals(Set.of(name), files(temp.resolve("full")));
        assertEquals("old", Files.readString(file));
    }

    @Test
    void anEmptyFolderIsFilledAndAFileRefused() throws IOException {
        Path empty = Files.createDirectory(temp.resolve("empty"));
        assertEquals(0, CommandRun.of("init", empty).code());
        assertEquals(new TreeSet<>(FILES), files(empty));
        Path file = Files.writeString(temp.resolve("file"), "old");
        CommandRun run = CommandRun.of("init", file);
        assertEquals(2, run.code());
        assertTrue(run.err().contains("is a file"), run::err);
        assertEquals("old", Files.readString(file));
    }
}
