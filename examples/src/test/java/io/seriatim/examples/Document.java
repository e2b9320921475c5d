package io.seriatim.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** A page of the documentation whose Java code is compiled somewhere. */
public final class Document {
    private final String text;

    private Document(String text) {
        this.text = text;
    }

    /** A file in docs. */
    public static Document of(String name) throws IOException {
        return new Document(Files.readString(Path.of("..", "docs", name)));
    }

    public String text() {
        return text;
    }

    /** The lines of its Java code that are in none of some sources; comments do not count. */
    public List<String> missingIn(Path... sources) throws IOException {
        Set<String> there = new HashSet<>();
        for (Path source : sources) {
            code(Files.readString(source)).forEach(there::add);
        }
        return Stream.of(text.split("```java", -1)).skip(1)
                .flatMap(block -> code(block.substring(0, block.indexOf("```"))))
                .filter(line -> !there.contains(line)).toList();
    }

    /** The source of a class, seen from the folder of this module. */
    public static Path main(String name) {
        return Path.of("src/main/java/io/seriatim/examples", name);
    }

    /** The source of a test. */
    public static Path test(String name) {
        return Path.of("src/test/java/io/seriatim/examples", name);
    }

    private static Stream<String> code(String text) {
        return text.lines().map(line -> line.replaceFirst("\\s*// .*", "").strip()).filter(line -> !line.isEmpty());
    }
}
