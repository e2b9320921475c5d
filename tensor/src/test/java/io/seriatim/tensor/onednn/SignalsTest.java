package io.seriatim.tensor.onednn;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.seriatim.tensor.internal.ffi.NativePlatform;
import java.io.File;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Signals, which profilers and flight recorders send, do not disturb kernels. */
class SignalsTest {
    /** Without the signals it takes a second. */
    private static final long LIMIT_SECONDS = 120;

    /** In a process of its own, since the memory that signals overwrote would be that of this one. */
    @Test
    void productsAreRightWhileTheirThreadIsSignalled(@TempDir Path folder) throws Exception {
        NativePlatform platform = NativePlatform.current();
        assumeTrue(platform != null && platform.classifier().startsWith("linux"), "signals are numbered as on Linux");
        assumeTrue(OneDnn.status().loaded(), () -> "oneDNN is not there: " + OneDnn.status().problem());
        Path output = folder.resolve("output");
        Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "-cp", classPath(), SignalledProducts.class.getName())
                .directory(folder.toFile()).redirectErrorStream(true).redirectOutput(output.toFile()).start();
        boolean ended = false;
        try {
            ended = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
        } finally {
            process.destroyForcibly().waitFor();
        }
        String printed = Files.readString(output);
        assertTrue(ended, () -> "the products do not end: " + printed);
        assertEquals(0, process.exitValue(), printed);
        assumeFalse(printed.contains(SignalledProducts.NONE), printed);
        assertTrue(printed.contains(SignalledProducts.DONE), printed);
    }

    private static String classPath() throws URISyntaxException {
        String name = SignalledProducts.class.getName().replace('.', '/') + ".class";
        URL here = Objects.requireNonNull(
                SignalledProducts.class.getResource("/" + name));
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
