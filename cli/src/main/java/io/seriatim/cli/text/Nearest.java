package io.seriatim.cli.text;

import java.util.Collection;
import java.util.Locale;
import java.util.Optional;

/** Finds the known word that a mistyped one probably stands for. */
public final class Nearest {
    /** More changed characters than these are another word rather than a slip. */
    private static final int MOST = 2;

    private Nearest() {
    }

    /**
     * The known word with the fewest changes: a character inserted, removed or replaced, or two neighbours swapped.
     *
     * @param word
     *            what was typed; upper and lower case are the same
     * @param known
     *            the words that exist
     * @return the nearest one, the first of several; empty if every word differs in more than two characters, or in
     * half of its own
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

    /** The optimal string alignment distance, row by row. */
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
