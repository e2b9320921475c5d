package io.seriatim.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Links between the documents lead to files and headings that exist, tables have the columns of their header. */
class DocumentLinksTest {
    private static final Path ROOT = Path.of("..");
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
    private static final int MOST_WORDS = 400;

    private static List<Path> documents() throws IOException {
        List<Path> documents = new ArrayList<>();
        try (Stream<Path> own = Files.list(ROOT)) {
            own.filter(file -> file.toString().endsWith(".md")).sorted().forEach(documents::add);
        }
        try (Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
            docs.filter(file -> file.toString().endsWith(".md")).sorted().forEach(documents::add);
        }
        return documents;
    }

    /** Returns the anchor of a heading, as GitHub generates it. */
    private static String anchor(String heading) {
        return heading.toLowerCase(Locale.ROOT).strip().replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-');
    }

    private static boolean hasHeading(Path file, String anchor) throws IOException {
        return Files.readAllLines(file).stream().filter(line -> line.startsWith("#"))
                .anyMatch(line -> anchor(line.replaceFirst("#+ ", "")).equals(anchor));
    }

    @Test
    void linksLeadSomewhere() throws IOException {
        List<String> broken = new ArrayList<>();
        for (Path document : documents()) {
            Matcher link = LINK.matcher(Files.readString(document).replaceAll("(?s)```.*?```", ""));
            while (link.find()) {
                String[] target = link.group(1).split("#", 2);
                if (target[0].startsWith("http")) {
                    continue;
                }
                Path file = target[0].isEmpty()
                        ? document
                        : Objects.requireNonNull(document.getParent()).resolve(target[0]);
                if (!Files.exists(file) || (target.length > 1 && !hasHeading(file, target[1]))) {
                    broken.add(document + " → " + link.group(1));
                }
            }
        }
        assertEquals(List.of(), broken);
    }

    @Test
    void rowsHaveTheColumnsOfTheirHeader() throws IOException {
        List<String> wrong = new ArrayList<>();
        for (Path document : documents()) {
            int columns = 0;
            for (String line : Files.readAllLines(document)) {
                // A bar inside code or after a backslash is text.
                int bars = line.startsWith("|") ? line.replaceAll("`[^`]*`|\\\\\\|", "").split("\\|", -1).length : 0;
                if (bars != 0 && columns != 0 && bars != columns) {
                    wrong.add(document + ": " + line);
                }
                columns = bars == 0 ? 0 : columns == 0 ? bars : columns;
            }
        }
        assertEquals(List.of(), wrong);
    }

    /** The maximum number of words of a decision, without tables; measurements are on a separate page. */
    @Test
    void decisionsAreShort() throws IOException {
        for (Path document : documents()) {
            if (document.getFileName().toString().matches("\\d{3}-.*")) {
                long words = Files.readAllLines(document).stream().filter(line -> !line.startsWith("|"))
                        .flatMap(line -> Stream.of(line.split("\\s+"))).count();
                assertTrue(words <= MOST_WORDS, document + " has " + words + " words");
            }
        }
    }
}
