package io.seriatim.examples.parallel;

import io.seriatim.engine.Engine;
import io.seriatim.engine.Var;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * The best alignment of two strings by the algorithm of Needleman and Wunsch, as used for DNA. Each element of the
 * table of scores needs its neighbours to the left, above and diagonally above, so blocks of the table form a
 * wavefront: the blocks on a diagonal are independent. {@link #serial} fills the table row by row. {@link #parallel}
 * pushes its blocks in that order, and the engine finds the wavefront.
 *
 * <p>
 * {@code Alignment [LENGTH [BLOCK [WORKERS]]]} aligns a random string of that length with a mutated copy.
 */
public final class Alignment {
    private static final int MATCH = 2;
    private static final int MISMATCH = -1;
    private static final int GAP = -2;

    private final String a;
    private final String b;
    private final int[][] score;

    private Alignment(String a, String b) {
        this.a = a;
        this.b = b;
        score = new int[a.length() + 1][];
        score[0] = IntStream.rangeClosed(0, b.length()).map(j -> j * GAP).toArray();
    }

    /**
     * Aligns two strings with both forms, and compares the results.
     *
     * @param args
     *            the length of a string, the number of rows and columns of a block, and the number of workers
     * @throws Exception
     *             if an argument is wrong or the results differ
     */
    public static void main(String... args) throws Exception {
        Arguments in = new Arguments("Alignment [LENGTH [BLOCK [WORKERS]]]", args);
        int length = in.next("LENGTH", 4000, 1, 10_000);
        int block = in.next("BLOCK", 250, 1, 10_000);
        int workers = in.workers();
        String a = random(length, 1);
        String b = mutated(a, 2);
        Aligned aligned = Comparison.run("Alignment of " + a.length() + " with " + b.length()
                + " characters, in blocks of " + block + " × " + block, workers,
                () -> serial(a, b), engine -> parallel(engine, a, b, block), Objects::equals);
        System.out.println("score " + aligned.score + ", recomputed from the alignment " + aligned.recomputed());
    }

    /** Fills the table row by row. */
    static Aligned serial(String a, String b) {
        Alignment table = new Alignment(a, b);
        table.fill(1, a.length(), 1, b.length());
        return table.traceBack();
    }

    /**
     * Fills the table block by block. A block continues a row of blocks and a column of blocks: it needs the right edge
     * of the block to the left and the lower edge of the block above, and replaces both by its own. So it mutates two
     * variables. The corner diagonally above is finished too, because the block to the left has waited for it.
     */
    static Aligned parallel(Engine engine, String a, String b, int block) throws InterruptedException {
        Alignment table = new Alignment(a, b);
        Var[] rows = variables(blocks(a, block), i -> engine.newVar("row " + i));
        Var[] columns = variables(blocks(b, block), j -> engine.newVar("column " + j));
        for (int i = 0; i < rows.length; i++) {
            for (int j = 0; j < columns.length; j++) {
                int top = i * block + 1;
                int left = j * block + 1;
                engine.op("fill").mutates(rows[i], columns[j]).push(() -> table.fill(top,
                        Math.min(top + block - 1, a.length()), left, Math.min(left + block - 1, b.length())));
            }
        }
        engine.waitForAll();
        return table.traceBack();
    }

    private static int blocks(String text, int block) {
        return (text.length() + block - 1) / block;
    }

    private static Var[] variables(int count, IntFunction<Var> create) {
        return IntStream.range(0, count).mapToObj(create).toArray(Var[]::new);
    }

    /** Fills the given rows and columns, limits included; row i belongs to character i − 1. */
    private void fill(int top, int bottom, int left, int right) {
        for (int i = top; i <= bottom; i++) {
            if (left == 1) {
                score[i] = new int[b.length() + 1];
                score[i][0] = i * GAP;
            }
            int[] above = score[i - 1];
            int[] row = score[i];
            char ofA = a.charAt(i - 1);
            for (int j = left; j <= right; j++) {
                int pair = above[j - 1] + (ofA == b.charAt(j - 1) ? MATCH : MISMATCH);
                row[j] = Math.max(pair, Math.max(above[j], row[j - 1]) + GAP);
            }
        }
    }

    /** Follows the best scores back from the last element to the first. */
    private Aligned traceBack() {
        StringBuilder first = new StringBuilder();
        StringBuilder second = new StringBuilder();
        int i = a.length();
        int j = b.length();
        while (i > 0 || j > 0) {
            if (i > 0 && score[i][j] == score[i - 1][j] + GAP) {
                first.append(a.charAt(--i));
                second.append('-');
            } else if (j > 0 && score[i][j] == score[i][j - 1] + GAP) {
                first.append('-');
                second.append(b.charAt(--j));
            } else {
                first.append(a.charAt(--i));
                second.append(b.charAt(--j));
            }
        }
        return new Aligned(score[a.length()][b.length()], first.reverse().toString(), second.reverse().toString());
    }

    /**
     * Two strings of the same length: the given ones, with gaps.
     *
     * @param score
     *            the sum of the scores of all pairs
     * @param first
     *            the first string, with '-' for a gap
     * @param second
     *            the second string, with '-' for a gap
     */
    record Aligned(int score, String first, String second) {
        /** Computes the score from the strings alone. */
        int recomputed() {
            return IntStream.range(0, first.length()).map(k -> {
                if (first.charAt(k) == '-' || second.charAt(k) == '-') {
                    return GAP;
                }
                return first.charAt(k) == second.charAt(k) ? MATCH : MISMATCH;
            }).sum();
        }
    }

    /** Returns a random string of the four letters of DNA. */
    static String random(int length, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        StringBuilder text = new StringBuilder();
        random.ints(length, 0, 4).forEach(letter -> text.append("ACGT".charAt(letter)));
        return text.toString();
    }

    /** Returns a copy in which about a tenth of the letters are replaced, left out or followed by another. */
    static String mutated(String text, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        StringBuilder copy = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char letter = "ACGT".charAt(random.nextInt(4));
            switch (random.nextInt(30)) {
                case 0 -> copy.append(letter);
                case 1 -> copy.append(text.charAt(i)).append(letter);
                case 2 -> { // left out
                }
                default -> copy.append(text.charAt(i));
            }
        }
        return copy.toString();
    }
}
