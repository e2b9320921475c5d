package io.seriatim.train.metrics;

import java.nio.charset.Charset;

/** A progress bar of characters. */
enum Bar {
    /** Box-drawing characters. */
    LINES("━", "╺", "─"),
    /** For character sets without box-drawing characters. */
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

    /** Draws a bar of at most {@code room} characters; empty if there is too little room. */
    String draw(int room, long part, long whole) {
        int length = Math.min(room, LONGEST);
        if (length < SHORTEST) {
            return "";
        }
        int full = (int) (part * length / Math.max(1, whole));
        return full >= length ? done.repeat(length) : done.repeat(full) + tip + open.repeat(length - full - 1);
    }
}
