package io.seriatim.cli.train;

import io.seriatim.graph.util.Printable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Encodes names and values in lines of a file, so that any text stays in its line and is decoded unchanged. */
final class PropertyText {
    private static final Pattern ESCAPED = Pattern.compile("\\\\(?:(\\\\)|u([0-9a-f]{4}))");

    private PropertyText() {
    }

    static String encoded(String text) {
        return Printable.of(text.replace("\\", "\\\\"));
    }

    static String decoded(String text) {
        return ESCAPED.matcher(text).replaceAll(found -> Matcher
                .quoteReplacement(found.group(1) != null
                        ? "\\"
                        : Character.toString((char) Integer.parseInt(found.group(2), 16))));
    }
}
