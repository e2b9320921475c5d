package io.seriatim.graph.json;

import io.seriatim.graph.util.Printable;
import io.seriatim.tensor.FileFormatException;
import java.nio.charset.StandardCharsets;

/** The file that values were read from. Numbers stay in it as characters until somebody asks for them. */
final class JsonSource {
    private static final int LONGEST_SHOWN = 100;

    private final String name;
    private final byte[] bytes;

    JsonSource(String name, byte[] bytes) {
        this.name = name;
        this.bytes = bytes;
    }

    byte[] bytes() {
        return bytes;
    }

    FileFormatException error(long offset, String rule) {
        return new FileFormatException(name, offset, rule);
    }

    /** A name or text from the file as messages show it: printable, and short. */
    static String shown(String text) {
        return text.length() <= LONGEST_SHOWN
                ? Printable.of(text)
                : Printable.of(text.substring(0, LONGEST_SHOWN)) + "… of " + text.length() + " characters";
    }

    String ascii(int from, int to) {
        return new String(bytes, from, to - from, StandardCharsets.ISO_8859_1);
    }
}
