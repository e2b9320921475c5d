package io.seriatim.cli.text;

import java.util.Collection;
import java.util.Locale;
import java.util.Optional;

/** Suggests the known word that a mistyped one probably means. */
public final class Nearest {
    /** The maximum number of edits of a typing error. */
    private static final int MOST = 2;

    private Nearest() {
    }

    /**
     * Returns the known word with the smallest edit distance: insertions, deletions and replacements of a character,
     * and swaps of neighbouring characters.
     *
     * @param word
     *            the typed word; case is ignored
     * @param known
     *            the known words
     * @return the nearest word, the first of several; empty if every word differs by more than two edits, or by half of
     * its characters
     */
    public static Optional<String> to(String word, Collection<String> known) {
        String nearest = null;
        int least = MOST + 1;
        for (String each : known) {
            int distance = distance(word.toLowerCase(Locale.ROOT), each.toLowerCase(Locale.ROOT));
            if (distance < least && 2 * distance < each.length()) {
                nearest = each;
                least = distance;
            }
        }
        return Optional.ofNullable(nearest);
    }

    /** Computes the optimal string alignment distance, row by row. */
    private static int distance(String a, String b) {
        int[][] rows = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                if (i == 0 || j == 0) {
                    rows[i][j] = i + j;
                    continue;
                }
                int replaced = rows[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                rows[i][j] = Math.min(replaced, 1 + Math.min(rows[i - 1][j], rows[i][j - 1]));
                boolean swapped = i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2)
                        && a.charAt(i - 2) == b.charAt(j - 1);
                if (swapped) {
                    rows[i][j] = Math.min(rows[i][j], rows[i - 2][j - 2] + 1);
                }
            }
        }
        return rows[a.length()][b.length()];
    }
}
