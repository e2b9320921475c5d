package io.seriatim.train.metrics;

import java.nio.charset.Charset;

/** A bar of characters. */
enum Bar {
    /** Box drawings. */
    LINES("━", "╺", "─"),
    /** For charsets that have no others. */
    ASCII("=", ">", "-");

    private static final int SHORTEST = 5;
    private static final int LONGEST = 20;

    private final String done;
    private final String tip;
    private final String open;

    Bar(String done, String tip, String open) {
        this.done = done;
        this.tip = tip;
        this.open = open;
    }

    static Bar of(Charset charset) {
        return charset.canEncode() && charset.newEncoder().canEncode(LINES.done + LINES.tip + LINES.open)
                ? LINES
                : ASCII;
    }

    /**
     * A bar of at most so many characters, and never a very long one; empty if it would be too short to say anything.
     */
    String draw(int room, long part, long whole) {
        int length = Math.min(room, LONGEST);
        if (length < SHORTEST) {
            return "";
        }
        int full = (int) (part * length / Math.max(1, whole));
        return full >= length ? done.repeat(length) : done.repeat(full) + tip + open.repeat(length - full - 1);
    }
}
