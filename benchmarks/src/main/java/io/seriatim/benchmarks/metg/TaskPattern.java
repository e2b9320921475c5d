package io.seriatim.benchmarks.metg;

import io.seriatim.benchmarks.metg.TaskGraph.Task;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The dependency patterns of Task Bench. Each says which tasks of step {@code t - 1} a task of step {@code t > 0}
 * reads; {@code w} is the width and {@code i} the column.
 */
enum TaskPattern {
    /** No dependencies. */
    TRIVIAL("trivial"),
    /** {@code i}. */
    NO_COMMUNICATION("no communication"),
    /** {@code i - 1}, {@code i}, {@code i + 1}, as far as they exist. */
    STENCIL("stencil 1D"),
    /** The same modulo {@code w}. */
    PERIODIC_STENCIL("periodic stencil"),
    /** {@code i - 2} to {@code i + 2}, as far as they exist. */
    NEAREST("nearest 5"),
    /** {@code i}, and {@code i + k w / 5 + t mod 3} modulo {@code w} for {@code k} from 1 to 4. */
    SPREAD("spread 5"),
    /** Four graphs of {@code NEAREST}, step by step in turn. */
    FOUR_NEAREST("four of nearest 5"),
    /** {@code i} and {@code i ± 2^k}, as far as they exist; {@code k} is {@code t - 1} modulo {@code w}'s logarithm. */
    FFT("FFT"),
    /** {@code i / 2}; step {@code t} has {@code min(w, 2^t)} tasks. */
    TREE("tree"),
    /** All. */
    ALL_TO_ALL("all to all"),
    /** {@code i}, and of {@code NEAREST} each other with probability 1/4; three such graphs in turn. */
    RANDOM_NEAREST("random nearest"),
    /** {@code NEAREST}, with work that is uniformly distributed from 0 to 2 times that of the other patterns. */
    LOAD_IMBALANCE("load imbalance");

    private static final int RADIX = 5;
    private static final int SETS = 3;
    private static final int GRAPHS = 4;
    private static final int WEIGHT_ROWS = 16;
    private static final double CONNECTED = 0.25;

    private final String label;

    TaskPattern(String label) {
        this.label = label;
    }

    /** Returns the name in tables. */
    String label() {
        return label;
    }

    /** Returns the name as an option's value. */
    String key() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    boolean hasDependencies() {
        return this != TRIVIAL;
    }

    static List<String> keys() {
        return Arrays.stream(values()).map(TaskPattern::key).toList();
    }

    /**
     * Returns the graph.
     *
     * @param width
     *            the number of tasks of a step, of each graph if there are several
     */
    TaskGraph graph(int width) {
        int columns = this == FOUR_NEAREST ? GRAPHS * width : width;
        int prologue = this == TREE ? 1 + logarithm(width) : 1;
        int period = switch (this) {
            case FFT -> Math.max(1, logarithm(width));
            case SPREAD, RANDOM_NEAREST -> SETS;
            case LOAD_IMBALANCE -> WEIGHT_ROWS;
            default -> 1;
        };
        return TaskGraph.of(columns, prologue, period, (step, column) -> task(step, column, width));
    }

    private @Nullable Task task(int step, int column, int width) {
        if (this == TREE && step < Integer.SIZE - 2 && column >= 1 << step) {
            return null;
        }
        int[] inputs = step == 0 ? new int[0] : inputs(step, column, width).sorted().distinct().toArray();
        int weight = this == LOAD_IMBALANCE
                ? (int) (2 * TaskGraph.FULL_WEIGHT * uniform(0, step, column))
                : TaskGraph.FULL_WEIGHT;
        return new Task(inputs, weight);
    }

    private IntStream inputs(int step, int i, int w) {
        return switch (this) {
            case TRIVIAL -> IntStream.empty();
            case NO_COMMUNICATION -> IntStream.of(i);
            case STENCIL -> near(i, 1, w);
            case PERIODIC_STENCIL -> IntStream.rangeClosed(i - 1, i + 1).map(j -> Math.floorMod(j, w));
            case NEAREST, LOAD_IMBALANCE -> near(i, RADIX / 2, w);
            case SPREAD -> IntStream.range(0, RADIX).map(k -> (i + k * w / RADIX + (k == 0 ? 0 : step % SETS)) % w);
            case FOUR_NEAREST -> near(i % w, RADIX / 2, w).map(j -> i / w * w + j);
            case FFT -> {
                int distance = 1 << (step - 1) % Math.max(1, logarithm(w));
                yield IntStream.of(i - distance, i, i + distance).filter(j -> j >= 0 && j < w);
            }
            case TREE -> IntStream.of(i / 2);
            case ALL_TO_ALL -> IntStream.range(0, w);
            case RANDOM_NEAREST -> near(i, RADIX / 2, w)
                    .filter(j -> j == i || uniform(1 + step % SETS, j, i) < CONNECTED);
        };
    }

    private static IntStream near(int i, int reach, int w) {
        return IntStream.rangeClosed(Math.max(0, i - reach), Math.min(w - 1, i + reach));
    }

    /** Returns the smallest number of doublings of 1 that reach a width. */
    private static int logarithm(int width) {
        return Integer.SIZE - Integer.numberOfLeadingZeros(width - 1);
    }

    /** Returns a number from 0 to below 1 that depends on the three arguments only, by the mixer of SplitMix64. */
    private static double uniform(int a, int b, int c) {
        long z = ((a * 0x1_0000L + b) * 0x1_0000L + c) * 0x9e3779b97f4a7c15L;
        z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
        z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
        return ((z ^ z >>> 31) >>> 11) * 0x1.0p-53;
    }
}
