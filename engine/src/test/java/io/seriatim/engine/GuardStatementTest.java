package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Each mutable field that is neither final nor volatile says by what it is guarded: in its own comment, in that of the
 * fields directly before it, in the comment of its class, or by {@code @GuardedBy} where ErrorProne can check it.
 */
class GuardStatementTest {
    private static final Path SOURCES = Path.of("src/main/java");
    private static final Path TESTS = Path.of("src/test/java");
    /** The forms of a statement. The lower-case one ends a sentence that says more. */
    private static final Pattern STATEMENT = Pattern.compile(
            "@GuardedBy\\(|[Gg]uarded by (the (tracker|push) lock|th(is|at) lock|(its|the) owner|its compare-and-set"
                    + "|the variable)|Confined to |Constant after |Published by ");
    private static final Pattern PADDING = Pattern.compile("[pq]\\d+");
    private static final int INDENT = 4;

    /** Has fields with and without a statement. */
    @SuppressWarnings("unused")
    static final class Planted {
        /** Guarded by the tracker lock. */
        int stated;
        int statedWithIt;

        /** Says something else. */
        int bad;
        volatile int isVolatile;

        int alone;
        /** Confined to one thread. */
        int confined = stated;
    }

    @Test
    void everyMutableFieldSaysByWhatItIsGuarded() throws Exception {
        List<String> found = new ArrayList<>();
        int checked = 0;
        try (Stream<Path> files = Files.walk(SOURCES)) {
            for (Path file : files.filter(f -> f.toString().endsWith(".java")).sorted().toList()) {
                String name = SOURCES.relativize(file).toString().replace(".java", "").replaceAll("[/\\\\]", ".");
                if (!name.endsWith("-info")) {
                    checked += check(Class.forName(name, false, getClass().getClassLoader()),
                            Files.readAllLines(file), found);
                }
            }
        }
        assertEquals(List.of(), found, "say 'Guarded by …', 'Confined to …', 'Constant after …' or 'Published by …'");
        int all = checked;
        assertTrue(all > 150, () -> "only " + all + " fields were found");
    }

    @Test
    void aFieldWithoutAStatementIsFound() throws Exception {
        List<String> found = new ArrayList<>();
        List<String> lines = Files.readAllLines(TESTS.resolve("io/seriatim/engine/GuardStatementTest.java"));
        assertEquals(5, checkOne(Planted.class, lines, found));
        assertEquals(List.of("GuardStatementTest$Planted.alone", "GuardStatementTest$Planted.bad"),
                found.stream().sorted().toList());
    }

    private static int check(Class<?> type, List<String> lines, List<String> found) {
        int checked = checkOne(type, lines, found);
        for (Class<?> nested : type.getDeclaredClasses()) {
            checked += check(nested, lines, found);
        }
        return checked;
    }

    /** Checks the fields of one class, without nested ones; returns their number. */
    private static int checkOne(Class<?> type, List<String> lines, List<String> found) {
        int checked = 0;
        for (Field field : type.getDeclaredFields()) {
            int modifiers = field.getModifiers();
            if (field.isSynthetic() || Modifier.isFinal(modifiers) || Modifier.isVolatile(modifiers)
                    || PADDING.matcher(field.getName()).matches()) {
                continue;
            }
            checked++;
            int start = lineOf(type, lines);
            if (!STATEMENT.matcher(comment(lines, start)).find()
                    && !isStated(lines, lineOf(field, depth(type), lines, start))) {
                found.add(type.getName().substring(type.getPackageName().length() + 1) + "." + field.getName());
            }
        }
        return checked;
    }

    private static boolean isStated(List<String> lines, int line) {
        int at = line;
        while (true) {
            String own = comment(lines, at);
            if (!own.isEmpty()) {
                return STATEMENT.matcher(own).find();
            }
            // The field directly before it, if no empty line and no comment separates the two.
            String before = lines.get(at - 1).strip();
            while (before.startsWith("@") && !before.endsWith(";")) {
                at--;
                before = lines.get(at - 1).strip();
            }
            if (!before.endsWith(";")) {
                return STATEMENT.matcher(comment(lines, at)).find();
            }
            at--;
        }
    }

    /** Returns the comment and the annotations above a line. */
    private static String comment(List<String> lines, int line) {
        StringBuilder text = new StringBuilder();
        for (int i = line - 1; i >= 0; i--) {
            String s = lines.get(i).strip();
            if (!s.startsWith("*") && !s.startsWith("/**") && !s.startsWith("//") && !s.startsWith("@")) {
                break;
            }
            text.insert(0, " " + s.replaceFirst("^(/\\*\\*|\\*/|\\*|//)\\s*", ""));
        }
        String found = text.toString().replaceAll("\\s+", " ");
        return found.strip().matches("(@(Nullable|SuppressWarnings\\S*)\\s*)*") ? "" : found;
    }

    private static int depth(Class<?> type) {
        Class<?> outer = type.getEnclosingClass();
        return outer == null ? 0 : 1 + depth(outer);
    }

    private static int lineOf(Class<?> type, List<String> lines) {
        Pattern declaration =
                Pattern.compile(" {" + depth(type) * INDENT + "}([a-z]\\S* )*(class|record|enum|interface) "
                        + type.getSimpleName() + "\\b.*");
        return find(lines, 0, declaration, type.getName());
    }

    private static int lineOf(Field field, int depth, List<String> lines, int from) {
        Pattern declaration = Pattern.compile(" {" + (depth + 1) * INDENT + "}\\S.*\\b" + field.getName()
                + "( = .*|;|,.*;)");
        return find(lines, from, declaration, field.toString());
    }

    private static int find(List<String> lines, int from, Pattern declaration, @Nullable String what) {
        for (int i = from; i < lines.size(); i++) {
            if (declaration.matcher(lines.get(i)).matches()) {
                return i;
            }
        }
        throw new AssertionError("the declaration of " + Objects.requireNonNull(what) + " was not found");
    }
}
