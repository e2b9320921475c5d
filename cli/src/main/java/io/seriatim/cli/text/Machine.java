package io.seriatim.cli.text;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** Describes the machine and the JVM, for reports of measurements. */
public final class Machine {
    private static final Path CPU_INFO = Path.of("/proc/cpuinfo");

    private Machine() {
    }

    /**
     * Describes the processors, the operating system and the Java version.
     *
     * @return one line
     */
    public static String describe() {
        return Stream.of(Optional.of(Runtime.getRuntime().availableProcessors() + " processors"), processor(),
                Optional.of(System.getProperty("os.name") + " " + System.getProperty("os.arch")),
                Optional.of("Java " + Runtime.version()))
                .flatMap(Optional::stream).reduce((a, b) -> a + ", " + b).orElseThrow();
    }

    /**
     * Returns the processor's name.
     *
     * @return the name, if the system provides it in a file
     */
    public static Optional<String> processor() {
        try (Stream<String> lines = Files.lines(CPU_INFO)) {
            Stream<String> names = lines.filter(line -> line.startsWith("model name"));
            return names.map(line -> line.substring(line.indexOf(':') + 1).trim()).findFirst();
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
