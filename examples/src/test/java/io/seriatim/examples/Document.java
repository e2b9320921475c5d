package io.seriatim.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A page of the documentation whose Java code is compiled in sources. */
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

    /** Returns the lines of Java code that none of the given sources contains; comments and line breaks are ignored. */
    public List<String> missingIn(Path... sources) throws IOException {
        // A line of the page may be wrapped in the source, but must start at the start of a source line.
        StringBuilder there = new StringBuilder();
        for (Path source : sources) {
            code(Files.readString(source)).forEach(line -> there.append('\n').append(dense(line)));
        }
        String wrapped = there.toString();
        return Stream.of(text.split("```java", -1)).skip(1)
                .flatMap(block -> code(block.substring(0, block.indexOf("```"))))
                .filter(line -> !isIn(wrapped, dense(line))).toList();
    }

    /** Returns the source of a class, relative to the folder of this module. */
    public static Path main(String name) {
        return Path.of("src/main/java/io/seriatim/examples", name);
    }

    /** Returns the source of a test. */
    public static Path test(String name) {
        return Path.of("src/test/java/io/seriatim/examples", name);
    }

    /** Returns whether a line occurs in a text at the start of one of its lines, ignoring line breaks. */
    private static boolean isIn(String lines, String line) {
        return Pattern.compile("\n" + line.chars().mapToObj(c -> Pattern.quote(Character.toString(c)))
                .collect(Collectors.joining("\n?"))).matcher(lines).find();
    }

    private static String dense(String line) {
        return line.replaceAll("\\s+", "");
    }

    private static Stream<String> code(String text) {
        return text.lines().map(line -> line.replaceFirst("\\s*// .*", "").strip()).filter(line -> !line.isEmpty());
    }
}
