package io.seriatim.benchmarks.engine;

import java.util.Arrays;
import java.util.List;

/**
 * A serial program as a list of operations, each with at most two variables that it reads and at most one that it
 * mutates. A name and a number of operations give the same program on every machine and in every language that the
 * comparison is written in.
 */
public final class Workload {
    /** The names of all workloads, in the order in which tables show them. */
    public static final List<String> NAMES = List.of("chain", "independent", "random", "fan", "wavefront");

    private static final int NONE = -1;
    private static final int INDEPENDENT_VARS = 1024;
    private static final int RANDOM_VARS = 256;
    private static final int FAN_VARS = 8;
    private static final int FAN_GROUP = 33; // one mutation and 32 reads
    private static final int MOST_OPS = 100_000_000; // three int arrays of it

    private final String name;
    private final int vars;
    private final int[] first;
    private final int[] second;
    private final int[] mutated;

    private Workload(String name, int vars, int ops) {
        this.name = name;
        this.vars = vars;
        first = new int[ops];
        second = new int[ops];
        mutated = new int[ops];
        Arrays.fill(first, NONE);
        Arrays.fill(second, NONE);
        Arrays.fill(mutated, NONE);
    }

    /**
     * Creates one of the five programs.
     *
     * @param name
     *            one of {@link #NAMES}
     * @param ops
     *            the number of operations; the wavefront uses the largest square number up to it
     * @return the program
     * @throws IllegalArgumentException
     *             if there is no workload of that name, or the count is less than 1 or more than 100 million
     */
    public static Workload of(String name, int ops) {
        if (ops < 1 || ops > MOST_OPS) {
            throw new IllegalArgumentException(
                    "A workload has 1 to " + MOST_OPS + " operations, but " + ops + " were asked for");
        }
        return switch (name) {
            case "chain" -> chain(ops);
            case "independent" -> independent(ops);
            case "random" -> random(ops);
            case "fan" -> fan(ops);
            case "wavefront" -> wavefront(ops);
            default -> throw new IllegalArgumentException(
                    "There is no workload '" + name + "': use one of " + String.join(", ", NAMES));
        };
    }

    /** Every operation mutates the same variable: nothing can run in parallel. */
    private static Workload chain(int ops) {
        Workload w = new Workload("chain", 1, ops);
        Arrays.fill(w.mutated, 0);
        return w;
    }

    /** Mutations of 1,024 variables in turn: 1,024 chains side by side. */
    private static Workload independent(int ops) {
        Workload w = new Workload("independent", INDEPENDENT_VARS, ops);
        Arrays.setAll(w.mutated, i -> i % INDEPENDENT_VARS);
        return w;
    }

    /** Two reads and a mutation of three different variables out of 256. */
    private static Workload random(int ops) {
        Workload w = new Workload("random", RANDOM_VARS, ops);
        Draw draw = new Draw(RANDOM_VARS);
        for (int i = 0; i < ops; i++) {
            int a = draw.next();
            int b = draw.next();
            int c = draw.next();
            while (b == a) {
                b = draw.next();
            }
            while (c == a || c == b) {
                c = draw.next();
            }
            w.first[i] = a;
            w.second[i] = b;
            w.mutated[i] = c;
        }
        return w;
    }

    /** A mutation, then 32 reads of the same variable; then the next of 8 variables. */
    private static Workload fan(int ops) {
        Workload w = new Workload("fan", FAN_VARS, ops);
        for (int i = 0; i < ops; i++) {
            int v = i / FAN_GROUP % FAN_VARS;
            if (i % FAN_GROUP == 0) {
                w.mutated[i] = v;
            } else {
                w.first[i] = v;
            }
        }
        return w;
    }

    /** A square of variables, row by row: each is mutated once, after the one above it and the one to its left. */
    private static Workload wavefront(int ops) {
        int side = (int) Math.sqrt(ops);
        Workload w = new Workload("wavefront", side * side, side * side);
        for (int i = 0; i < side; i++) {
            for (int j = 0; j < side; j++) {
                int here = i * side + j;
                w.mutated[here] = here;
                int above = here - side;
                int left = here - 1;
                if (i > 0) {
                    w.first[here] = above;
                    w.second[here] = j > 0 ? left : NONE;
                } else if (j > 0) {
                    w.first[here] = left;
                }
            }
        }
        return w;
    }

    /**
     * Returns the name.
     *
     * @return one of {@link #NAMES}
     */
    public String name() {
        return name;
    }

    /**
     * Returns the number of variables.
     *
     * @return the number; variables are numbered from 0
     */
    public int vars() {
        return vars;
    }

    /**
     * Returns the number of operations.
     *
     * @return the number; operations are numbered from 0, in serial order
     */
    public int size() {
        return mutated.length;
    }

    /**
     * Returns the first variable that an operation reads. *
     * @param op
     *            the operation
     * @return a variable, or -1 if it reads none
     */
    public int firstRead(int op) {
        return first[op];
    }

    /**
     * Returns the second variable that an operation reads. *
     * @param op
     *            the operation
     * @return a variable, or -1 if it reads fewer than two
     */
    public int secondRead(int op) {
        return second[op];
    }

    /**
     * Returns the variable that an operation mutates. *
     * @param op
     *            the operation
     * @return a variable, or -1 if it only reads
     */
    public int mutates(int op) {
        return mutated[op];
    }

    /**
     * The generator of the random workload: Knuth's 64-bit linear congruential generator, of which the upper half is
     * used.
     */
    private static final class Draw {
        private static final long FACTOR = 6364136223846793005L;
        private static final long STEP = 1442695040888963407L;
        private static final int LOW_BITS = 33;

        private final int bound;
        private long state = 42;

        Draw(int bound) {
            this.bound = bound;
        }

        int next() {
            state = state * FACTOR + STEP;
            return (int) ((state >>> LOW_BITS) % bound);
        }
    }
}
