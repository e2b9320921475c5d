package io.seriatim.graph.util;

/**
 * Makes text from files safe to print. Names, operation types and messages may hold control sequences, ends of lines,
 * or marks that change the direction of text. Characters that are not printable are replaced by their number, as
 * {@code \}{@code u001b}.
 */
public final class Printable {
    private Printable() {
    }

    /**
     * Text within a line.
     *
     * @param text
     *            any
     * @return it, on one line
     */
    public static String of(String text) {
        return escaped(text, "");
    }

    /**
     * Text of several lines, which are our own.
     *
     * @param text
     *            any
     * @return it, with its tabs and ends of lines
     */
    public static String lines(String text) {
        return escaped(text.replace("\r\n", "\n"), "\n\t");
    }

    /**
     * A name within a list of pairs such as {@code name=value}, with a space between one and the next.
     *
     * @param name
     *            any
     * @return it, without spaces and equals signs
     */
    public static String key(String name) {
        return of(name).replace(" ", "\\u0020").replace("=", "\\u003d");
    }

    private static String escaped(String text, String kept) {
        int first = 0;
        while (first < text.length() && text.charAt(first) >= ' ' && text.charAt(first) <= '~') {
            first++;
        }
        if (first == text.length()) {
            return text;
        }
        StringBuilder safe = new StringBuilder(text.length() + 16).append(text, 0, first);
        for (int i = first; i < text.length();) {
            int c = text.codePointAt(i);
            int next = i + Character.charCount(c);
            if (isPrintable(c) || kept.indexOf(c) >= 0) {
                safe.appendCodePoint(c);
            } else {
                for (int j = i; j < next; j++) {
                    escape(safe, text.charAt(j));
                }
            }
            i = next;
        }
        return safe.toString();
    }

    /**
     * Appends a character by its number, as Java and JSON write it.
     *
     * @param to
     *            gets six characters
     * @param c
     *            half of a pair, or a character
     */
    public static void escape(StringBuilder to, char c) {
        to.append("\\u").append(Integer.toHexString(0x10000 | c), 1, 5);
    }

    /**
     * Whether a character shows as itself and does nothing else.
     *
     * @param c
     *            code point, or half of a pair
     * @return false for control and format characters, ends of lines and paragraphs, lone surrogates, and what has
     * no meaning that all systems know
     */
    public static boolean isPrintable(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL, Character.FORMAT, Character.SURROGATE, Character.PRIVATE_USE, Character.UNASSIGNED,
                    Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR ->
                false;
            default -> true;
        };
    }
}
