package io.seriatim.benchmarks.train;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Pass;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The settings of all workloads of a benchmark.
 *
 * @param quick
 *            whether to run few steps
 * @param precision
 *            the precision of products and convolutions in training
 * @param without
 *            the passes that are disabled
 */
record Setting(boolean quick, Precision precision, Set<Pass> without) {
    private static final int QUICK_PART = 10;

    /** The precision of products and convolutions. */
    enum Precision {
        /** float32, as the peers use. */
        F32,
        /** bfloat16; the parameters stay float32. */
        BF16
    }

    Setting {
        without = without.isEmpty() ? Set.of() : Set.copyOf(without);
    }

    /** Returns the full number of steps, or a tenth of it. */
    int part(int count) {
        return quick ? count / QUICK_PART : count;
    }

    boolean isBfloat16() {
        return precision == Precision.BF16;
    }

    Executor.Builder builder(int threads) {
        return Executor.builder().threads(threads).without(without.toArray(Pass[]::new));
    }

    /** Formats the settings for the command line of another process. */
    Stream<String> arguments() {
        return Stream.of(String.valueOf(quick), precision.name(), passes());
    }

    static Setting parse(String quick, String precision, String passes) {
        Set<Pass> without = EnumSet.noneOf(Pass.class);
        Arrays.stream(passes.split(",", -1)).filter(name -> !name.isEmpty()).map(Pass::valueOf).forEach(without::add);
        return new Setting(Boolean.parseBoolean(quick), Precision.valueOf(precision), without);
    }

    /** Returns the differences from the peers' settings, for result lines. */
    Figures note(Figures figures) {
        if (isBfloat16()) {
            figures.with("precision", precision.name().toLowerCase(Locale.ROOT));
        }
        return without.isEmpty() ? figures : figures.with("without", passes());
    }

    private String passes() {
        return without.stream().sorted().map(Pass::name).collect(Collectors.joining(","));
    }
}
