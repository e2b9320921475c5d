package io.seriatim.tensor.onednn;

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Runs programs that may end the process with the class path of the test. */
final class ChildJvm {
    private static final long LIMIT_SECONDS = 120;

    private ChildJvm() {
    }

    /**
     * What a program has done.
     *
     * @param isEnded
     *            whether it ended by itself within two minutes
     * @param status
     *            its exit status
     * @param printed
     *            its output
     */
    record Outcome(boolean isEnded, int status, String printed) {
    }

    /**
     * Runs a program.
     *
     * @param folder
     *            an empty folder, in which it runs
     */
    static Outcome run(Path folder, Class<?> program, String... options)
            throws IOException, InterruptedException, URISyntaxException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(options));
        command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-cp", classPath(program), program.getName()));
        Path output = folder.resolve("output");
        Process process = new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true)
                .redirectOutput(output.toFile()).start();
        boolean isEnded = false;
        try {
            isEnded = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
        } finally {
            process.destroyForcibly().waitFor();
        }
        return new Outcome(isEnded, process.exitValue(), Files.readString(output));
    }

    private static String classPath(Class<?> program) throws URISyntaxException {
        String name = program.getName().replace('.', '/') + ".class";
        URL here = Objects.requireNonNull(program.getResource("/" + name));
        Path classes = Path.of(here.toURI());
        for (int i = 0; i < Path.of(name).getNameCount(); i++) {
            classes = Objects.requireNonNull(classes.getParent());
        }
        return Stream.of(classes.toString(), System.getProperty("java.class.path"),
                System.getProperty("jdk.module.path")).filter(Objects::nonNull)
                .flatMap(each -> Stream.of(each.split(File.pathSeparator)))
                .map(each -> Path.of(each).toAbsolutePath().toString())
                .collect(Collectors.joining(File.pathSeparator));
    }
}
