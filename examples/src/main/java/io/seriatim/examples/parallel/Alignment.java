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
 * wavefront: the blocks on a diagonal are independent. Of the scores, only the edges of finished blocks are kept; the
 * table holds the step that led to each element. {@link #serial} fills the table as one block. {@link #parallel} pushes
 * one block after the other, and the engine finds the wavefront.
 *
 * <p>
 * {@code Alignment [LENGTH [BLOCK [WORKERS]]]} aligns a random string of that length with a mutated copy.
 */
public final class Alignment {
    private static final int MATCH = 2;
    private static final int MISMATCH = -1;
    private static final int GAP = -2;

    private static final byte DOWN = 1;
    private static final byte RIGHT = 2;

    private final String a;
    private final String b;
    private final int block;
    /** The step that leads to an element: down, right, or else diagonally; row i belongs to character i − 1. */
    private final byte[][] step;
    /** The scores of the lowest finished element of each column. */
    private final int[] lower;
    /** For each row of blocks, the scores at the right edge of the last finished block, and of the corner above. */
    private final int[][] right;

    private Alignment(String a, String b, int block) {
        this.a = a;
        this.b = b;
        this.block = block;
        step = new byte[a.length() + 1][b.length() + 1];
        lower = IntStream.rangeClosed(0, b.length()).map(j -> j * GAP).toArray();
        lower[0] = a.length() * GAP; // column 0 is finished
        right = IntStream.range(0, blocks(a, block))
                .mapToObj(r -> IntStream.rangeClosed(r * block, (r + 1) * block).map(i -> i * GAP).toArray())
                .toArray(int[][]::new);
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

    /** Fills the table as one block. */
    static Aligned serial(String a, String b) {
        Alignment table = new Alignment(a, b, Math.max(1, Math.max(a.length(), b.length())));
        table.fill(0, 0);
        return table.traceBack();
    }

    /**
     * Fills the table block by block. A block needs the right edge of the block to its left, and the lower edge of the
     * block above. It replaces both edges by its own, so it mutates two variables.
     */
    static Aligned parallel(Engine engine, String a, String b, int block) throws InterruptedException {
        Alignment table = new Alignment(a, b, block);
        Var[] rightEdges = variables(blocks(a, block), r -> engine.newVar("right edge of row " + r));
        Var[] lowerEdges = variables(blocks(b, block), c -> engine.newVar("lower edge of column " + c));
        for (int i = 0; i < rightEdges.length; i++) {
            for (int j = 0; j < lowerEdges.length; j++) {
                int r = i;
                int c = j;
                engine.op("fill").mutates(rightEdges[r], lowerEdges[c]).push(() -> table.fill(r, c));
            }
        }
        engine.waitForAll();
        return table.traceBack();
    }

    private static int blocks(String text, int block) {
        return Math.max(1, (text.length() + block - 1) / block);
    }

    private static Var[] variables(int count, IntFunction<Var> create) {
        return IntStream.range(0, count).mapToObj(create).toArray(Var[]::new);
    }

    /** Fills the block in the given row and column of blocks. */
    private void fill(int r, int c) {
        int[] edge = right[r];
        int last = Math.min((c + 1) * block, b.length());
        int corner = edge[0];
        edge[0] = lower[last]; // the corner of the next block
        for (int i = r * block + 1; i <= Math.min((r + 1) * block, a.length()); i++) {
            int diagonal = corner;
            corner = edge[i - r * block];
            edge[i - r * block] = fill(i, c * block + 1, last, diagonal, corner);
        }
    }

    /** Fills a part of a row from the scores diagonally above its first element and to the left of it. */
    private int fill(int row, int first, int last, int diagonal, int left) {
        char ofA = a.charAt(row - 1);
        int above = diagonal;
        int score = left;
        for (int j = first; j <= last; j++) {
            int pair = above + (ofA == b.charAt(j - 1) ? MATCH : MISMATCH);
            above = lower[j];
            int gap = Math.max(above, score) + GAP;
            if (gap > pair) {
                step[row][j] = above >= score ? DOWN : RIGHT;
            }
            score = Math.max(pair, gap);
            lower[j] = score;
        }
        return score;
    }

    /** Follows the steps back from the last element to the first. */
    private Aligned traceBack() {
        StringBuilder first = new StringBuilder();
        StringBuilder second = new StringBuilder();
        int i = a.length();
        int j = b.length();
        while (i > 0 || j > 0) {
            boolean down = j == 0 || (i > 0 && step[i][j] == DOWN);
            boolean toTheRight = i == 0 || (j > 0 && step[i][j] == RIGHT);
            first.append(toTheRight ? '-' : a.charAt(--i));
            second.append(down ? '-' : b.charAt(--j));
        }
        return new Aligned(lower[b.length()], first.reverse().toString(), second.reverse().toString());
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
