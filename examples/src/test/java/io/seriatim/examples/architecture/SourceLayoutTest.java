package io.seriatim.examples.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Rules of layout that the formatter does not enforce, over the sources of all modules. */
class SourceLayoutTest {
    private static final Path ROOT = Path.of("..");
    private static final int MOST_COLUMNS = 120;
    private static final Pattern LITERAL = Pattern
            .compile("\"\"\".*?\"\"\"|\"(?:\\\\.|[^\"\\\\\n])*+\"|'(?:\\\\.|[^'\\\\\n])++'", Pattern.DOTALL);
    private static final Pattern LITERAL_OR_COMMENT = Pattern
            .compile("/\\*.*?\\*/|//[^\n]*|" + LITERAL.pattern(), Pattern.DOTALL);
    private static final Pattern QUALIFIED = Pattern
            .compile("(?<![\\w.])(?:[a-z][a-z0-9_]*\\.){2,}([A-Z]\\w*)(?![\\w]*\\s*;\\s*$)");

    private static final Comparator<String> STATIC_FIRST = Comparator
            .comparing((String line) -> !line.startsWith("import static "))
            .thenComparing(line -> line.replace(";", ""));

    @Test
    void linesFitTheirColumns() throws IOException {
        List<String> wide = new ArrayList<>();
        for (Path file : sources()) {
            String text = LITERAL.matcher(Files.readString(file)).replaceAll(SourceLayoutTest::lineBreaks);
            List<String> lines = text.lines().toList();
            for (int i = 0; i < lines.size(); i++) {
                if (lines.get(i).length() > MOST_COLUMNS) {
                    wide.add(file + ":" + (i + 1));
                }
            }
        }
        assertEquals(List.of(), wide, "lines of more than " + MOST_COLUMNS + " columns, not counting literals");
    }

    /** A literal cannot be wrapped everywhere: it counts as nothing, and its line breaks stay. */
    private static String lineBreaks(MatchResult literal) {
        return "\n".repeat((int) literal.group().chars().filter(c -> c == '\n').count());
    }

    @Test
    void typesAreImported() throws IOException {
        List<String> qualified = new ArrayList<>();
        for (Path file : sources()) {
            if (file.endsWith("module-info.java")) {
                continue;
            }
            String text = Files.readString(file);
            String code = LITERAL_OR_COMMENT.matcher(text).replaceAll(SourceLayoutTest::lineBreaks);
            List<String> lines = code.lines().toList();
            for (int i = 0; i < lines.size(); i++) {
                Matcher matcher = QUALIFIED.matcher(lines.get(i));
                while (!lines.get(i).startsWith("import ") && matcher.find()) {
                    if (!isTaken(file, code, matcher.group(1), matcher.group())) {
                        qualified.add(file + ":" + (i + 1) + " " + matcher.group());
                    }
                }
            }
        }
        assertEquals(List.of(), qualified, "qualified names where an import would do");
    }

    /** Whether another type has the simple name: one that is imported, declared in the file or its package. */
    private static boolean isTaken(Path file, String code, String name, String qualified) {
        boolean imported =
                Pattern.compile("^import (?!static)(?!" + Pattern.quote(qualified) + ";)[\\w.]+\\." + name + ";",
                        Pattern.MULTILINE).matcher(code).find();
        boolean declared = Pattern.compile("\\b(?:class|record|interface|enum) " + name + "\\b").matcher(code).find();
        boolean own = !code.contains("import " + qualified + ";")
                && Pattern.compile("(?<![\\w.])" + name + "\\b").matcher(code).find();
        return imported || declared || own || Files.exists(file.resolveSibling(name + ".java"));
    }

    @Test
    void importsAreSorted() throws IOException {
        List<String> unsorted = new ArrayList<>();
        for (Path file : sources()) {
            List<String> imports = Files.readString(file).lines().filter(line -> line.startsWith("import ")).toList();
            if (!imports.equals(imports.stream().sorted(STATIC_FIRST).toList())) {
                unsorted.add(file.toString());
            }
        }
        assertEquals(List.of(), unsorted, "static imports come first, and names are in the order of their characters");
    }

    private static List<Path> sources() throws IOException {
        List<Path> files = new ArrayList<>();
        for (String module : PackageImports.read(ROOT).modules().keySet()) {
            try (Stream<Path> all = Files.walk(ROOT.resolve(module).resolve("src"))) {
                all.filter(file -> file.toString().endsWith(".java")).forEach(files::add);
            }
        }
        assertTrue(files.size() > 500, "the sources of all modules were found");
        return files;
    }
}
