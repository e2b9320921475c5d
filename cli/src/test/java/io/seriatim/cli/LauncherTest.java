package io.seriatim.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the script at the root in a folder that resembles the built repository; the JDKs and Maven there record their
 * arguments.
 */
@DisabledOnOs(OS.WINDOWS)
class LauncherTest {
    private static final Instant LONG_AGO = Instant.parse("2020-01-01T00:00:00Z");
    private static final List<String> MODULES = List.of("engine", "device", "tensor", "graph", "cluster",
            "executor", "onnx", "mxnet", "train", "cli");

    private record Ended(int code, String out, String err) {
    }

    @TempDir
    private Path temp;
    private Path root;
    private Path bin;

    @BeforeEach
    void layOut() throws IOException {
        root = Files.createDirectories(temp.resolve("a folder with blanks"));
        bin = Files.createDirectories(temp.resolve("bin"));
        Files.copy(Path.of("..", "seriatim"), root.resolve("seriatim"));
        Files.setPosixFilePermissions(root.resolve("seriatim"), PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.setLastModifiedTime(Files.writeString(root.resolve("pom.xml"), ""), FileTime.from(LONG_AGO));
        for (String module : Stream.concat(MODULES.stream(), Stream.of("benchmarks")).toList()) {
            Path source = Files.createDirectories(root.resolve(module).resolve("src/main")).resolve("Source.java");
            Files.setLastModifiedTime(Files.writeString(source, ""), FileTime.from(LONG_AGO));
            Files.setLastModifiedTime(source.getParent(), FileTime.from(LONG_AGO));
            Files.writeString(Files.createDirectories(root.resolve(module).resolve("target"))
                    .resolve("seriatim-" + module + "-1.jar"), "");
        }
        // Precedes any JDK of the machine.
        Path old = jdk("old", "17.0.15");
        Files.createSymbolicLink(bin.resolve("java"), old.resolve("bin/java"));
        script(bin.resolve("mvn"), "echo \"mvn $* with $JAVA25_HOME in $PWD\" >>'" + temp.resolve("maven.log") + "'");
    }

    private Path jdk(String name, String version) throws IOException {
        Path jdk = temp.resolve(name);
        script(jdk.resolve("bin/java"), "echo '" + name + "'; for arg; do echo \"$arg\"; done");
        script(jdk.resolve("bin/javac"), "");
        Files.writeString(jdk.resolve("release"),
                "IMPLEMENTOR=\"Nobody\"\nJAVA_VERSION=\"" + version + "\"\nOS_NAME=\"None\"\n");
        return jdk;
    }

    private static void script(Path file, String body) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, "#!/bin/sh\n" + body + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private Ended launch(Path script, Map<String, String> environment, String... args)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(script.toString()));
        command.addAll(List.of(args));
        Path out = temp.resolve("out.txt");
        Path err = temp.resolve("err.txt");
        ProcessBuilder builder = new ProcessBuilder(command).directory(temp.toFile()).redirectOutput(out.toFile())
                .redirectError(err.toFile());
        Map<String, String> inherited = builder.environment();
        String path = inherited.get("PATH");
        inherited.clear();
        inherited
                .putAll(Map.of("PATH", bin + ":" + path, "HOME", temp.toString(), "SERIATIM_JDK_FOLDERS",
                        temp.resolve("none").toString()));
        inherited.putAll(environment);
        int code;
        try (ChildProcess process = ChildProcess.start(builder)) {
            code = process.end();
        }
        return new Ended(code, Files.readString(out, StandardCharsets.UTF_8),
                Files.readString(err, StandardCharsets.UTF_8));
    }

    private Ended launch(Map<String, String> environment, String... args) throws IOException, InterruptedException {
        return launch(root.resolve("seriatim"), environment, args);
    }

    private static void assertStarted(String jdk, Ended ended) {
        assertEquals("", ended.err);
        assertEquals(0, ended.code);
        assertEquals(jdk, ended.out.lines().findFirst().orElse(""));
    }

    @ParameterizedTest
    @ValueSource(strings = {"25", "25.0.3", "26-ea", "101.1"})
    void javaHomeIsTakenIfItIsNewEnough(String version) throws Exception {
        assertStarted("home", launch(Map.of("JAVA_HOME", jdk("home", version).toString())));
    }

    @Test
    void aNewerJdkInAUsualFolderIsTakenInsteadOfAnOldHome() throws Exception {
        String folders = jdk("jdk-21", "21.0.1") + ":" + temp.resolve("missing") + ":" + jdk("jdk 25", "25.0.1");
        assertStarted("jdk 25",
                launch(Map.of("JAVA_HOME", jdk("home", "24.0.2").toString(), "SERIATIM_JDK_FOLDERS", folders)));
    }

    @Test
    void theJavaOfThePathIsFollowedToItsJdk() throws Exception {
        Path jdk = jdk("linked", "25.0.1");
        Files.delete(bin.resolve("java"));
        Files.createSymbolicLink(bin.resolve("java"),
                Files.createSymbolicLink(temp.resolve("alternative"), jdk.resolve("bin/java")));
        assertStarted("linked", launch(Map.of()));
    }

    @Test
    void withoutAJdkOneLineSaysWhatToInstall() throws Exception {
        // A JRE without a compiler is rejected.
        Path runtime = jdk("runtime", "25.0.1");
        Files.delete(runtime.resolve("bin/javac"));
        Ended ended = launch(Map.of("JAVA_HOME", runtime.toString()));
        assertEquals(2, ended.code);
        assertEquals(1, ended.err.lines().count(), ended.err);
        assertTrue(ended.err.startsWith("seriatim: no JDK 25 or newer was found: install one"), ended.err);
    }

    @Test
    void itIsFoundThroughLinksAndItsArgumentsArriveWhole() throws Exception {
        Path first = Files.createSymbolicLink(temp.resolve("first"), root.resolve("seriatim"));
        Files.createDirectories(temp.resolve("elsewhere"));
        Path second = Files.createSymbolicLink(temp.resolve("elsewhere/second"),
                Path.of("..").resolve(first.getFileName()));
        Files.createDirectories(root.resolve("cli/target/lib"));
        Files.writeString(root.resolve("cli/target/lib/picocli.jar"), "");
        Ended ended = launch(second, Map.of("JAVA_HOME", jdk("home", "25").toString()), "demo", "two words", "");
        assertStarted("home", ended);
        assertTrue(ended.out.endsWith("io.seriatim.cli.Main\ndemo\ntwo words\n\n"), ended.out);
        Path real = root.toRealPath();
        String classPath = MODULES.stream()
                .map(module -> real + "/" + module + "/target/seriatim-" + module + "-1.jar:")
                .collect(Collectors.joining()) + real + "/cli/target/lib/picocli.jar";
        assertTrue(ended.out.contains(classPath + "\n"), ended.out);
        // The JVM uses an ahead-of-time cache only if the class path starts with the recorded one.
        String measuring = launch(second, Map.of("JAVA_HOME", jdk("home", "25").toString()), "bench", "engine").out;
        assertTrue(measuring.contains(classPath + ":" + real + "/benchmarks/target/seriatim-benchmarks-1.jar\n"),
                measuring);
    }

    /** An unpacked archive has no sources, and needs no Maven. */
    @Test
    void anUnpackedArchiveStartsItsJars() throws Exception {
        Path archive = Files.createDirectories(temp.resolve("an archive"));
        Path script = Files.createDirectories(archive.resolve("bin")).resolve("seriatim");
        Files.copy(root.resolve("seriatim"), script);
        List<String> jars = List.of("picocli-1.jar", "seriatim-cli-1.jar", "seriatim-engine-1.jar");
        for (String jar : jars) {
            Files.writeString(Files.createDirectories(archive.resolve("lib")).resolve(jar), "");
        }
        Path link = Files.createSymbolicLink(temp.resolve("linked"), script);
        Ended ended = launch(link, Map.of("JAVA_HOME", recordingJdk().toString()), "bench", "two words");
        assertStarted("recording", ended);
        Path real = archive.toRealPath();
        String classPath = jars.stream().map(jar -> real + "/lib/" + jar).collect(Collectors.joining(":"));
        assertTrue(ended.out.endsWith("\n" + classPath + "\nio.seriatim.cli.Main\nbench\ntwo words\n"), ended.out);
        assertTrue(ended.out.contains("\n-XX:AOTCache=" + real + "/cache/start-"), ended.out);
        assertFalse(Files.exists(temp.resolve("maven.log")));
        assertEquals(1, recordings());
        Files.delete(archive.resolve("lib/seriatim-cli-1.jar"));
        launch(link, Map.of("JAVA_HOME", jdk("home", "25").toString()), "train");
        assertTrue(Files.exists(temp.resolve("maven.log")), "without its jar it is not an archive");
    }

    @Test
    void aSearchPathForFoldersDoesNotLeadItAstray() throws Exception {
        Path decoy = Files.createDirectories(temp.resolve("decoy"));
        Files.createDirectories(decoy.resolve(root.getFileName()));
        Path home = jdk("home", "25");
        Files.delete(root.resolve("cli/target/seriatim-cli-1.jar"));
        Ended ended = launch(Path.of(root.getFileName().toString(), "seriatim"),
                Map.of("JAVA_HOME", home.toString(), "CDPATH", decoy.toString()), "--help");
        assertEquals(0, ended.code, ended.err);
        assertTrue(Files.readString(temp.resolve("maven.log")).endsWith(" in " + root.toRealPath() + "\n"));
        assertTrue(ended.out.contains(root.toRealPath() + "/engine/target/seriatim-engine-1.jar:"), ended.out);
    }

    /** Java decodes paths by the encoding of the locale. */
    @ParameterizedTest
    @CsvSource(nullValues = "-", value = {"-, C.UTF-8", "C, C.UTF-8", "C.UTF-8, C.UTF-8"})
    void javaHasAnEncodingThatHasAllPaths(@Nullable String given, String used) throws Exception {
        Path home = jdk("home", "25");
        script(home.resolve("bin/java"), "echo \"locale $LC_ALL\"");
        Map<String, String> environment = new HashMap<>(Map.of("JAVA_HOME", home.toString()));
        if (given != null) {
            environment.put("LC_ALL", given);
        }
        assertEquals("locale " + used + "\n", launch(environment, "show").out);
    }

    @Test
    void onlyAMeasurementHasAFixedHeapAndItsOptionsCanBeReplaced() throws Exception {
        String home = jdk("home", "25").toString();
        assertTrue(launch(Map.of("JAVA_HOME", home), "bench", "engine").out.contains("\n-Xms2g\n-Xmx2g\n"));
        assertFalse(launch(Map.of("JAVA_HOME", home), "bench", "train").out.contains("-Xms2g"),
                "its processes would inherit the size");
        String help = launch(Map.of("JAVA_HOME", home), "bench", "engine", "--help").out;
        assertTrue(help.contains("\n-XX:TieredStopAtLevel=1\n") && !help.contains("-Xmx1g"), help);
        String own = launch(Map.of("JAVA_HOME", home, "SERIATIM_JAVA_OPTS", "-Xmx3g -XX:+UseZGC"), "bench",
                "engine").out;
        assertTrue(own.contains("\n-Xmx3g\n-XX:+UseZGC\n") && !own.contains("-Xmx1g"), own);
    }

    @Test
    void aNewerSourceIsBuiltOnce() throws Exception {
        Path home = jdk("home", "25");
        Files.setLastModifiedTime(root.resolve("engine/target/seriatim-engine-1.jar"),
                FileTime.from(LONG_AGO.minusSeconds(60)));
        Ended ended = launch(Map.of("JAVA_HOME", home.toString()), "--help");
        assertEquals(0, ended.code);
        assertEquals(1, ended.err.lines().count(), ended.err);
        assertTrue(ended.err.startsWith("seriatim: building"), ended.err);
        List<String> builds = Files.readAllLines(temp.resolve("maven.log"));
        assertEquals(1, builds.size());
        assertTrue(builds.get(0).endsWith("package with " + home + " in " + root.toRealPath()), builds::toString);
        // Maven did not touch the jar, but it is up to date.
        assertStarted("home", launch(Map.of("JAVA_HOME", home.toString()), "--help"));
    }

    /** Other commands neither need nor build the benchmarks. */
    @Test
    void theMeasurementsAreBuiltForBenchOnly() throws Exception {
        Map<String, String> environment = Map.of("JAVA_HOME", jdk("home", "25").toString());
        Path jar = root.resolve("benchmarks/target/seriatim-benchmarks-1.jar");
        Files.delete(jar);
        assertStarted("home", launch(environment, "train"));
        assertFalse(Files.exists(temp.resolve("maven.log")));
        script(bin.resolve("mvn"), "echo \"mvn $*\" >>'" + temp.resolve("maven.log") + "'; touch '" + jar + "'");
        for (int i = 0; i < 2; i++) {
            assertEquals(0, launch(environment, "--debug", "bench", "engine").code);
            List<String> builds = Files.readAllLines(temp.resolve("maven.log"));
            assertEquals(1, builds.size(), builds::toString);
            assertTrue(builds.get(0).endsWith(" -pl benchmarks -am package"), builds::toString);
        }
        Files.setLastModifiedTime(root.resolve("train/src/main/Source.java"),
                FileTime.from(Instant.now().plusSeconds(60)));
        assertEquals(0, launch(environment, "train").code);
        assertTrue(Files.readAllLines(temp.resolve("maven.log")).get(1).endsWith(" -pl cli -am package"));
    }

    @Test
    void aFailedBuildIsShownAndTriedAgain() throws Exception {
        script(bin.resolve("mvn"), "echo 'a wrong comma'; exit 1");
        Files.delete(root.resolve("cli/target/seriatim-cli-1.jar"));
        Map<String, String> environment = Map.of("JAVA_HOME", jdk("home", "25").toString());
        for (int i = 0; i < 2; i++) {
            Ended ended = launch(environment, "--help");
            assertEquals(1, ended.code);
            assertTrue(ended.err.endsWith("a wrong comma\nseriatim: the build failed, as said above\n"), ended.err);
        }
    }

    /** A JDK whose java command records its arguments, and writes the cache file that it is told to write. */
    private Path recordingJdk() throws IOException {
        Path jdk = jdk("recording", "25");
        script(jdk.resolve("bin/java"),
                "echo recording; for arg; do echo \"$arg\"; echo \"$arg\" >>'" + temp.resolve("java.log") + "'\n"
                        + "case $arg in -XX:AOTCacheOutput=*) echo classes >\"${arg#*=}\" ;; esac; done");
        return jdk;
    }

    private List<Path> caches() throws IOException {
        try (Stream<Path> files = Files.list(root.resolve("cli/target"))) {
            return files.filter(file -> file.getFileName().toString().startsWith("start")).toList();
        }
    }

    private long recordings() throws IOException {
        return Files.readAllLines(temp.resolve("java.log")).stream().filter("io.seriatim.cli.AotTrainingRun"::equals)
                .count();
    }

    @Test
    void classesAreRecordedOnceAndAgainWhenAJarChanges() throws Exception {
        Map<String, String> environment = Map.of("JAVA_HOME", recordingJdk().toString());
        for (int i = 0; i < 2; i++) {
            Ended ended = launch(environment, "train");
            assertStarted("recording", ended);
            assertEquals(1, caches().size());
            assertEquals("classes\n", Files.readString(caches().getFirst()));
            assertTrue(ended.out.contains("\n-XX:AOTCache=" + root.toRealPath().resolve("cli/target") + "/start-"),
                    ended.out);
        }
        assertEquals(1, recordings());
        Path jar = root.resolve("tensor/target/seriatim-tensor-1.jar");
        Files.setLastModifiedTime(jar,
                FileTime.from(Files.getLastModifiedTime(caches().getFirst()).toInstant().plusSeconds(60)));
        launch(environment, "train");
        assertEquals(2, recordings());
    }

    @Test
    void anotherJdkHasItsOwnRecording() throws Exception {
        Path jdk = recordingJdk();
        launch(Map.of("JAVA_HOME", jdk.toString()), "train");
        Path first = caches().getFirst();
        Files.writeString(jdk.resolve("release"), "JAVA_VERSION=\"25.0.9\"\n");
        launch(Map.of("JAVA_HOME", jdk.toString()), "train");
        assertEquals(2, recordings());
        assertEquals(2, caches().size());
        Files.setLastModifiedTime(first, FileTime.from(LONG_AGO));
        Files.delete(caches().stream().filter(file -> !file.equals(first)).findFirst().orElseThrow());
        launch(Map.of("JAVA_HOME", jdk.toString()), "train");
        assertEquals(1, caches().size(), "one of older jars is of no use");
        assertFalse(caches().contains(first));
    }

    @Test
    void whereNothingCanBeRecordedItIsTriedOnceAndNotSpokenOf() throws Exception {
        Path jdk = jdk("home", "25");
        script(jdk.resolve("bin/java"),
                "echo home; for arg; do echo \"$arg\"; echo \"$arg\" >>'" + temp.resolve("java.log") + "'; done\n"
                        + "case $* in *AOTCacheOutput*) exit 1 ;; esac");
        for (int i = 0; i < 2; i++) {
            Ended ended = launch(Map.of("JAVA_HOME", jdk.toString()), "train");
            assertStarted("home", ended);
            assertFalse(ended.out.contains("AOTCache"), ended.out);
        }
        assertEquals(1, recordings());
    }
}
