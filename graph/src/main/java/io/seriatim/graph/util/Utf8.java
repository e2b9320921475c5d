package io.seriatim.graph.util;

import java.util.Comparator;

/** The order of names in Paddle's files: that of their bytes in UTF-8, which is the order of code points. */
public final class Utf8 {
    /** Compares by code points. */
    public static final Comparator<String> ORDER = Utf8::compare;

    private Utf8() {
    }

    private static int compare(String a, String b) {
        int i = 0;
        int length = Math.min(a.length(), b.length());
        while (i < length && a.charAt(i) == b.charAt(i)) {
            i++;
        }
        // Surrogates sort above all other code points of the first plane, whose chars may be larger than theirs.
        if (i < length && Character.isSurrogate(a.charAt(i)) != Character.isSurrogate(b.charAt(i))) {
            return Character.isSurrogate(a.charAt(i)) ? 1 : -1;
        }
        return a.compareTo(b);
    }
}
