package io.seriatim.tensor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * {@link Floats}, {@link Doubles} and {@link Longs} are what their template gives. After a change of the template, run
 * this test with {@code -Dseriatim.write-elements=true}, which writes the three files, and then the formatter.
 */
class ElementsTemplateTest {
    private static final Path TEMPLATE = Path.of("src/main/templates/Elements.java.template");
    private static final Path SOURCES = Path.of("src/main/java/io/seriatim/tensor");
    private static final String REWRITE = "seriatim.write-elements";
    private static final Pattern PLACEHOLDER = Pattern.compile("\\$\\{(\\w+)}");
    private static final Pattern CONDITIONAL = Pattern.compile("(?s)\\$\\{if (\\w+)}\n(.*?)\\$\\{end}\n");

    /**
     * A class that is generated.
     *
     * @param names
     *            the values of placeholders
     * @param casts
     *            the values of placeholders for casts; those that are not named are empty
     * @param conditions
     *            the conditions that hold
     */
    record Elements(Map<String, String> names, Map<String, String> casts, Set<String> conditions) {
        static Elements of(String className, String element, String type, String layout, String purpose,
                Map<String, String> casts, Set<String> conditions) {
            return new Elements(Map.of("class", className, "element", element, "type", type, "layout", layout,
                    "purpose", purpose), casts, conditions);
        }

        String expand(String template) {
            String chosen = CONDITIONAL.matcher(template).replaceAll(
                    match -> conditions.contains(match.group(1)) ? Matcher.quoteReplacement(match.group(2)) : "");
            return PLACEHOLDER.matcher(chosen).replaceAll(match -> Matcher.quoteReplacement(value(match.group(1))));
        }

        private String value(String name) {
            if (!names.containsKey(name) && !CASTS.contains(name)) {
                throw new IllegalArgumentException("The template has no placeholder '" + name + "'");
            }
            return names.getOrDefault(name, casts.getOrDefault(name, ""));
        }

        Path source() {
            return SOURCES.resolve(value("class") + ".java");
        }

        @Override
        public String toString() {
            return value("class");
        }
    }

    private static final Set<String> CASTS = Set.of("fromFloat", "fromDouble", "fromWhole", "fromLong", "toFloat",
            "toDouble", "toLong", "toInt", "asInt", "endWhole", "fromUnsigned", "toUnsigned", "endUnsigned");

    private static final Elements FLOATS = Elements.of("Floats", "float", "FLOAT32", "FLOAT",
            "Moves elements of any type between memory and float[], for arithmetic on float32, float16 and bfloat16.",
            withWhole(Map.of("fromDouble", "(float) ", "fromWhole", "(float) ", "fromLong", "(float) ",
                    "fromUnsigned", "Unsigned.toFloat(", "toUnsigned", "Unsigned.fromDouble(", "endUnsigned", ")")),
            Set.of("halves"));
    private static final Elements DOUBLES = Elements.of("Doubles", "double", "FLOAT64", "DOUBLE",
            "Moves elements of any type between memory and double[], for float64 arithmetic.",
            withWhole(Map.of("toFloat", "(float) ", "fromUnsigned", "Unsigned.toDouble(", "toUnsigned",
                    "Unsigned.fromDouble(", "endUnsigned", ")")),
            Set.of("single", "doubles"));
    private static final Elements LONGS = Elements.of("Longs", "long", "INT64", "LONG",
            "Moves elements of any type between memory and long[], for whole numbers and bool. For uint64, see "
                    + "{@link Unsigned}.",
            Map.of("fromFloat", "(long) ", "fromDouble", "(long) ", "toFloat", "(float) ", "toDouble", "(double) ",
                    "asInt", "(int) "),
            Set.of("single", "whole"));

    /** With conversions from numbers that may have a fraction to whole ones. */
    private static Map<String, String> withWhole(Map<String, String> casts) {
        Map<String, String> all = new HashMap<>(casts);
        all.putAll(Map.of("toLong", "Whole.toLong(", "toInt", "Whole.toInt(", "asInt", "Whole.toInt(", "endWhole",
                ")"));
        return all;
    }

    static Stream<Elements> all() {
        return Stream.of(FLOATS, DOUBLES, LONGS);
    }

    @ParameterizedTest
    @MethodSource("all")
    void aSourceIsWhatTheTemplateGives(Elements elements) throws IOException {
        String expected = elements.expand(Files.readString(TEMPLATE));
        if (Boolean.getBoolean(REWRITE)) {
            Files.writeString(elements.source(), expected);
        }
        assertEquals(unformatted(expected), unformatted(Files.readString(elements.source())),
                () -> elements.source() + " must be generated again: run this test with -D" + REWRITE + "=true");
    }

    @Test
    void aTemplateHasOnlyKnownPlaceholders() {
        assertEquals("float (float) x;\n", FLOATS.expand("${element} ${fromDouble}x;\n"));
        assertEquals("a\nc\n", LONGS.expand("a\n${if halves}\nb\n${end}\nc\n"));
        assertEquals("a\nb\nc\n", FLOATS.expand("a\n${if halves}\nb\n${end}\nc\n"));
        assertThrows(IllegalArgumentException.class, () -> LONGS.expand("${fromDubble}x"));
        assertFalse(unformatted("int a;").equals(unformatted("int b;")));
    }

    /** The formatter breaks lines of code and comments elsewhere: neither white space nor a line's asterisk counts. */
    private static String unformatted(String source) {
        return source.replaceAll("(?m)^\\s*\\*(?!/)", "").replaceAll("\\s", "");
    }
}
